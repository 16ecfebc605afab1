"""Optional packages: imported where they are used, and named with their extra when they are missing."""

import warnings
from importlib import import_module
from typing import Any

from gelato.errors import MissingDependency


def optional(module: str, *, purpose: str, extra: str) -> Any:
    """The module ``module``, or an error that tells how to install its package."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of what the package itself imports
            return import_module(module)
    except ImportError:
        raise MissingDependency(purpose, module.split(".")[0].replace("_", "-"), extra) from None

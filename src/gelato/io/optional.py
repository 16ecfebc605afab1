"""Optional packages: imported where they are used; if one is missing, the error names the extra to install."""

import warnings
from importlib import import_module
from typing import Any

from gelato.errors import MissingDependency


def optional(module: str, *, purpose: str, extra: str) -> Any:
    """The module ``module``, or an error that says how to install its package."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # raised by the package's own imports
            return import_module(module)
    except ImportError:
        raise MissingDependency(purpose, module.split(".")[0].replace("_", "-"), extra) from None

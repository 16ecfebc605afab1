"""Errors a user can act on: each says the rule, the value, the place and the repair."""

import warnings
from importlib import import_module
from typing import Any

from gelato import DISTRIBUTION, PROGRAM


class GelatoError(Exception):
    """Anything the user can fix; the command line prints it on one line and exits with 2."""


class InputError(GelatoError, ValueError):
    """A file, an argument or a graph breaks a rule."""


class MissingDependency(GelatoError, ImportError):
    """An optional package is needed for what was asked."""

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(f"{purpose} needs {package}: pip install '{DISTRIBUTION}[{extra}]'")


def optional(module: str, *, purpose: str, extra: str) -> Any:
    """The module ``module``, or an error that says how to install its package."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # raised by the package's own imports
            return import_module(module)
    except ImportError:
        raise MissingDependency(purpose, module.split(".")[0].replace("_", "-"), extra) from None


def deprecated(old: str, new: str, *, level: int = 3) -> None:
    """Warn, at the line that called the caller, that ``old`` goes with the next release."""
    warnings.warn(f"{old} is deprecated and goes with the next release; use {new}", DeprecationWarning, level)


def wrong_kind(call: str, expected: str, given: object) -> InputError:
    """An argument of another kind than a call takes, with the call that makes one of it.

    >>> str(wrong_kind("evaluate", "Split", "links.csv"))
    "evaluate takes a Split, got str; make one: gelato.split(gelato.read_graph('links.csv'))"
    """
    kind = type(given).__name__
    graph = _graph_call(given)
    repair = ""
    if expected == "Split":
        repair = f"; make one: gelato.split({graph})" if graph else "; gelato.split(graph) makes one"
    elif expected.startswith("Graph"):
        repair = f"; make one: {graph}" if graph and graph != "graph" else "; see gelato.read_graph and gelato.load"
    return InputError(f"{call} takes a {expected}, got {kind}{repair}")


def _graph_call(given: object) -> str | None:
    """The call that makes a graph of an object, as far as its type tells."""
    kind, package = type(given).__name__, type(given).__module__.partition(".")[0]
    if kind == "Graph" and package == PROGRAM:
        return "graph"
    if package in ("pandas", "polars", "networkx", "scipy"):
        return f"gelato.io.from_{package}(...)"
    if hasattr(given, "__fspath__") or isinstance(given, str):
        return f"gelato.read_graph({str(given)!r})"
    return "gelato.Graph.from_edges(pairs)" if isinstance(given, list | tuple) or kind == "ndarray" else None

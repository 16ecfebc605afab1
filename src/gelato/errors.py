"""Errors a user can act on: each says the rule, the value, the place and the repair."""

from gelato import DISTRIBUTION


class GelatoError(Exception):
    """Anything the user can repair; the command line prints it on one line and exits with 2."""


class InputError(GelatoError, ValueError):
    """A file, an argument or a graph breaks a rule."""


class MissingDependency(GelatoError, ImportError):
    """An optional package is needed for what was asked."""

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(f"{purpose} needs {package}: pip install '{DISTRIBUTION}[{extra}]'")

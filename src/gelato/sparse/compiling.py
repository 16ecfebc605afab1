"""A callback before the first loop is compiled; this module does without numba, so that it can be imported early."""

from collections.abc import Callable

_waiting: list[Callable[[], None]] = []


def before_compiling(tell: Callable[[], None] | None) -> None:
    """Register what is called once, when this process first compiles what is not on disk; ``None``: nothing."""
    _waiting[:] = [] if tell is None else [tell]


def announce() -> None:
    """Call what was registered, before something is compiled."""
    while _waiting:
        _waiting.pop()()

"""Decorators for loops that numba compiles at the first call with arguments of new types, and keeps on disk.

All loops release the interpreter lock and divide as NumPy does. Compiling is what a first run waits for: a ``part``
is called by other compiled functions alone, so it needs no code that takes Python's arguments apart, which for tuples
of arrays is as much as the loops themselves.
"""

import gc
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import IndexDataCacheFile
from numba.core.registry import CPUDispatcher

from gelato.sparse.compiling import announce


class _CacheIndex(IndexDataCacheFile):  # type: ignore[misc]
    """An index of compiled code; one that another release left, whose types have other names, counts as empty."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (AttributeError, ImportError):  # numba unpickles an index before it looks at the age of the source
            return {}


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a loop that Python calls."""
    options = {"nogil": True, "cache": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    dispatcher = njit(function, **options)
    if options["cache"] and isinstance(dispatcher, CPUDispatcher):  # which it is not with NUMBA_DISABLE_JIT
        dispatcher._cache._cache_file.__class__ = _CacheIndex
    return dispatcher


class _Part(CPUDispatcher):  # type: ignore[misc]
    """A function for compiled callers only: a call from Python, for which it has no entry point, would crash."""

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is a part of compiled functions; Python cannot call it")


def part(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function that only compiled functions call."""
    dispatcher = kernel(function, no_cpython_wrapper=True, **options)
    dispatcher.__class__ = _Part
    return dispatcher


inlined = partial(part, inline="always")
"""Compile a part that is inlined into its callers before types are known."""


class _Compiling(event.Listener):  # type: ignore[misc]
    """Announces that numba compiles (loading from disk is not compiling), and pauses the garbage collector meanwhile.

    Compiling makes millions of small objects that stay; looking through them for garbage takes a seventh of the time.
    """

    def __init__(self) -> None:
        self._lock, self._depth, self._collecting = threading.Lock(), 0, False

    def on_start(self, event: event.Event) -> None:
        announce()
        with self._lock:
            if self._depth == 0:
                self._collecting = gc.isenabled()
                gc.disable()
            self._depth += 1

    def on_end(self, event: event.Event) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0 and self._collecting:
                gc.enable()


event.register("numba:compile", _Compiling())

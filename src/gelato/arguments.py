"""Arguments of ``Graph``: of the right kind and of a size that fits, refused with the right call otherwise."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.memory import available_memory, in_words

MOST_NODES = 2**31 - 1
"""Pairs of so many nodes can be told apart by one 64-bit integer."""

BYTES_PER_NODE = 32
"""What a node takes at least while a graph is built."""

MOST_LETTERS = 10_000
"""Longest name of a node or an attribute: arrays of text give every name the room of the longest."""

FRAME_READER = "gelato.io.from_pandas, gelato.io.from_polars or the like"


def edge_array(edges: Any) -> NDArray[Any]:
    """``(e, 2)`` links as an array; tables, files and the like are refused with the call that reads them."""
    if isinstance(edges, str | os.PathLike):
        raise InputError(f"edges must be an array of shape (e, 2), got a path; call gelato.read_graph({str(edges)!r})")
    if hasattr(edges, "columns"):
        raise InputError(f"edges must be an array of shape (e, 2), got a {type(edges).__name__}; call {FRAME_READER}")
    try:
        given = np.asarray(edges)
    except (TypeError, ValueError) as error:
        raise InputError(f"edges must be an array of shape (e, 2): {error}") from None
    if given.ndim != 2 or given.shape[1] != 2:
        raise InputError(f"edges must have shape (e, 2), got {given.shape}")
    return given


def checked_direction(directed: Any) -> bool:
    """Whether links have a direction; what is neither true nor false, such as ``'no'``, is refused."""
    if not isinstance(directed, bool | np.bool_):
        raise InputError(f"directed must be True or False, got {directed!r}")
    return bool(directed)


def real_numbers(values: Any, name: str) -> NDArray[np.float64]:
    """Values as real numbers; text, complex numbers and missing dates are refused, not cut off."""
    try:
        given = np.asarray(values)
        if given.dtype.kind in "cSU":
            raise TypeError(f"got {given.dtype}")
        if given.dtype.kind in "mM" and np.isnat(given).any():
            raise TypeError(f"entry {int(np.flatnonzero(np.isnat(given))[0])} is NaT; fill or drop it")
        return given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be real numbers: {error}") from None


def node_count(nodes: Any) -> int:
    """The number of nodes, a whole number."""
    if isinstance(nodes, bool) or not isinstance(nodes, int | np.integer):
        raise InputError(f"nodes must be the number of nodes, a whole number, got {nodes!r}")
    return int(nodes)


def check_size(n: int) -> None:
    """Refuse more nodes than indices can tell apart, or than fit the memory."""
    if n > MOST_NODES:
        raise InputError(f"a graph can have at most {MOST_NODES:,} nodes, got {n:,}; number the nodes from 0 on")
    needed, available = n * BYTES_PER_NODE, available_memory()
    if available is not None and needed > max(available, 1 << 24):
        raise InputError(
            f"a graph of {n:,} nodes needs at least {in_words(needed)} of memory, but {in_words(available)} is "
            "available; number the nodes from 0 on without gaps, or use a machine with more memory"
        )


def check_name_lengths(names: NDArray[Any] | None, kind: str) -> None:
    """Refuse names that would take gigabytes as an array of text."""
    if names is None or (names.dtype.kind in "US" and names.dtype.itemsize <= MOST_LETTERS):
        return
    for i, name in enumerate(names.tolist()):
        if isinstance(name, str | bytes) and len(name) > MOST_LETTERS:
            raise InputError(
                f"the name of {kind} {i} has {len(name):,} letters (it begins with {name[:20]!r}); a name can have at "
                f"most {MOST_LETTERS:,}: shorten it, or quote cells that contain the delimiter"
            )

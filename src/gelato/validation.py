"""Arguments of ``Graph``: of the right kind and of a size that fits, refused with the right call otherwise."""

import os
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gelato.errors import InputError
from gelato.formatting import binary_size
from gelato.memory.usage import available_memory
from gelato.sparse.csr import freeze, is_frozen, is_repeated, is_symmetric, self_loop, unit_weights
from gelato.sparse.row_bands import first_where, freeze_all

MOST_NODES = 2**31 - 1
"""The most nodes whose pairs can be numbered by one 64-bit integer."""

BYTES_PER_NODE = 32
"""Least memory per node while a graph is built."""

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
            raise TypeError(f"entry {first_of(np.isnat(given))} is NaT; fill or drop it")
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
            f"a graph of {n:,} nodes needs at least {binary_size(needed)} of memory, but {binary_size(available)} is "
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


def checked_adjacency(given: Any, directed: bool) -> csr_array:
    """``(n, n)`` positive, finite weights without self-loops, symmetric unless directed; frozen."""
    shape = np.shape(given)
    if not (issparse(given) and len(shape) == 2 and shape[0] == shape[1]):
        raise InputError(f"adjacency must be a square sparse matrix, got {type(given).__name__} {shape}")
    adjacency: csr_array = csr_array(cast(csr_array, given))
    shared = all(map(is_frozen, (adjacency.data, adjacency.indices, adjacency.indptr)))
    if not (shared and adjacency.has_canonical_format):
        adjacency = adjacency.copy()
        adjacency.sum_duplicates()
    if adjacency.dtype != np.float64:
        adjacency.data = real_numbers(adjacency.data, "weights")
    n = adjacency.shape[0]
    if n < 2:
        raise InputError(f"a graph needs at least two nodes, got {n}")
    if adjacency.nnz == 0:
        raise InputError(f"the graph of {n:,} nodes has no links; give at least one")
    freeze_all(adjacency)
    if not (is_repeated(adjacency.data) or (adjacency.data.min() > 0 and np.isfinite(adjacency.data.max()))):
        i = first_of(~(np.isfinite(adjacency.data) & (adjacency.data > 0)))
        row = int(np.searchsorted(adjacency.indptr, i, side="right")) - 1
        raise InputError(
            f"link ({row}, {adjacency.indices[i]}) has weight {adjacency.data[i]}; weights must be positive and finite"
        )
    if (node := self_loop(adjacency)) >= 0:
        raise InputError(f"node {node} has a self-loop; Graph.from_edges drops them")
    if not directed and not is_symmetric(adjacency):
        raise InputError("adjacency is not symmetric; pass directed=True, or build it with Graph.from_edges")
    return unit_weights(adjacency)


def checked_attributes(given: Any, n: int) -> NDArray[Any] | csr_array | None:
    """``(n, f)`` finite numbers, dense or sparse; frozen, and shared with whoever gives them frozen."""
    if given is None:
        return None
    attributes: NDArray[Any] | csr_array
    attributes = csr_array(cast(csr_array, given)) if issparse(given) else np.asarray(given)
    if attributes.ndim != 2 or attributes.shape[0] != n:
        raise InputError(f"attributes must have shape ({n}, f), one row per node, got {attributes.shape}")
    attributes = _own_rows(attributes) if isinstance(attributes, csr_array) else _own_numbers(attributes)
    values = attributes.data if isinstance(attributes, csr_array) else attributes
    if (i := first_where(values, lambda some: ~np.isfinite(some))) is not None:
        if isinstance(attributes, csr_array):
            row, column = int(np.searchsorted(attributes.indptr, i, side="right")) - 1, int(attributes.indices[i])
        else:
            row, column = divmod(i, attributes.shape[1])
        raise InputError(f"attribute {column} of node {row} is not a finite number; fill or drop missing values")
    return attributes


def _own_numbers(given: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in single or double precision, frozen."""
    own = _floats(given)
    own = own.copy("K") if own is given and not is_frozen(own) else own
    freeze(own)
    return own


def _own_rows(given: csr_array) -> csr_array:
    """A frozen matrix in canonical form, with numbers in single or double precision."""
    data = _floats(given.data)
    if data is given.data and given.has_canonical_format and all(map(is_frozen, (data, given.indices, given.indptr))):
        return given
    parts = (data.copy() if data is given.data else data, given.indices.copy(), given.indptr.copy())
    own: csr_array = csr_array(parts, shape=given.shape)
    own.sum_duplicates()
    freeze_all(own)
    return own


def _floats(given: NDArray[Any]) -> NDArray[Any]:
    """Numbers of single or double precision as they are, others as doubles."""
    if given.dtype in (np.float32, np.float64):
        return given
    return given.astype(np.float64) if given.dtype.kind in "biuf" else real_numbers(given, "attributes")


def first_of(mask: NDArray[np.bool_]) -> int:
    """The first position that is true."""
    return int(np.flatnonzero(mask)[0])

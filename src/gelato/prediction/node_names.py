"""Nodes and pairs as a user gives them: by name, by index, in a file that lists them, or by an attribute they share."""

from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph, Pairs, check_nodes
from gelato.io import read_nodes
from gelato.io.links.node_names import index_in, text_index

PAIRS = "pairs must be pairs of nodes, such as [('ann', 'bob'), ('ann', 'cat')]"


def nodes_of(graph: Graph, nodes: Any, *, index: bool = False) -> NDArray[np.int64]:
    """``(q,)`` indices of nodes given by name, alone or in a list, a set, an array or a column of a frame.

    The name of a node of a graph without names is its index. With ``index`` all are indices, whatever the names.
    """
    given = _plain(nodes)
    if isinstance(given, str | tuple) or not isinstance(given, Sequence | Set | np.ndarray):
        single = isinstance(given, tuple) and graph.names is not None and given in graph.position
        given = [given] if single or not isinstance(given, tuple) else given
    return _indices(graph, list(given), index)


def pairs_of(graph: Graph, pairs: Any, *, index: bool = False, sort: bool = True) -> Pairs:
    """``(p, 2)`` indices of pairs given as by ``nodes_of``; ``u < v`` unless directed or not to be sorted."""
    given = _plain(pairs)
    if isinstance(given, np.ndarray):
        if given.size == 0:
            given = given.reshape(-1, 2)
        if given.ndim != 2 or given.shape[1] != 2:
            raise InputError(f"pairs must have shape (p, 2), got {given.shape}")
    elif isinstance(given, str) or not np.iterable(given):
        raise InputError(f"{PAIRS}, got {given!r}")
    if isinstance(given, np.ndarray) and (index or graph.names is None):
        found = _indices(graph, given.ravel(), index)
    else:
        rows = [tuple(pair) if np.iterable(pair) and not isinstance(pair, str) else (pair,) for pair in given]
        if any(len(row) != 2 for row in rows):
            raise InputError(PAIRS)
        found = _indices(graph, [node for row in rows for node in row], index)
    found = found.reshape(-1, 2)
    return np.sort(found, axis=1) if sort and not graph.directed else found


def chosen_pairs(
    graph: Graph, nodes: Any, between: tuple[Any, Any] | None, exclude: Any, by_index: Callable[[Any], bool]
) -> dict[str, Any]:
    """Which pairs may be suggested, as keywords of ``top``; ``by_index`` says which of the arguments hold indices."""
    chosen: dict[str, Any] = {}
    if nodes is not None:
        chosen["nodes"] = nodes_of(graph, nodes, index=by_index(nodes))
    if between is not None:
        chosen["between"] = tuple(nodes_of(graph, side, index=by_index(side)) for side in between)
    if exclude is not None:
        chosen["exclude"] = pairs_of(graph, exclude, index=by_index(exclude))
    return chosen


def nodes_by_name(texts: Sequence[str], graph: Graph) -> NDArray[np.int64]:
    """``(q,)`` the nodes with these names in text, also if their names are numbers or they have none.

    On a graph of two kinds of nodes a name may leave out the prefix of its kind, as 1 for user:1, if only one node is
    meant.
    """
    known = text_index(graph)
    return np.array([index_in(known, text, graph) for text in texts], dtype=np.int64)


def read_node_set(source: str, graph: Graph) -> NDArray[np.int64]:
    """``(q,)`` the nodes of a file with one node per row, or those whose attribute, such as ``kind=film``, is not 0."""
    if Path(source).exists():
        return read_nodes(source, graph)
    names = [] if graph.attribute_names is None else graph.attribute_names.tolist()
    if source not in names:
        raise InputError(
            f"{source!r} is neither a file nor an attribute; give a file with one node per row, or an attribute of"
            " the nodes you mean, such as kind=film"
        )
    assert graph.attributes is not None  # they have names
    place = names.index(source)
    column: Any = graph.attributes[:, [place]]
    column = column.toarray() if isinstance(column, csr_array) else column
    if graph.scaling is not None:
        column = graph.scaling.of_column(place).undo(column)
    nodes = np.flatnonzero(column)
    if len(nodes) == 0:
        raise InputError(f"no node has the attribute {source!r}; choose another")
    return nodes


def _plain(given: Any) -> Any:
    """Columns and frames of pandas or Polars, and tensors, as arrays; anything else as it is."""
    for method in ("to_numpy", "numpy"):
        if not isinstance(given, np.ndarray) and hasattr(given, method):
            return np.asarray(getattr(given, method)())
    return given


def _indices(graph: Graph, nodes: Any, index: bool) -> NDArray[np.int64]:
    """``(q,)`` indices of nodes, each checked."""
    if not index:
        listed = nodes.tolist() if isinstance(nodes, np.ndarray) else nodes
        names = [name.item() if isinstance(name, np.generic) else name for name in listed]
        try:
            return graph.index_of(names)
        except InputError as error:
            wrong = next((name for name in names if name not in graph.position), None)
            if isinstance(wrong, int) and graph.names is not None:
                raise InputError(f"{error}; nodes are given by name, or by index with index=True") from None
            raise
    found = np.asarray(nodes)
    if found.size == 0:
        return np.empty(0, np.int64)
    if found.dtype.kind not in "iu":
        raise InputError(f"index=True takes node indices, got {found.dtype}; leave it out to give nodes by name")
    check_nodes(np.column_stack([found, found]).astype(np.int64), graph.n)
    return found.astype(np.int64)

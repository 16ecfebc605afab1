"""Sets of nodes as people name them: a file that lists them, or an attribute they share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import read_nodes
from gelato.io.names import index_in, text_index


def nodes_called(texts: Sequence[str], graph: Graph) -> NDArray[np.int64]:
    """``(q,)`` the nodes with these names in text, also if their names are numbers or they have none.

    On a graph of two kinds of nodes a name may leave out the prefix of its kind, as 1 for user:1, if only one node is
    meant.
    """
    known = text_index(graph)
    return np.array([index_in(known, text, graph) for text in texts], dtype=np.int64)


def nodes_in(source: str, graph: Graph) -> NDArray[np.int64]:
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
        column = graph.scaling.only(place).undo(column)
    nodes = np.flatnonzero(column)
    if len(nodes) == 0:
        raise InputError(f"no node has the attribute {source!r}; choose another")
    return nodes

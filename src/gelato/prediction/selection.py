"""Sets of nodes as people name them: a file that lists them, or an attribute that they have."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import read_nodes


def nodes_called(texts: Sequence[str], graph: Graph) -> NDArray[np.int64]:
    """``(q,)`` the nodes that are written so, also where their names are numbers, or they have none."""
    names = {str(name): name for name in map(graph.name_of, range(graph.n))}
    return graph.index_of([names.get(text, text) for text in texts])


def nodes_in(told: str, graph: Graph) -> NDArray[np.int64]:
    """``(q,)`` the nodes of a file with one a row, or those for which an attribute such as ``kind=film`` is not 0."""
    if Path(told).exists():
        return read_nodes(told, graph)
    names = [] if graph.attribute_names is None else graph.attribute_names.tolist()
    if told not in names:
        raise InputError(
            f"{told!r} is neither a file nor an attribute; give a file with one node a row, or an attribute of the"
            " nodes meant, such as kind=film"
        )
    column = csc_array(graph.attributes)[:, [names.index(told)]].toarray().ravel()
    nodes = np.flatnonzero(column)
    if len(nodes) == 0:
        raise InputError(f"no node has the attribute {told!r}; choose another")
    return nodes

"""Partitions of the nodes by METIS, from the training graph only."""

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError, MissingDependency
from gelato.graph import Graph


def partition(graph: Graph, k: int, seed: int = 0) -> NDArray[np.int64]:
    """``(n,)`` the part of each node: ``k`` parts of about equal size with few links between them.

    Deterministic by seed. Weights are ignored, and a directed graph is taken without its directions. METIS leaves
    some parts empty on graphs of many components; labels are then renumbered without gaps.
    """
    if not 1 <= k <= graph.n:
        raise InputError(f"the number of parts must lie in 1..{graph.n:,} (the nodes), got {k:,}")
    if k == 1:
        return np.zeros(graph.n, dtype=np.int64)
    try:
        import pymetis
    except ImportError:
        raise MissingDependency("partitioning a graph", "pymetis", "metis") from None
    structure = graph.adjacency if not graph.directed else graph.adjacency + graph.adjacency.T
    links = pymetis.CSRAdjacency(structure.indptr.tolist(), structure.indices.tolist())
    options = pymetis.Options(seed=seed % (2**31 - 2) + 1)  # METIS takes 0 for 1, and 31 bits
    _, labels = pymetis.part_graph(k, adjacency=links, recursive=False, options=options)
    _, dense = np.unique(np.asarray(labels, dtype=np.int64), return_inverse=True)
    return dense.astype(np.int64)

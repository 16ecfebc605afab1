"""Autocovariance of a random walk, the similarity that Gelato is built on."""

from typing import Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array, diags_array

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.scores import WalkScores
from gelato.sparse.csr import row_sums, unit_weights

SelfLoops = Literal["isolated", "all"]


def autocovariance(
    graph: Graph, *, steps: int = 3, self_loops: SelfLoops = "isolated", dtype: DTypeLike = np.float64
) -> WalkScores:
    """Autocovariance of a random walk of length t = ``steps``.

    ``R = D/vol (D^-1 A)^t - d d^T / vol^2``                [method 4]

    with degrees ``d = A 1`` (of the links out of a node when the graph is directed), ``D = diag(d)``,
    ``vol = sum(d)``, ``t = steps``. Off the support of the walk only the second term is left: the background.

    Args:
        graph: weighted or not, directed or not.
        steps: length ``t >= 1`` of the walk.
        self_loops: give a self-loop of weight 1 to nodes without a link out of them, or to all nodes.
        dtype: float64, or float32, which ranks approximately (docs/decisions.md, 3).
    """
    return autocovariance_with(graph, loops_of(graph, self_loops), steps=steps, dtype=dtype)


def loops_of(graph: Graph, self_loops: SelfLoops) -> NDArray[np.float64]:
    """``(n,)`` weights of the self-loops: 1 for nodes without a link out of them, or for all nodes."""
    if self_loops not in ("isolated", "all"):
        raise InputError(f"self_loops must be 'isolated' or 'all', got {self_loops!r}")
    return np.ones(graph.n) if self_loops == "all" else (row_sums(graph.adjacency) == 0).astype(np.float64)


def autocovariance_with(
    graph: Graph, loops: NDArray[np.float64], *, steps: int = 3, dtype: DTypeLike = np.float64
) -> WalkScores:
    """Autocovariance of a graph with self-loops of ``(n,)`` given weights; a node without links must have one."""
    A = graph.adjacency
    if loops.any():
        A = csr_array(A + diags_array(loops))
        A.eliminate_zeros()
        A.sort_indices()
    A = unit_weights(A)
    power = 2.0 ** np.floor(np.log2(A.data.max()))  # R does not change, and no weight is too large or small
    if power != 1:
        A = csr_array((A.data / power, A.indices, A.indptr), shape=A.shape)
    d = row_sums(A)
    vol = float(d.sum())
    return WalkScores(
        A,
        A,
        1 / d,
        steps,
        node=d,
        sign=-1.0,
        scale=vol,
        unit=1 / vol**2,
        directed=graph.directed,
        dtype=np.dtype(dtype),
    )

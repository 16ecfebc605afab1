"""Katz index, truncated at a length: cheap, and exact over all pairs."""

import math

import numpy as np
from numpy.typing import DTypeLike

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.scores import WalkScores


def katz(graph: Graph, *, beta: float = 0.005, steps: int = 3, dtype: DTypeLike = np.float64) -> WalkScores:
    """Katz index of walks up to length ``L = steps``: ``sum_{l=1..L} beta^l A^l``.

    Args:
        graph: weighted or not, directed or not.
        beta: what each further step is worth, positive.
        steps: the longest walk counted.
        dtype: float64, or float32, which ranks approximately (docs/decisions.md, 3).
    """
    if not beta > 0:
        raise InputError(f"beta must be positive, got {beta}")
    A = graph.adjacency
    most = float(A.sum(axis=1).max())
    if steps * math.log10(beta * most) > 300:
        raise InputError(f"walks of {steps} steps overflow where weights sum to {most:.3g} at a node; scale them down")
    return WalkScores(
        A,
        A,
        weight=np.full(graph.n, beta),
        steps=steps,
        node=np.zeros(graph.n),
        scale=beta,
        every_length=True,
        directed=graph.directed,
        dtype=np.dtype(dtype),
    )

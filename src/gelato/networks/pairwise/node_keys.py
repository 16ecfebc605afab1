"""Numbers that tell nodes apart whatever their order is: hashes of their attributes."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.graph import Graph
from gelato.kernels.mixed_bits import mixed_bits

Words = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed_words(words: NDArray[Any]) -> Words:
    """A random function of 64-bit words, one to one: the step and finalizer of splitmix64."""
    return mixed_bits(words.astype(np.uint64) + _GOLDEN)


class NodeKeys:
    """One number for each node of a graph, the same in every order of the nodes, on every device and in any precision.

    Nodes of the same attributes have the same key. Without attributes it is made of the place of the node.

    Example:
        >>> X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
        >>> first, second, third = NodeKeys(Graph.from_edges([(0, 1)], 3, attributes=X)).values
        >>> bool(first == third), bool(first == second)
        (True, False)
    """

    def __init__(self, graph: Graph) -> None:
        self._n, self._attributes = graph.n, graph.attributes if graph.f else None

    @cached_property
    def values(self) -> Words:
        """``(n,)`` the keys: sums over the attributes that are not 0, modulo ``2^64``."""
        if self._attributes is None:
            return mixed_words(np.arange(self._n))
        X = csr_array(self._attributes)
        values = X.data.astype(np.float32)
        column = mixed_words(X.indices)
        words = np.where(values == 0, np.uint64(0), mixed_words(column ^ values.view(np.uint32)))
        sums = np.append(np.uint64(0), np.cumsum(words, dtype=np.uint64))
        return mixed_words(sums[X.indptr[1:]] - sums[X.indptr[:-1]])

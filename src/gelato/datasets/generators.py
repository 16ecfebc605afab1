"""Generated graphs, whose structure, and so the right answer, is known."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph, Pairs

Seed = int | np.random.Generator


def block_model(
    sizes: Sequence[int],
    p_in: float,
    p_out: float,
    *,
    attributes: int = 0,
    words: int = 10,
    noise: float = 0.5,
    seed: Seed = 0,
) -> Graph:
    """A stochastic block model: pairs are linked independently, more often inside a block than across.

    ``P(u ~ v) = p_in`` if ``u`` and ``v`` are in one block, else ``p_out``

    The number of links is drawn first and then that many distinct pairs, so time and memory are ``O(n + m)``.
    Attributes are binary and sparse: attribute ``j`` belongs to block ``j mod len(sizes)``, and every node draws
    ``words`` of them, from its own block with probability ``1 - noise`` and else from all.

    Args:
        sizes: number of nodes of each block; labels are the blocks, in order.
        p_in: probability of a link inside a block.
        p_out: probability of a link across two blocks.
        attributes: number of attributes; 0 for none.
        words: attributes drawn for each node; one drawn twice counts once.
        noise: share of the draws that are independent of the block.
        seed: equal seeds give equal graphs.

    >>> graph = block_model([30, 30], p_in=0.5, p_out=0.01, attributes=8, seed=1)
    >>> graph.n, graph.f, graph.labels.sum()
    (60, 8, np.int64(30))
    >>> graph.fingerprint == block_model([30, 30], p_in=0.5, p_out=0.01, attributes=8, seed=1).fingerprint
    True

    References:
        P. W. Holland, K. B. Laskey, S. Leinhardt: Stochastic blockmodels: first steps. Social Networks 5, 1983.
    """
    for name, share in {"p_in": p_in, "p_out": p_out, "noise": noise}.items():
        if not 0 <= share <= 1:
            raise InputError(f"{name} must lie in [0, 1], got {share}")
    if not len(sizes) or min(sizes) < 1:
        raise InputError(f"sizes must hold at least one node for each block, got {list(sizes)}")
    if attributes and (attributes < len(sizes) or words < 1):
        raise InputError(
            f"attributes must be 0 or at least one for each of the {len(sizes)} blocks, with words at least 1, "
            f"got {attributes} and {words}"
        )
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(len(sizes)), sizes)
    node, end = np.arange(len(block)), np.cumsum(sizes)[block]
    inside = _drawn_pairs(node + 1, end - node - 1, p_in, rng)
    edges = np.concatenate([inside, _drawn_pairs(end, len(block) - end, p_out, rng)])
    drawn = _block_words(block, len(sizes), attributes, words, noise, rng) if attributes else None
    return Graph.from_edges(edges, len(block), attributes=drawn, labels=block)


def two_cliques(size: int, *, bridge: bool = False) -> Graph:
    """Two cliques of ``size`` nodes with one link missing in each: ``(0, 1)`` and ``(size, size + 1)``.

    Any sensible predictor ranks these two above all other missing links. The bridge ``(size - 1, 2 * size - 1)``
    makes the graph connected.

    >>> two_cliques(4, bridge=True)
    Graph(8 nodes, 11 links, 0 attributes)
    """
    if size < 4:
        raise InputError(f"size must be at least 4, or the missing links would not be the most likely ones, got {size}")
    u, v = np.triu_indices(size, 1)
    clique = np.column_stack([u, v])[1:]  # the first pair is (0, 1)
    extra = np.array([[size - 1, 2 * size - 1]] if bridge else [], dtype=np.int64).reshape(-1, 2)
    edges = np.concatenate([clique, clique + size, extra])
    return Graph.from_edges(edges, 2 * size, labels=np.repeat(np.arange(2), size))


def _drawn_pairs(first: NDArray[np.int64], count: NDArray[np.int64], p: float, rng: np.random.Generator) -> Pairs:
    """``(k, 2)`` distinct pairs, each drawn with probability ``p`` from ``(u, first[u] + 0 .. count[u] - 1)``."""
    end = np.cumsum(count)
    k = rng.binomial(end[-1], p)
    drawn = rng.choice(end[-1], size=k, replace=False, shuffle=False) if k else np.empty(0, dtype=np.int64)
    u = np.searchsorted(end, drawn, side="right")
    return np.column_stack([u, first[u] + drawn - (end[u] - count[u])])


def _block_words(
    block: NDArray[np.int64], blocks: int, attributes: int, words: int, noise: float, rng: np.random.Generator
) -> csr_array:
    own = -(-(attributes - block) // blocks)  # how many attributes belong to the node's block
    shape = (len(block), words)
    typical = block[:, None] + blocks * (rng.random(shape) * own[:, None]).astype(np.int64)
    drawn = np.where(rng.random(shape) < noise, rng.integers(attributes, size=shape), typical)
    rows = (np.ones(drawn.size, dtype=np.float32), drawn.ravel(), np.arange(0, drawn.size + 1, words))
    matrix = csr_array(rows, shape=(len(block), attributes))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix

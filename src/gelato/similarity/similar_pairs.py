"""Augmentation: the pairs whose attributes are most alike, as further links of a graph.

With ``S`` (n, n) a similarity of the attribute rows and its diagonal zeroed, ``K = floor(eta * nnz(A))`` and ``theta``
the K-th largest of all ``n^2`` entries of ``S``, the pairs with ``S_uv > theta`` are added. ``S`` is made in blocks of
rows, above the diagonal only, and of each block only what can still be among the best is kept: memory is
``O(block + K)``.
"""

import hashlib
import math
from collections.abc import Sequence
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph, Pairs, check_nodes, pair_keys
from gelato.similarity.measures import ENTRIES, SIMILARITIES, Similarity, parts_of

_ROWS = 128
"""Rows of a block: their dense attributes should stay in the cache."""


def most_similar(graph: Graph, eta: float, *, similarity: str = "cosine") -> Pairs:
    """Every pair with ``S_uv > theta``, the K-th largest of the ``n^2`` entries of ``S``, ``K = floor(eta * nnz(A))``.

    ``nnz(A)`` is ``2 m`` in an undirected graph and ``m`` in a directed one. The diagonal of ``S`` is 0 and counts as
    ``n`` entries. Pairs tied with ``theta`` stay out, so fewer than ``K`` entries pass; similarities that differ by at
    most its ``tie`` are tied. ``K`` beyond ``n^2`` counts as ``n^2``: every pair above the smallest entry passes.

    Args:
        graph: the training graph, with attributes unless ``eta`` is 0.
        eta: how many entries to look at, as a share of ``nnz(A)``; finite, at least 0.
        similarity: a name in ``SIMILARITIES``.

    Returns:
        ``(p, 2)`` pairs in the order of ``(u, v)``, links of the graph among them: ``u < v`` in an undirected graph,
        both ``(u, v)`` and ``(v, u)`` in a directed one.
    """
    return most_similar_by_share(graph, [eta], similarity=similarity)[0]


def most_similar_by_share(
    graph: Graph, etas: Sequence[float], *, similarity: str = "cosine", among: NDArray[np.bool_] | None = None
) -> list[Pairs]:
    """What ``most_similar`` returns for each of several ``eta``, by one look at ``S``.

    ``among``, ``(n,)``, leaves out nodes, as if ``S`` had no rows and columns of theirs.
    """
    measure = SIMILARITIES[similarity]
    for eta in etas:
        if not (isinstance(eta, Real) and math.isfinite(eta) and eta >= 0):
            raise InputError(f"eta must be a finite number of at least 0, got {eta!r}; 0 adds no pairs")
    n, none = graph.n, np.empty((0, 2), np.int64)
    if not any(etas):
        return [none] * len(etas)
    alike = measure(graph)
    inside = np.ones(n, dtype=bool) if among is None else among
    size = int(inside.sum())
    counts = [math.floor(min(float(eta) * graph.adjacency.nnz, size * size)) for eta in etas]
    if not any(counts):
        return [none] * len(etas)
    needed = min((max(counts) + 1) // 2, size * (size - 1) // 2)
    wanted = needed
    while True:
        best, keys = _remembered(graph, alike, similarity, wanted)
        u, v = np.divmod(keys, n)
        kept = inside[u] & inside[v]
        if kept.sum() >= needed:
            break
        wanted = min(4 * wanted, n * (n - 1) // 2)
    best, keys = best[kept], keys[kept]
    return [
        _pairs_of(keys[best > _threshold(best, size, K) + alike.tie], n, graph.directed) if K else none for K in counts
    ]


def nearest_of(graph: Graph, nodes: NDArray[np.int64], count: int, *, similarity: str = "cosine") -> Pairs:
    """For each of some nodes the ``count`` nodes most similar to it, of similarities above 0 alone.

    Of equal similarities the node of the smaller index is taken. Returns distinct ``(p, 2)`` pairs in the order of
    ``(u, v)``, both ways round in a directed graph, as ``most_similar`` does.
    """
    alike = SIMILARITIES[similarity](graph)
    found = [np.empty(0, np.int64)]
    for part in parts_of(len(nodes), min(_ROWS, ENTRIES // max(graph.n, graph.f))):
        rows = nodes[part]
        block = alike.block(rows)
        block[np.arange(len(rows)), rows] = -np.inf
        nearest = np.argsort(-np.round(block / alike.tie) if alike.tie else -block, axis=1, kind="stable")[:, :count]
        row, place = (np.take_along_axis(block, nearest, axis=1) > alike.tie).nonzero()
        ends = np.sort(np.column_stack([rows[row], nearest[row, place]]), axis=1)
        found.append(pair_keys(ends, graph.n))
    return _pairs_of(np.unique(np.concatenate(found)), graph.n, graph.directed)


def _pairs_of(keys: NDArray[np.int64], n: int, directed: bool) -> Pairs:
    """The pairs ``u < v`` of some keys in their order, both ways round if ``directed``."""
    u, v = np.divmod(np.sort(keys), n)
    if directed:
        u, v = np.concatenate([u, v]), np.concatenate([v, u])
        order = np.lexsort([v, u])
        u, v = u[order], v[order]
    return np.column_stack([u, v])


def similarity_of(graph: Graph, pairs: ArrayLike, *, similarity: str = "cosine") -> NDArray[np.float64]:
    """``(p,)`` the entries ``S_uv`` of listed ``(p, 2)`` pairs, negative ones as they are; 0 where ``u = v``."""
    listed = np.asarray(pairs)
    if listed.ndim != 2 or listed.shape[1] != 2 or not np.issubdtype(listed.dtype, np.integer):
        raise InputError(f"pairs must be integer node indices of shape (p, 2), got {listed.dtype} {listed.shape}")
    check_nodes(listed, graph.n)
    values = np.clip(SIMILARITIES[similarity](graph).pairs(listed.astype(np.int64)), -1, 1)
    values[listed[:, 0] == listed[:, 1]] = 0
    return values


Found = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Similarities of pairs ``u < v``, and their keys ``u * n + v``."""

_LAST: dict[str, tuple[int, Found]] = {}
"""The largest similarities looked for last, by a hash of the attributes: a model is fitted and applied many times."""

SLACK = 1.25
"""How many more are kept than asked for, as the next graph with these attributes may have a few more links."""


def _remembered(graph: Graph, alike: Similarity, similarity: str, k: int) -> Found:
    """At least the ``k`` largest similarities of pairs ``u < v`` and their keys, those of the last call if they do."""
    assert graph.attributes is not None  # else there is no similarity
    X = csr_array(graph.attributes)
    digest = hashlib.sha256(f"{similarity} {X.shape}".encode())
    for part in (X.indptr, X.indices, X.data):
        digest.update(np.ascontiguousarray(part).tobytes())
    key = digest.hexdigest()
    last = _LAST.get(key)
    if last is None or last[0] < k:
        n = graph.n
        most = min(math.ceil(SLACK * k), n * (n - 1) // 2)
        last = most, _largest(alike, n, most, min(_ROWS, ENTRIES // max(n, graph.f)))
        _LAST.clear()
        _LAST[key] = last
    return last[1]


def _largest(alike: Similarity, n: int, k: int, step: int) -> Found:
    """The ``k`` largest similarities, in no order."""
    found: list[Found] = []
    size, bound = 0, -np.inf  # k similarities of at least the bound are held
    for part in parts_of(n, step):
        rows = np.arange(n)[part]
        block = alike.block(rows, part.start)
        block[np.tril_indices(len(rows))] = -np.inf
        columns = block.T  # as the product lays it out
        v, u = (columns > bound).nonzero()
        found.append((block[u, v], rows[u] * n + (part.start + v)))
        size += len(u)
        if size >= 2 * k:
            found = [_best_of(found, k)]
            size, bound = k, found[0][0].min()
    return _best_of(found, k)


def _best_of(found: list[Found], k: int) -> Found:
    values, keys = (np.concatenate(column) for column in zip(*found, strict=True))
    kept = np.argpartition(values, -k)[-k:]
    return values[kept], keys[kept]


def _threshold(best: NDArray[np.float64], n: int, K: int) -> float:
    """The K-th largest entry of ``S``: ``best`` lists the largest of one triangle, and the diagonal holds ``n`` zeros.

    Each value of the triangle is two entries, so without the diagonal it is the value of rank ``K / 2``, rounded up.
    The zeros come before the negative values: if that value is negative, they push it up to rank ``(K - n) / 2``, but
    not beyond 0.
    """
    descending = np.sort(best)[::-1]

    def at(rank: int) -> float:
        return math.inf if rank <= 0 else -math.inf if rank > len(descending) else float(descending[rank - 1])

    return max(at((K + 1) // 2), min(0.0, at((K - n + 1) // 2)))

"""Similarity and learned weight of a pair of nodes, with one attribute after another set to 0 in both.

Only attributes that either node has are looked at: ``x_u``, ``x_v`` are ``(k,)``, their values in these.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.graph import Graph, Pairs
from gelato.similarity.similar_pairs import similarity_of

Columns = NDArray[np.int64]
Floats = NDArray[np.float64]

ENTRIES = 1 << 21
"""Numbers that are held at once, of changed nodes or of the first layer."""


def columns_of(X: csr_array, pairs: Pairs) -> list[Columns]:
    """For each of ``(p, 2)`` pairs the attributes that either node has; ``X`` (n, f) stores no zeros."""
    rows = [[X.indices[X.indptr[a] : X.indptr[a + 1]] for a in pair] for pair in pairs.tolist()]
    return [np.union1d(*row).astype(np.int64) for row in rows]


def similar_without(X: csr_array, pairs: Pairs, columns: Sequence[Columns], similarity: str) -> list[Floats]:
    """For each pair ``(k,)`` of ``max(S_uv, 0)`` without each of its columns."""
    if similarity in _LEFT:
        without = _LEFT[similarity]
        both = (_values(X, *each) for each in zip(pairs.tolist(), columns, strict=True))
        return [np.clip(without(x_u, x_v), 0.0, 1.0) for x_u, x_v in both]
    found: list[Floats] = []
    for part in _parts([2 * len(column) ** 2 for column in columns]):
        sizes = [len(column) for column in columns[part]]
        values = _changed(X, np.repeat(pairs[part], sizes, axis=0), np.concatenate(columns[part]), similarity)
        found += np.split(values, np.cumsum(sizes)[:-1])
    return found


def learned_effects(net: Any, X: csr_array, pairs: Pairs, columns: Sequence[Columns], directed: bool) -> list[Floats]:
    """For each pair ``(k,)`` of ``w_uv`` less what it is without each of its columns.

    The first layer of the pair MLP is a sum over attributes, ``h = bias + sum_i c_i``: without ``i`` it is ``h - c_i``.
    """
    import torch

    effects: list[Floats] = []
    hidden = net.first.out_features
    for part in _parts([hidden * (len(column) + 1) for column in columns]):
        each = zip(pairs[part].tolist(), columns[part], strict=True)
        layers = [_first_layer(net, *_values(X, pair, column), column, directed) for pair, column in each]
        with torch.no_grad():
            learned = net.rest(torch.from_numpy(np.concatenate(layers))).sigmoid().numpy()
        cuts = np.cumsum([len(layer) for layer in layers])[:-1]
        effects += [whole[0] - whole[1:] for whole in np.split(learned, cuts)]
    return effects


def _first_layer(net: Any, x_u: Floats, x_v: Floats, column: Columns, directed: bool) -> Floats:
    """``(1 + k, h)`` what the first layer gives with all the columns, and without each of them."""
    weight, bias = net.first.weight.detach().numpy(), net.first.bias.detach().numpy()
    f = weight.shape[1] // 2
    first, second = (x_u, x_v) if directed else (x_u + x_v, abs(x_u - x_v))
    part = first[:, None] * weight[:, column].T + second[:, None] * weight[:, f + column].T
    layer: Floats = bias + part.sum(axis=0) - np.concatenate([np.zeros((1, len(bias))), part])
    return layer


def _values(X: csr_array, pair: Sequence[int], column: Columns) -> tuple[Floats, Floats]:
    """``x_u`` and ``x_v`` in the columns."""
    values = np.zeros((2, len(column)))
    for row, a in zip(values, pair, strict=True):
        mine = slice(X.indptr[a], X.indptr[a + 1])
        row[np.searchsorted(column, X.indices[mine])] = X.data[mine]
    return values[0], values[1]


def _others(x: Floats) -> Floats:
    """``(k,)`` the sum of all entries but each; nothing is taken off a sum, so nothing cancels."""
    before, after = np.zeros_like(x), np.zeros_like(x)
    np.cumsum(x[:-1], out=before[1:])
    np.cumsum(x[:0:-1], out=after[-2::-1])
    return before + after


def _cosine_without(x_u: Floats, x_v: Floats) -> Floats:
    x_u, x_v = (x / (abs(x).max(initial=0) or 1.0) for x in (x_u, x_v))
    size = np.sqrt(_others(x_u * x_u)) * np.sqrt(_others(x_v * x_v))
    cosines: Floats = np.divide(_others(x_u * x_v), size, out=np.zeros_like(size), where=size > 0)
    return cosines


def _jaccard_without(x_u: Floats, x_v: Floats) -> Floats:
    largest = _others(np.maximum(x_u, x_v))
    return np.divide(_others(np.minimum(x_u, x_v)), largest, out=np.zeros_like(largest), where=largest > 0)


_LEFT: dict[str, Callable[[Floats, Floats], Floats]] = {"cosine": _cosine_without, "jaccard": _jaccard_without}
"""Similarities by sums over attributes; others are computed anew from the changed rows."""


def _parts(sizes: Sequence[int]) -> Iterator[slice]:
    """Slices of consecutive things of these sizes, as many at a time as may be held."""
    begin, held = 0, 0
    for i, size in enumerate(sizes):
        if i > begin and held + size > ENTRIES:
            yield slice(begin, i)
            begin, held = i, 0
        held += size
    if begin < len(sizes):
        yield slice(begin, len(sizes))


def _changed(X: csr_array, pairs: Pairs, column: Columns, similarity: str) -> Floats:
    """``(c,)`` of ``max(S_uv, 0)`` for ``(c, 2)`` pairs, each without one column."""
    count = len(column)
    if count == 0:
        return np.zeros(0)
    rows = csr_array(X[pairs.T.ravel()])
    rows.data[rows.indices == np.repeat(np.tile(column, 2), np.diff(rows.indptr))] = 0.0
    rows.eliminate_zeros()
    link = csr_array(([1.0], ([0], [1])), shape=(2 * count, 2 * count))
    ends = np.column_stack([np.arange(count), count + np.arange(count)])
    changed = Graph(link, attributes=rows, directed=True)
    return np.maximum(similarity_of(changed, ends, similarity=similarity), 0.0)

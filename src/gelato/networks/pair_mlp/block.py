"""Log-odds of the pair MLP for blocks of rows and columns, in double precision and without torch."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from gelato.graph import Graph, Pairs
from gelato.networks.pair_mlp.network import PairMLP

Layer = tuple[NDArray[np.float64], NDArray[np.float64]]
"""``(h', h)`` weight and ``(h',)`` bias."""

CHUNK = 2**10
"""Pairs whose hidden layers are held at once, about."""


@dataclass(frozen=True, eq=False)
class PairBlock:
    """Blocks of the pair MLP; the first layer is multiplied once a node (``PairFeatures``).

    It is ``p_u + q_v - 2 min(x_u, x_v) W``, the minimum over the attributes that two nodes share where these are sparse
    and not negative; ``p_u + q_v`` alone on directed graphs.

    Attributes:
        P, Q: ``(n, h)`` what a node adds as the first and as the second of a pair, the bias in ``P``.
        W: ``(f, h)`` weight of the minimum, or ``None`` if directed.
        X: ``(n, f)`` attributes, sparse or dense, or ``None`` if directed.
        layers: those that follow, relu before each of them.
    """

    P: NDArray[np.float64]
    Q: NDArray[np.float64]
    W: NDArray[np.float64] | None
    X: Any
    layers: tuple[Layer, ...]

    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, c)`` log-odds of rows with columns."""
        block = np.empty((len(rows), len(columns)))
        for begin in range(0, len(columns), CHUNK):
            some = columns[begin : begin + CHUNK]
            for i, (u, least) in enumerate(self._least(rows, some)):
                h = self.P[u] + self.Q[some]
                if least is not None:
                    h -= 2 * least
                block[i, begin : begin + CHUNK] = _through(h, self.layers)
        return block

    def _least(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Iterator[tuple[int, Any]]:
        """Each row, with its ``(c, h)`` product ``min(x_u, x_v) W``."""
        if self.W is None:
            yield from ((u, None) for u in rows.tolist())
        elif not isinstance(self.X, csr_array):
            X = self.X[columns]
            yield from ((u, np.minimum(X, self.X[u]) @ self.W) for u in rows.tolist())
        else:
            X = csc_array(self.X[columns])
            for u in rows.tolist():
                mine = self.X[[u]]
                shared = X[:, mine.indices]
                shared.data = np.minimum(shared.data, np.repeat(mine.data, np.diff(shared.indptr)))
                yield u, shared @ self.W[mine.indices]

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        scores = np.empty(len(pairs))
        for begin in range(0, len(pairs), CHUNK):
            u, v = pairs[begin : begin + CHUNK].T
            h = self.P[u] + self.Q[v]
            if self.W is not None:
                x, y = self.X[u], self.X[v]
                h -= 2 * ((x.minimum(y) if isinstance(x, csr_array) else np.minimum(x, y)) @ self.W)
            scores[begin : begin + CHUNK] = _through(h, self.layers)
        return scores

    @property
    def parts(self) -> tuple[Any, ...]:
        return (self.P, self.Q, self.W, self.X, *self.layers)


def pair_block(net: PairMLP, graph: Graph) -> PairBlock:
    """Log-odds of every pair of a graph, by a trained MLP as it is outside training."""
    X: Any = graph.attributes
    sparse: bool = issparse(X)
    if sparse and X.data.min(initial=0) >= 0:
        X = csr_array(X, dtype=np.float64)
    else:
        X = np.asarray(X.toarray() if sparse else X, dtype=np.float64)
    weight, bias = _layer_of(net.first)
    V, W = weight[:, : graph.f].T, weight[:, graph.f :].T
    second, (last, shift) = _layer_of(net.second), _layer_of(net.last)
    odds = (last[1:] - last[:1], shift[1:] - shift[:1])
    layers = (_after(net.first_norm, second), _after(net.second_norm, odds))
    if graph.directed:
        return PairBlock(X @ V + bias, X @ W, None, None, layers)
    H = X @ (V + W)
    return PairBlock(H + bias, H, np.ascontiguousarray(W), X, layers)


def _after(norm: Any, layer: Layer) -> Layer:
    """A layer and the BatchNorm before it as one layer."""
    mean, var, gain, shift = (
        part.detach().cpu().double().numpy() for part in (norm.running_mean, norm.running_var, norm.weight, norm.bias)
    )
    weight, bias = layer
    scale = gain / np.sqrt(var + norm.eps)
    return weight * scale, bias + weight @ (shift - mean * scale)


def _layer_of(linear: Any) -> Layer:
    """The numbers of a ``torch.nn.Linear``, from any device."""
    return linear.weight.detach().cpu().double().numpy(), linear.bias.detach().cpu().double().numpy()


def _through(h: NDArray[np.float64], layers: tuple[Layer, ...]) -> NDArray[np.float64]:
    """``(p,)`` what ``layers`` make of ``(p, h)``, relu before each of them, the last of width 1; overwrites ``h``.

    Example:
        >>> h = np.array([[1.0, -2.0], [3.0, 4.0]])
        >>> _through(h, ((np.array([[1.0, 10.0]]), np.array([0.5])),)).tolist()
        [1.5, 43.5]
    """
    for weight, bias in layers:
        np.maximum(h, 0, out=h)
        h = h @ weight.T
        h += bias
    return h[:, 0]

"""Evidence: what speaks for a link of the enhanced graph, and which attributes do.

``A~_uv = alpha A_uv + (1 - alpha) (beta w_uv + (1 - beta) max(S_uv, 0))``          [method 3]

The effect of attribute ``i`` on a link is ``A~_uv`` less what it would be with column ``i`` set to 0 in both nodes; the
observed part, and whether the pair is a link at all, stay as they are.
"""

import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph, check_nodes, pair_keys
from gelato.methods.gelato.enhance.occlusion import columns_of, learned_effects, similar_without
from gelato.similarity.enhanced_links import EnhancedLinks

LEAST = 1e-12
"""Effects up to this are rounding."""

Effects = tuple[tuple[str, float], ...]
"""Names of attributes and their effects, the largest first."""


@dataclass(frozen=True)
class LinkComposition:
    """What one link of the enhanced graph is made of.

    Attributes:
        kind: whether the link was observed, or added because its attributes are alike.
        weight: ``A~_uv``.
        learned: ``w_uv``, or ``None`` where none is learned.
        similarity: ``max(S_uv, 0)``, or ``None`` where there are no attributes.
    """

    kind: Literal["observed", "attributes"]
    weight: float
    learned: float | None
    similarity: float | None


class EnhancedLinkEvidence:
    """What a model knows about the links of its enhanced graph.

    Args:
        graph: the graph that was enhanced, with its attributes; without them only the links are known.
        links: the enhanced links.
        weights: ``(M,)`` their weights.
        alpha: share of the observed weight.
        beta: share of the learned weight in what attributes make.
        similarity: a name in ``SIMILARITIES``.
        net: the pair MLP, if that learned the weights. Of other encoders, which see more than the two nodes, the
            attributes' effects through the similarity are told, and those through the learned weight are not.
        scale: ``(M,)`` what each weight was multiplied by after all that.
    """

    def __init__(
        self,
        graph: Graph,
        links: EnhancedLinks,
        weights: ArrayLike,
        *,
        alpha: float,
        beta: float,
        similarity: str = "cosine",
        net: Any = None,
        scale: ArrayLike = 1.0,
    ) -> None:
        self.graph, self.links, self.weights = graph, links, np.asarray(weights, np.float64)
        self.scale = np.broadcast_to(np.asarray(scale, np.float64), self.weights.shape)
        if (links.n, links.directed) != (graph.n, graph.directed) or self.weights.shape != (len(links.pairs),):
            raise InputError(
                f"evidence needs one weight for each of the {len(links.pairs):,} links, and the graph they enhance:"
                f" got {self.weights.size:,} weights, links of {links.n:,} nodes and a graph of {graph.n:,}"
            )
        self.alpha, self.beta, self.similarity = float(alpha), float(beta), similarity
        self._keys = pair_keys(links.pairs, links.n)
        self._net: Any = None
        if net is not None and alpha < 1 and beta > 0:
            from gelato.networks.pair_mlp.network import PairMLP  # which loads torch

            if isinstance(net, PairMLP):
                self._net = copy.deepcopy(net).cpu().double().eval()  # double: small effects are differences
        self._X: csr_array | None = None
        if graph.attributes is not None:
            self._X = csr_array(graph.attributes).astype(np.float64)
            self._X.eliminate_zeros()

    def edges(self, pairs: ArrayLike) -> list[LinkComposition]:
        """The composition of ``(p, 2)`` links."""
        place = self._positions(pairs)
        observed, similar, weight = self.links.observed[place], self.links.similar[place], self.weights[place]
        share = (1 - self.alpha) * self.beta
        learned: list[float | None] = [None] * len(place)
        if share > 0:
            own = weight / self.scale[place]
            made = own - self.alpha * observed - (1 - self.alpha) * (1 - self.beta) * similar
            learned = np.clip(made / share, 0, 1).tolist()
        alike: list[float | None] = similar.tolist()
        if self.alpha == 1 and self.graph.f == 0:
            alike = [None] * len(place)
        return [
            LinkComposition("observed" if seen else "attributes", *rest)
            for seen, *rest in zip((observed > 0).tolist(), weight.tolist(), learned, alike, strict=True)
        ]

    def attributes_of(self, pairs: ArrayLike, limit: int = 5) -> list[Effects]:
        """The attributes that speak most for each of ``(p, 2)`` links: those of positive effect, the largest first."""
        if limit < 1:
            raise InputError(f"the number of attributes to list must be at least 1, got {limit}")
        place = self._positions(pairs)
        listed, X, share = self.links.pairs[place], self._X, self._similar_share(place)
        if X is None or len(listed) == 0 or (self._net is None and not share.any()):
            return [()] * len(listed)
        columns = columns_of(X, listed)
        effects = [np.zeros(len(column)) for column in columns]
        if share.any():
            without = similar_without(X, listed, columns, self.similarity)
            for effect, part, mine, rest in zip(effects, share, self.links.similar[place], without, strict=True):
                effect += part * (mine - rest)
        if self._net is not None:
            learned = learned_effects(self._net, X, listed, columns, self.graph.directed)
            for effect, mine in zip(effects, learned, strict=True):
                effect += (1 - self.alpha) * self.beta * mine
        return [
            self._named_effects(column, scale * effect, limit)
            for column, effect, scale in zip(columns, effects, self.scale[place].tolist(), strict=True)
        ]

    def _similar_share(self, place: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(p,)`` what the similarity counts in the weight of each link.

        A link that ``alpha = 1`` would leave without weight, and that has one, is all similarity: so are newcomers
        joined to a graph.
        """
        share = np.full(len(place), (1 - self.alpha) * (1 - self.beta))
        if self.alpha == 1:
            share[(self.links.observed[place] == 0) & (self.weights[place] > 0)] = 1.0
        return share

    def _named_effects(self, column: NDArray[np.int64], effect: NDArray[np.float64], limit: int) -> Effects:
        """The names of the ``limit`` largest positive effects, ties in the order of attributes."""
        best = np.argsort(-np.round(effect / LEAST), kind="stable")[:limit]
        best = best[effect[best] > LEAST]
        named = self.graph.attribute_names
        names = [f"attribute {i}" if named is None else str(named[i]) for i in column[best].tolist()]
        return tuple(zip(names, effect[best].tolist(), strict=True))

    def _positions(self, pairs: ArrayLike) -> NDArray[np.int64]:
        """``(p,)`` where the pairs are among the links."""
        given = np.asarray(pairs, np.int64).reshape(-1, 2)
        check_nodes(given, self.links.n)
        key = pair_keys(given if self.links.directed else np.sort(given, axis=1), self.links.n)
        place = np.searchsorted(self._keys, key)
        known = np.append(self._keys, -1)[place] == key
        if not known.all():
            u, v = given[np.flatnonzero(~known)[0]]
            raise InputError(f"({self.graph.name_of(u)}, {self.graph.name_of(v)}) is not a link of the enhanced graph")
        return place

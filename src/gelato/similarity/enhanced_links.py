"""The links of the enhanced graph: those observed and those added for their attributes, each with what it weighs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Graph, Pairs, pair_keys
from gelato.similarity.similar_pairs import most_similar, most_similar_by_share, nearest_of, similarity_of


@dataclass(frozen=True, eq=False)
class EnhancedLinks:
    """``E~`` [method 3]: the training links and the pairs added by similarity, sorted by ``(u, v)``.

    ``A~_uv = alpha A_uv + (1 - alpha) (beta w_uv + (1 - beta) max(S_uv, 0))`` on these pairs, 0 elsewhere.

    Attributes:
        n: number of nodes.
        directed: whether pairs are ordered.
        pairs: ``(M, 2)``.
        observed: ``(M,)`` weight ``A_uv`` of the training link, 0 where there is none.
        similar: ``(M,)`` ``max(S_uv, 0)``.
        added: ``(M,)`` whether the similarity rule chose the pair; such a pair stays when its link is masked.
    """

    n: int
    directed: bool
    pairs: Pairs
    observed: NDArray[np.float64]
    similar: NDArray[np.float64]
    added: NDArray[np.bool_]

    @property
    def links(self) -> NDArray[np.int64]:
        """``(m,)`` which of the pairs are training links."""
        return np.flatnonzero(self.observed > 0)


def enhanced_links(graph: Graph, eta: float, similarity: str = "cosine", newcomers: int = 0) -> EnhancedLinks:
    """The links of ``graph`` and, as a share ``eta`` of their number, the most similar pairs.

    ``newcomers`` takes nodes without a link for new ones: they are joined to so many of the nodes most similar to them,
    and are left out of the rule of ``eta``.
    """
    if not (newcomers and graph.f):
        return links_with(graph, most_similar(graph, eta, similarity=similarity), similarity)
    linked = np.zeros(graph.n, dtype=bool)
    linked[graph.edges] = True
    chosen = most_similar_by_share(graph, [eta], similarity=similarity, among=linked)[0]
    new = nearest_of(graph, np.flatnonzero(~linked), newcomers, similarity=similarity)
    return links_with(graph, np.concatenate([chosen, new]), similarity)


def links_with(graph: Graph, added: Pairs, similarity: str = "cosine") -> EnhancedLinks:
    """The links of ``graph`` and the pairs ``added`` for their attributes."""
    n = graph.n
    known, new = pair_keys(graph.edges, n), pair_keys(added, n)
    keys = np.union1d(known, new)
    pairs = np.column_stack(np.divmod(keys, n))
    observed = np.zeros(len(keys))
    place = np.searchsorted(keys, known)
    observed[place] = graph.adjacency[graph.edges[:, 0], graph.edges[:, 1]]
    similar = np.zeros(len(keys))
    if graph.f:
        similar = np.maximum(similarity_of(graph, pairs, similarity=similarity), 0.0)
    return EnhancedLinks(n, graph.directed, pairs, observed, similar, np.isin(keys, new))


def enhanced_graph(graph: Graph, links: EnhancedLinks, weights: NDArray[np.float64]) -> Graph:
    """``graph`` with the enhanced links and their ``(M,)`` weights; a weight of 0 is no link, and one must be left."""
    kept = weights > 0
    if not kept.any():
        raise InputError(
            f"the weights of all {len(weights):,} links are 0: linked nodes have no attributes in common, and nothing"
            " else counts; give alpha above 0"
        )
    fields = {name: getattr(graph, name) for name in ("attributes", "names", "attribute_names", "labels")}
    return Graph.from_edges(links.pairs[kept], links.n, weights=weights[kept], directed=links.directed, **fields)

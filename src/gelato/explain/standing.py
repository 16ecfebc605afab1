"""Where listed pairs stand among all unlinked ones, by one pass over all pairs."""

from typing import NamedTuple

import numpy as np

from gelato.graph import Graph, Pairs, across, pair_keys
from gelato.ranking.rank import rank
from gelato.regimes import Candidates
from gelato.scores import Scores


class Standing(NamedTuple):
    """Where a pair stands.

    Attributes:
        rank: 1 + the number of unlinked pairs with a higher score.
        tied: how many other unlinked pairs have the same score.
        candidates: how many unlinked pairs there are, the pair itself among them unless it is a link.
    """

    rank: int
    tied: int
    candidates: int


def standings_of(scores: Scores, graph: Graph, pairs: Pairs, threads: int | None = None) -> list[Standing | None]:
    """Where each of ``(p, 2)`` pairs stands; a link is ranked too, among the pairs that are not links.

    On a bipartite graph pairs stand among those across its two sides; pairs inside a side do not stand anywhere.
    """
    joins = across(pairs, graph.sides)
    if not joins.all():
        rest = iter(standings_of(scores, graph, pairs[joins], threads) if joins.any() else [])
        return [next(rest) if each else None for each in joins.tolist()]
    n = graph.n
    listed, which = np.unique(pair_keys(pairs if graph.directed else np.sort(pairs, axis=1), n), return_inverse=True)
    known = pair_keys(graph.edges, n)
    excluded = np.union1d(known, listed)
    positives, known_or_listed = (np.column_stack(np.divmod(keys, n)) for keys in (listed, excluded))
    candidates = Candidates(n, graph.directed, positives, known_or_listed, sides=graph.sides)
    ranks = rank(scores, candidates, threads=threads)
    linked = np.isin(listed, known)
    others = np.sort(ranks.order[~linked])  # the unlinked ones of the list, which the ranks leave out
    below_or_tied = np.searchsorted(others, ranks.order, side="right")
    above = ranks.above + len(others) - below_or_tied
    tied = ranks.tied + below_or_tied - np.searchsorted(others, ranks.order, side="left") - ~linked
    standings = [
        Standing(1 + above_it, tied_with_it, ranks.negatives + len(others))
        for above_it, tied_with_it in zip(above.tolist(), tied.tolist(), strict=True)
    ]
    return [standings[i] for i in which.tolist()]

"""Settings of the second stage."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gelato.prediction.options import Settings, checked_field, fraction, is_whole, number, one_of, text, whole_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gelato.graph import Graph


class Effort(NamedTuple):
    """What an effort means where nothing else is said.

    Attributes:
        folds: at most.
        rank: eigenpairs of the spectral stages.
        iterations: of the power iteration.
        trees: in a bag.
        bags: of trees, where networks learn beside them.
        bags_alone: of trees, where none do.
        networks: on graphs with many links.
        candidates: that each first stage proposes for a link of the graph.
        most_candidates: that it proposes at all.
        pairs: candidates of all folds, about; there are four folds at least.
        rows: of them that are learned from, about.
        rate: the learning rate of the trees.
        rehearsed: folds that are scored by what did not learn from them, to say what to expect of suggestions.
    """

    folds: int
    rank: int
    iterations: int
    trees: int
    bags: int
    bags_alone: int
    networks: int
    candidates: float
    most_candidates: int
    pairs: int
    rows: int
    rate: float
    rehearsed: int


EFFORTS = {
    "quick": Effort(10, 256, 4, 150, 10, 10, 2, 10, 150_000, 1_500_000, 200_000, 0.08, 5),
    "full": Effort(10, 1024, 6, 300, 3, 12, 2, 12, 400_000, 4_000_000, 500_000, 0.04, 0),
}

FEWEST_FOLDS = 4
"""Unless there are fewer links."""

LISTED = 2.5
"""Distinct candidates of all first stages, as a multiple of what one of them proposes."""

LINKS_FOR_A_NETWORK = 20_000
"""Graphs with fewer links have too few hidden ones for a network to learn from."""

LEAST_CANDIDATES = 20_000

GROUPS = 5
"""Groups that folds are dealt to, at most; each bag of trees and each network leaves out one of them."""

MOST_LEAVES = 131_072
"""Of a tree of LightGBM."""


def leaves_out(learner: int, folds: "NDArray[np.int64]", learners: int) -> "NDArray[np.bool_]":
    """``(p,)`` whether a bag of trees or a network, one of so many, learns from no rows of these folds.

    There are ``g = min(learners, 5)`` groups of folds; the ``l``-th learner leaves out every fold ``i`` with
    ``i mod g = l mod g``.
    """
    groups = min(learners, GROUPS)
    out: NDArray[np.bool_] = folds % groups == learner % groups
    return out


@dataclass(frozen=True, kw_only=True)
class BoostedSettings(Settings):
    """Hyperparameters of the second stage; those that are ``None`` follow from ``effort`` and the graph.

    Attributes:
        effort: ``quick`` or ``full``.
        folds: how often a share of the training links is hidden, for the trees to learn from.
        hidden_share: that share.
        candidates: ``K``, the number of best pairs that each first stage proposes.
        rank: eigenpairs of the spectral first stages.
        trees: number of trees.
        leaves: of a tree.
        learning_rate: share of each tree that is added.
        bags: how many times the trees are grown, each time on other rows, and on fewer the more there are; their scores
            are averaged. With quick effort, each leaves out some of the folds, and can rank these as if anew.
        networks: how many pair networks are averaged with the trees; none by default on graphs of few links.
        ranker: what ranks the candidates: ``trees``, ``trees and networks``, or the name of a feature; by default what
            ranks the validation links best.
        stages: further methods whose scores propose candidates and are features, such as ``gelato`` or
            ``gelato,gcn``; those that learn are trained once for every fold.
        random_state: seed of the folds, the rows, the trees and the networks.
        device: where networks are trained: ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.
    """

    effort: str = one_of("full", tuple(EFFORTS))
    folds: int | None = whole_number(None)
    hidden_share: float = fraction(0.1, below=1.0)
    candidates: int | None = whole_number(None)
    rank: int | None = whole_number(None)
    trees: int | None = whole_number(None)
    leaves: int = checked_field(
        23, lambda value: is_whole(value, 2) and value <= MOST_LEAVES, f"be a whole number from 2 to {MOST_LEAVES}"
    )
    learning_rate: float | None = number(None, above=0)
    bags: int | None = whole_number(None)
    networks: int | None = whole_number(None, least=0)
    ranker: str | None = text(None)
    stages: str = text("", "be names of methods, separated by commas")
    random_state: int = whole_number(0, least=0)
    device: str = text("auto", "be the name of a device")

    @property
    def further(self) -> list[str]:
        """Names of the further methods."""
        return [name.strip() for name in self.stages.split(",") if name.strip()]

    @property
    def usual(self) -> Effort:
        """What the effort says."""
        return EFFORTS[self.effort]

    def fold_count(self, graph: "Graph") -> int:
        """How many folds to hide, no more than there are links to hide and rows to learn from."""
        if self.folds is not None:
            return max(1, min(self.folds, graph.m - 1))
        by_pairs = round(self.usual.pairs / self.listed_count(graph))
        return max(1, min(self.usual.folds, max(FEWEST_FOLDS, by_pairs), graph.m - 1))

    def candidate_count(self, graph: "Graph") -> int:
        """``K`` of a graph."""
        if self.candidates is not None:
            return self.candidates
        usual = self.usual
        return int(min(max(usual.candidates * graph.m, LEAST_CANDIDATES), usual.most_candidates))

    def listed_count(self, graph: "Graph") -> int:
        """Distinct candidates of all first stages, about, and no more than there are pairs."""
        pairs = graph.n * (graph.n - 1) // (1 if graph.directed else 2)
        return max(1, min(int(LISTED * self.candidate_count(graph)), pairs))

    def network_count(self, graph: "Graph") -> int:
        """How many networks to train."""
        if self.networks is not None:
            return self.networks
        return self.usual.networks if graph.m >= LINKS_FOR_A_NETWORK else 0

    def bag_count(self, graph: "Graph") -> int:
        """How many bags of trees to grow."""
        if self.bags is not None:
            return self.bags
        return self.usual.bags if self.network_count(graph) else self.usual.bags_alone

    def cross_fits(self, graph: "Graph") -> bool:
        """Whether each bag and each network leaves out some folds, so that every fold can be rehearsed on."""
        learners = [self.bag_count(graph)] + ([self.network_count(graph)] if self.network_count(graph) else [])
        return self.usual.rehearsed > 0 and self.fold_count(graph) > 1 and min(learners) > 1

    def rehearsed_count(self, graph: "Graph") -> int:
        """How many folds are rehearsed on."""
        return min(self.usual.rehearsed, self.fold_count(graph)) if self.cross_fits(graph) else 0

    def rank_of(self, graph: "Graph") -> int:
        """Eigenpairs of the spectral stages, at most half as many as nodes."""
        return max(1, min(self.usual.rank if self.rank is None else self.rank, graph.n // 2))

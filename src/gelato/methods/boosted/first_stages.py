"""First stages: scores of all pairs that propose candidates, and are features of every pair."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Graph, Pairs, pair_keys
from gelato.methods.boosted.attributes import AttributeViews
from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.table import METHODS
from gelato.ranking.top import top
from gelato.scores import Scores, WalkScores
from gelato.scores.autocovariance import autocovariance
from gelato.similarity.enhanced_links import enhanced_graph, enhanced_links
from gelato.spectrum.adjacency import scaled_adjacency
from gelato.spectrum.eigen import Eigenpairs, eigenpairs
from gelato.spectrum.factors import factor_block, factor_scores
from gelato.spectrum.shrinkage import soft_threshold

Floats = NDArray[np.float64]

SHARES = {1: "all", 4: "a quarter", 16: "a sixteenth"}
"""How many of the eigenvectors count, in words that do not depend on the rank."""

PROPOSING = 0.25
"""The power of degrees whose eigenvectors propose candidates."""

SPECTRA = (PROPOSING, 0.0)
"""All powers; nodes have self-loops unless it is 0."""

FULL = 0.2
"""With a larger share of nonzeros, rows of attributes are multiplied as a whole."""

ALPHA = 0.5
"""Weight of links against similarity in the graph with similar pairs added."""


@dataclass(frozen=True, eq=False)
class FirstStages:
    """The first stages of one graph.

    Attributes:
        graph: the graph.
        views: of its attributes.
        settings: of the second stage.
        others: scores of further methods by name, which also propose.
    """

    graph: Graph
    views: AttributeViews | None
    settings: BoostedSettings
    others: Mapping[str, Scores] = field(default_factory=dict)

    @property
    def rank(self) -> int:
        """Eigenpairs of the spectral stages."""
        return self.settings.rank_of(self.graph)

    @cached_property
    def augmented(self) -> Graph | None:
        """The graph with as many similar pairs added as it has links."""
        if self.views is None or self.graph.sides is not None:
            return None
        links = enhanced_links(self.graph, 1.0)
        return enhanced_graph(self.graph, links, ALPHA * links.observed + (1 - ALPHA) * links.similar)

    @cached_property
    def walks(self) -> dict[str, Scores]:
        """Sums over walks by name."""
        graph = self.graph
        stages: dict[str, Scores] = {f"walks of {t}": autocovariance(graph, steps=t) for t in (2, 3, 4, 5)}
        stages["lazy walks of 3"] = autocovariance(graph, self_loops="all")
        if self.augmented is not None:
            stages["attribute walks of 3"] = autocovariance(self.augmented, self_loops="all")
        return stages

    @cached_property
    def paths(self) -> dict[str, Scores]:
        """Counts of short paths by name."""
        graph = self.graph
        A = graph.pattern
        degree = np.maximum(A.sum(axis=1), 1.0)
        return {
            "common neighbours": _ranked_by("cn", graph),
            "rare common neighbours": _ranked_by("aa", graph),
            "shared resources": _ranked_by("ra", graph),
            "share of neighbours": _ranked_by("jaccard", graph),
            "paths of 3": WalkScores(A, A, degree**-0.5, 3, np.zeros(graph.n), directed=graph.directed),
        }

    def spectra(self) -> Iterator[tuple[str, Scores]]:
        """Shrunken eigenvectors and their names, one after the other: all of them would be most of the memory."""
        for power in SPECTRA:
            pairs = self._leading if power == PROPOSING else self._eigenpairs(self.graph, power, self.rank)
            for share, words in SHARES.items():
                if self.rank // share > 1:
                    yield f"eigenvectors {power:g}, {words}", self._shrunken(pairs, self.rank // share)
        if self.augmented is not None:
            rank = max(2, self.rank // 2)
            yield "attribute eigenvectors", self._shrunken(self._eigenpairs(self.augmented, 0.5, rank), rank)

    @cached_property
    def _leading(self) -> Eigenpairs:
        """The eigenpairs that propose, kept for their features."""
        return self._eigenpairs(self.graph, PROPOSING, self.rank)

    def _eigenpairs(self, graph: Graph, power: float, rank: int) -> Eigenpairs:
        adjacency = scaled_adjacency(graph, power, "all" if power else "none")
        settings = self.settings
        how: dict[str, Any] = {"random_state": settings.random_state, "threads": settings.threads}
        return eigenpairs(adjacency, rank, iterations=settings.usual.iterations, **how)

    def _shrunken(self, pairs: Eigenpairs, rank: int) -> Scores:
        return factor_scores(factor_block(pairs, soft_threshold(pairs.values, rank)), self.graph.directed)

    @cached_property
    def alike(self) -> Scores | None:
        """Cosine of the attributes, rare ones counting more."""
        if self.views is None:
            return None
        rows = self.views.weighted
        full = rows.nnz > FULL * rows.shape[0] * rows.shape[1]
        weighted = replace(self.graph, attributes=rows.toarray() if full else rows, scaling=None)
        return _ranked_by("cosine", weighted)

    def proposing(self) -> Iterator[tuple[Scores, float]]:
        """Stages that propose candidates, with their share of ``K``."""
        for name in ("walks of 3", "lazy walks of 3", "attribute walks of 3"):
            if name in self.walks:
                yield self.walks[name], 1.0
        if self.rank > 1:
            yield self._shrunken(self._leading, self.rank), 1.0
        if self.alike is not None:
            yield self.alike, 0.25
        for scores in self.others.values():
            yield scores, 1.0

    def candidates(self, k: int) -> tuple[Pairs, NDArray[np.float64]]:
        """``(c, 2)`` pairs among the ``k`` best of any proposing stage, and their best place in a list from 0 to 1."""
        keys, places = [np.empty(0, np.int64)], [np.empty(0)]
        for scores, share in self.proposing():
            count = max(1, int(share * k))
            links = top(scores, self.graph, count, threads=self.settings.threads)
            pairs = links.pairs if self.graph.directed else np.sort(links.pairs, axis=1)
            keys.append(pair_keys(pairs, self.graph.n))
            places.append(np.arange(len(pairs)) / count)
        every, place = np.concatenate(keys), np.concatenate(places)
        distinct, first = np.unique(every, return_inverse=True)
        best = np.full(len(distinct), np.inf)
        np.minimum.at(best, first, place)
        return np.column_stack(np.divmod(distinct, self.graph.n)), best


def _ranked_by(heuristic: str, graph: Graph) -> Scores:
    """Scores of a graph by a heuristic with its usual options."""
    score = METHODS[heuristic].score
    assert score is not None
    return score(graph)

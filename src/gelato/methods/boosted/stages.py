"""First stages: scores of all pairs that propose candidates, and are features of every pair."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Graph, Pairs, pair_keys
from gelato.methods.boosted.attributes import AttributeViews
from gelato.methods.gelato.enhance.links import enhanced_graph, enhanced_links
from gelato.methods.heuristics import (
    adamic_adar,
    autocovariance,
    common_neighbors,
    cosine,
    jaccard,
    resource_allocation,
)
from gelato.methods.spectral.eigen import Eigenpairs
from gelato.methods.spectral.factors import factor_block
from gelato.methods.spectral.scores import pairs_of, scores_of
from gelato.methods.spectral.settings import SpectralSettings
from gelato.methods.spectral.shrinkage import soft
from gelato.ranking.top import top
from gelato.scores import Scores, WalkScores

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
        rank: eigenpairs of the spectral stages.
        iterations: of the power iteration.
        random_state: seed of its start.
        threads: how many.
        others: scores of further methods by name, which also propose.
    """

    graph: Graph
    views: AttributeViews | None
    rank: int
    iterations: int
    random_state: int
    threads: int | None
    others: Mapping[str, Scores] = field(default_factory=dict)

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
            "common neighbours": common_neighbors(graph),
            "rare common neighbours": adamic_adar(graph),
            "shared resources": resource_allocation(graph),
            "share of neighbours": jaccard(graph),
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
        settings = SpectralSettings(
            power=power, self_loops="all" if power else "none", rank=rank, iterations=self.iterations,
            random_state=self.random_state, threads=self.threads,
        )  # fmt: skip
        return pairs_of(graph, settings)

    def _shrunken(self, pairs: Eigenpairs, rank: int) -> Scores:
        return scores_of(factor_block(pairs, soft(pairs.values, rank)), self.graph.directed)

    @cached_property
    def alike(self) -> Scores | None:
        """Cosine of the attributes, rare ones counting more."""
        if self.views is None:
            return None
        rows = self.views.weighted
        full = rows.nnz > FULL * rows.shape[0] * rows.shape[1]
        return cosine(replace(self.graph, attributes=rows.toarray() if full else rows, scaling=None))

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
            links = top(scores, self.graph, count, threads=self.threads)
            pairs = links.pairs if self.graph.directed else np.sort(links.pairs, axis=1)
            keys.append(pair_keys(pairs, self.graph.n))
            places.append(np.arange(len(pairs)) / count)
        every, place = np.concatenate(keys), np.concatenate(places)
        distinct, first = np.unique(every, return_inverse=True)
        best = np.full(len(distinct), np.inf)
        np.minimum.at(best, first, place)
        return np.column_stack(np.divmod(distinct, self.graph.n)), best

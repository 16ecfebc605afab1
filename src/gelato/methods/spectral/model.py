"""Spectral shrinkage as a predictor: settings chosen on validation links, factors of the graph, scores by blocks."""

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from gelato.costs.estimates import FitCost, seconds_of
from gelato.explain.contract import Explainer
from gelato.graph import Graph
from gelato.io.untrusted import check_values, checked_array
from gelato.methods.spectral.choice import (
    MODERATE,
    USUAL,
    choose_spectral,
    factors_of,
    open_settings,
    ranks_for,
    usual_choice,
)
from gelato.methods.spectral.reasons import NeighbourExplainer
from gelato.methods.spectral.settings import GRID, SpectralSettings
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.storage import check_facts
from gelato.ranking.rank import Progress
from gelato.runs.files import Tensors, parsing, refuse_damaged
from gelato.runs.folder import RunFolder, choose_once
from gelato.scores import Scores
from gelato.spectrum.adjacency import scaled_adjacency
from gelato.spectrum.eigen import eigenpairs_seconds, product_rate
from gelato.spectrum.factors import FactorBlock, factor_scores
from gelato.spectrum.shrinkage import HIDINGS
from gelato.splits import Split

SECONDS_PER_PAIR = 1e-8
"""To count a score on one core, besides computing it."""


def spectral_seconds(graph: Graph, settings: SpectralSettings) -> float:
    """Predicted seconds until the factors of a training graph are known, with the choice of what is open."""
    usual = settings.replaced(**usual_choice(graph, settings))
    assert usual.power is not None and usual.self_loops is not None and usual.rank is not None
    adjacency = scaled_adjacency(graph, usual.power, usual.self_loops)
    pairs, rate = graph.n * (graph.n - 1) / (1 if graph.directed else 2), product_rate(np.float64)

    def decomposition(rank: int) -> float:
        return eigenpairs_seconds(adjacency, rank, settings.iterations)

    def ranking(rank: int) -> float:
        return pairs * (2 * rank / rate + SECONDS_PER_PAIR)

    hidings = HIDINGS if usual.shrink == "held-out" else 0
    seconds = (1 + hidings) * decomposition(usual.rank)
    free = open_settings(settings)
    places = int(np.prod([len(GRID[name]) for name in ("power", "self_loops") if name in free]))
    moderate = min(MODERATE, usual.rank)
    if places > 1:
        seconds += places * ((1 + hidings) * decomposition(moderate) + ranking(moderate))
    if "rank" in free:
        largest = ranks_for(graph.n)[-1]
        upward = [rank for rank in ranks_for(graph.n) if rank >= moderate]
        seconds += decomposition(largest) + sum(map(ranking, upward))
    if "shrink" in free:
        seconds += HIDINGS * decomposition(usual.rank) + ranking(usual.rank)
    return seconds


class Spectral(LinkPredictor):
    """Shrunken eigenvectors of the degree-scaled adjacency; no training, no attributes.

        ``M = D^-a A D^-a ~ U diag(l) U^T``,  ``score = D^a U f(l) U^T D^a``

    with the ``k`` eigenpairs of largest ``|l|`` and a filter ``f`` that shrinks them. On a directed graph the singular
    triplets of ``D_out^-a A D_in^-a`` take their place. The parameters are those of ``SpectralSettings``; what is left
    open is chosen by average precision on validation links.

    Attributes:
        chosen_: the values of ``power``, ``rank``, ``shrink`` and ``self_loops`` that were used.
        factors_: the factors of the scores.

    Example:
        >>> from gelato import load, make, split
        >>> hidden = split(load("debian-sample"))
        >>> model = make("spectral", power=0.25, rank=32, shrink="soft", self_loops="all").fit(hidden)
        >>> model.score(hidden) > 0.001
        True
    """

    Settings = SpectralSettings
    method = "spectral"

    chooses = tuple(USUAL)
    settings: SpectralSettings
    factors_: FactorBlock

    @property
    def selects(self) -> bool:
        return bool(open_settings(self.settings))

    def learn(self, split: Split, folder: RunFolder | None, report: Callable[[Any], None], progress: Progress) -> None:
        """Choose what is open, and decompose the training graph."""
        begin = time.perf_counter()
        self.chosen_ = choose_once(folder, partial(choose_spectral, split, self.settings), progress)
        with nullcontext() if folder is None else refuse_damaged(folder.path):
            check_facts(self)  # refused if the kept choice was edited
        chosen = time.perf_counter()
        self.adapt(split.train, progress)
        self._timings = {"choose": chosen - begin, "decompose": time.perf_counter() - chosen}

    def adapt(self, graph: Graph, progress: Progress | None = None) -> None:
        """Decompose ``graph`` by the settings that were chosen."""
        self.factors_ = factors_of(graph, self.settings.replaced(**self.chosen_), progress)
        self._graph = graph

    def compute_scores(self) -> Scores:
        return factor_scores(self.factors_, self._graph.directed)

    @property
    def explains(self) -> bool:
        return True

    def explainer(self) -> Explainer:
        return NeighbourExplainer(self._graph, self.factors_, self.settings.replaced(**self.chosen_))

    def seconds_to_fit(self, split: Split) -> float:
        return spectral_seconds(split.train, self.settings)

    def cost(self, split: Split) -> FitCost:
        """Decompose once with the usual settings; what the choice takes is predicted from timed products."""
        usual = self.settings.replaced(**usual_choice(split.train, self.settings))
        ready = type(self)(**usual.as_dict())
        parts = {"decompose": seconds_of(lambda: ready.fit(split))}
        if open_settings(self.settings):
            predicted = spectral_seconds(split.train, self.settings) - spectral_seconds(split.train, usual)
            parts = {"choose settings": max(0.0, predicted), **parts}
        return FitCost(parts, ready)

    def tensors(self) -> Tensors:
        """The factors, and the eigenvalues behind them."""
        right = {} if self.factors_.right is self.factors_.left else {"right": self.factors_.right}
        return {"left": self.factors_.left, "sign": self.factors_.sign, "values": self.factors_.values, **right}

    def restore(self, learned: Mapping[str, Any], tensors: Tensors, graph: Graph) -> None:
        """Be as it was saved, without a new decomposition."""
        with parsing():
            left = checked_array(tensors, "left", np.float64, (graph.n, None))
            right = checked_array(tensors, "right", np.float64, left.shape) if "right" in tensors else left
            sign, values = (checked_array(tensors, name, np.float64, left.shape[1:]) for name in ("sign", "values"))
            for name, array in (("left", left), ("right", right), ("sign", sign), ("values", values)):
                check_values(name, bool(np.isfinite(array).all()))
        self.factors_, self._graph = FactorBlock(left, right, sign, values), graph

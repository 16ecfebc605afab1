"""Spectral shrinkage as a predictor: settings chosen on validation links, factors of the graph, scores by blocks."""

import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from gelato.explain.pair import Explainer
from gelato.graph import Graph
from gelato.methods.spectral.choice import choose, open_settings, usual_choice
from gelato.methods.spectral.factors import FactorBlock, factor_block_of
from gelato.methods.spectral.forecast import spectral_seconds
from gelato.methods.spectral.reasons import neighbour_explainer
from gelato.methods.spectral.scores import factors_of, scores_of
from gelato.methods.spectral.settings import SpectralSettings
from gelato.prediction.settings import Settings
from gelato.ranking.rank import Progress
from gelato.runs.cost import FitCost
from gelato.runs.files import Tensors
from gelato.runs.folder import RunFolder
from gelato.runs.predictor import StoredPredictor
from gelato.runs.trials import Trials
from gelato.scores import Scores
from gelato.splits import Split


class Spectral(StoredPredictor):
    """Shrunken eigenvectors of the degree-scaled adjacency; no training, no attributes.

        ``M = D^-a A D^-a ~ U diag(l) U^T``,  ``score = D^a U f(l) U^T D^a``

    with the ``k`` eigenpairs of largest ``|l|`` and a filter ``f`` that shrinks them. On a directed graph the singular
    triplets of ``D_out^-a A D_in^-a`` take their place. The parameters are those of ``SpectralSettings``; what is left
    open is chosen by average precision on validation links.

    Attributes:
        chosen_: the values of ``power``, ``rank``, ``shrink`` and ``self_loops`` that were used.
        factors_: the factors of the scores.

    Example:
        >>> from gelato import load, new_predictor, split
        >>> hidden = split(load("debian-sample"))
        >>> model = new_predictor("spectral", power=0.25, rank=32, shrink="soft", self_loops="all").fit(hidden)
        >>> model.score(hidden) > 0.001
        True
    """

    Settings: ClassVar[type[Settings]] = SpectralSettings
    method = "spectral"

    settings: SpectralSettings
    factors_: FactorBlock

    @property
    def selects(self) -> bool:
        """Whether any setting is left open."""
        return bool(open_settings(self.settings))

    def learn(self, split: Split, folder: RunFolder | None, report: Callable[[Any], None], progress: Progress) -> None:
        """Choose what is open, and decompose the training graph."""
        begin = time.perf_counter()
        trials = Trials(progress=progress) if folder is None else folder.trials(progress)
        self.chosen_ = (folder.chosen() if folder is not None else None) or choose(split, self.settings, trials)
        if folder is not None:
            folder.keep_chosen(self.chosen_)
        chosen = time.perf_counter()
        self.adapt(split.train, progress)
        self._timings = {"choose": chosen - begin, "decompose": time.perf_counter() - chosen}

    def adapt(self, graph: Graph, progress: Progress | None = None) -> None:
        """Decompose ``graph`` by the settings that were chosen."""
        self.factors_ = factors_of(graph, self.settings.replaced(**self.chosen_), progress)
        self._graph = graph

    def timings(self) -> dict[str, float]:
        """Seconds of the choice and of the decomposition."""
        return self._timings if "_timings" in vars(self) else {}

    def scores(self) -> Scores:
        """Scores of all pairs."""
        self._check_fitted()
        return scores_of(self.factors_, self._graph.directed)

    @property
    def explains(self) -> bool:
        """Neighbours explain every pair."""
        return True

    def explainer(self) -> Explainer:
        """By the neighbours of one end that resemble the other."""
        self._check_fitted()
        return neighbour_explainer(self._graph, self.factors_, self.settings.replaced(**self.chosen_))

    def seconds_to_fit(self, split: Split) -> float:
        """Predicted from timed products."""
        return spectral_seconds(split.train, self.settings)

    def cost(self, split: Split) -> FitCost:
        """Decompose once with the usual settings; what the choice takes is predicted from timed products."""
        usual = self.settings.replaced(**usual_choice(split.train, self.settings))
        ready = type(self)(**usual.as_dict())
        begin = time.perf_counter()
        ready.fit(split)
        once = time.perf_counter() - begin
        parts = {"decompose": once}
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
        parts = (tensors["left"], tensors.get("right"), tensors["sign"], tensors["values"])
        self.factors_, self._graph = factor_block_of(*parts), graph

"""Heuristics as estimators."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.method import blind_remarks
from gelato.methods.table import METHODS
from gelato.prediction.settings import check_names
from gelato.ranking.rank import Progress
from gelato.runs.folder import RunFolder
from gelato.runs.predictor import StoredPredictor
from gelato.scores import Scores
from gelato.splits import Split


class Heuristic(StoredPredictor):
    """A heuristic as an estimator: a function from a graph to scores, with nothing to train.

    Args:
        method: its name in ``METHODS``, such as ``ac``.
        options: its options by name, such as ``{"steps": 2}``.
        threads: all cores by default.

    Example:
        >>> from gelato import Heuristic, load
        >>> len(Heuristic("aa").fit(load("debian-sample")).predict_top(10))
        10
    """

    def __init__(self, method: str = "ac", options: dict[str, Any] | None = None, threads: int | None = None) -> None:
        entry = METHODS[method]
        if entry.score is None:
            raise InputError(f"{method} is trained, not a heuristic; gelato.new_predictor makes any method")
        self.method, self.options = method, options
        self.settings = entry.check(method, {**(options or {}), "threads": threads})
        self._score = entry.score

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {"method": self.method, "options": self.options, "threads": self.settings.threads}

    def set_params(self, **params: Any) -> Self:
        """Change some parameters; call ``fit`` again where they shape the scores."""
        check_names(params, list(self.get_params()), "parameter", "Heuristic")
        changed = {**self.get_params(), **params}
        if changed["method"] != self.method or (changed["options"] or {}) != (self.options or {}):
            vars(self).pop("_graph", None)
        self.__init__(**changed)  # type: ignore[misc]
        return self

    @property
    def selects(self) -> bool:
        """Nothing is chosen and nothing is learned."""
        return False

    def learn(self, split: Split, folder: RunFolder | None, report: Callable[[Any], None], progress: Progress) -> None:
        """There is nothing to learn."""
        self.adapt(split.train)

    def adapt(self, graph: Graph) -> None:
        """Score the pairs of ``graph``."""
        options = {name: getattr(self.settings, name) for name in METHODS[self.method].options()}
        self._scores = self._score(graph, **options)
        self._graph = graph
        self.remarks_ = blind_remarks([(self.method, METHODS[self.method].blind(graph, options))])

    def scores(self) -> Scores:
        """Scores of all pairs."""
        self._check_fitted()
        return self._scores

    def _check_fitted(self) -> None:
        if not self.fitted:
            raise InputError("the predictor is not fitted; call fit first")

    @classmethod
    def _of(cls, method: str, settings: dict[str, Any], folder: Path) -> Self:
        threads = settings.pop("threads", None)
        return cls(method, settings, threads)

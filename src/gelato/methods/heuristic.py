"""Heuristics as estimators: functions from a graph to scores, with nothing to train.

A heuristic that names a class in ``METHODS`` has one here; its parameters are the options of the function.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from gelato.errors import InputError, deprecated
from gelato.graph import Graph
from gelato.methods.method import indistinguishable_remarks
from gelato.methods.table import METHODS
from gelato.prediction.options import check_names
from gelato.prediction.predictor import LinkPredictor
from gelato.ranking.rank import Progress
from gelato.runs.folder import RunFolder
from gelato.scores import Scores
from gelato.splits import Split


class Heuristic(LinkPredictor):
    """A heuristic by its name in ``METHODS``, one of your own included; the others also have classes of their own.

    Args:
        method: its name, such as ``ac``.
        threads: all cores by default.
        settings: its options by name, such as ``steps=2``.
        options: deprecated; the options as a dictionary.

    Example:
        >>> from gelato import Heuristic, load
        >>> len(Heuristic("aa").fit(load("debian-sample")).suggest(10, repeats=0))
        10
    """

    def __init__(
        self, method: str = "ac", options: dict[str, Any] | None = None, threads: int | None = None, **settings: Any
    ) -> None:
        if options is not None:
            deprecated("Heuristic(method, options)", "keyword arguments, such as Heuristic('ac', steps=2)")
            settings = {**options, **settings}
        entry = METHODS[method]
        if entry.score is None:
            raise InputError(f"{method} is trained, not a heuristic; gelato.make makes any method")
        self.method = method
        self.settings = entry.check(method, {**settings, "threads": threads})

    def __getstate__(self) -> dict[str, Any]:
        """Settings by name: their class is made from the arguments of a function, and cannot be pickled."""
        return {**super().__getstate__(), "settings": self.settings.as_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.settings = METHODS[self.method].settings(**state["settings"])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"method": self.method, **super().get_params(deep)}

    def set_params(self, **params: Any) -> Self:
        method = params.pop("method", self.method)
        if method == self.method:
            return super().set_params(**params)
        vars(self).pop("_graph", None)
        self.__init__(method, **{"threads": self.threads, **params})  # type: ignore[misc]
        return self

    @property
    def selects(self) -> bool:
        """Nothing is chosen and nothing is learned."""
        return False

    def learn(self, split: Split, folder: RunFolder | None, report: Callable[[Any], None], progress: Progress) -> None:
        self.adapt(split.train)

    def adapt(self, graph: Graph) -> None:
        entry = METHODS[self.method]
        assert entry.score is not None
        options = {name: getattr(self.settings, name) for name in entry.options()}
        self._scores = entry.score(graph, **options)
        self._graph = graph
        self.remarks_ = indistinguishable_remarks([(self.method, entry.blind(graph, options))])

    def compute_scores(self) -> Scores:
        return self._scores

    def _check_fitted(self) -> None:
        if not self.fitted:
            raise InputError("the predictor is not fitted; call fit first")

    @classmethod
    def _of(cls, method: str, settings: dict[str, Any], folder: Path) -> Self:
        return cls(method, **settings)


class NamedHeuristic(Heuristic):
    """A heuristic with a class of its own, which takes the options of its function as keyword arguments."""

    def __init__(self, **settings: Any) -> None:
        check_names(settings, self.Settings.names(), "parameter", type(self).__name__)
        self.settings = METHODS[self.method].check(self.method, settings)

    def __init_subclass__(cls, **rest: Any) -> None:
        cls.Settings = METHODS[cls.method].settings
        super().__init_subclass__(**rest)

    get_params = LinkPredictor.get_params
    set_params = LinkPredictor.set_params

    @classmethod
    def _of(cls, method: str, settings: dict[str, Any], folder: Path) -> Self:
        return super(Heuristic, cls)._of(method, settings, folder)


def __getattr__(name: str) -> Any:
    """The class of this name, made from the entry of ``METHODS`` that names it when it is first asked for."""
    for method, entry in METHODS.items():
        if entry.make == f"{__name__}:{name}":
            about = {"method": method, "__module__": __name__, "__doc__": f"{entry.title}: {entry.about}"}
            kind = globals()[name] = type(name, (NamedHeuristic,), about)
            return kind
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

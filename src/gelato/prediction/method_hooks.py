"""The hooks of a predictor: what a method writes of its own, behind what users call."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from gelato.costs.estimates import FitCost
from gelato.explain.contract import Explainer, LinkEvidence
from gelato.explain.explanation import explain_all
from gelato.graph import Graph
from gelato.prediction.comparison_state import Watch
from gelato.prediction.options import Settings
from gelato.ranking.rank import Progress
from gelato.runs.files import Tensors
from gelato.runs.folder import RunFolder
from gelato.runs.search_log import SearchLog
from gelato.scores import Scores
from gelato.splits import Split

if TYPE_CHECKING:
    from gelato.prediction.hidden_link_trials import Trial
    from gelato.prediction.predictor import LinkPredictor


class MethodHooks(ABC):
    """What differs between methods; only ``learn``, ``adapt`` and ``compute_scores`` have no default.

    A method that learns something also writes ``learned``, ``tensors`` and ``restore``, by which it is saved.
    """

    began: float | None = None
    """When the budget of a comparison began, by ``time.perf_counter``; with ``fit`` if ``None``."""
    watch: Watch | None = None
    """Called before each method of a comparison runs."""
    settings: Settings
    chosen_: Mapping[str, Any]
    _timings: Mapping[str, float] = MappingProxyType({})

    @abstractmethod
    def learn(self, split: Split, folder: RunFolder | None, report: Callable[[Any], None], progress: Progress) -> None:
        """Learn from ``split.train``, select on ``split.valid``, and be ready to score the pairs of ``split.train``."""

    @abstractmethod
    def adapt(self, graph: Graph) -> None:
        """Be ready to score the pairs of ``graph`` with what was learned."""

    @abstractmethod
    def compute_scores(self) -> Scores:
        """Scores of all pairs, computed anew; ``scores`` keeps them."""

    def learned(self) -> dict[str, Any]:
        """What was learned as plain values, ready for ``json.dumps``."""
        return {}

    def tensors(self) -> Tensors:
        """What was learned as arrays."""
        return {}

    def restore(self, learned: Mapping[str, Any], tensors: Tensors, graph: Graph) -> None:
        """Be as ``learned`` and ``tensors`` were written, for ``graph``.

        Both may have been edited: what they hold is taken out, and checked, inside ``parsing``.
        """
        self.adapt(graph)

    def check_graph(self, graph: Graph) -> None:  # noqa: B027 - a hook that may be left as it is
        """Refuse a graph that the method does not fit."""

    @property
    def selects(self) -> bool:
        """Whether ``fit`` needs validation links, to choose settings or to select a model by them."""
        return True

    @property
    def trained(self) -> bool:
        """Whether hiding further links means to train again; what is only computed from a graph is not trained."""
        return False

    @property
    def uses_attributes(self) -> bool:
        """Whether what was learned is of use only where the attributes are those it was learned from."""
        return self.trained

    def twin_settings(self) -> dict[str, Any]:
        """Settings of a model that is trained as this one was, on other links."""
        return {**self.settings.as_dict(), **self.chosen_}

    def rehearsals(self, share: float, repeats: int, run: Path | None) -> "list[Trial] | None":
        """Trials that need no further training, ``repeats`` at most; ``None`` if links must be hidden for them.

        ``run`` is the folder of the run, where anything that does take long is kept.
        """
        return None

    @property
    def ranked_by(self) -> str:
        """The name of the method that ranks."""
        return self._predictor.method

    @property
    def most_trials(self) -> int | None:
        """How many trials there is time for, fewer than usual; ``None`` if there is no limit."""
        return None

    def seconds_to_fit(self, split: Split) -> float:
        """Predicted seconds of ``fit``; by default from its ``cost``."""
        return self.cost(split).seconds

    def cost(self, split: Split) -> FitCost:
        """Time what ``fit`` will take; by default all of it."""
        return FitCost.timed("fit", lambda: copy(self._predictor).fit(split))

    def timings(self) -> dict[str, float]:
        """Seconds that parts of ``fit`` took."""
        return dict(self._timings)

    def starts(self, split: Split, trials: SearchLog | None = None) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Settings that a search must not be worse than, and those it starts from; ``trials`` keeps what is tried."""
        return [], {}

    def tuned(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All settings, with the values that a search tries."""
        return {**self.settings.as_dict(), **values}

    def evidence(self) -> LinkEvidence | None:
        """What the links that walks use are made of, where that is more than the graph."""
        return None

    @property
    def explains(self) -> bool:
        """Whether pairs can be explained; by default where scores are sums over walks along links."""
        walked = self._predictor.scores().walks()
        return walked is not None and bool(walked.on_graph)

    def explainer(self) -> Explainer:
        """How pairs are explained; by default by the walks that join them, and refused where there are none.

        A method whose scores arise otherwise gives its own, and says so by ``explains``.
        """
        scores, graph, evidence = self._predictor.scores(), self._predictor.graph_, self.evidence()
        return lambda pairs, limit: explain_all(scores, graph, pairs, evidence=evidence, limit=limit)

    def facts(self) -> dict[str, Any]:
        """What is worth knowing of this predictor besides its settings, ready for ``json.dumps``."""
        return {}

    def sentences(self) -> list[str]:
        """The same in words."""
        return []

    @property
    def _predictor(self) -> "LinkPredictor":
        return cast("LinkPredictor", self)

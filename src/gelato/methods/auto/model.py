"""auto: methods compared on validation links of the graph; the best one makes the suggestions."""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from gelato.explain.evidence import LinkEvidence
from gelato.explain.pair import Explainer
from gelato.graph import Graph
from gelato.methods.auto.choice import words
from gelato.methods.auto.comparison import Comparison
from gelato.methods.auto.portfolio import members
from gelato.methods.auto.record import COMPARED, Entry, Record
from gelato.methods.auto.settings import AutoSettings
from gelato.methods.making import new_predictor
from gelato.methods.table import METHODS, REFERENCE
from gelato.prediction.settings import Settings
from gelato.ranking.rank import Progress
from gelato.runs.cost import FitCost
from gelato.runs.files import Tensors
from gelato.runs.folder import RunFolder
from gelato.runs.nested import kept_inside, restored_inside
from gelato.runs.predictor import FEWEST_LINKS, StoredPredictor
from gelato.scores import Scores
from gelato.splits import Split

NESTED = "winner."
"""What the names of the winner's tensors begin with."""

PASSED_ON = ("threads", "device")
"""Parameters that the winner takes over."""


class Auto(StoredPredictor):
    """The best of several methods for a graph, by average precision on validation links against all pairs.

    The methods of ``PORTFOLIO`` are compared one after the other, the simplest first, as long as ``budget`` allows. The
    simplest one whose average precision is within 1% of the best is taken, and does everything from then on.

    Attributes:
        entries_: what became of each method.
        winner_: the predictor that was taken.
        winning_: its entry.

    Example:
        >>> from gelato import load, new_predictor
        >>> model = new_predictor("auto", budget=0).fit(load("debian-sample"))  # no time but for the first method
        >>> model.winner_.method
        'cn'
    """

    Settings: ClassVar[type[Settings]] = AutoSettings
    method = "auto"

    settings: AutoSettings
    entries_: Sequence[Entry]
    winner_: StoredPredictor
    winning_: Entry

    def learn(self, split: Split, folder: RunFolder | None, report: Callable[[Any], None], progress: Progress) -> None:
        """Compare the methods, and take the best."""
        if not len(split.valid):
            self.entries_ = []
            self._take(*_unchecked(split, self.settings.threads))
            return
        place = None if folder is None else folder.path
        record = Record(None if folder is None else folder.comparison)
        comparison = Comparison(split, members(), self.settings, place, record)
        self.entries_ = comparison.entries(report, progress)
        self._take(*comparison.winner(self.entries_, report))
        for entry in self.entries_:
            loser = comparison.folder_of(entry.name)
            if loser is not None and entry != self.winning_:
                shutil.rmtree(loser, ignore_errors=True)

    def _take(self, winning: Entry, winner: StoredPredictor) -> None:
        """Let a predictor do everything from now on."""
        self.winning_, self.winner_, self._graph = winning, winner, winner.graph_
        self.remarks_, self.history_, self.best_epoch_ = winner.remarks_, winner.history_, winner.best_epoch_

    def adapt(self, graph: Graph) -> None:
        """Let the winner score the pairs of ``graph``."""
        winner = copy(self.winner_)
        winner.adapt(graph)
        self._take(self.winning_, winner)

    def applied(self, graph: Graph) -> Self:
        """The winner for another graph; nothing is compared again."""
        self._check_fitted()
        twin = copy(self)
        twin._take(self.winning_, self.winner_.applied(graph))
        twin.valid_ = self._seen.selected_in(graph)
        return twin

    def rehearse(self, split: Split, run: Path | None = None) -> Scores:
        """As the winner does: at most its method is trained again."""
        self._check_fitted()
        return self.winner_.rehearse(split, run)

    @property
    def trained(self) -> bool:
        """Whether the winner is."""
        return self.fitted and self.winner_.trained

    @property
    def precision_(self) -> float | None:
        """Validation precision of the epoch that was kept, where the winner was trained."""
        return getattr(self.winner_, "precision_", None)

    @property
    def skipped_(self) -> int:
        """Steps that the training of the winner left out."""
        return getattr(self.winner_, "skipped_", 0)

    def scores(self) -> Scores:
        """Those of the winner."""
        self._check_fitted()
        return self.winner_.scores()

    def evidence(self) -> LinkEvidence | None:
        """That of the winner."""
        self._check_fitted()
        return self.winner_.evidence()

    @property
    def explains(self) -> bool:
        """Whether the winner does."""
        self._check_fitted()
        return self.winner_.explains

    def explainer(self) -> Explainer:
        """That of the winner."""
        self._check_fitted()
        return self.winner_.explainer()

    def set_params(self, **params: Any) -> Self:
        """Change some parameters; the winner takes over how to run."""
        super().set_params(**params)
        if self.fitted:
            known = self.winner_.get_params()
            self.winner_.set_params(**{key: params[key] for key in PASSED_ON if key in params and key in known})
        return self

    def cost(self, split: Split) -> FitCost:
        """What the comparison takes, up to the budget; the reference method stands in for the winner."""
        begin = time.perf_counter()
        _, ready = _unchecked(split, self.settings.threads)
        if not len(split.valid):
            return FitCost({"fit": time.perf_counter() - begin}, ready)
        seconds = Comparison(split, members(), self.settings).forecast()
        training = [seconds[each.name] for each in members() if each.name in seconds and METHODS[each.method].trains]
        return FitCost({"compare methods": sum(seconds.values())}, ready, again=(0.0, max(training, default=0.0)))

    def facts(self) -> dict[str, Any]:
        """What was compared and what won, with the facts of the winner."""
        return {
            "winner": self.winning_.name,
            "winner_settings": self.winner_.settings.as_dict() | dict(self.winner_.chosen_),
            "comparison": [{**entry.as_json(), "chosen": entry == self.winning_} for entry in self.entries_],
            **self.winner_.facts(),
        }

    def sentences(self) -> list[str]:
        """The same in words."""
        return [*words(self.entries_, self.winning_, len(self._seen.selected)), *self.winner_.sentences()]

    def timings(self) -> dict[str, float]:
        """Seconds of each method that was compared."""
        return {entry.name: entry.seconds for entry in self.entries_ if entry.seconds is not None}

    def learned(self) -> dict[str, Any]:
        """The comparison, and what the winner learned."""
        return {
            "entries": [entry.as_json() for entry in self.entries_],
            "winning": self.winning_.as_json(),
            "winner": kept_inside(self.winner_, NESTED)[0],
        }

    def tensors(self) -> Tensors:
        """Those of the winner."""
        return kept_inside(self.winner_, NESTED)[1]

    def restore(self, learned: Mapping[str, Any], tensors: Tensors, graph: Graph) -> None:
        """Bring the winner back to life."""
        self.entries_ = [Entry(**entry) for entry in learned["entries"]]
        outer = (graph, self.valid_, self._seen)
        winner = restored_inside(learned["winner"], tensors, NESTED, new_predictor, outer)
        self._take(Entry(**learned["winning"]), winner)

    def _hiding(self, graph: Graph) -> Split:
        """As usual; nothing is hidden of a graph with too few links."""
        if graph.m >= FEWEST_LINKS:
            return super()._hiding(graph)
        none = np.empty((0, 2), np.int64)
        return Split(graph, graph, none, none, "nothing hidden")

    def _check_hidden(self, links: Split) -> None:
        """Without validation links nothing is compared, and that is said."""


def _unchecked(split: Split, threads: int | None) -> tuple[Entry, StoredPredictor]:
    """The reference method, or the first that fits, with nothing to compare it by."""
    fitting = [member for member in members() if member.left_out(split.train) is None]
    member = next((member for member in fitting if member.name == REFERENCE), fitting[0])
    predictor = new_predictor(member.method, **member.options, threads=threads).fit(split)
    return Entry(member.name, member.method, COMPARED), predictor

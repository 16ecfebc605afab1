"""auto: methods compared on validation links of the graph; the best one makes the suggestions."""

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from gelato.costs.estimates import FitCost
from gelato.explain.contract import Explainer
from gelato.graph import Graph
from gelato.methods.auto import portfolio
from gelato.methods.auto.comparison import RIVALS, ComparisonLog, MethodComparison
from gelato.methods.auto.entries import COMPARED, ComparisonEntry, comparison_sentences
from gelato.methods.auto.settings import AutoSettings
from gelato.methods.factory import make
from gelato.methods.table import METHODS, REFERENCE
from gelato.prediction.hidden_link_trials import Trial
from gelato.prediction.precision import REPEATS
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.storage import dump_inner_model, load_inner_model
from gelato.ranking.metrics import metric
from gelato.ranking.rank import Progress, rank
from gelato.regimes import unbiased
from gelato.runs.files import COMPARISON, Tensors, parsing
from gelato.runs.folder import RunFolder
from gelato.runs.records import read_fact, read_record
from gelato.scores import Scores
from gelato.splits import Split

WINNER_PREFIX = "winner."
"""Prefix of the names of the winner's tensors."""

CLOSE_CALL = 0.9
"""Heuristics whose average precision is this share of the winner's might have been taken as well."""

PASSED_ON = ("threads", "device")
"""Parameters that the winner takes over."""


class Auto(LinkPredictor):
    """The best of several methods for a graph, by average precision on validation links against all pairs.

    The methods of ``PORTFOLIO`` are compared one after the other, the simplest first, as long as ``budget`` allows. The
    simplest one whose average precision is within 1% of the best is taken, and does everything from then on.

    Attributes:
        entries_: what became of each method.
        winner_: the predictor that was taken.
        winning_: its entry.
        trials_: how many trials the budget has time for.
        precision_, skipped_: of its training, where it was trained.

    Example:
        >>> from gelato import load, make
        >>> model = make("auto", budget=0).fit(load("debian-sample"))  # no time but for the first method
        >>> model.winner_.method
        'cn'
    """

    Settings = AutoSettings
    method = "auto"
    fits_without_validation: ClassVar[bool] = True

    settings: AutoSettings
    entries_: Sequence[ComparisonEntry]
    winner_: LinkPredictor
    winning_: ComparisonEntry
    trials_: int = REPEATS

    def learn(self, split: Split, folder: RunFolder | None, report: Callable[[Any], None], progress: Progress) -> None:
        """Compare the methods, and take the best."""
        if not len(split.valid):
            self.entries_ = []
            self._take(*_unchecked(split, self.settings.threads))
            return
        place = None if folder is None else folder.path
        record = ComparisonLog(None if place is None else place / COMPARISON)
        comparison = MethodComparison(
            split, portfolio.PORTFOLIO, self.settings, place, record, began=self.began, watch=self.watch
        )
        self.entries_ = comparison.entries(report, progress)
        self._take(*comparison.winner(self.entries_, report))
        rivals = close_rivals(self.entries_, self.winning_)
        seconds = sum(entry.seconds or 0.0 for entry in self.entries_ if entry.name in rivals)
        self.trials_ = comparison.trials(self.winning_, seconds)
        for entry in self.entries_:
            loser = comparison.folder_of(entry.name)
            if loser is not None and entry != self.winning_:
                shutil.rmtree(loser, ignore_errors=True)

    def _take(self, winning: ComparisonEntry, winner: LinkPredictor) -> None:
        """Let a predictor do everything from now on."""
        self.winning_, self.winner_, self._graph = winning, winner, winner.graph_
        self.remarks_, self.history_, self.best_epoch_ = winner.remarks_, winner.history_, winner.best_epoch_
        self.precision_, self.skipped_ = getattr(winner, "precision_", None), getattr(winner, "skipped_", 0)

    def adapt(self, graph: Graph) -> None:
        winner = copy(self.winner_)
        winner.adapt(graph)
        self._take(self.winning_, winner)

    def on(self, graph: Graph) -> Self:
        """The winner for another graph; nothing is compared again."""
        self._check_fitted()
        twin = copy(self)
        twin._take(self.winning_, self.winner_.on(graph))
        twin.valid_ = self._seen.selected_in(graph)
        return twin

    def trial_scores(self, split: Split, run: Path | None = None) -> Scores:
        """Trial scores of the winner, trained again at most; among heuristics, the choice is made again too."""
        mine = self.winner_.trial_scores(split, run)
        if METHODS[self.winning_.method].score is None:
            return mine
        return self._chosen_again(split, mine, lambda learned: copy(self.winner_).fit(learned).scores())

    def rehearsals(self, share: float, repeats: int, run: Path | None) -> list[Trial] | None:
        """Those of the winner; in each of them the choice between it and close heuristics is made again."""

        def again(trial: Trial) -> Scores:
            mine = trial.scores()
            return self._chosen_again(trial.split, mine, lambda learned: mine)

        ready = self.winner_.rehearsals(share, repeats, run)
        return ready and [replace(each, scores=partial(again, each)) for each in ready]

    def _chosen_again(self, split: Split, mine: Scores, of: Callable[[Graph], Scores]) -> Scores:
        """The scores of the winner without a trial's links, or those of a rival that finds validation links better."""
        rivals, rest = close_rivals(self.entries_, self.winning_), split.graph.without(split.test)
        valid = self._seen.selected_in(rest)
        if not rivals or not len(valid):
            return mine
        learned, none = rest.without(valid), np.empty((0, 2), np.int64)
        found = unbiased(Split(rest, learned, valid, none, split.name), "valid")

        def ap(scores: Scores) -> float:
            return metric("ap", rank(scores, found, threads=self.threads))

        figures = {name: ap(heuristic_scores(name)(learned)) for name in rivals}
        best = max(figures, key=lambda name: figures[name])
        return mine if ap(of(learned)) >= figures[best] else heuristic_scores(best)(rest)

    @property
    def ranked_by(self) -> str:
        return self.winning_.name

    @property
    def most_trials(self) -> int | None:
        return self.trials_ if self.trials_ < REPEATS else None

    @property
    def trained(self) -> bool:
        return self.fitted and self.winner_.trained

    def compute_scores(self) -> Scores:
        return self.winner_.scores()

    @property
    def explains(self) -> bool:
        return self.winner_.explains

    def explainer(self) -> Explainer:
        return self.winner_.explainer()

    def set_params(self, **params: Any) -> Self:
        """Change some parameters; the winner takes over how to run."""
        super().set_params(**params)
        if self.fitted:
            known = self.winner_.get_params()
            self.winner_.set_params(**{key: params[key] for key in PASSED_ON if key in params and key in known})
        return self

    def cost(self, split: Split) -> FitCost:
        """What the comparison and the trials take, up to the budget; the reference method stands in for the winner.

        At most, the slowest method wins and is trained again for each trial.
        """
        cost = FitCost.timed("fit", lambda: _unchecked(split, self.settings.threads)[1])
        if not len(split.valid):
            return cost
        comparison = MethodComparison(split, portfolio.PORTFOLIO, self.settings)
        seconds = comparison.forecast()
        ran = [comparison.member(name) for name in seconds]
        slowest = max((seconds[each.name] * each.trials / REPEATS for each in ran if each.turn), default=0.0)
        parts = {"compare methods": sum(seconds.values())}
        return FitCost(parts, cost.ready, again=(0.0, slowest), rehearsed=comparison.forecast_trials(seconds))

    def facts(self) -> dict[str, Any]:
        """What was compared and what won, with the facts of the winner."""
        return {
            "winner": self.winning_.name,
            "winner_settings": self.winner_.settings.as_dict() | dict(self.winner_.chosen_),
            "comparison": [{**entry.as_json(), "chosen": entry == self.winning_} for entry in self.entries_],
            **self.winner_.facts(),
        }

    def sentences(self) -> list[str]:
        return [
            *comparison_sentences(self.entries_, self.winning_, len(self._seen.selected)),
            *([] if self.trials_ == REPEATS else [f"The budget leaves time for {self.trials_} of {REPEATS} trials."]),
            *self.winner_.sentences(),
        ]

    def timings(self) -> dict[str, float]:
        """Seconds of each method that was compared."""
        return {entry.name: entry.seconds for entry in self.entries_ if entry.seconds is not None}

    def learned(self) -> dict[str, Any]:
        """The comparison, and what the winner learned."""
        return {
            "entries": [entry.as_json() for entry in self.entries_],
            "winning": self.winning_.as_json(),
            "trials": self.trials_,
            "winner": dump_inner_model(self.winner_, WINNER_PREFIX)[0],
        }

    def tensors(self) -> Tensors:
        return dump_inner_model(self.winner_, WINNER_PREFIX)[1]

    def restore(self, learned: Mapping[str, Any], tensors: Tensors, graph: Graph) -> None:
        with parsing():
            self.entries_ = [read_record(ComparisonEntry, entry) for entry in learned["entries"]]
            winning = read_record(ComparisonEntry, learned["winning"])
            about = read_fact(learned, "winner", dict[str, Any])
            self.trials_ = min(REPEATS, max(1, read_fact({"trials": REPEATS, **learned}, "trials", int)))
        outer = (graph, self.valid_, self._seen)
        self._take(winning, load_inner_model(about, tensors, WINNER_PREFIX, make, outer))


def close_rivals(entries: Sequence[ComparisonEntry], winning: ComparisonEntry) -> list[str]:
    """Names of heuristics that come close to the winner, and might be taken instead of it where other links are hidden.

    They are the closest, no more than ``RIVALS``, in the order of their simplicity.

    >>> figures = {"cn": 0.1, "aa": 0.19, "ra": 0.2}
    >>> entries = [ComparisonEntry(name, name, COMPARED, ap=ap) for name, ap in figures.items()]
    >>> close_rivals(entries, entries[-1])
    ['aa']
    """
    least = CLOSE_CALL * (winning.ap or math.inf)
    heuristics = [entry for entry in entries if METHODS[entry.method].score is not None]
    close = [entry for entry in heuristics if entry != winning and (entry.ap or 0.0) >= least]
    closest = sorted(close, key=lambda entry: -(entry.ap or 0.0))[:RIVALS]
    return [entry.name for entry in close if entry in closest]


def heuristic_scores(name: str) -> Callable[[Graph], Scores]:
    """A member of the portfolio that is a heuristic, as a function of a graph."""
    member = next(member for member in portfolio.PORTFOLIO if member.name == name)
    return lambda graph: make(member.method, **member.options).fit(graph).scores()


def _unchecked(split: Split, threads: int | None) -> tuple[ComparisonEntry, LinkPredictor]:
    """The reference method, or the first that fits, with nothing to compare it by."""
    fitting = [member for member in portfolio.PORTFOLIO if member.left_out(split.train) is None]
    member = next((member for member in fitting if member.name == REFERENCE), fitting[0])
    predictor = make(member.method, **member.options, threads=threads).fit(split)
    return ComparisonEntry(member.name, member.method, COMPARED), predictor

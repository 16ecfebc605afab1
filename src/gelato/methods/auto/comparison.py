"""The comparison: members of the portfolio one after the other, within a budget, by average precision.

The budget is for all that a command does. So a member runs if there is time for it, and for one trial at least if it
wins. Every decision is kept as it is made, so that a resumed run decides as it did before.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gelato.errors import GelatoError
from gelato.methods.auto.entries import COMPARED, LEFT_OUT, SKIPPED, ComparisonEntry, best_entry, is_close
from gelato.methods.auto.portfolio import PortfolioMember
from gelato.methods.auto.settings import AutoSettings
from gelato.methods.factory import make
from gelato.methods.table import METHODS, REFERENCE
from gelato.prediction.comparison_state import ComparisonState, Watch
from gelato.prediction.fitting import Report
from gelato.prediction.precision import REPEATS
from gelato.prediction.predictor import LinkPredictor
from gelato.ranking.estimate import scan_cost
from gelato.ranking.metrics import metric
from gelato.ranking.rank import Progress, compile_kernels_for, rank
from gelato.regimes import unbiased
from gelato.runs.files import JsonLines
from gelato.runs.records import check_type, read_record
from gelato.splits import Split

KEPT = 0.9
"""Share of the budget for the comparison and for trials; suggestions and reasons take the rest."""

RIVALS = 2
"""Heuristics that a winner is held against once more in every trial, at most."""

QUICK = 1.0
"""Seconds that trials may take even if the budget is spent."""


class ComparisonLog(JsonLines):
    """Entries and decisions by the name of the member, kept as they are made."""

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path, _checked)

    def entry(self, name: str) -> ComparisonEntry | None:
        """What became of a member, if that is known."""
        return next((ComparisonEntry(**line) for line in self.lines if line.get("name") == name), None)

    def started(self, name: str) -> bool:
        """Whether it was decided to run a member."""
        return {"started": name} in self.lines

    def start(self, name: str) -> None:
        """Keep the decision to run a member."""
        if not self.started(name):
            self.add({"started": name})

    def keep(self, entry: ComparisonEntry) -> ComparisonEntry:
        """Keep what became of a member."""
        self.add(entry.as_json())
        return entry

    def trials(self, decide: Callable[[], int]) -> int:
        """How many trials there is time for, decided once."""
        known = next((int(line["trials"]) for line in self.lines if "trials" in line), None)
        if known is None:
            known = decide()
            self.add({"trials": known})
        return known

    @property
    def seconds(self) -> float:
        """What the members took so far."""
        return sum(float(line.get("seconds") or 0.0) for line in self.lines)


def _checked(line: dict[str, Any]) -> None:
    if "started" in line:
        check_type("started", line, dict[str, str])
    elif "trials" in line:
        check_type("trials", line, dict[str, int])
    else:
        read_record(ComparisonEntry, line)


@dataclass(eq=False)
class MethodComparison:
    """One comparison on one split.

    Attributes:
        split: its training links are learned from, its validation links decide.
        members: what is compared, the simplest first.
        settings: the budget, and what is passed on to the members.
        folder: where members that learn keep what they have, each in a folder of its own; nowhere if ``None``.
        record: what was decided before.
        clock: tells the time in seconds.
        began: when the budget began; now if ``None``.
        watch: called before each member runs.
    """

    split: Split
    members: Sequence[PortfolioMember]
    settings: AutoSettings
    folder: Path | None = None
    record: ComparisonLog = field(default_factory=ComparisonLog)
    clock: Callable[[], float] = time.perf_counter
    began: float | None = None
    watch: Watch | None = None

    def __post_init__(self) -> None:
        self._before, self._begin = self.record.seconds, self.clock() if self.began is None else self.began
        self._candidates = unbiased(self.split, "valid")
        self._fitted: dict[str, tuple[float, LinkPredictor]] = {}

    def entries(self, report: Report, progress: Progress) -> list[ComparisonEntry]:
        """What became of each member, in their order; what is on record is not done again."""
        entries: list[ComparisonEntry] = []
        for done, member in enumerate(self._in_turn()):
            progress(done, len(self.members))
            if member.instead and not any(each.name == member.instead and each.status == SKIPPED for each in entries):
                continue
            if self.watch is not None:
                self.watch(self._state(member, entries))
            known = self.record.entry(member.name)
            entry = self.record.keep(self._run(member, entries, report)) if known is None else known
            if not member.instead or entry.status == COMPARED:
                entries.append(entry)
        progress(len(self.members), len(self.members))
        return self._by_simplicity(entries)

    def _in_turn(self) -> list[PortfolioMember]:
        """The members in the order in which they run."""
        return sorted(self.members, key=lambda member: member.turn)

    def _by_simplicity(self, entries: Sequence[ComparisonEntry]) -> list[ComparisonEntry]:
        names = [member.name for member in self.members]
        return sorted(entries, key=lambda entry: names.index(entry.name))

    def _state(self, member: PortfolioMember, before: Sequence[ComparisonEntry]) -> ComparisonState:
        """How far the comparison is before a member runs."""
        leader = best_entry(self._by_simplicity(before)) if any(entry.ap is not None for entry in before) else None
        left = 60 * self.settings.budget - self._spent()
        if leader is None:
            return ComparisonState(member.name, left)
        model = self._fitted.get(leader.name, (0.0, None))[1]
        return ComparisonState(member.name, left, leader.name, leader.ap, model)

    def _spent(self) -> float:
        return self._before + self.clock() - self._begin

    def trials(self, winning: ComparisonEntry, rivals: float = 0.0) -> int:
        """How many trials of the winner there is time for, at most the usual number and at least one.

        In each of them, ``rivals`` are the seconds of the heuristics that it is chosen among once more.
        """
        each = self.member(winning.name).trials / REPEATS * (winning.seconds or 0.0) + rivals
        return self.record.trials(lambda: self._trials_within(each, self._spent()))

    def _trials_within(self, each: float, spent: float) -> int:
        left = max(QUICK, KEPT * 60 * self.settings.budget - spent)
        return REPEATS if REPEATS * each <= left else max(1, int(left / each))

    def forecast_trials(self, seconds: Mapping[str, float]) -> float:
        """Seconds that all trials will take after members that took so long.

        Of members that learn, the first to run is expected to win; where none does, the reference method.
        """
        learned = [member for member in self._in_turn() if member.turn and member.name in seconds]
        each = (1 + RIVALS) * seconds.get(REFERENCE, 0.0)
        if learned:
            each = learned[0].trials / REPEATS * seconds[learned[0].name]
        return each * self._trials_within(each, sum(seconds.values()))

    def member(self, name: str) -> PortfolioMember:
        """A member by its name."""
        return next(member for member in self.members if member.name == name)

    def winner(self, entries: Sequence[ComparisonEntry], report: Report) -> tuple[ComparisonEntry, LinkPredictor]:
        """The member that is taken, fitted on the training links."""
        entry = best_entry(entries)
        if entry.name in self._fitted:
            return entry, self._fitted[entry.name][1]
        return entry, self._fit(self.member(entry.name), report)

    def forecast(self) -> dict[str, float]:
        """Seconds that each member will take, of those that fit the graph and the budget."""
        seconds: dict[str, float] = {}
        for member in self._in_turn():
            if member.left_out(self.split.train) is None and member.instead not in seconds:
                predicted = self._predicted(member, seconds)
                if not seconds or self._allows(member, seconds, sum(seconds.values()), predicted):
                    seconds[member.name] = predicted
        return seconds

    def folder_of(self, member: str) -> Path | None:
        """Where a member that learns keeps what it has."""
        return None if self.folder is None else self.folder / f"member-{member.replace(' ', '-')}"

    def _run(self, member: PortfolioMember, before: Sequence[ComparisonEntry], report: Report) -> ComparisonEntry:
        """Compare a member, unless it does not fit the graph or the budget."""
        why = member.left_out(self.split.train)
        if why is not None:
            return ComparisonEntry(member.name, member.method, LEFT_OUT, why=why)
        try:
            if not self.record.started(member.name):
                skipped = self._skipped(member, before)
                if skipped is not None:
                    return skipped
            self.record.start(member.name)
            begin = self.clock()
            ap = self._ap(member, report)
        except GelatoError as error:
            return ComparisonEntry(member.name, member.method, LEFT_OUT, why=str(error).partition(";")[0])
        return ComparisonEntry(member.name, member.method, COMPARED, ap=ap, seconds=self.clock() - begin)

    def _skipped(self, member: PortfolioMember, before: Sequence[ComparisonEntry]) -> ComparisonEntry | None:
        """The entry of a member that the budget does not allow; the first member always runs."""
        ran = {entry.name: entry.seconds for entry in before if entry.seconds is not None}
        if not ran:
            return None
        predicted = float(self._predicted(member, ran))
        spent = self._spent()
        if self._allows(member, ran, spent, predicted):
            return None
        also = sum(entry.predicted_seconds or 0.0 for entry in before)  # which a larger budget lets run too
        whole = _with_a_trial(member, predicted)
        needed = max((spent + also + whole) / KEPT, whole / self._share(member, ran))
        budget = math.floor(needed / 60) + 1
        bound = bool(predicted == self._least(member, ran) > 0)
        return ComparisonEntry(
            member.name, member.method, SKIPPED, predicted_seconds=predicted, budget=budget, at_least=bound
        )

    def _allows(self, member: PortfolioMember, ran: Mapping[str, float], spent: float, predicted: float) -> bool:
        """Whether there is time for a member, and for a trial at least if it wins."""
        budget, whole = 60 * self.settings.budget, _with_a_trial(member, predicted)
        return spent + whole <= KEPT * budget and whole <= self._share(member, ran) * budget

    def _share(self, member: PortfolioMember, ran: Mapping[str, float]) -> float:
        """The share of the budget that a member may take after those that ran."""
        better = any(0 < each.turn < member.turn and each.name in ran for each in self.members)
        return member.beside if better else member.share

    def _predicted(self, member: PortfolioMember, ran: Mapping[str, float]) -> float:
        """Seconds that a member will take, from a sample of it, or at least."""
        predictor = self._new(member)
        if METHODS[member.method].score is not None:
            scores = predictor.fit(self.split).scores()
            compile_kernels_for(scores)
            return scan_cost(scores, self._candidates, threads=self.settings.threads).seconds
        least = self._least(member, ran)
        if not self._allows(member, ran, sum(ran.values()), least):
            return least
        return max(predictor.seconds_to_fit(self.split), least)

    def _least(self, member: PortfolioMember, ran: Mapping[str, float]) -> float:
        """Seconds that a member takes at least, from those of the reference method."""
        return member.rankings * ran.get(REFERENCE, 0.0)

    def _ap(self, member: PortfolioMember, report: Report) -> float:
        """Average precision on the validation links; predictors that may still win are kept."""
        predictor = self._fit(member, report)
        ap = metric("ap", rank(predictor.scores(), self._candidates, threads=self.settings.threads))
        ap = ap if math.isfinite(ap) else 0.0
        best = max([ap, *(figure for figure, _ in self._fitted.values())])
        self._fitted[member.name] = ap, predictor
        self._fitted = {name: kept for name, kept in self._fitted.items() if is_close(kept[0], best)}
        return ap

    def _fit(self, member: PortfolioMember, report: Report) -> LinkPredictor:
        learns = METHODS[member.method].score is None
        run = self.folder_of(member.name) if learns else None
        return self._new(member).fit(self.split, run=run, callbacks=report)

    def _new(self, member: PortfolioMember) -> LinkPredictor:
        method = METHODS[member.method]
        passed = {"threads": self.settings.threads, "device": self.settings.device}
        passed |= {"random_state": self.settings.random_state}
        known = method.settings.names()
        own = {**method.quick, **member.options}
        return make(member.method, **own, **{key: passed[key] for key in passed if key in known})


def _with_a_trial(member: PortfolioMember, predicted: float) -> float:
    """Seconds of a member and of one trial."""
    return predicted * (1 + member.trials / REPEATS)

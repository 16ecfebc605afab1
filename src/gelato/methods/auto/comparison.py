"""The comparison: members of the portfolio one after the other, within a budget, by average precision."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gelato.errors import GelatoError
from gelato.methods.auto.choice import chosen, close
from gelato.methods.auto.portfolio import Member
from gelato.methods.auto.record import COMPARED, LEFT_OUT, SKIPPED, Entry, Record
from gelato.methods.auto.settings import AutoSettings
from gelato.methods.making import new_predictor
from gelato.methods.table import METHODS, REFERENCE
from gelato.ranking.compilation import compile_for
from gelato.ranking.estimate import estimate
from gelato.ranking.metrics import metric
from gelato.ranking.rank import Progress, rank
from gelato.regimes import unbiased
from gelato.runs.predictor import StoredPredictor
from gelato.splits import Split

Report = Callable[[Any], None]


class Comparison:
    """One comparison on one split.

    Args:
        split: its training links are learned from, its validation links decide.
        members: what is compared, the simplest first.
        settings: the budget, and what is passed on to the members.
        folder: where members that learn keep what they have, each in a folder of its own; nowhere if ``None``.
        record: what was decided before.
        clock: tells the time in seconds.
    """

    def __init__(
        self,
        split: Split,
        members: Sequence[Member],
        settings: AutoSettings,
        folder: Path | None = None,
        record: Record | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._split, self._members, self._settings, self._folder = split, members, settings, folder
        self._record = Record() if record is None else record
        self._clock = clock
        self._before, self._begin = self._record.seconds, clock()
        self._candidates = unbiased(split, "valid")
        self._fitted: dict[str, tuple[float, StoredPredictor]] = {}

    def entries(self, report: Report, progress: Progress) -> list[Entry]:
        """What became of each member, in their order; what is on record is not done again."""
        entries: list[Entry] = []
        for member in self._members:
            progress(len(entries), len(self._members))
            known = self._record.entry(member.name)
            entries.append(self._record.add(self._run(member, entries, report)) if known is None else known)
        progress(len(entries), len(self._members))
        return entries

    def winner(self, entries: Sequence[Entry], report: Report) -> tuple[Entry, StoredPredictor]:
        """The member that is taken, fitted on the training links."""
        entry = chosen(entries)
        if entry.name in self._fitted:
            return entry, self._fitted[entry.name][1]
        member = next(member for member in self._members if member.name == entry.name)
        return entry, self._fit(member, report)

    def forecast(self) -> dict[str, float]:
        """Seconds that each member will take, of those that fit the graph and the budget."""
        seconds: dict[str, float] = {}
        for member in self._members:
            if member.left_out(self._split.train) is None:
                predicted = self._predicted(member, seconds)
                if not seconds or self._allows(member, sum(seconds.values()), predicted):
                    seconds[member.name] = predicted
        return seconds

    def folder_of(self, member: str) -> Path | None:
        """Where a member that learns keeps what it has."""
        return None if self._folder is None else self._folder / f"member-{member.replace(' ', '-')}"

    def _run(self, member: Member, before: Sequence[Entry], report: Report) -> Entry:
        """Compare a member, unless it does not fit the graph or the budget."""
        why = member.left_out(self._split.train)
        if why is not None:
            return Entry(member.name, member.method, LEFT_OUT, why=why)
        try:
            if not self._record.started(member.name):
                skipped = self._skipped(member, before)
                if skipped is not None:
                    return skipped
            self._record.start(member.name)
            begin = self._clock()
            ap = self._ap(member, report)
        except GelatoError as error:
            return Entry(member.name, member.method, LEFT_OUT, why=str(error).partition(";")[0])
        return Entry(member.name, member.method, COMPARED, ap=ap, seconds=self._clock() - begin)

    def _skipped(self, member: Member, before: Sequence[Entry]) -> Entry | None:
        """The entry of a member that the budget does not allow; the first member always runs."""
        ran = {entry.name: entry.seconds for entry in before if entry.seconds is not None}
        if not ran:
            return None
        predicted = float(self._predicted(member, ran))
        spent = self._before + self._clock() - self._begin
        if self._allows(member, spent, predicted):
            return None
        also = sum(entry.predicted_seconds or 0.0 for entry in before)  # which a larger budget lets run too
        needed = max(spent + also + predicted, predicted / member.share)
        budget = math.floor(needed / 60) + 1
        bound = bool(predicted == self._least(member, ran) > 0)
        return Entry(member.name, member.method, SKIPPED, predicted_seconds=predicted, budget=budget, at_least=bound)

    def _allows(self, member: Member, spent: float, predicted: float) -> bool:
        budget = 60 * self._settings.budget
        return spent + predicted <= budget and predicted <= member.share * budget

    def _predicted(self, member: Member, ran: Mapping[str, float]) -> float:
        """Seconds that a member will take, from a sample of it or from what others took."""
        predictor = self._new(member)
        if METHODS[member.method].score is not None:
            scores = predictor.fit(self._split).scores()
            compile_for(scores)
            return estimate(scores, self._candidates, threads=self._settings.threads).seconds
        least = self._least(member, ran)
        if not self._allows(member, sum(ran.values()), least):
            return least
        own = predictor.seconds_to_fit(self._split)
        return member.times * sum(ran.values()) if own is None else max(own, least)

    def _least(self, member: Member, ran: Mapping[str, float]) -> float:
        """Seconds that a member takes at least, from those of the reference method."""
        return member.rankings * ran.get(REFERENCE, 0.0)

    def _ap(self, member: Member, report: Report) -> float:
        """Average precision on the validation links; predictors that may still win are kept."""
        predictor = self._fit(member, report)
        ap = metric("ap", rank(predictor.scores(), self._candidates, threads=self._settings.threads))
        ap = ap if math.isfinite(ap) else 0.0
        best = max([ap, *(figure for figure, _ in self._fitted.values())])
        self._fitted[member.name] = ap, predictor
        self._fitted = {name: kept for name, kept in self._fitted.items() if close(kept[0], best)}
        return ap

    def _fit(self, member: Member, report: Report) -> StoredPredictor:
        learns = METHODS[member.method].score is None
        run = self.folder_of(member.name) if learns else None
        return self._new(member).fit(self._split, run=run, report=report)

    def _new(self, member: Member) -> StoredPredictor:
        method = METHODS[member.method]
        passed = {"threads": self._settings.threads, "device": self._settings.device}
        passed |= {"random_state": self._settings.random_state}
        known = method.settings.names()
        own = {**method.quick, **member.options}
        return new_predictor(member.method, **own, **{key: passed[key] for key in passed if key in known})

"""What became of each member of the portfolio, which of them is taken, and the comparison in words."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gelato.errors import InputError
from gelato.formatting import enumeration, percent
from gelato.methods.table import REFERENCE

COMPARED, SKIPPED, LEFT_OUT = "compared", "skipped", "left out"
"""A member ran; it would not have fitted into the budget; or it does not fit the graph or is not installed."""

CLOSE = 0.01
"""A simpler method is taken if its average precision is lower than the best by no more than this share of it."""

FEW = 30
"""With fewer validation links, sentences say how few there are."""


@dataclass(frozen=True)
class ComparisonEntry:
    """One member.

    Attributes:
        name, method: what it is called, and its name in ``METHODS``.
        status: ``compared``, ``skipped`` or ``left out``.
        ap: its average precision on the validation links.
        seconds: what it took.
        predicted_seconds: what it would have taken, of one that was skipped.
        budget: minutes that would have let it run.
        at_least: whether these two are known to be too low, since its forecast alone would have taken too long.
        why: why it was left out.
    """

    name: str
    method: str
    status: str
    ap: float | None = None
    seconds: float | None = None
    predicted_seconds: float | None = None
    budget: int | None = None
    at_least: bool = False
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """All fields, ready for ``json.dumps``."""
        return asdict(self)


def best_entry(entries: Sequence[ComparisonEntry]) -> ComparisonEntry:
    """The simplest of those that are close to the best; the reference method if none found anything.

    >>> figures = {"cn": 0.02, "ac": 0.0397, "spectral": 0.04}
    >>> best_entry([ComparisonEntry(name, name, "compared", ap=ap) for name, ap in figures.items()]).name
    'ac'
    """
    figures = [(entry, entry.ap) for entry in entries if entry.ap is not None]
    if not figures:
        raise InputError("none of the methods that auto compares fits this graph; name one with --method")
    best = max(ap for _, ap in figures)
    if best == 0:
        return next((entry for entry, _ in figures if entry.name == REFERENCE), figures[0][0])
    return next(entry for entry, ap in figures if is_close(ap, best))


def is_close(ap: float, best: float) -> bool:
    """Whether an average precision is as good as the best one."""
    return ap >= (1 - CLOSE) * best


def comparison_sentences(entries: Sequence[ComparisonEntry], winner: ComparisonEntry, hidden: int) -> list[str]:
    """What was compared, what won, and what did not run, in two or three sentences."""
    compared = [entry for entry in entries if entry.status == COMPARED]
    if not hidden:
        return [f"No links could be hidden to compare methods on: {winner.name} makes the suggestions, unchecked."]
    links = f"{'only ' if hidden < FEW else ''}{hidden:,} hidden link{'' if hidden == 1 else 's'}"
    figures = ", ".join(f"{entry.name} {percent(entry.ap)}%" for entry in compared)
    methods = "1 method" if len(compared) == 1 else f"{len(compared)} methods"
    first = f"Compared {methods} on {links}: {figures} (average precision)."
    second = "; ".join([_verdict(compared, winner), *map(_skipped, _of(entries, SKIPPED))]) + "."
    return [first, second, *_left_out(_of(entries, LEFT_OUT))]


def _of(entries: Sequence[ComparisonEntry], status: str) -> list[ComparisonEntry]:
    return [entry for entry in entries if entry.status == status]


def _verdict(compared: Sequence[ComparisonEntry], winner: ComparisonEntry) -> str:
    best = max(compared, key=lambda entry: entry.ap or 0.0)
    if best.ap == 0:
        return f"No method ranks any hidden link high enough to tell them apart: {winner.name} makes the suggestions"
    if best.name == winner.name:
        return f"{winner.name} ranks best and makes the suggestions"
    within = f"within {CLOSE:.0%} of the best, {best.name}"
    return f"{winner.name} makes the suggestions, the simplest method {within}"


def _skipped(entry: ComparisonEntry) -> str:
    minutes = math.ceil((entry.predicted_seconds or 0.0) / 60)
    more = f"{minutes:,} more minute{'' if minutes == 1 else 's'}"
    if entry.at_least:
        return f"skipped {entry.name}, which would take at least {more} (needs more than --budget {entry.budget})"
    return f"skipped {entry.name}, which would take about {more} (--budget {entry.budget} allows it)"


def _left_out(entries: Sequence[ComparisonEntry]) -> list[str]:
    """One sentence, grouped by reason."""
    names: dict[str, list[str]] = {}
    for entry in entries:
        names.setdefault(entry.why, []).append(entry.name)
    reasons = [f"{enumeration(listed)} ({why})" for why, listed in names.items()]
    return [f"Left out {'; '.join(reasons)}."] if reasons else []

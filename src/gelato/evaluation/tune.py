"""The line search of the paper: one setting after the other, every trial a training judged on validation links."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gelato.errors import InputError
from gelato.io.files import written_aside
from gelato.methods.gelato.build import device_of
from gelato.methods.gelato.choice import PLAIN, choose
from gelato.methods.gelato.model import Gelato
from gelato.methods.heuristics import autocovariance
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.scores import Scores
from gelato.splits import Split

GRID: dict[str, tuple[Any, ...]] = {
    "eta": (0.0, 0.25, 0.5, 0.75, 1.0),
    "alpha": (0.0, 0.25, 0.5, 0.75),
    "beta": (0.25, 0.5, 0.75, 1.0),
    "steps": (2, 3, 4, 5),
    "self_loops": ("isolated", "all"),
}
"""What is searched, in this order; the first three are the paper's."""


@dataclass(frozen=True)
class Trial:
    """One training of the search.

    Attributes:
        values: the settings that are searched, as tried.
        precision: validation precision@100%, which decides.
        ap: validation AP, which decides between equals.
        seconds: what it took.
    """

    values: dict[str, Any]
    precision: float
    ap: float
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """All fields, ready for ``json.dumps``."""
        return asdict(self)


def tune(
    split: Split, base: Gelato, folder: Path, *, report: Callable[[str], None] | None = None
) -> tuple[list[Trial], Trial]:
    """All trials and the best one.

    ``folder`` gets ``trials.jsonl``, from which a stopped search goes on, and ``best.toml``. The search begins with
    plain autocovariance and with the automatic choice, and takes the best value of each setting in turn. As plain
    autocovariance is a trial too, the best is never worse on validation.
    """
    base.check()
    if split.train.f == 0:
        raise InputError("tuning needs node attributes; give an attribute table (--attributes FILE)")
    done = _Notes(folder, base.config(split.train) | {"valid": split.valid.tolist()})

    def tried(values: dict[str, Any]) -> Trial:
        trial = done.find(values) or done.add(_trial(split, base, values))
        if report is not None:
            words = ", ".join(f"{name} {value}" for name, value in values.items())
            report(f"{words}: precision {trial.precision:.2%}, AP {trial.ap:.2%}, {trial.seconds:.1f} s")
        return trial

    trials = [tried({**PLAIN, "steps": base.steps})]
    start = choose(split, base.settings(), device_of(base.device))
    trials.append(tried({**start, "steps": base.steps}))
    best = trials[-1]
    for name, grid in GRID.items():
        for value in grid:
            if value != best.values[name]:
                trials.append(tried({**best.values, name: value}))
        best = max(trials[1:], key=_quality)
    best = max(trials, key=_quality)
    settings = {**base.as_dict(), **best.values}
    if best.values["alpha"] == 1:  # plain autocovariance has nothing to learn
        settings |= {"learn_mixing": False, "heuristic": "autocovariance"}
    with written_aside(folder / "best.toml") as part:
        part.write_text(_toml(settings), encoding="utf-8")
    return trials, best


def _quality(trial: Trial) -> tuple[float, float]:
    return trial.precision, trial.ap


def _trial(split: Split, base: Gelato, values: dict[str, Any]) -> Trial:
    begin = time.perf_counter()
    if values["alpha"] == 1 and values["eta"] == 0:
        scores: Scores = autocovariance(split.train, steps=values["steps"], self_loops=values["self_loops"])
    else:
        scores = Gelato(**{**base.as_dict(), **values}).fit(split).scores()
    ranks = rank(scores, unbiased(split, "valid"))
    return Trial(values, metric("precision@100%", ranks), metric("ap", ranks), time.perf_counter() - begin)


class _Notes:
    """The trials that are done, one a line."""

    def __init__(self, folder: Path, key: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "trials.jsonl"
        first = json.dumps({"format": "gelato trials 1", **key})
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        if lines and lines[0] != first:
            raise InputError(f"{folder} holds the trials of another search; give a new folder")
        self._trials = []
        for line in lines[1:]:
            try:
                self._trials.append(Trial(**json.loads(line)))
            except (ValueError, TypeError):  # the end of a line was never written: the trial is made again
                break
        with written_aside(self._path) as part:
            whole = [first, *(json.dumps(trial.as_json()) for trial in self._trials)]
            part.write_text("".join(line + "\n" for line in whole), encoding="utf-8")

    def find(self, values: dict[str, Any]) -> Trial | None:
        return next((trial for trial in self._trials if trial.values == values), None)

    def add(self, trial: Trial) -> Trial:
        self._trials.append(trial)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(trial.as_json()) + "\n")
        return trial


def _toml(settings: dict[str, Any]) -> str:
    """A TOML file with a [model] table; settings that are ``None`` are left out."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items() if value is not None]
    return "\n".join(["[model]", *lines]) + "\n"

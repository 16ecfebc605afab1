"""The line search of the paper: one setting after the other, every trial fitted and judged on validation links."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gelato.errors import InputError
from gelato.io.files import written_aside
from gelato.methods import METHODS, new_predictor
from gelato.methods.configuration import written
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.runs.predictor import StoredPredictor
from gelato.splits import Split


@dataclass(frozen=True)
class Trial:
    """One trial of the search.

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
    split: Split, base: StoredPredictor, folder: Path, *, report: Callable[[str], None] | None = None
) -> tuple[list[Trial], Trial]:
    """All trials and the best one.

    The grid is that of the method in ``METHODS``. ``folder`` gets ``trials.jsonl``, from which a stopped search
    resumes, and ``best.toml``. The search takes the best value of each setting in turn. What the method names as a
    reference, such as plain autocovariance, is a trial too, so the best is never worse on validation links.
    """
    grid = METHODS[base.method].grid
    if not grid:
        raise InputError(f"{base.method} has no setting to tune; take one of {', '.join(tunable())}")
    if len(split.valid) == 0:
        raise InputError("the split hides no validation links; trials are judged by them: hide a share")
    problem = METHODS[base.method].unfit(split.train)
    if problem is not None:
        raise InputError(problem)
    references, start = base.starts(split)
    notes = _Notes(folder, base.config(split.train) | {"valid": split.valid.tolist()})

    def tried(values: dict[str, Any]) -> Trial:
        trial = notes.find(values) or notes.add(_trial(split, base, values))
        if report is not None:
            words = ", ".join(f"{name} {value}" for name, value in values.items())
            report(f"{words}: precision {trial.precision:.2%}, AP {trial.ap:.2%}, {trial.seconds:.1f} s")
        return trial

    compared = [tried(values) for values in references]
    given = {name: getattr(base.settings, name) for name in grid}
    first = {name: options[0] if given[name] is None else given[name] for name, options in grid.items()}
    trials = [tried({**first, **start})]
    best = trials[0]
    for name, options in grid.items():
        for value in options:
            if value != best.values[name]:
                trials.append(tried({**best.values, name: value}))
        best = max(trials, key=_quality)
    best = max([*compared, *trials], key=_quality)
    with written_aside(folder / "best.toml") as part:
        part.write_text(written(base.method, base.tuned(best.values)), encoding="utf-8")
    return [*compared, *trials], best


def tunable() -> list[str]:
    """The methods that have a grid."""
    return [name for name, method in METHODS.items() if method.grid]


def _quality(trial: Trial) -> tuple[float, float]:
    return trial.precision, trial.ap


def _trial(split: Split, base: StoredPredictor, values: dict[str, Any]) -> Trial:
    begin = time.perf_counter()
    scores = new_predictor(base.method, **base.tuned(values)).fit(split).scores()
    ranks = rank(scores, unbiased(split, "valid"), threads=base.threads)
    return Trial(values, metric("precision@100%", ranks), metric("ap", ranks), time.perf_counter() - begin)


class _Notes:
    """The trials that are done, one per line."""

    def __init__(self, folder: Path, key: dict[str, Any]) -> None:
        self._path = folder / "trials.jsonl"
        if folder.exists() and not self._path.exists() and any(folder.iterdir()):
            raise InputError(f"{folder} is not empty and holds no trials; give a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        first = json.dumps({"format": "gelato trials 2", **key})
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

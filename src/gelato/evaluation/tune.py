"""The line search of the paper: one setting after the other, every trial fitted and judged on validation links."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from gelato.errors import GelatoError, InputError
from gelato.figures import percent
from gelato.io.files import written_aside
from gelato.io.outputs import SCRATCH, remove_leftovers
from gelato.methods import METHODS, REFERENCE, new_predictor
from gelato.methods.configuration import written
from gelato.ranking.engines import elsewhere, mapped
from gelato.ranking.metrics import metric
from gelato.ranking.rank import Progress, rank
from gelato.regimes import unbiased
from gelato.runs.predictor import StoredPredictor
from gelato.runs.trials import Trials
from gelato.splits import Split

TRIALS, CHOICE, BEST, LOCK = "trials.jsonl", "choice.jsonl", "best.toml", ".lock"
OWN = (TRIALS, CHOICE, BEST)
"""Files of a search: its trials, those of the choice it starts from, and what came out best."""


@dataclass(frozen=True)
class Trial:
    """One trial of the search.

    Attributes:
        values: the settings that are searched, as tried.
        precision: validation precision@100%, which decides.
        ap: validation AP, which decides between equals.
        seconds: what it took.
        reference: whether it is what the search must not be worse than.
    """

    values: dict[str, Any]
    precision: float
    ap: float
    seconds: float
    reference: bool = False

    @property
    def figures(self) -> str:
        """What it reached, as it is shown."""
        return f"precision {percent(self.precision)}%, AP {percent(self.ap)}%"

    def as_json(self) -> dict[str, Any]:
        """All fields, ready for ``json.dumps``."""
        return asdict(self)


def tune(
    split: Split,
    base: StoredPredictor,
    folder: Path,
    *,
    report: Callable[[str], None] | None = None,
    choosing: Progress | None = None,
) -> tuple[list[Trial], Trial]:
    """All trials and the best one.

    The grid is that of the method in ``METHODS``. ``folder`` gets ``trials.jsonl``, from which a stopped search
    resumes, and ``best.toml``. The search takes the best value of each setting in turn. What the method names as a
    reference, such as plain autocovariance, is a trial too, so the best is never worse on validation links.

    Args:
        split: what is hidden.
        base: the settings that are not searched.
        folder: where trials are kept; one search at a time.
        report: called with a line about every trial.
        choosing: called with the trials of the choice of where to start, done and in all.
    """
    grid = METHODS[base.method].grid
    if not grid:
        raise InputError(f"{base.method} has no settings to tune; use one of {', '.join(tunable())}")
    if len(split.valid) == 0:
        raise InputError("the split hides no validation links to judge trials on; hide a share of the links")
    problem = METHODS[base.method].unfit(split.train)
    if problem is not None:
        raise InputError(problem)
    check_folder(folder)
    with _opened(folder, base.config(split.train) | {"valid": split.valid.tolist()}) as notes:
        references, start = base.starts(split, Trials(folder / CHOICE, choosing))
        total = len(references) + 1 + sum(len(options) - 1 for options in grid.values())
        done = 0

        def tried(several: list[dict[str, Any]], reference: bool = False) -> list[Trial]:
            nonlocal done
            new = [each for i, each in enumerate(several) if notes.find(each) is None and each not in several[:i]]
            own = 1 if elsewhere(len(new)) else base.threads
            settings = [(values, {**base.tuned(values), "threads": own}) for values in new]
            results = mapped(partial(_trial, split, base.method), settings, threads=base.threads, gpu=True)
            trials = []
            for values in several:
                trial = replace(notes.find(values) or notes.add(next(results)), reference=reference)
                trials.append(trial)
                done += 1
                if report is not None:
                    words = ", ".join(f"{name} {value}" for name, value in values.items())
                    report(f"trial {done} of {total} at most: {words}: {trial.figures}, {trial.seconds:.1f} s")
            return trials

        compared = tried(references, True)
        given = {name: getattr(base.settings, name) for name in grid}
        first = {name: options[0] if given[name] is None else given[name] for name, options in grid.items()}
        trials = tried([{**first, **start}])
        best = trials[0]
        for name, options in grid.items():
            trials += tried([{**best.values, name: value} for value in options if value != best.values[name]])
            best = max(trials, key=_quality)
        best = max([*compared, *trials], key=_quality)
        with written_aside(folder / BEST) as part:
            part.write_text(written(base.method, base.tuned(best.values)), encoding="utf-8")
    return [*compared, *trials], best


def verdict(trials: list[Trial], best: Trial) -> list[str]:
    """What to know of the best trial: that it is the reference, or no better than that."""
    references = [trial for trial in trials if trial.reference]
    plain = f"plain {METHODS[REFERENCE].title}"
    if best.reference:
        return [
            f"No settings did better than {plain} on the validation links ({best.figures}); best.toml holds {plain}."
        ]
    if any(trial.figures == best.figures for trial in references):
        return [f"The best settings did no better than {plain} on the validation links ({best.figures} for both)."]
    return []


def kept_words(folder: Path) -> str | None:
    """What a stopped search has kept, in a sentence; ``None`` if that is nothing."""
    counts = {TRIALS: -1, CHOICE: 0}  # the first line says whose trials they are
    for name in counts:
        if (folder / name).exists():
            counts[name] += (folder / name).read_bytes().count(b"\n")
    count = max(0, counts[TRIALS]) + counts[CHOICE]
    if not count:
        return None
    kept = "1 trial is" if count == 1 else f"{count:,} trials are"
    return f"{kept} saved in {folder}; resume by running the same command again"


def check_folder(folder: Path) -> None:
    """Refuse what cannot be the folder of a search."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a new folder for the trials")
    others = [each.name for each in folder.iterdir() if each.name != LOCK and not each.name.startswith(SCRATCH)]
    if others and TRIALS not in others:
        raise InputError(f"{folder} is not empty and holds no trials; give a new folder")


@contextmanager
def _opened(folder: Path, key: dict[str, Any]) -> "Iterator[_Notes]":
    """The notes of a folder, locked against other searches while the block lasts; a refusal leaves nothing behind."""
    fresh = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, timeout=0)
        lock.acquire()
    except Timeout:
        raise InputError(f"{folder}: another process is tuning here; wait for it, or give another folder") from None
    except (OSError, NotImplementedError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{folder}: cannot be used as the folder of a search: {reason}") from None
    try:
        remove_leftovers(folder, alone=True)
        yield _Notes(folder, key)
    except GelatoError:
        if fresh and kept_words(folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        lock.release()


def tunable() -> list[str]:
    """The methods that have a grid."""
    return [name for name, method in METHODS.items() if method.grid]


def _quality(trial: Trial) -> tuple[float, float]:
    return trial.precision, trial.ap


def _trial(split: Split, method: str, trial: tuple[dict[str, Any], dict[str, Any]]) -> Trial:
    """The trial of some values and all settings that they belong to."""
    begin, (values, settings) = time.perf_counter(), trial
    scores = new_predictor(method, **settings).fit(split).scores()
    ranks = rank(scores, unbiased(split, "valid"), threads=settings["threads"])
    return Trial(values, metric("precision@100%", ranks), metric("ap", ranks), time.perf_counter() - begin)


class _Notes:
    """The trials that are done, one per line."""

    def __init__(self, folder: Path, key: dict[str, Any]) -> None:
        self._path = folder / TRIALS
        check_folder(folder)
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

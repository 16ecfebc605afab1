"""The line search of the paper: one setting after the other, every trial fitted and judged on validation links."""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gelato.errors import InputError, wrong_kind
from gelato.evaluation.search_folder import BEST, CHOICE, SearchTrial, check_folder, open_search
from gelato.graph import Graph
from gelato.io.files import written_aside
from gelato.methods import DEFAULT, METHODS, REFERENCE, make
from gelato.methods.config_files import config_text
from gelato.notebook import rows_html
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.storage import identity_of
from gelato.ranking.engines import map_tasks, runs_remotely
from gelato.ranking.metrics import metric
from gelato.ranking.rank import Progress, rank
from gelato.regimes import unbiased
from gelato.runs.search_log import SearchLog
from gelato.splits import Split, split


@dataclass(frozen=True)
class TuneResult:
    """What a search came to.

    Attributes:
        method, settings: the method that was tuned, and all its settings, with the best values.
        best, trials: the best trial, and all of them, in the order in which they were made.
    """

    method: str
    settings: dict[str, Any]
    best: SearchTrial
    trials: list[SearchTrial]

    def make(self) -> LinkPredictor:
        """A predictor with the best settings, to be fitted."""
        return make(self.method, **self.settings)

    def remarks(self) -> list[str]:
        """What to know of the best trial: that it is the reference, or no better than that."""
        best, plain = self.best, f"plain {METHODS[REFERENCE].title}"
        if best.reference:
            on = f"on the validation links ({best.figures})"
            return [f"No settings did better than {plain} {on}; best.toml holds {plain}."]
        if any(trial.figures == best.figures for trial in self.trials if trial.reference):
            return [f"The best settings did no better than {plain} on the validation links ({best.figures} for both)."]
        return []

    def __repr__(self) -> str:
        best = ", ".join(f"{name}={value!r}" for name, value in self.best.values.items())
        return f"TuneResult({self.method}: {best}; validation {self.best.figures}; {len(self.trials)} trials)"

    def _repr_html_(self) -> str:
        columns = [*self.best.values, "precision@100%", "ap", "seconds"]
        rows = [[*map(it.values.get, self.best.values), it.precision, it.ap, it.seconds] for it in self.trials]
        return rows_html(f"{self.method}: {len(self.trials)} trials on validation links", columns, rows)


def tune(
    data: Graph | Split,
    method: str | LinkPredictor = DEFAULT,
    folder: str | os.PathLike[str] | None = None,
    *,
    callbacks: Callable[[SearchTrial], None] | Iterable[Callable[[SearchTrial], None]] = (),
    report: Callable[[str], None] | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> TuneResult:
    """Search for the best settings of a method, one after the other over its grid in ``METHODS``.

    Each trial is fitted from scratch and judged on validation links only.

    Args:
        data: a split, or a graph, of which the links of ``split(graph)`` are hidden.
        method: a name in ``METHODS``, or a predictor with the settings that are not searched.
        folder: where trials are kept, so that the same call resumes a stopped search; ``best.toml`` is written there.
        callbacks: one or several, called with each ``SearchTrial``.
        report: called with a line about each trial.
        progress: called with the trials of the choice of where to start, done and in all.
        settings: those that are not searched, of a method given by name.

    Example:
        >>> import gelato
        >>> found = gelato.tune(gelato.load("debian-sample"), "katz")
        >>> found.best.values
        {'beta': 0.05, 'steps': 3}
    """
    if not isinstance(data, Graph | Split):
        raise wrong_kind("tune", "Graph or a Split", data)
    if settings and not isinstance(method, str):
        raise InputError(f"settings ({', '.join(settings)}) are for a method given by name; a predictor has its own")
    base = make(method, **settings) if isinstance(method, str) else method
    hidden = data if isinstance(data, Split) else split(data)
    called = [callbacks] if callable(callbacks) else list(callbacks)
    with nullcontext(folder) if folder is not None else TemporaryDirectory() as place:
        return _search(hidden, base, Path(place), called, report or (lambda line: None), progress)


def _search(
    split: Split,
    base: LinkPredictor,
    folder: Path,
    callbacks: Iterable[Callable[[SearchTrial], None]],
    report: Callable[[str], None],
    choosing: Progress | None,
) -> TuneResult:
    """Take the best value of each setting in turn, on the grid of the method.

    ``folder`` gets ``trials.jsonl``, from which a stopped search resumes, and ``best.toml``. What the method names as a
    reference, such as plain autocovariance, is a trial too, so the best is never worse on validation links.
    """
    grid = METHODS[base.method].grid
    if not grid:
        tunable = ", ".join(name for name, method in METHODS.items() if method.grid)
        raise InputError(f"{base.method} has no settings to tune; use one of {tunable}")
    if len(split.valid) == 0:
        raise InputError("the split hides no validation links to judge trials on; hide a share of the links")
    problem = METHODS[base.method].unfit(split.train)
    if problem is not None:
        raise InputError(problem)
    check_folder(folder)
    with open_search(folder, identity_of(base, split.train) | {"valid": split.valid.tolist()}) as notes:
        references, start = base.starts(split, SearchLog(folder / CHOICE, choosing))
        total = len(references) + 1 + sum(len(options) - 1 for options in grid.values())
        done = 0

        def tried(several: list[dict[str, Any]], reference: bool = False) -> list[SearchTrial]:
            nonlocal done
            new = [each for i, each in enumerate(several) if notes.find(each) is None and each not in several[:i]]
            own = 1 if runs_remotely(len(new)) else base.threads
            settings = [(values, {**base.tuned(values), "threads": own}) for values in new]
            results = map_tasks(partial(_trial, split, base.method), settings, threads=base.threads, gpu=True)
            trials = []
            for values in several:
                trial = replace(notes.find(values) or notes.add(next(results)), reference=reference)
                trials.append(trial)
                done += 1
                words = ", ".join(f"{name} {value}" for name, value in values.items())
                report(f"trial {done} of {total} at most: {words}: {trial.figures}, {trial.seconds:.1f} s")
                for call in callbacks:
                    call(trial)
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
            part.write_text(config_text(base.method, base.tuned(best.values)), encoding="utf-8")
    return TuneResult(base.method, base.tuned(best.values), best, [*compared, *trials])


def _quality(trial: SearchTrial) -> tuple[float, float]:
    return trial.precision, trial.ap


def _trial(split: Split, method: str, trial: tuple[dict[str, Any], dict[str, Any]]) -> SearchTrial:
    """The trial of some values and all settings that they belong to."""
    begin, (values, settings) = time.perf_counter(), trial
    scores = make(method, **settings).fit(split).scores()
    ranks = rank(scores, unbiased(split, "valid"), threads=settings["threads"])
    return SearchTrial(values, metric("precision@100%", ranks), metric("ap", ranks), time.perf_counter() - begin)

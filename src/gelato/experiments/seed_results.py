"""Outcomes of experiments: one file per seed, with the hash of its settings and the date, held against the reported."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from gelato import __version__
from gelato.datasets import load
from gelato.errors import InputError
from gelato.evaluation.evaluate import evaluate
from gelato.experiments.experiment import Experiment, Reported
from gelato.formatting import counted, percent
from gelato.io.files import written_aside
from gelato.io.stored_files import parse_json, read_text
from gelato.methods import METHODS, make
from gelato.prediction.predictor import LinkPredictor
from gelato.ranking.engines import map_tasks, runs_remotely
from gelato.runs.records import read_record
from gelato.splits import split

ALWAYS = ("ap", "hits@1000", "mrr", "precision@100%", "auc")
"""Metrics of every outcome, besides those that were reported."""

CLOSE = 0.05
"""Relative difference from a reported mean that counts as agreement where no deviation is known."""


@dataclass(frozen=True)
class SeedResult:
    """The outcome of one seed.

    Attributes:
        experiment, seed: which.
        hash: of the settings; an outcome of other settings does not count.
        date, release: when, as in ``2025-08-03``, and by which release of this package.
        metrics: in percent, on the test links against all non-links.
        seconds, device: of training and of testing, and where it was trained.
    """

    experiment: str
    seed: int
    hash: str
    date: str
    release: str
    metrics: Mapping[str, float]
    seconds: float
    device: str


@dataclass(frozen=True)
class Agreement:
    """A metric of an experiment beside what was reported: ``(mean, standard deviation)`` of the seeds kept."""

    metric: str
    seeds: int
    mean: float
    std: float
    reported: Reported | None

    def as_json(self) -> dict[str, Any]:
        """All fields, ready for ``json.dumps``."""
        return {**asdict(self), "agrees": self.agrees}

    @property
    def agrees(self) -> bool | None:
        """Whether the means lie within three standard errors, or five percent; ``None`` where nothing was reported.

        How many seeds a reported deviation is of is not known, so it counts whole.
        """
        if self.reported is None:
            return None
        spread: float = 3 * ((self.reported.std or 0.0) ** 2 + self.std**2 / self.seeds) ** 0.5
        return abs(self.mean - self.reported.mean) <= max(spread, CLOSE * abs(self.reported.mean))


def run_seed(
    experiment: Experiment,
    seed: int,
    *,
    data_root: str | None = None,
    device: str | None = None,
    threads: int | None = None,
    watch: Callable[[str, LinkPredictor], AbstractContextManager[dict[str, Any]]] | None = None,
) -> SeedResult:
    """Train and test one seed; ``watch(title, model)`` is a context of arguments of ``fit`` that show progress."""
    begin = time.perf_counter()
    links = split(load(experiment.dataset, data_root=data_root), experiment.split)
    named = {"random_state": seed, "device": device, "threads": threads}
    known = METHODS[experiment.method].settings.names()
    own = {name: value for name, value in named.items() if value is not None and name in known}
    model = make(experiment.method, **{**experiment.settings, **own})
    with nullcontext({}) if watch is None else watch(f"{experiment.dataset}, seed {seed}", model) as reports:
        model.fit(links, **reports)
    result = evaluate(links, model, threads=threads)
    metrics = {name: round(100 * result.metric(name), 4) for name in dict.fromkeys((*ALWAYS, *experiment.reported))}
    date, seconds = datetime.now(UTC).date().isoformat(), round(time.perf_counter() - begin, 1)
    where = str(model.get_params().get("device", "cpu"))
    return SeedResult(experiment.name, seed, experiment.hash, date, __version__, metrics, seconds, where)


def reproduce(
    experiment: Experiment,
    folder: Path,
    *,
    seeds: int | None = None,
    report: Callable[[str], None] | None = None,
    **options: Any,
) -> list[SeedResult]:
    """Run the seeds of an experiment that are not kept yet, and keep each as it is done."""
    wanted = experiment.seeds if seeds is None else seeds
    outcomes = {each.seed: each for each in kept_outcomes(experiment, folder)}
    missing = [seed for seed in range(wanted) if seed not in outcomes]
    own = dict(options)
    if runs_remotely(len(missing)):  # a task runs on one thread, without progress, with an absolute path of the data
        root = options.get("data_root")
        own |= {"threads": 1, "watch": None, "data_root": None if root is None else str(Path(root).absolute())}
    results = map_tasks(partial(run_seed, experiment, **own), missing, threads=options.get("threads"), gpu=True)
    for seed in range(wanted):
        if seed not in outcomes:
            outcomes[seed] = next(results)
            with written_aside(_path(experiment.name, folder) / f"seed-{seed}.json") as part:
                part.write_text(json.dumps(asdict(outcomes[seed]), indent=1) + "\n", encoding="utf-8")
        if report is not None:
            metrics = ", ".join(f"{name} {percent(value / 100)}" for name, value in outcomes[seed].metrics.items())
            report(f"{experiment.name}, seed {seed}: {metrics}")
    return [outcomes[seed] for seed in sorted(outcomes)]


def kept_outcomes(experiment: Experiment, folder: Path) -> list[SeedResult]:
    """The outcomes in a folder that are of these very settings, by seed."""
    outcomes = []
    for path in sorted(_path(experiment.name, folder).glob("seed-*.json")):
        try:
            outcome = read_record(SeedResult, parse_json(read_text(path)), finite=False)
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}: is not a result of an experiment: {error}; delete it") from None
        if outcome.hash == experiment.hash:
            outcomes.append(outcome)
    return sorted(outcomes, key=lambda each: each.seed)


def resume_sentence(experiment: Experiment, folder: Path) -> str | None:
    """How many seeds of an experiment are kept, in a sentence; ``None`` if none is."""
    count = len(kept_outcomes(experiment, folder))
    if not count:
        return None
    seeds = f"{counted(count, 'seed')} {'is' if count == 1 else 'are'}"
    return f"{experiment.name}: {seeds} saved in {folder}; resume by running the same command again"


def compare_outcomes(experiment: Experiment, outcomes: Sequence[SeedResult]) -> list[Agreement]:
    """Every metric over the seeds, beside what was reported."""
    if not outcomes:
        return []
    comparisons = []
    for name in [name for name in outcomes[0].metrics if all(name in outcome.metrics for outcome in outcomes)]:
        values = [outcome.metrics[name] for outcome in outcomes]
        spread = stdev(values) if len(values) > 1 else 0.0
        comparisons.append(Agreement(name, len(values), mean(values), spread, experiment.reported.get(name)))
    return comparisons


def _path(name: str, folder: Path) -> Path:
    """``paper/cora`` as it is; of another file its folder and its name."""
    last = [part for part in Path(name).with_suffix("").parts[-2:] if part not in ("..", ".", Path(name).anchor)]
    return folder.joinpath(*last)

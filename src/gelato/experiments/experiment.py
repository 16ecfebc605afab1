"""An experiment: a settings file that says what to run, with which settings, and what was reported."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gelato.errors import InputError
from gelato.methods import METHODS
from gelato.methods.config_files import read_config
from gelato.ranking.metrics import check_metric

RUN = {"dataset": str, "split": str, "seeds": int}
"""Keys of ``[run]``."""


@dataclass(frozen=True)
class Reported:
    """A published figure, in percent: its mean, and its standard deviation over seeds where that is known."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Experiment:
    """The definition of a result.

    Attributes:
        name: such as ``paper/cora``.
        source, remark: ``[about]``: where the figures are from, and what is worth knowing.
        dataset, split, seeds: ``[run]``: the graph, what is hidden of it, and how many seeds from 0 on.
        method, settings: ``[model]``.
        reported: ``[reported]``: published figures by metric.
    """

    name: str
    source: str
    remark: str
    dataset: str
    split: str
    seeds: int
    method: str
    settings: Mapping[str, Any]
    reported: Mapping[str, Reported]

    @property
    def hash(self) -> str:
        """SHA-256 of all that the outcome depends on besides the seed."""
        full = METHODS[self.method].settings(**self.settings).identity()
        full.pop("random_state", None)
        text = json.dumps([self.dataset, self.split, self.method, full], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def read_experiment(name: str) -> Experiment:
    """The experiment of a TOML file, or of one that ships, such as ``paper/cora``; every table of it is checked.

    Example:
        >>> experiment = read_experiment("paper/cora")
        >>> experiment.dataset, experiment.seeds, experiment.reported["ap"].mean
        ('cora', 5, 3.9)
    """
    read = read_config(name)
    tables = {"about": {}, "run": {}, "reported": {}} | dict(read.tables)
    for table, content in tables.items():
        if table not in ("about", "run", "reported"):
            raise InputError(f"{read.place}: unknown table [{table}]; known: [about], [run], [model], [reported]")
        if not isinstance(content, dict):
            raise InputError(f"{read.place}: [{table}] must be a table, got {content!r}")
    run, about = tables["run"], tables["about"]
    for key, kind in RUN.items():
        if not isinstance(run.get(key), kind):
            rule = "text" if kind is str else "a whole number"
            raise InputError(f"{read.place} [run]: {key} must be {rule}, got {run.get(key)!r}")
    if run["seeds"] < 1:
        raise InputError(f"{read.place} [run]: seeds must be at least 1, got {run['seeds']}")
    for key in run:
        if key not in RUN:
            raise InputError(f"{read.place} [run]: unknown key {key!r}; known: {', '.join(RUN)}")
    METHODS[read.method].check(read.method, read.settings)
    reported = {metric: _figure(metric, value, read.place) for metric, value in tables["reported"].items()}
    told: dict[str, Any] = {key: str(about.get(key, "")) for key in ("source", "remark")}
    return Experiment(name=name, **told, **run, method=read.method, settings=read.settings, reported=reported)


def _figure(name: str, row: Any, place: str) -> Reported:
    check_metric(name)
    numbers = isinstance(row, dict) and all(type(each) in (int, float) for each in row.values())
    if not (numbers and {"mean"} <= set(row) <= {"mean", "std"}):
        raise InputError(f"{place} [reported]: {name} must be like {{ mean = 3.9, std = 0.03 }}, got {row!r}")
    return Reported(**row)

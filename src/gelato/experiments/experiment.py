"""An experiment: a settings file that says what to run, with which settings, and what was reported."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gelato.errors import InputError
from gelato.methods import METHODS
from gelato.methods.configuration import read_configuration
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
        told = json.dumps([self.dataset, self.split, self.method, full], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()


def read_experiment(name: str) -> Experiment:
    """The experiment of a TOML file, or of one that ships, such as ``paper/cora``; every table of it is checked.

    Example:
        >>> experiment = read_experiment("paper/cora")
        >>> experiment.dataset, experiment.seeds, experiment.reported["ap"].mean
        ('cora', 5, 3.9)
    """
    read = read_configuration(name)
    tables = {"about": {}, "run": {}, "reported": {}} | dict(read.tables)
    for table, content in tables.items():
        if table in ("about", "run", "reported") and not isinstance(content, dict):
            raise InputError(f"{read.place}: [{table}] must be a table, got {content!r}")
        if table not in ("about", "run", "reported"):
            raise InputError(f"{read.place}: unknown table [{table}]; known: [about], [run], [model], [reported]")
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
    return Experiment(
        name=name,
        source=str(about.get("source", "")),
        remark=str(about.get("remark", "")),
        dataset=run["dataset"],
        split=run["split"],
        seeds=run["seeds"],
        method=read.method,
        settings=read.settings,
        reported={metric: _figure(metric, value, read.place) for metric, value in tables["reported"].items()},
    )


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _figure(name: str, value: Any, place: str) -> Reported:
    check_metric(name)
    if (
        not isinstance(value, dict)
        or not set(value) <= {"mean", "std"}
        or "mean" not in value
        or not all(map(_is_figure, value.values()))
    ):
        raise InputError(f"{place} [reported]: {name} must be like {{ mean = 3.9, std = 0.03 }}, got {value!r}")
    return Reported(**value)

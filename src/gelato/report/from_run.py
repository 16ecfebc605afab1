"""The report of a run: its model tested honestly, what it suggests and why, and how it was made."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict
from itertools import zip_longest
from typing import Any

import numpy as np

from gelato import PROGRAM, __version__
from gelato.explain.contract import PairExplanation
from gelato.memory.usage import peak_memory
from gelato.methods.factory import OpenedRun
from gelato.prediction.hidden_link_trials import trials
from gelato.prediction.precision import REPEATS, SHARE
from gelato.prediction.suggest import Stage
from gelato.prediction.suggestions import CHANCE_COLUMNS, Suggestions
from gelato.report.contents import Report, Suggestion, facts_of
from gelato.report.measurements import measure
from gelato.runs.files import ENVIRONMENT, TIMINGS, read_json
from gelato.scores import Scores
from gelato.splits import Split

POINTS = 60
"""Points on the curve of expected precision."""


def report_of(
    run: OpenedRun,
    *,
    title: str,
    top: int = 100,
    parts: int = 10,
    share: float = SHARE,
    repeats: int = REPEATS,
    seed: int = 0,
    threads: int | None = None,
    command: str | None = None,
    stage: Stage = lambda *_: nullcontext(),
) -> Report:
    """Everything that the page of a run shows.

    A model that was trained on a split is tested on its test links. A model that was trained on a whole graph is
    tested by its first hidden-link trial: a copy that was trained without some of the links.

    Args:
        title, command: of the page, and the command that made it, to be shown on it.
        top, share, repeats, seed: how many links to suggest, to hide, how often, and the seed, as in ``suggest``.
        parts: number of METIS parts of the partitioned test.
    """
    model, whole = (each.set_params(threads=threads) for each in (run.model, run.whole()))
    tested, scores = _test_of(run, share, repeats, seed)
    with stage("testing methods", "tests") as progress:
        measured = measure(
            tested, scores, name=model.method, dataset=title, parts=parts, seed=seed, threads=threads, progress=progress
        )
    options: dict[str, Any] = {"share": share, "repeats": repeats, "seed": seed, "run": run.folder}
    suggestions = whole.suggest(top, reasons=False, stage=stage, **options)
    explained: list[PairExplanation] = []
    with stage("explaining", "links") as progress:
        if whole.explains:
            explained = whole.explain_pairs(suggestions.pairs, index=True, with_rank=True, progress=progress)
    rows = []
    for row, why in zip_longest(suggestions.rows(), explained):
        told: dict[str, Any] = dict(zip(("chance", "low", "high"), map(row.get, CHANCE_COLUMNS), strict=True))
        if why is not None:
            told |= {"reason": why.reason(), "explanation_lines": why.lines(), "picture": why.svg()}
        rows.append(Suggestion(row["rank"], str(row["source"]), str(row["target"]), row["score"], **told))
    training_seed = model.get_params().get("random_state")
    own_seed = {} if training_seed is None else {"training": training_seed}
    environment, timings = (read_json(run.folder / name) for name in (ENVIRONMENT, TIMINGS))
    return Report(
        title=title,
        facts=facts_of(run.graph, threads=threads),
        measured=measured,
        history=[asdict(epoch) for epoch in model.history_],
        selected_by=getattr(model, "selected_by", "precision@100%"),
        best_epoch=model.best_epoch_,
        remarks=model.sentences(),
        suggestions=rows,
        precision_words=suggestions.words(),
        precision_curve=_curve(suggestions),
        settings={"method": model.method, **model.settings.as_dict(), **model.chosen_},
        seeds={**own_seed, "hidden links": seed, "split": tested.name},
        versions=_versions(environment),
        timings={f"training: {name}": seconds for name, seconds in timings.items()},
        memory_bytes=peak_memory(),
        command=command,
    )


def _test_of(run: OpenedRun, share: float, repeats: int, seed: int) -> tuple[Split, Scores]:
    """A split, and scores of its training graph by a model that has not seen its test links."""
    if len(run.split.test):
        return run.split, run.model.scores()
    whole = run.whole()
    first = trials(whole, share, max(1, repeats), seed, run.folder)[0]
    hidden, none = first.split, np.empty((0, 2), np.int64)
    return Split(run.graph, run.graph.without(hidden.test), none, hidden.test, hidden.name), first.scores()


def _curve(suggestions: Suggestions) -> list[tuple[int, float, float, float]] | None:
    """Expected precision at ranks spaced evenly on a logarithmic axis."""
    if suggestions.precision is None or len(suggestions) == 0:
        return None
    ranks = np.unique(np.geomspace(1, len(suggestions), POINTS).round().astype(int)).tolist()
    stated = [each for each in map(suggestions.precision.at, ranks) if each is not None]
    return [(each.k, each.expected, each.low, each.high) for each in stated] or None


def _versions(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Versions and the machine, in one flat table."""
    about = {name: value for name, value in environment.items() if name != "packages" and value is not None}
    return {PROGRAM: __version__, **about, **{name: each for name, each in environment["packages"].items() if each}}

"""A report of a run: its model tested honestly, what it suggests and why, and all that made it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from gelato import __version__
from gelato.memory import peak_memory
from gelato.prediction.precision import REPEATS, SHARE, hidings, rehearsal_folder
from gelato.prediction.reasons import explainable, explanations
from gelato.prediction.suggest import Stage, silent, suggest
from gelato.prediction.suggestions import Suggestions
from gelato.report.contents import Report, Suggestion
from gelato.report.facts import facts_of
from gelato.report.measure import measure
from gelato.runs import OpenedRun
from gelato.scores import Scores
from gelato.splits import Split
from gelato.training.run import read_json

POINTS = 60
"""Points of the curve of expected precision."""


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
    stage: Stage = silent,
) -> Report:
    """Everything a page tells of a run.

    A model that was trained on a split is tested on its test links. One that was trained on a whole graph is tested by
    its first rehearsal: a twin of it, trained without a share of the links.
    """
    model = run.model.set_params(threads=threads)
    whole = run.whole().set_params(threads=threads)
    tested, scores = _test_of(run, share, repeats, seed)
    with stage("testing methods", "tests") as progress:
        measured = measure(tested, scores, dataset=title, parts=parts, seed=seed, threads=threads, progress=progress)
    found = suggest(whole, top, share=share, repeats=repeats, seed=seed, run=run.folder, reasons=False, stage=stage)
    with stage("explaining", "links") as progress:
        told = explanations(whole, found, with_rank=True, progress=progress) if explainable(whole.scores()) else []
    shown = [
        Suggestion(
            rank=row["rank"],
            source=str(row["source"]),
            target=str(row["target"]),
            score=row["score"],
            precision=row.get("expected_precision"),
            low=row.get("precision_low"),
            high=row.get("precision_high"),
            reason=told[i].reason() if told else "",
            explanation_lines=told[i].lines() if told else (),
            picture=told[i].svg() if told else "",
        )
        for i, row in enumerate(found.rows())
    ]
    environment, timings = (read_json(run.folder / f"{name}.json") for name in ("environment", "timings"))
    return Report(
        title=title,
        facts=facts_of(run.graph, steps=model.steps, threads=threads),
        measured=measured,
        history=[asdict(epoch) for epoch in model.history_],
        best_epoch=model.best_epoch_,
        fallback=model.fallback_,
        suggestions=shown,
        precision_words=found.words(),
        precision_curve=_curve(found),
        settings=model.as_dict() | model.chosen_,
        seeds={"training": model.random_state, "hidden links": seed, "split": tested.name},
        versions=_versions(environment),
        timings={f"training: {name}": seconds for name, seconds in timings.items()},
        memory_bytes=peak_memory(),
        command=command,
    )


def _test_of(run: OpenedRun, share: float, repeats: int, seed: int) -> tuple[Split, Scores]:
    """A split, and scores of its training links by a model that has not seen its test links."""
    if len(run.split.test):
        return run.split, run.model.scores()
    whole = run.whole()
    hidden = hidings(whole, share, max(1, repeats), seed)[0]
    scores = whole.rehearse(hidden, run.folder / rehearsal_folder(whole.graph_, 1, share, seed))
    none = np.empty((0, 2), np.int64)
    return Split(run.graph, run.graph.without(hidden.test), none, hidden.test, hidden.name), scores


def _curve(found: Suggestions) -> list[tuple[int, float, float, float]] | None:
    """Expected precision at ranks spread evenly over powers of ten."""
    if found.precision is None or len(found) == 0:
        return None
    ranks = np.unique(np.geomspace(1, len(found), POINTS).round().astype(int)).tolist()
    stated = [each for each in map(found.precision.at, ranks) if each is not None]
    return [(each.k, each.expected, each.low, each.high) for each in stated] or None


def _versions(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Versions and the machine, flat."""
    about = {name: value for name, value in environment.items() if name != "packages" and value is not None}
    return {"gelato": __version__, **about, **{name: each for name, each in environment["packages"].items() if each}}

"""A report made from a run: tested on links the model has not seen, with what it suggests and why."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from gelato import __version__
from gelato.datasets import block_model
from gelato.evaluation.evaluate import evaluate
from gelato.methods import open_run
from gelato.methods.gelato.model import Gelato
from gelato.prediction.precision import FEWEST_PLACES, expected_precision
from gelato.report.from_run import report_of
from gelato.report.page import write_report
from gelato.splits import Split, split

FIXED = {"eta": 0.5, "alpha": 0.5, "beta": 0.5, "self_loops": "all", "hidden": 16, "batches": 4, "epochs": 2}
SMALL = {"title": "mine", "top": 12, "parts": 2, "repeats": 2, "threads": 1}
ODD = '<b>n7</b> & "co"'


@pytest.fixture(scope="module")
def graph():
    made = block_model([25, 25], 0.2, 0.02, attributes=30, words=8, seed=3)
    names = np.array([ODD if i == 7 else f"n{i}" for i in range(made.n)], dtype=object)
    return replace(made, names=names, attribute_names=np.array([f"w{j}" for j in range(30)], dtype=object))


@pytest.fixture(scope="module")
def whole(graph, tmp_path_factory):
    """A run of the whole graph, and its report."""
    folder = tmp_path_factory.mktemp("whole")
    Gelato(**FIXED).fit(graph, run=folder)
    return folder, report_of(open_run(folder), **SMALL, command="gelato report whole")


@pytest.fixture(scope="module")
def apart(graph, tmp_path_factory):
    """A run of a split, and its report."""
    folder = tmp_path_factory.mktemp("apart")
    Gelato(**FIXED).fit(split(graph, 3, (0.05, 0.3)), run=folder)
    return folder, report_of(open_run(folder), **SMALL)


def measured(report):
    return {name: report.measured.outcome("gelato", "unbiased").metrics[name] for name in ("ap", "hits@1000", "auc")}


def metrics(parts, scores):
    result = evaluate(parts, scores, name="gelato")
    return {name: None if np.isnan(result.metric(name)) else result.metric(name) for name in ("ap", "hits@1000", "auc")}


def rehearsed(folder):
    return sorted(path for path in folder.iterdir() if path.name.startswith("hidden-"))


def test_a_model_of_the_whole_graph_is_tested_by_a_twin_that_has_not_seen_the_links(whole, graph):
    folder, report = whole
    first = rehearsed(folder)[0]
    hidden = Split.load(first / "split.npz", graph).test
    none = np.empty((0, 2), np.int64)
    parts = Split(graph, graph.without(hidden), none, hidden, "first")
    twin = Gelato.load(first).on(parts.train)
    assert measured(report) == pytest.approx(metrics(parts, twin.scores()))
    seen = open_run(folder).model.on(parts.train)  # has learned from the links it would be tested on
    assert measured(report)["ap"] != pytest.approx(metrics(parts, seen.scores())["ap"])
    assert report.measured.hidden == len(hidden) == int(0.1 * graph.m)
    assert report.measured.negatives == graph.n * (graph.n - 1) // 2 - graph.m
    assert report.measured.split == report.seeds["split"] and report.measured.split.startswith("0, hiding 0.1")
    assert len(rehearsed(folder)) == 2


def test_a_model_of_a_split_is_tested_on_its_test_links_and_nothing_is_trained(apart, graph):
    folder, report = apart
    parts = split(graph, 3, (0.05, 0.3))
    model = Gelato.load(folder, parts.train)
    assert measured(report) == pytest.approx(metrics(parts, model.scores()))
    assert report.measured.hidden == len(parts.test) and report.measured.split == parts.name
    assert rehearsed(folder) == []


@pytest.mark.parametrize("kind", ["whole", "apart"])
def test_suggestions_are_those_of_the_model_for_all_links_with_their_reasons(kind, request, graph):
    folder, report = request.getfixturevalue(kind)
    model = open_run(folder).whole()
    wanted = model.suggest(12, repeats=0, reasons=False)
    told = expected_precision(model, FEWEST_PLACES, repeats=2, run=folder)
    assert [(each.source, each.target) for each in report.suggestions] == [(u, v) for u, v, _ in wanted]
    for i, each in enumerate(report.suggestions):
        assert each.rank == i + 1 and each.score == pytest.approx(wanted.score[i], rel=1e-9)
        stated = told.chance(i + 1)
        assert (each.chance, each.low, each.high) == pytest.approx((stated.expected, stated.low, stated.high), abs=1e-4)
        why = model.explain(each.source, each.target)
        assert each.reason == why.reason() and list(each.explanation_lines) == why.lines()
        assert each.picture.startswith("<svg") and f"rank {i + 1} of" in each.explanation_lines[0]
    assert list(report.precision_words) == told.words(10, 12)
    curve = report.precision_curve or []
    assert [k for k, *_ in curve] == [k for k in range(1, 13) if told.at(k) is not None]
    assert all(low <= expected <= high for _, expected, low, high in curve)
    linked = {frozenset(graph.names[[u, v]].tolist()) for u, v in graph.edges}
    assert linked.isdisjoint({frozenset((each.source, each.target)) for each in report.suggestions})


def test_all_that_made_the_run_is_told(whole, graph):
    folder, report = whole
    model = open_run(folder).model
    assert report.title == "mine" and report.command == "gelato report whole"
    assert (report.facts.n, report.facts.m, report.facts.f) == (graph.n, graph.m, graph.f)
    assert [epoch["loss"] for epoch in report.history] == [epoch.loss for epoch in model.history_]
    assert report.best_epoch == model.best_epoch_ and list(report.remarks) == []
    assert report.settings["eta"] == 0.5 and report.settings["epochs"] == 2
    assert report.seeds["training"] == 0 and report.versions["gelato"] == __version__
    assert {"numpy", "torch", "python"} <= set(report.versions)
    assert report.timings["training: all"] > 0 and report.memory_bytes > 2**20


def test_a_second_report_trains_nothing(whole):
    folder, report = whole
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("m*.*")}
    again = report_of(open_run(folder), **SMALL)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("m*.*")} == before
    assert [vars(each) for each in again.suggestions] == [vars(each) for each in report.suggestions]
    assert measured(again) == measured(report)


def test_without_rehearsals_nothing_is_said_of_the_precision_but_the_test_stays(whole):
    folder, report = whole
    bare = report_of(open_run(folder), **SMALL | {"repeats": 0, "top": 3})
    assert list(bare.precision_words) == [] and bare.precision_curve is None
    assert [each.chance for each in bare.suggestions] == [None] * 3
    assert measured(bare) == measured(report)


def test_a_model_whose_scores_are_no_walks_is_reported_without_reasons(graph, tmp_path):
    model = Gelato(**FIXED | {"epochs": 1}, heuristic="none", regime="biased")
    model.fit(split(graph, 0, (0.05, 0.3)), run=tmp_path / "run")
    report = report_of(open_run(tmp_path / "run"), **SMALL)
    assert len(report.suggestions) == 12
    assert {(each.reason, tuple(each.explanation_lines), each.picture) for each in report.suggestions} == {("", (), "")}


def test_every_stage_is_shown(apart):
    shown = []

    @contextmanager
    def stage(title, unit):
        shown.append(unit)
        yield None

    report_of(open_run(apart[0]), **SMALL | {"top": 2}, stage=stage)
    assert shown == ["tests", "pairs", "times", "links"]


def test_the_page_names_the_suggested_links_and_escapes_them(whole, tmp_path):
    _, report = whole
    odd = replace(report, suggestions=[replace(report.suggestions[0], source=ODD), *report.suggestions[1:]])
    page, *charts = write_report(tmp_path / "page.html", odd)
    text = page.read_text(encoding="utf-8")
    assert all(
        each.source in text and each.target in text
        for each in report.suggestions
        if "<" not in each.source + each.target
    )
    assert "<b>n7</b>" not in text and "&lt;b&gt;n7&lt;/b&gt;" in text
    assert all(path.stat().st_size > 0 for path in charts) and len(charts) > 6

"""auto: the order and the rule of the choice, the budget by a made-up clock, what is kept, loaded and said."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import gelato.methods.method as method_module
from gelato import METHODS, Graph, InputError, evaluate, new_predictor, open_model, open_run, split, suggest
from gelato.cli import main
from gelato.datasets import block_model
from gelato.evaluation.forecast import forecast
from gelato.io import write_graph
from gelato.methods.auto import comparison as comparing
from gelato.methods.auto import portfolio
from gelato.methods.auto.choice import chosen, words
from gelato.methods.auto.comparison import Comparison
from gelato.methods.auto.model import Auto
from gelato.methods.auto.portfolio import PORTFOLIO, Member
from gelato.methods.auto.record import Entry, Record
from gelato.methods.auto.settings import AutoSettings
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased

FEW = (Member("cn"), Member("ac"), Member("ac", {"self_loops": "all"}))
TRAINED = Member("gelato", {"epochs": 2, "hidden": 8, "eta": 0.5, "alpha": 0.0, "beta": 0.5, "self_loops": "all"})


@pytest.fixture(scope="module")
def graph():
    """Links follow attributes, of which two words tell the blocks apart."""
    plain = block_model([20, 20], 0.3, 0.02, attributes=16, words=6, seed=5)
    return replace(plain, names=np.array([f"n{i}" for i in range(plain.n)], dtype=object))


@pytest.fixture(scope="module")
def hidden(graph):
    return split(graph, 0, (0.15, 0.1))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(portfolio, "PORTFOLIO", FEW)


@pytest.fixture
def trained(monkeypatch):
    """Gelato wins: it is the only one that runs."""
    monkeypatch.setattr(portfolio, "PORTFOLIO", (TRAINED,))


class Clock:
    """Every look at it takes a second."""

    def __init__(self, step=1.0):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def entries_of(figures):
    return [Entry(name, name.split()[0], "compared", ap=ap, seconds=1.0) for name, ap in figures.items()]


def nothing(*_):
    pass


# The choice


@pytest.mark.parametrize(
    ("figures", "winner"),
    [
        ({"cn": 0.10, "ac": 0.20, "spectral": 0.30}, "spectral"),
        ({"cn": 0.10, "ac": 0.2971, "spectral": 0.30}, "ac"),
        ({"cn": 0.10, "ac": 0.2969, "spectral": 0.30}, "spectral"),
        ({"cn": 0.2971, "ac": 0.2999, "spectral": 0.30}, "cn"),
        ({"cn": 0.3, "ac": 0.3}, "cn"),
        ({"cn": 0.0, "ac": 0.0, "spectral": 0.0}, "ac"),
        ({"katz": 0.0, "spectral": 0.0}, "katz"),
    ],
)
def test_the_simplest_method_within_a_hundredth_of_the_best_is_taken(figures, winner):
    assert chosen(entries_of(figures)).name == winner


def test_a_graph_that_no_method_fits_is_refused():
    with pytest.raises(InputError, match="none of the methods"):
        chosen([Entry("cosine", "cosine", "left out", why="no attributes")])


def test_the_average_precision_is_that_against_all_pairs(hidden):
    entries = Comparison(hidden, FEW, AutoSettings()).entries(nothing, nothing)
    assert [entry.name for entry in entries] == ["cn", "ac", "ac self_loops=all"]
    for member, entry in zip(FEW, entries, strict=True):
        scores = new_predictor(member.method, **member.options).fit(hidden).scores()
        assert entry.ap == metric("ap", rank(scores, unbiased(hidden, "valid")))


def test_the_portfolio_is_a_list_of_methods_and_options_that_exist():
    for member in portfolio.members():
        METHODS[member.method].check(member.method, member.options)
    assert len({member.name for member in PORTFOLIO}) == len(PORTFOLIO)
    assert not any(METHODS[member.method].compares for member in portfolio.members())


# The budget


def test_a_member_that_does_not_fit_into_the_budget_is_skipped_and_the_first_always_runs(hidden, monkeypatch):
    costs = {"cn": 1e9, "ac": 50.0, "ac self_loops=all": 130.0}
    monkeypatch.setattr(Comparison, "_predicted", lambda self, member, ran: costs[member.name])
    entries = Comparison(hidden, FEW, AutoSettings(budget=2.0), clock=Clock()).entries(nothing, nothing)
    assert [entry.status for entry in entries] == ["compared", "compared", "skipped"] and entries[0].seconds == 1.0
    last = entries[2]
    assert last.predicted_seconds == 130.0 and last.budget == 3 and last.ap is None  # 6 looks at the clock and 130 s
    allowed = Comparison(hidden, FEW, AutoSettings(budget=0.0), clock=Clock()).entries(nothing, nothing)
    assert [entry.status for entry in allowed] == ["compared", "skipped", "skipped"]
    assert [entry.budget for entry in allowed[1:]] == [1, 4]  # the second needs room for the first as well


def test_the_budget_that_is_named_lets_a_skipped_member_run(hidden, monkeypatch):
    monkeypatch.setattr(Comparison, "_predicted", lambda self, member, ran: np.float64(119.0))
    skipped = Comparison(hidden, FEW, AutoSettings(budget=1), clock=Clock()).entries(nothing, nothing)
    budget = skipped[-1].budget
    json.dumps([entry.as_json() for entry in skipped])
    for minutes, ran in ((budget, True), (1.9, False)):
        entries = Comparison(hidden, FEW, AutoSettings(budget=minutes), clock=Clock()).entries(nothing, nothing)
        assert (entries[-1].status == "compared") == ran


def test_a_member_that_may_take_a_share_of_the_budget_takes_no_more(hidden, monkeypatch):
    monkeypatch.setattr(Comparison, "_predicted", lambda self, member, ran: 30.0)
    members = (FEW[0], replace(FEW[1], share=0.1))
    (_, entry) = Comparison(hidden, members, AutoSettings(budget=4.0), clock=Clock()).entries(nothing, nothing)
    assert entry.status == "skipped" and entry.budget == 6


def test_a_long_training_is_skipped_without_timing_an_epoch_of_it(hidden, monkeypatch):
    monkeypatch.setattr(comparing.new_predictor("gelato").__class__, "cost", lambda *_: pytest.fail("it was timed"))
    entries = Comparison(hidden, (Member("ac"), replace(TRAINED, rankings=1e9)), AutoSettings()).entries(
        nothing, nothing
    )
    assert [(entry.status, entry.at_least) for entry in entries] == [("compared", False), ("skipped", True)]
    assert entries[1].predicted_seconds == 1e9 * entries[0].seconds


def test_what_a_member_takes_is_predicted_from_a_sample_or_from_those_before_it(hidden):
    comparison = Comparison(hidden, PORTFOLIO, AutoSettings())
    for member in (Member("ac"), Member("spectral"), TRAINED):
        assert 0 < comparison._predicted(member, {}) < 600
    unknown = Member("no-forecast", times=3.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(METHODS._parts, "no-forecast", replace(METHODS["spectral"]))
        patch.setattr(METHODS["spectral"].predictor(), "seconds_to_fit", lambda *_: None)
        assert comparison._predicted(unknown, {"cn": 1.0, "ac": 2.0}) == 9.0


# The record


def test_what_is_on_record_is_replayed_whatever_the_clock_says(hidden, tmp_path, monkeypatch):
    monkeypatch.setattr(Comparison, "_predicted", lambda self, member, ran: 50.0)
    path = tmp_path / "comparison.jsonl"
    first = Comparison(hidden, FEW, AutoSettings(budget=1), record=Record(path), clock=Clock(4.0))
    entries = first.entries(nothing, nothing)
    assert [entry.status for entry in entries] == ["compared", "skipped", "skipped"]
    monkeypatch.setattr(Comparison, "_ap", lambda *_: pytest.fail("it ran again"))
    again = Comparison(hidden, FEW, AutoSettings(budget=1), record=Record(path), clock=Clock(1e-9))
    assert again.entries(nothing, nothing) == entries


def test_a_member_that_was_started_is_finished_though_the_time_is_over(hidden, tmp_path, monkeypatch):
    monkeypatch.setattr(Comparison, "_predicted", lambda self, member, ran: 50.0)
    path = tmp_path / "comparison.jsonl"
    whole = Comparison(hidden, FEW[:2], AutoSettings(budget=1), record=Record(path), clock=Clock()).entries(
        nothing, nothing
    )
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]) + lines[-1][:20])  # killed while the second one was written down
    late = Comparison(hidden, FEW[:2], AutoSettings(budget=1), record=Record(path), clock=Clock(1e6))
    assert [(each.name, each.ap) for each in late.entries(nothing, nothing)] == [(each.name, each.ap) for each in whole]


SMALL_BOOSTED = """
import sys
from gelato.cli import main
from gelato.methods.auto import portfolio
small = portfolio.Member("boosted", {"folds": 2, "trees": 20, "bags": 1})
portfolio.PORTFOLIO = (*(member for member in portfolio.PORTFOLIO if member.method != "boosted"), small)
sys.exit(main(["predict", *sys.argv[1:]]))
"""


def test_a_killed_prediction_resumes_to_the_same_links(tmp_path):
    """By kill -9, once a method is on record and another one at work."""
    write_graph(block_model([60, 60], 0.12, 0.01, seed=4), tmp_path / "graph.npz")
    args = [sys.executable, "-c", SMALL_BOOSTED, "graph.npz", "--top", "9", "--repeats", "1", "--threads", "1"]

    def run(out):
        return subprocess.Popen([*args, "--out", out, "--quiet"], cwd=tmp_path, stdout=subprocess.DEVNULL)

    assert run("calm.csv").wait() == 0
    process, record = run("killed.csv"), tmp_path / "killed.run" / "comparison.jsonl"
    while not (record.exists() and '"started": "spectral"' in record.read_text()):
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and not (tmp_path / "killed.run" / "model.safetensors").exists()
    before = record.read_text()
    assert '"name": "boosted' in (tmp_path / "calm.run" / "comparison.jsonl").read_text()
    assert run("killed.csv").wait() == 0
    assert record.read_text().startswith(before)
    assert (tmp_path / "killed.csv").read_bytes() == (tmp_path / "calm.csv").read_bytes()


# What the winner does


@pytest.mark.usefixtures("trained")
def test_a_trained_winner_is_saved_loaded_applied_and_explained(graph, hidden, tmp_path):
    model = Auto().fit(hidden, run=tmp_path / "run")
    pairs = np.array([[0, 1], [2, 30], [5, 7]])
    wanted = model.winner_.scores().pairs(pairs)
    assert model.winner_.method == "gelato" and model.trained and len(model.history_) == 2
    np.testing.assert_array_equal(model.scores().pairs(pairs), wanted)
    model.save(tmp_path / "saved")
    for again in (open_run(tmp_path / "run").model, open_model(tmp_path / "saved"), Auto.load(tmp_path / "saved")):
        np.testing.assert_array_equal(again.scores().pairs(pairs), wanted)
        assert again.sentences() == model.sentences() and again.facts() == model.facts()
        assert again.explain("n0", "n1").lines() == model.winner_.explain("n0", "n1").lines()
        assert again.evidence() is not None and again.best_epoch_ == model.best_epoch_
    newer = Graph.from_edges(graph.edges[:-3], graph.n, attributes=graph.attributes, names=graph.names)
    np.testing.assert_array_equal(
        again.applied(newer).scores().pairs(pairs), model.winner_.applied(newer).scores().pairs(pairs)
    )
    assert again.set_params(threads=1).winner_.threads == 1 and again.fitted
    assert not again.set_params(budget=3).fitted
    with pytest.raises(InputError, match="holds another run"):
        Auto(budget=3).fit(hidden, run=tmp_path / "run")


@pytest.mark.usefixtures("trained")
def test_rehearsals_train_the_winner_alone(graph, tmp_path, monkeypatch):
    model = Auto().fit(graph)
    monkeypatch.setattr(Comparison, "entries", lambda *_: pytest.fail("methods were compared again"))
    found = suggest(model, 5, repeats=1, share=0.2, run=tmp_path)
    assert found.precision is not None and found.reasons is not None
    assert [json.loads((path / "config.json").read_text())["method"] for path in tmp_path.iterdir()] == ["gelato"]


@pytest.mark.usefixtures("few")
def test_all_links_are_scored_in_the_end_and_the_hidden_ones_are_not_hidden_again(graph):
    model = new_predictor("auto").fit(graph)
    assert model.graph_ is graph and len(model.valid_) == int(0.05 * graph.m)
    again = new_predictor(model.winner_.method, **model.winner_.settings.as_dict()).fit(graph)
    pairs = np.array([[0, 1], [2, 30]])
    np.testing.assert_array_equal(model.scores().pairs(pairs), again.scores().pairs(pairs))
    assert not model.unseen(graph).any()


# Small and odd graphs


@pytest.mark.usefixtures("few")
def test_a_graph_with_too_few_links_takes_one_heuristic_and_says_so(tmp_path):
    tiny = Graph.from_edges([(0, 1), (1, 2)], 4)
    model = new_predictor("auto").fit(tiny, run=tmp_path / "run")
    sentence = "No links could be hidden to compare methods on: ac makes the suggestions, unchecked."
    assert model.sentences() == open_model(tmp_path / "run").sentences() == [sentence]
    assert len(model.predict_top(3)) == 3


def test_directed_weighted_and_bipartite_graphs_are_compared_by_what_fits_them(monkeypatch):
    monkeypatch.setattr(portfolio, "PORTFOLIO", PORTFOLIO[:9])
    random = np.random.default_rng(0)
    links = np.unique(random.integers(0, 24, (120, 2)), axis=0)
    links = links[links[:, 0] != links[:, 1]]
    directed = Graph.from_edges(links, 24, weights=random.random(len(links)) + 0.5, directed=True)
    model = new_predictor("auto").fit(directed)
    assert model.scores().directed and len(model.entries_) == 9
    assert [entry.name for entry in model.entries_ if entry.status == "left out"] == ["cosine"]
    sides = (np.arange(24) >= 12).astype(np.int8)
    across = np.unique(np.column_stack([random.integers(0, 12, 60), random.integers(12, 24, 60)]), axis=0)
    model = new_predictor("auto").fit(Graph.from_edges(across, 24, sides=sides))
    compared = [entry.name for entry in model.entries_ if entry.status == "compared"]
    assert compared == ["ac", "ac self_loops=all", "katz", "ac steps=5"]
    assert "Left out cn, aa and ra (gives every pair across" in model.sentences()[2]


def test_without_torch_the_others_are_compared(hidden, monkeypatch):
    monkeypatch.setattr(portfolio, "PORTFOLIO", (FEW[0], Member("gelato")))
    monkeypatch.setattr(method_module, "find_spec", lambda name: None)
    model = new_predictor("auto").fit(hidden)
    assert model.winner_.method == "cn"
    assert model.sentences()[-1] == "Left out gelato (Gelato needs torch: pip install 'gelato-links[train]')."


def test_a_member_that_fails_is_left_out_with_its_reason(hidden, monkeypatch):
    monkeypatch.setattr(portfolio, "PORTFOLIO", (FEW[0], Member("ac", {"steps": 0})))
    model = new_predictor("auto").fit(hidden)
    assert model.entries_[1].status == "left out" and "steps" in model.entries_[1].why


# Words


def test_what_was_compared_is_said_in_plain_words():
    entries = entries_of({"cn": 0.019, "ac": 0.024})
    skipped = Entry("gelato", "gelato", "skipped", predicted_seconds=830.0, budget=25)
    assert words([*entries, skipped], entries[1], 253) == [
        "Compared 2 methods on 253 hidden links: cn 1.90%, ac 2.40% (average precision).",
        "ac ranks best and makes the suggestions; skipped gelato, which would take about 14 more minutes (--budget 25"
        " allows it).",
    ]
    bound = replace(skipped, at_least=True)
    assert (
        "which would take at least 14 more minutes (needs more than --budget 25)."
        in words([*entries, bound], entries[1], 9)[1]
    )
    assert "on only 1 hidden link:" in words(entries, entries[1], 1)[0]
    close = entries_of({"cn": 0.0239, "ac": 0.024})
    assert words(close, close[0], 99)[1] == ("cn makes the suggestions, the simplest method within 1% of the best, ac.")
    none = entries_of({"cn": 0.0, "ac": 0.0})
    said = words(none, none[1], 99)[1]
    assert said.startswith("No method ranks any hidden link high enough to tell them apart: ac makes")


# Commands


@pytest.mark.usefixtures("few")
def test_commands_tell_what_was_compared(graph, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GELATO_CACHE", str(tmp_path / "cache"))
    write_graph(graph, "graph.npz")
    quick = ["--repeats", "0", "--top", "3"]
    assert main(["predict", "graph.npz", *quick, "--out", "links.csv", "--budget", "5"]) == 0
    assert "Compared 3 methods on" in capsys.readouterr().err
    assert main(["predict", "graph.npz", *quick, "--json", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in told["comparison"]] == ["cn", "ac", "ac self_loops=all"]
    assert [row["name"] for row in told["comparison"] if row["chosen"]] == [told["winner"]]
    assert main(["explain", "links.run", "n0", "n1", "--json"]) == 0
    assert main(["report", "links.run", "--top", "2", "--repeats", "1", "--quiet", "--out", "page.html"]) == 0
    assert "Compared 3 methods on" in (tmp_path / "page.html").read_text()
    capsys.readouterr()
    assert main(["evaluate", "graph.npz", "--method", "auto", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "auto: methods compared on validation links" in shown and "chosen" in shown
    assert main(["evaluate", "graph.npz", "--method", "auto", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["metrics"]["ap"] == evaluate(split(graph), "auto").metric("ap") and len(row["comparison"]) == 3
    assert main(["fit", "graph.npz", "--method", "auto", "--out", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["winner"] in ("cn", "ac", "ac self_loops=all")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("predict", "graph.npz", "--method", "ac", "--budget", "5"), "method 'ac' has no option 'budget'"),
        (("predict", "graph.npz", "--budget", "-1"), "--budget"),
        (
            ("predict", "graph.npz", "--option", "epochs=2"),
            "which is an option of gelato, gae, gcn, ncn, ncnc, neo-gnn, mlp, buddy, elph and seal; choose one with",
        ),
        (("predict", "graph.npz", "--model", "run", "--budget", "1"), "leave out --method, --budget"),
        (("tune", "graph.npz", "--method", "auto", "--out", "x"), "auto has no settings to tune; use one of"),
        (("estimate", "graph.npz", "--method", "ac", "--budget", "1"), "are for --step predict"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else None,
)
def test_a_budget_where_nothing_is_compared_is_refused(graph, tmp_path, monkeypatch, capsys, args, message):
    monkeypatch.chdir(tmp_path)
    write_graph(graph, "graph.npz")
    assert main(list(args)) == 2
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("few")
def test_what_it_will_take_is_told_beforehand_up_to_the_budget(graph, monkeypatch):
    told = forecast(graph, new_predictor("auto"), "predict", top_k=5, repeats=1)
    assert told.parts["compare methods"] > 0 and told.at_most == told.seconds
    monkeypatch.setattr(Comparison, "_predicted", lambda self, member, ran: 40.0)
    told = forecast(graph, new_predictor("auto", budget=1.5), "predict", top_k=5, repeats=1)
    assert 80 < told.parts["compare methods"] < 90  # two of the three

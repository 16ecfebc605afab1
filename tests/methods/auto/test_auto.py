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
from gelato import METHODS, Graph, InputError, evaluate, make, open_model, open_run, split
from gelato.cli import main
from gelato.datasets import block_model
from gelato.evaluation.forecast import forecast
from gelato.io import write_graph
from gelato.methods.auto import comparison as comparing
from gelato.methods.auto import portfolio
from gelato.methods.auto.comparison import ComparisonLog, MethodComparison
from gelato.methods.auto.entries import ComparisonEntry, best_entry, comparison_sentences
from gelato.methods.auto.model import Auto, close_rivals, heuristic_scores
from gelato.methods.auto.portfolio import PORTFOLIO, PortfolioMember
from gelato.methods.auto.settings import AutoSettings
from gelato.prediction.hidden_link_trials import trials
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.splits import Split

FEW = tuple(
    PortfolioMember(method, options, trials=0.0)
    for method, options in (("cn", {}), ("ac", {}), ("ac", {"self_loops": "all"}))
)
TRAINED = PortfolioMember(
    "gelato", {"epochs": 2, "hidden": 8, "eta": 0.5, "alpha": 0.0, "beta": 0.5, "self_loops": "all"}
)


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
    return [ComparisonEntry(name, name.split()[0], "compared", ap=ap, seconds=1.0) for name, ap in figures.items()]


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
    assert best_entry(entries_of(figures)).name == winner


def test_a_graph_that_no_method_fits_is_refused():
    with pytest.raises(InputError, match="none of the methods"):
        best_entry([ComparisonEntry("cosine", "cosine", "left out", why="no attributes")])


def test_the_average_precision_is_that_against_all_pairs(hidden):
    entries = MethodComparison(hidden, FEW, AutoSettings()).entries(nothing, nothing)
    assert [entry.name for entry in entries] == ["cn", "ac", "ac self_loops=all"]
    for member, entry in zip(FEW, entries, strict=True):
        scores = make(member.method, **member.options).fit(hidden).scores()
        assert entry.ap == metric("ap", rank(scores, unbiased(hidden, "valid")))


def test_the_portfolio_is_a_list_of_methods_and_options_that_exist():
    for member in PORTFOLIO:
        METHODS[member.method].check(member.method, member.options)
    assert len({member.name for member in PORTFOLIO}) == len(PORTFOLIO)
    assert not any(METHODS[member.method].compares for member in PORTFOLIO)


# The budget


def test_a_member_that_does_not_fit_into_the_budget_is_skipped_and_the_first_always_runs(hidden, monkeypatch):
    costs = {"cn": 1e9, "ac": 50.0, "ac self_loops=all": 130.0}
    monkeypatch.setattr(MethodComparison, "_predicted", lambda self, member, ran: costs[member.name])
    entries = MethodComparison(hidden, FEW, AutoSettings(budget=2.0), clock=Clock()).entries(nothing, nothing)
    assert [entry.status for entry in entries] == ["compared", "compared", "skipped"] and entries[0].seconds == 1.0
    last = entries[2]
    assert (
        last.predicted_seconds == 130.0 and last.budget == 3 and last.ap is None
    )  # 6 looks at the clock and 130 s, of 0.9 * 180
    allowed = MethodComparison(hidden, FEW, AutoSettings(budget=0.0), clock=Clock()).entries(nothing, nothing)
    assert [entry.status for entry in allowed] == ["compared", "skipped", "skipped"]
    assert [entry.budget for entry in allowed[1:]] == [1, 4]  # the second needs room for the first as well


def test_there_must_be_time_for_a_trial_of_a_member_too(hidden, monkeypatch):
    monkeypatch.setattr(MethodComparison, "_predicted", lambda self, member, ran: 30.0)
    for multiple, status in ((0.0, "compared"), (5.0, "skipped")):
        members = (FEW[0], replace(FEW[1], trials=multiple))
        entries = MethodComparison(hidden, members, AutoSettings(budget=1.0), clock=Clock()).entries(nothing, nothing)
        assert entries[-1].status == status
    assert entries[-1].budget == 2  # 3 + 2 * 30 seconds are less than 0.9 of it


def test_a_member_takes_the_place_of_another_only_where_that_is_skipped(hidden, monkeypatch):
    instead = replace(FEW[2], instead=FEW[1].name)
    members, settings = (FEW[0], FEW[1], instead), AutoSettings(budget=1.0)
    for large, small, names in ((1.0, 1.0, [0, 1]), (60.0, 1.0, [0, 1, 2]), (60.0, 60.0, [0, 1])):
        taken = {FEW[1].name: large, instead.name: small}
        monkeypatch.setattr(MethodComparison, "_predicted", lambda self, member, ran: taken.get(member.name, 1.0))  # noqa: B023
        entries = MethodComparison(hidden, members, settings, clock=Clock()).entries(nothing, nothing)
        assert [entry.name for entry in entries] == [members[i].name for i in names]
        assert entries[1].status == ("compared" if large == 1 else "skipped")
        expected = {members[i].name for i in (0, 1 if large == 1 else 2)} if small == 1 else {FEW[0].name}
        assert set(MethodComparison(hidden, members, settings).forecast()) == expected


def test_trials_that_are_forecast_fit_into_what_the_budget_leaves(hidden):
    trained = PortfolioMember("spectral", turn=2, trials=5.0)
    comparison = MethodComparison(hidden, (*FEW, trained), AutoSettings(budget=1.0))  # 54 s for all but the reasons
    assert comparison.forecast_trials({"cn": 1.0, "ac": 2.0}) == 5 * 3 * 2.0
    assert comparison.forecast_trials({"cn": 1.0, "ac": 2.0, "spectral": 5.0}) == 5 * 5.0
    assert comparison.forecast_trials({"cn": 1.0, "ac": 2.0, "spectral": 20.0}) == 20.0


def test_only_the_closest_rivals_are_held_against_a_winner_again():
    figures = {"cn": 0.19, "aa": 0.198, "ra": 0.197, "katz": 0.2}
    entries = [ComparisonEntry(name, name, "compared", ap=ap) for name, ap in figures.items()]
    assert close_rivals(entries, entries[-1]) == ["aa", "ra"]


def test_the_budget_begins_when_the_command_did(hidden, monkeypatch):
    monkeypatch.setattr(MethodComparison, "_predicted", lambda self, member, ran: 30.0)
    for began, status in ((None, "compared"), (-40.0, "skipped")):
        comparison = MethodComparison(hidden, FEW[:2], AutoSettings(budget=1.0), clock=Clock(), began=began)
        assert comparison.entries(nothing, nothing)[-1].status == status


def test_members_run_in_their_turn_and_are_listed_by_simplicity(hidden, monkeypatch):
    monkeypatch.setattr(MethodComparison, "_predicted", lambda self, member, ran: 10.0)
    members = (FEW[0], replace(FEW[1], turn=2, beside=0.1), replace(FEW[2], turn=1))
    states = []
    comparison = MethodComparison(hidden, members, AutoSettings(budget=1.0), clock=Clock(), watch=states.append)
    entries = comparison.entries(nothing, nothing)
    assert [state.running for state in states] == ["cn", "ac self_loops=all", "ac"]
    assert [(entry.name, entry.status) for entry in entries][1:] == [
        ("ac", "skipped"),  # a tenth of the budget is less than it needs
        ("ac self_loops=all", "compared"),
    ]
    assert [state.leader for state in states[:2]] == [None, "cn"]
    assert states[1].model is not None and states[0].left > states[1].left > states[2].left


def test_as_many_trials_as_there_is_time_for_are_made_and_remembered(hidden, tmp_path, monkeypatch):
    monkeypatch.setattr(MethodComparison, "_predicted", lambda self, member, ran: 0.0)
    members = (replace(FEW[0], trials=5.0),)
    path = tmp_path / "comparison.jsonl"
    for step, count in ((0.1, 5), (11.0, 2), (100.0, 1)):
        path.unlink(missing_ok=True)
        settings, record = AutoSettings(budget=1.2), ComparisonLog(path)
        comparison = MethodComparison(hidden, members, settings, record=record, clock=Clock(step))
        (entry,) = comparison.entries(nothing, nothing)
        assert comparison.trials(entry) == count
        again = MethodComparison(hidden, members, AutoSettings(budget=9), record=ComparisonLog(path))
        assert again.trials(entry) == count


@pytest.mark.usefixtures("few")
def test_a_model_remembers_how_many_trials_there_was_time_for(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(MethodComparison, "trials", lambda *_: 2)
    model = make("auto").fit(graph, run=tmp_path / "run")
    assert "leaves time for 2 of 5 trials" in " ".join(model.sentences())
    for each in (model, open_model(tmp_path / "run")):
        assert each.suggest(5, reasons=False).precision.repeats == 2


@pytest.mark.parametrize("place", range(3))
def test_the_choice_among_close_heuristics_is_part_of_a_trial(graph, monkeypatch, place):
    """Whichever of three equally good methods had won: a trial takes the one that is best without its links."""
    monkeypatch.setattr(portfolio, "PORTFOLIO", FEW)
    model = make("auto").fit(graph)
    model.entries_ = [replace(entry, ap=0.5) for entry in model.entries_]
    model.winning_, member = model.entries_[place], FEW[place]
    model.winner_ = make(member.method, **member.options).fit(graph)
    trial = trials(model, 0.2, 1, 0, None)[0]
    rest = graph.without(trial.split.test)
    learned = rest.without(model.valid_)
    check = unbiased(Split(rest, learned, model.valid_, trial.split.test[:0], ""), "valid")
    ap = [metric("ap", rank(heuristic_scores(each.name)(learned), check)) for each in FEW]
    assert len(set(ap)) == 3
    best = heuristic_scores(FEW[int(np.argmax(ap))].name)(rest)
    np.testing.assert_array_equal(trial.scores().pairs(trial.split.test), best.pairs(trial.split.test))


def test_a_member_that_may_take_a_share_of_the_budget_takes_no_more(hidden, monkeypatch):
    monkeypatch.setattr(MethodComparison, "_predicted", lambda self, member, ran: 30.0)
    members = (FEW[0], replace(FEW[1], share=0.1))
    (_, entry) = MethodComparison(hidden, members, AutoSettings(budget=4.0), clock=Clock()).entries(nothing, nothing)
    assert entry.status == "skipped" and entry.budget == 6


def test_a_long_training_is_skipped_without_timing_an_epoch_of_it(hidden, monkeypatch):
    monkeypatch.setattr(comparing.make("gelato").__class__, "cost", lambda *_: pytest.fail("it was timed"))
    entries = MethodComparison(hidden, (PortfolioMember("ac"), replace(TRAINED, rankings=1e9)), AutoSettings()).entries(
        nothing, nothing
    )
    assert [(entry.status, entry.at_least) for entry in entries] == [("compared", False), ("skipped", True)]
    assert entries[1].predicted_seconds == 1e9 * entries[0].seconds


def test_what_a_member_takes_is_predicted_from_a_sample_of_it(hidden):
    comparison = MethodComparison(hidden, PORTFOLIO, AutoSettings())
    for member in (PortfolioMember("ac"), PortfolioMember("spectral"), TRAINED):
        assert 0 < comparison._predicted(member, {}) < 600


# The record


def test_what_is_on_record_is_replayed_whatever_the_clock_says(hidden, tmp_path, monkeypatch):
    monkeypatch.setattr(MethodComparison, "_predicted", lambda self, member, ran: 50.0)
    path = tmp_path / "comparison.jsonl"
    first = MethodComparison(hidden, FEW, AutoSettings(budget=1), record=ComparisonLog(path), clock=Clock(4.0))
    entries = first.entries(nothing, nothing)
    assert [entry.status for entry in entries] == ["compared", "skipped", "skipped"]
    monkeypatch.setattr(MethodComparison, "_ap", lambda *_: pytest.fail("it ran again"))
    again = MethodComparison(hidden, FEW, AutoSettings(budget=1), record=ComparisonLog(path), clock=Clock(1e-9))
    assert again.entries(nothing, nothing) == entries


def test_a_member_that_was_started_is_finished_though_the_time_is_over(hidden, tmp_path, monkeypatch):
    monkeypatch.setattr(MethodComparison, "_predicted", lambda self, member, ran: 50.0)
    path = tmp_path / "comparison.jsonl"
    whole = MethodComparison(
        hidden, FEW[:2], AutoSettings(budget=1), record=ComparisonLog(path), clock=Clock()
    ).entries(nothing, nothing)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]) + lines[-1][:20])  # killed while the second one was written down
    late = MethodComparison(hidden, FEW[:2], AutoSettings(budget=1), record=ComparisonLog(path), clock=Clock(1e6))
    assert [(each.name, each.ap) for each in late.entries(nothing, nothing)] == [(each.name, each.ap) for each in whole]


SMALL_BOOSTED = """
import sys
from gelato.cli import main
from gelato.methods.auto import portfolio
small = portfolio.PortfolioMember("boosted", {"folds": 2, "trees": 20, "bags": 1})
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
        assert again.winner_.evidence() is not None and again.best_epoch_ == model.best_epoch_
    newer = Graph.from_edges(graph.edges[:-3], graph.n, attributes=graph.attributes, names=graph.names)
    np.testing.assert_array_equal(again.on(newer).scores().pairs(pairs), model.winner_.on(newer).scores().pairs(pairs))
    assert again.set_params(threads=1).winner_.threads == 1 and again.fitted
    assert not again.set_params(budget=4).fitted
    with pytest.raises(InputError, match="holds another run"):
        Auto(budget=4).fit(hidden, run=tmp_path / "run")


@pytest.mark.usefixtures("trained")
def test_rehearsals_train_the_winner_alone(graph, tmp_path, monkeypatch):
    model = Auto().fit(graph)
    monkeypatch.setattr(MethodComparison, "entries", lambda *_: pytest.fail("methods were compared again"))
    found = model.suggest(5, repeats=1, share=0.2, run=tmp_path)
    assert found.precision is not None and found.reasons is not None
    assert [json.loads((path / "config.json").read_text())["method"] for path in tmp_path.iterdir()] == ["gelato"]


@pytest.mark.usefixtures("few")
def test_all_links_are_scored_in_the_end_and_the_hidden_ones_are_not_hidden_again(graph):
    model = make("auto").fit(graph)
    assert model.graph_ is graph and len(model.valid_) == int(0.05 * graph.m)
    again = make(model.winner_.method, **model.winner_.settings.as_dict()).fit(graph)
    pairs = np.array([[0, 1], [2, 30]])
    np.testing.assert_array_equal(model.scores().pairs(pairs), again.scores().pairs(pairs))
    assert not model.unseen(graph).any()


# Small and odd graphs


@pytest.mark.usefixtures("few")
def test_a_graph_with_too_few_links_takes_one_heuristic_and_says_so(tmp_path):
    tiny = Graph.from_edges([(0, 1), (1, 2)], 4)
    model = make("auto").fit(tiny, run=tmp_path / "run")
    sentence = "No links could be hidden to compare methods on: ac makes the suggestions, unchecked."
    assert model.sentences() == open_model(tmp_path / "run").sentences() == [sentence]
    assert len(model.suggest(3, repeats=0, reasons=False)) == 3


def test_directed_weighted_and_bipartite_graphs_are_compared_by_what_fits_them(monkeypatch):
    monkeypatch.setattr(portfolio, "PORTFOLIO", PORTFOLIO[:9])
    random = np.random.default_rng(0)
    links = np.unique(random.integers(0, 24, (120, 2)), axis=0)
    links = links[links[:, 0] != links[:, 1]]
    directed = Graph.from_edges(links, 24, weights=random.random(len(links)) + 0.5, directed=True)
    model = make("auto").fit(directed)
    assert model.scores().directed and len(model.entries_) == 9
    assert [entry.name for entry in model.entries_ if entry.status == "left out"] == ["cosine"]
    sides = (np.arange(24) >= 12).astype(np.int8)
    across = np.unique(np.column_stack([random.integers(0, 12, 60), random.integers(12, 24, 60)]), axis=0)
    model = make("auto").fit(Graph.from_edges(across, 24, sides=sides))
    compared = [entry.name for entry in model.entries_ if entry.status == "compared"]
    assert compared == ["ac", "ac self_loops=all", "katz", "ac steps=5"]
    assert "Left out cn, aa and ra (gives every pair across" in model.sentences()[2]


def test_without_torch_the_others_are_compared(hidden, monkeypatch):
    monkeypatch.setattr(portfolio, "PORTFOLIO", (FEW[0], PortfolioMember("gelato")))
    monkeypatch.setattr(method_module, "find_spec", lambda name: None)
    model = make("auto").fit(hidden)
    assert model.winner_.method == "cn"
    assert model.sentences()[-1] == "Left out gelato (Gelato needs torch: pip install 'gelato-links[train]')."


def test_a_member_that_fails_is_left_out_with_its_reason(hidden, monkeypatch):
    monkeypatch.setattr(portfolio, "PORTFOLIO", (FEW[0], PortfolioMember("ac", {"steps": 0})))
    model = make("auto").fit(hidden)
    assert model.entries_[1].status == "left out" and "steps" in model.entries_[1].why


# Words


def test_what_was_compared_is_said_in_plain_words():
    entries = entries_of({"cn": 0.019, "ac": 0.024})
    skipped = ComparisonEntry("gelato", "gelato", "skipped", predicted_seconds=830.0, budget=25)
    assert comparison_sentences([*entries, skipped], entries[1], 253) == [
        "Compared 2 methods on 253 hidden links: cn 1.90%, ac 2.40% (average precision).",
        "ac ranks best and makes the suggestions; skipped gelato, which would take about 14 more minutes (--budget 25"
        " allows it).",
    ]
    bound = replace(skipped, at_least=True)
    assert (
        "which would take at least 14 more minutes (needs more than --budget 25)."
        in comparison_sentences([*entries, bound], entries[1], 9)[1]
    )
    assert "on only 1 hidden link:" in comparison_sentences(entries, entries[1], 1)[0]
    close = entries_of({"cn": 0.0239, "ac": 0.024})
    assert comparison_sentences(close, close[0], 99)[1] == (
        "cn makes the suggestions, the simplest method within 1% of the best, ac."
    )
    none = entries_of({"cn": 0.0, "ac": 0.0})
    said = comparison_sentences(none, none[1], 99)[1]
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
    (row,) = json.loads(capsys.readouterr().out)
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
            "which is an option of gelato, gae, gcn, ncn, ncnc, neo-gnn, mlp, buddy, elph, seal, nbfnet, walkpool, "
            "hgcn, lgcn, tlc-gnn and bscnets; choose one with",
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
    told = forecast(graph, make("auto"), "predict", top_k=5, repeats=1)
    assert told.parts["compare methods"] > 0 and told.at_most == told.seconds
    monkeypatch.setattr(MethodComparison, "_predicted", lambda self, member, ran: 40.0)
    told = forecast(graph, make("auto", budget=1.6), "predict", top_k=5, repeats=1)
    assert 80 < told.parts["compare methods"] < 90  # two of the three


def test_gelato_is_compared_where_linked_nodes_have_no_attributes_in_common(monkeypatch):
    """Attributes of two kinds of nodes: with alpha 0 no link weighs anything, and the graph still has its links."""
    random = np.random.default_rng(0)
    edges = [(u, 30 + v) for u in range(30) for v in np.unique(random.integers(0, 25, 6)).tolist()]
    attributes, sides = np.zeros((55, 8)), np.repeat([0, 1], [30, 25])
    attributes[np.arange(55), 4 * sides + random.integers(0, 4, 55)] = 1
    graph = Graph.from_edges(edges, 55, attributes=attributes, sides=sides)
    monkeypatch.setattr(
        portfolio, "PORTFOLIO", (PortfolioMember("cn"), PortfolioMember("gelato", {"epochs": 1, "hidden": 8}))
    )
    model = make("auto", budget=60).fit(split(graph, 0, (0.1, 0.1)))
    (entry,) = (entry for entry in model.entries_ if entry.method == "gelato")
    assert not entry.why and entry.ap > 0
    with pytest.raises(
        InputError, match=r"the weights of all .* links are 0: linked nodes have no attributes in common"
    ):
        make("gelato", eta=0.0, alpha=0.0, beta=0.0, self_loops="all").fit(split(graph, 0, (0.1, 0.1)))

"""Methods and options by name, and what an evaluation says of itself."""

import io
import json

import pytest
from rich.console import Console

from gelato.cli import cli
from gelato.datasets import block_model, debian_sample
from gelato.errors import InputError
from gelato.evaluation.evaluate import evaluate
from gelato.evaluation.method_options import described_methods, methods_of
from gelato.graph import Graph
from gelato.methods import METHODS, make
from gelato.regimes import REGIMES
from gelato.splits import split
from gelato.tables import evaluation_table


@pytest.fixture(scope="module")
def parts():
    return split(block_model([60, 60], 0.1, 0.01, attributes=20, seed=4))


def test_all_stands_for_every_method_that_fits(parts, monkeypatch):
    assert [name for name, _ in methods_of("all", {}, parts.train)] == [
        name for name, each in METHODS.items() if not (each.trains or each.compares)
    ]
    bare = Graph(parts.train.adjacency)
    assert "cosine" not in dict(methods_of("all", {}, bare))
    large = block_model([6000, 6000], 0.001, 0.0001, seed=1)
    assert "simrank" not in dict(methods_of("all", {}, large))


def test_a_method_that_does_not_fit_is_refused_before_any_has_run(parts):
    with pytest.raises(InputError, match="cosine needs node attributes"):
        methods_of("cn,cosine", {}, Graph(parts.train.adjacency))


def test_each_method_gets_the_options_it_takes(parts):
    assert methods_of("cn, ac", {"steps": 2}, parts.train) == [("cn", {}), ("ac", {"steps": 2})]
    with pytest.raises(InputError, match="steps is an option of katz, ac, gelato, walkpool, not of cn,aa"):
        methods_of("cn,aa", {"steps": 2}, parts.train)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("cn", {"steps": 3}, "method 'cn' has no option 'steps'; it takes none"),
        ("ac", {"beta": 1}, "method 'ac' has no option 'beta'; it takes steps, self_loops, dtype"),
        ("ac", {"steps": 2.5}, "method 'ac': steps must be a whole number, got 2.5"),
        ("ac", {"steps": "3"}, "method 'ac': steps must be a whole number, got '3'"),
        ("ac", {"dtype": "bogus"}, "method 'ac': dtype must be float64 or float32, got 'bogus'"),
        ("ac", {"self_loops": 1}, "method 'ac': self_loops must be one of isolated, all, got 1"),
        ("katz", {"beta": "x"}, "method 'katz': beta must be a number, got 'x'"),
        ("katz-full", {"beta": "x"}, "method 'katz-full': beta must be a number, or None, got 'x'"),
    ],
)
def test_an_option_of_the_wrong_kind_is_refused(parts, method, options, message):
    with pytest.raises(InputError, match=message):
        make(method, **options)


def test_every_method_is_described_with_its_options():
    rows = described_methods()
    assert [row["name"] for row in rows] == list(METHODS)
    assert all(row["about"] and row["title"] for row in rows)
    (options,) = (row["options"] for row in rows if row["name"] == "ac")
    assert sorted(options) == ["dtype", "self_loops", "steps"]


def test_settings_files_keep_what_is_none(tmp_path):
    from gelato.methods.config_files import config_text, read_config

    path = tmp_path / "best.toml"
    path.write_text(config_text("gcn", METHODS["gcn"].settings(patience=None, epochs=3).as_dict()))
    read = read_config(path)
    assert read.settings["patience"] is None and read.settings["epochs"] == 3
    assert METHODS["gcn"].settings(**read.settings).patience is None


def test_an_option_may_name_its_method(parts):
    options = {"ac.steps": 2, "steps": 4, "katz.beta": 0.1}
    assert methods_of("ac,katz", options, parts.train) == [
        ("ac", {"steps": 2}),
        ("katz", {"steps": 4, "beta": 0.1}),
    ]
    with pytest.raises(InputError, match=r"option cn\.steps is for cn, which is not among ac"):
        methods_of("ac", {"cn.steps": 2}, parts.train)
    with pytest.raises(InputError, match="method 'ac' has no option 'beta'"):
        methods_of("ac", {"ac.beta": 2}, parts.train)


def test_an_evaluation_tells_how_it_was_drawn(parts):
    found = evaluate(parts, "ac", regime="biased", ratio=2, seed=3, steps=2).as_json()
    assert (found["regime"], found["drawn"], found["options"]) == ("biased", {"ratio": 2, "seed": 3}, {"steps": 2})
    assert found["negatives"] == 2 * found["positives"]
    assert found["hits"]["6400"] is None
    assert found["metrics"]["hits@6400"] is None
    json.dumps(found)
    inside = evaluate(parts, "ac", regime="partitioned", parts=2, seed=1).as_json()
    assert inside["drawn"] == {"parts": 2, "seed": 1}


def test_a_table_is_whole_on_a_terminal_of_80_columns():
    parts = split(debian_sample())
    console = Console(width=80, file=io.StringIO())
    console.print(evaluation_table([evaluate(parts, "katz-full"), evaluate(parts, "ac", self_loops="all")]))
    shown = console.file.getvalue()
    assert "katz-full" in shown
    assert "random" in shown
    assert "…" not in shown


def test_the_command_line_offers_every_regime():
    (option,) = [each for each in cli.commands["evaluate"].params if each.name == "regime"]
    assert [item.value for item in option.shell_complete(None, "")] == list(REGIMES)
    assert option.metavar == "|".join(REGIMES)


def test_a_split_of_other_ratios_says_so():
    assert split(debian_sample()).name == "paper"
    assert split(debian_sample(), 3, (0.1, 0.2)).name == "3, hiding 0.1 + 0.2"

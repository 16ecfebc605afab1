"""Methods and options by name, and what an evaluation says of itself."""

import io
import json

import pytest
from rich.console import Console

from gelato.cli import cli
from gelato.datasets import block_model, debian_sample
from gelato.errors import InputError
from gelato.evaluation.evaluate import REGIMES, described_methods, evaluate, methods_of, options_of, scores_of
from gelato.graph import Graph
from gelato.methods.heuristics import HEURISTICS
from gelato.splits import split
from gelato.tables import evaluation_table


@pytest.fixture(scope="module")
def parts():
    return split(block_model([60, 60], 0.1, 0.01, attributes=20, seed=4))


def test_all_stands_for_every_method_that_fits(parts, monkeypatch):
    assert [name for name, _ in methods_of("all", {}, parts.train)] == list(HEURISTICS)
    bare = Graph(parts.train.adjacency)
    assert "cosine" not in dict(methods_of("all", {}, bare))
    large = block_model([6000, 6000], 0.001, 0.0001, seed=1)
    assert "simrank" not in dict(methods_of("all", {}, large))


def test_a_method_that_does_not_fit_is_refused_before_any_has_run(parts):
    with pytest.raises(InputError, match="cosine needs node attributes"):
        methods_of("cn,cosine", {}, Graph(parts.train.adjacency))


def test_each_method_gets_the_options_it_takes(parts):
    assert methods_of("cn, ac", {"steps": 2}, parts.train) == [("cn", {}), ("ac", {"steps": 2})]
    with pytest.raises(InputError, match="steps is an option of katz, ac, not of cn,aa"):
        methods_of("cn,aa", {"steps": 2}, parts.train)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("cn", {"steps": 3}, "method 'cn' has no option 'steps'; it takes none"),
        ("ac", {"beta": 1}, "method 'ac' has no option 'beta'; it takes steps, self_loops, dtype"),
        ("ac", {"steps": 2.5}, "steps of ac must be a whole number, got 2.5"),
        ("ac", {"steps": "3"}, "steps of ac must be a whole number, got '3'"),
        ("ac", {"dtype": "bogus"}, "dtype of ac must be float64 or float32, got 'bogus'"),
        ("ac", {"self_loops": 1}, "self_loops of ac must be text, got 1"),
        ("katz", {"beta": "x"}, "beta of katz must be a number, got 'x'"),
        ("katz-full", {"beta": "x"}, "beta of katz-full must be a number, got 'x'"),
    ],
)
def test_an_option_of_the_wrong_kind_is_refused(parts, method, options, message):
    with pytest.raises(InputError, match=message):
        scores_of(method, parts.train, options)


def test_every_method_is_described_with_its_options():
    rows = described_methods()
    assert [name for name, _, _ in rows] == list(HEURISTICS)
    assert all(text for _, _, text in rows)
    assert options_of("ac") == ["steps", "self_loops", "dtype"]


def test_an_evaluation_tells_how_it_was_drawn(parts):
    found = evaluate(parts, "ac", regime="biased", ratio=2, seed=3, options={"steps": 2}).as_json()
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
    console.print(
        evaluation_table([evaluate(parts, "katz-full"), evaluate(parts, "ac", options={"self_loops": "all"})])
    )
    shown = console.file.getvalue()
    assert "katz-full" in shown
    assert "random" in shown
    assert "…" not in shown


def test_the_command_line_offers_every_regime():
    (option,) = [each for each in cli.commands["evaluate"].params if each.name == "regime"]
    assert list(option.type.choices) == list(REGIMES)


def test_a_split_of_other_ratios_says_so():
    assert split(debian_sample()).name == "paper"
    assert split(debian_sample(), 3, (0.1, 0.2)).name == "3, hiding 0.1 + 0.2"

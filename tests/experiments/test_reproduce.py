"""Experiments: what a settings file says is what is run, kept and compared."""

import json
from dataclasses import replace

import pytest

from gelato import InputError, evaluate, load, split
from gelato.cli import main
from gelato.experiments.experiment import Reported, read_experiment
from gelato.experiments.seed_results import Agreement, SeedResult, compare_outcomes, kept_outcomes, reproduce

FILE = """
[about]
source = "nobody"
remark = "a test"

[run]
dataset = "debian-sample"
split = "paper"
seeds = 2

[model]
method = "katz"
beta = 0.01

[reported]
"ap" = { mean = 0.5, std = 0.1 }
"hits@100" = { mean = 99.0 }
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    return path


def test_the_tables_of_a_file_are_read(file):
    experiment = read_experiment(str(file))
    run = (experiment.dataset, experiment.split, experiment.seeds, experiment.method)
    assert run == ("debian-sample", "paper", 2, "katz")
    assert dict(experiment.settings) == {"beta": 0.01} and experiment.reported["ap"] == Reported(0.5, 0.1)
    assert experiment.reported["hits@100"] == Reported(99.0, None) and experiment.source == "nobody"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[about]", "[abuot]", r"unknown table \[abuot\]"),
        ('dataset = "debian-sample"', "dataset = 3", r"\[run\]: dataset must be text, got 3"),
        ("seeds = 2", "seeds = 2\nsteps = 3", r"\[run\]: unknown key 'steps'"),
        ("seeds = 2", "", r"\[run\]: seeds must be a whole number, got None"),
        ("beta = 0.01", "gamma = 0.01", "unknown key 'gamma' of katz"),
        ("beta = 0.01", 'beta = "x"', "beta must be a number"),
        ('method = "katz"', 'method = "kats"', "unknown method 'kats'"),
        ('"hits@100"', '"hots@100"', "unknown metric 'hots'"),
        ("{ mean = 99.0 }", "99.0", r"hits@100 must be like \{ mean = 3.9, std = 0.03 \}, got 99.0"),
    ],
)
def test_a_table_that_says_nothing_known_is_refused(file, old, new, message):
    file.write_text(FILE.replace(old, new))
    with pytest.raises(InputError, match=message):
        read_experiment(str(file))


def test_outcomes_are_kept_by_seed_and_not_run_again(file, tmp_path):
    experiment = read_experiment(str(file))
    experiment = replace(experiment, name="mine")
    first = reproduce(experiment, tmp_path / "out")
    hidden = split(load("debian-sample"))
    wanted = evaluate(hidden, "katz", beta=0.01)
    assert [outcome.seed for outcome in first] == [0, 1]
    assert first[0].metrics["ap"] == round(100 * wanted.metric("ap"), 4)
    files = sorted(path.name for path in (tmp_path / "out" / "mine").iterdir())
    assert files == ["seed-0.json", "seed-1.json"]
    table = json.loads((tmp_path / "out" / "mine" / "seed-1.json").read_text())
    assert table["hash"] == experiment.hash and len(table["date"]) == 10
    (tmp_path / "out" / "mine" / "seed-0.json").write_text(json.dumps(table | {"seed": 0, "seconds": 1234.5}))
    again = reproduce(experiment, tmp_path / "out")
    assert again[0].seconds == 1234.5  # taken from the file
    other = replace(experiment, settings={"beta": 0.02})
    assert other.hash != experiment.hash and kept_outcomes(other, tmp_path / "out") == []
    (tmp_path / "out" / "mine" / "seed-1.json").write_text("{}")
    with pytest.raises(InputError, match="is not a result of an experiment"):
        kept_outcomes(experiment, tmp_path / "out")


def test_the_same_settings_have_the_same_hash_however_they_are_given(file):
    experiment = read_experiment(str(file))
    assert replace(experiment, settings={"beta": 0.01, "steps": 3}).hash == experiment.hash  # 3 is the default
    assert replace(experiment, dataset="cora").hash != experiment.hash
    assert replace(experiment, remark="other words", seeds=9).hash == experiment.hash


@pytest.mark.parametrize(
    ("mean", "std", "reported", "agrees"),
    [
        (3.9, 0.05, Reported(3.9, 0.03), True),
        (3.6, 0.05, Reported(3.9, 0.03), False),
        (3.8, 0.0, Reported(3.9, None), True),  # within five percent
        (0.097, 0.04, Reported(0.0009, 0.0003), False),
        (1.0, 0.0, None, None),
    ],
)
def test_agreement_is_by_standard_errors(mean, std, reported, agrees):
    found = Agreement("ap", 5, mean, std, reported)
    assert found.agrees is agrees


def test_the_command_prints_outcomes_beside_what_was_reported(file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", str(file), "--out", "out", "--seeds", "1"]) == 0
    output = capsys.readouterr().out
    assert "hits@100" in output and "no" in output
    assert main(["reproduce", str(file), "--out", "out", "--json", "--seeds", "1"]) == 0
    rows = {row["metric"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["ap"]["seeds"] == 1 and rows["hits@100"]["agrees"] is False
    assert main(["reproduce", "paper/nowhere"]) == 2


def test_what_was_kept_is_compared(file):
    experiment = read_experiment(str(file))
    assert compare_outcomes(experiment, []) == []


def test_figures_that_only_some_seeds_have_are_left_out():
    """As after an edit of [reported], which is no part of the hash."""
    experiment = read_experiment("paper/cora")
    first, second = (
        SeedResult("paper/cora", seed, experiment.hash, "2026-01-01", "1", metrics, 1.0, "cpu")
        for seed, metrics in enumerate([{"ap": 3.0, "hits@100": 1.0}, {"ap": 5.0}])
    )
    (only,) = compare_outcomes(experiment, [first, second])
    assert (only.metric, only.mean, only.seeds) == ("ap", 4.0, 2)

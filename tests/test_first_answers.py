"""An answer at once: lists of the best method so far, replaced whole, and kept after Ctrl-C."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gelato import load, make
from gelato.cli.answers import FIRST_ANSWER, FirstAnswers
from gelato.prediction.comparison_state import ComparisonState

DEFAULT = [sys.executable, "-m", "gelato", "predict", "debian-sample", "--top", "30"]


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def leading(name, graph, left=100.0):
    """The state of a comparison that a heuristic leads."""
    return ComparisonState("boosted", left, name, 0.1, make(name).fit(graph))


@pytest.fixture(scope="module")
def graph():
    return load("debian-sample")


def test_a_list_is_written_when_another_method_takes_the_lead(graph):
    written = []
    answers = FirstAnswers(graph, 5, {"index": True}, written.append)
    answers(ComparisonState("cn", 100.0))
    for name in ("cn", "cn", "ra"):
        answers(leading(name, graph))
    assert [each.method for each in written] == [f"cn{FIRST_ANSWER}", f"ra{FIRST_ANSWER}"]
    assert answers.latest is written[-1] and written[-1].reasons is None and written[-1].precision is None
    wanted = make("ra").fit(graph).suggest(5, repeats=0, reasons=False)
    np.testing.assert_array_equal(written[-1].pairs, wanted.pairs)


def test_a_list_that_took_long_is_not_made_again(graph):
    written = []
    answers = FirstAnswers(graph, 5, {"index": True}, written.append)
    answers(leading("cn", graph))
    answers(leading("ra", graph, left=1e-6))
    assert [each.method for each in written] == [f"cn{FIRST_ANSWER}"]


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_keeps_the_best_so_far(as_json, tmp_path):
    """The file holds a first answer within seconds; the exit code is that of an interrupt."""
    out = tmp_path / "links.csv"
    args = [*DEFAULT, "--json"] if as_json else [*DEFAULT, "--out", str(out)]
    process = subprocess.Popen(
        args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "160"}
    )
    if as_json:
        time.sleep(12)
    else:
        deadline = time.monotonic() + 60
        while not out.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert process.poll() is None
        assert all(row["method"].endswith(FIRST_ANSWER) for row in rows_of(out))
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    if as_json:
        told = json.loads(output)
        assert told["finished"] is False and told["method"].endswith(FIRST_ANSWER) and len(told["links"]) == 30
        return
    assert len(rows_of(out)) == 30 and "30 missing links in debian-sample" in output
    assert "stopped early: these are the best 30 links by" in errors


def test_a_finished_answer_says_so(capsys):
    from gelato.cli import main

    assert main(["predict", "debian-sample", "--method", "ac", "--top", "60", "--json", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["finished"] is True and told["method"] == "ac"
    least = sorted({row["chance"] for row in told["links"]})[-1]
    args = ["--min-chance", str(least), "--json", "--quiet"]
    assert main(["predict", "debian-sample", "--method", "ac", "--top", "60", *args]) == 0
    kept = json.loads(capsys.readouterr().out)["links"]
    assert kept == [row for row in told["links"] if row["chance"] >= least] and 0 < len(kept) <= 60


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--min-chance", "1.5"), "between 0 and 1, got 1.5"),
        (("--min-chance", "0.5", "--repeats", "0"), "repeats must be 1 or more, got 0"),
    ],
)
def test_a_least_chance_that_cannot_be_known_is_refused(args, message, capsys):
    from gelato.cli import main

    assert main(["predict", "debian-sample", "--method", "cn", *args]) == 2
    assert message in capsys.readouterr().err

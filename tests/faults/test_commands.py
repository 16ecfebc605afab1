"""Every case of every table, in process: exit code, one line, nothing on stdout, no changed file."""

import contextlib
import io
import os

import pytest

from faults.case import check, snapshot
from faults.tables import CASES
from gelato.cli import main


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fault_ends_in_one_line(case, stock, sealed, tmp_path, monkeypatch):
    case.prepare(tmp_path, stock)
    for name in set(os.environ) - set(sealed):
        monkeypatch.delenv(name)
    for name, value in (sealed | case.environment).items():
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    before = snapshot(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(io.StringIO()) as errors:
        code = main(case.argv())
    check(case, code, output.getvalue(), errors.getvalue())
    assert snapshot(tmp_path) == before


def test_the_tables_are_as_large_as_they_claim():
    assert len(CASES) >= 300
    assert len({case.name for case in CASES}) == len(CASES)
    commands = {case.argv()[0] for case in CASES if case.argv()}
    assert commands >= {
        *("predict", "explain", "report", "evaluate", "estimate", "fit"),
        *("tune", "reproduce", "datasets", "methods", "completion"),
    }

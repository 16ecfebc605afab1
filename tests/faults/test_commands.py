"""Every case of every table, in process: exit code, one line, nothing on stdout, no changed file."""

import contextlib
import io
import os

import numpy as np
import pytest

from faults.case import check, snapshot
from faults.tables import CASES
from gelato.cli import main
from gelato.errors import InputError
from gelato.runs.files import read_tensors


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


def test_no_flipped_bit_of_a_model_goes_unseen(stock, tmp_path):
    content = (stock / "run" / "model.safetensors").read_bytes()
    tensors, words = read_tensors(stock / "run" / "model.safetensors")
    path = tmp_path / "model.safetensors"
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        try:
            others, other_words = read_tensors(path)
        except InputError:
            continue
        assert (list(others), other_words) == (list(tensors), words), place
        assert all(np.array_equal(others[name], tensors[name]) for name in tensors)


def test_the_tables_are_as_large_as_they_claim():
    assert len(CASES) >= 300
    assert len({case.name for case in CASES}) == len(CASES)
    commands = {case.argv()[0] for case in CASES if case.argv()}
    assert commands >= {
        *("predict", "explain", "report", "evaluate", "estimate", "fit"),
        *("tune", "reproduce", "datasets", "methods", "completion"),
    }

"""What compiled loops are made of, and what is told while they are."""

import gc
import subprocess
import sys

import numpy as np
import pytest
from numba.core.errors import TypingError

from gelato.cli import main
from gelato.kernels.paths import _level, weight_levels
from gelato.sparse.compiled import kernel
from gelato.sparse.compiling import before_compiling


def test_python_is_refused_a_part_of_kernels_which_would_crash():
    with pytest.raises(TypeError, match="_level is a part of compiled functions"):
        _level(1.0)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_runs_after_compiling_as_it_did_before(enabled):
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        kernel(lambda x: x + 1, cache=False)(1)
        with pytest.raises(TypingError):
            kernel(lambda x: x.nothing, cache=False)(1)
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_a_process_tells_once_that_it_compiles():
    told = []
    before_compiling(lambda: told.append("compiling"))
    try:
        assert kernel(lambda x: x + 1, cache=False)(1) == 2
        assert kernel(lambda x: x + 2, cache=False)(1) == 3
    finally:
        before_compiling(None)
    assert told == ["compiling"]


@pytest.mark.parametrize(("options", "terminal", "lines"), [([], True, 1), (["--quiet"], True, 0), ([], False, 0)])
def test_only_a_terminal_is_told_and_not_when_quiet(options, terminal, lines, monkeypatch, capsys, tmp_path):
    (tmp_path / "links.csv").write_text("1,2\n2,3\n3,4\n1,3\n4,5\n")
    monkeypatch.setenv("GELATO_CACHE", str(tmp_path))
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    monkeypatch.setattr("gelato.cli.display._animated", lambda: False)

    def compiling(graph, *args, **more):
        kernel(lambda x: x + 1, cache=False)(1)
        return True

    monkeypatch.setattr("gelato.evaluation.footprint.check_graph", compiling)
    main(["evaluate", str(tmp_path / "links.csv"), "--method", "cn", *options])
    assert capsys.readouterr().err.count("compiling, once") == lines


def test_levels_of_one_value_are_those_of_an_array():
    values = np.array([1e-300, 0.5, 0.5 * (1 + 2**-45), 1.0, 1e300])
    level = kernel(lambda value: _level(value), cache=False)
    assert [level(value) for value in values] == weight_levels(values).tolist()


def test_a_cache_that_another_release_left_is_compiled_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    code = "import sys; sys.path.insert(0, sys.argv[1]); import loops; print(loops.total(loops.{name}(2.0, 3.0)))"
    source = (
        "from typing import NamedTuple\nfrom gelato.sparse.compiled import kernel\n\nclass {name}(NamedTuple):\n"
        "    a: float\n    b: float\n\n@kernel\ndef total(pair):\n    return pair.a + pair.b\n"
    )
    # The same function on the same line, of a type with another name; of another length, or Python itself would take
    # bytecode of the same second for that of the new source.
    for name in ("Former", "Newer"):
        (tmp_path / "loops.py").write_text(source.format(name=name))
        command = [sys.executable, "-c", code.format(name=name), str(tmp_path)]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "5.0\n"

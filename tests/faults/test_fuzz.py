"""Whatever a file holds, its readers end with 0 or 2: no crash, no hang, no bounds of memory passed, no exit code 70.

A small part runs always. ``pytest -m study tests/faults/test_fuzz.py`` runs for GELATO_FUZZ seconds, an hour if that is
not set, and lists what it found, each with the file that does it.
"""

import os
import random
import shutil
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import seed as seeded

from faults.fork_server import fork_server
from faults.fuzz_targets import FIT, QUICK, SETTINGS, stock_commands, targets
from faults.mutations import damaged
from gelato.cli import main
from gelato.datasets import block_model
from gelato.graph import Graph
from gelato.io import write_graph
from gelato.splits import split

SECONDS = float(os.environ.get("GELATO_FUZZ", "3600"))


def make_stock(folder, runs, environment):
    """A folder of sound files, made by the commands themselves."""
    drawn = block_model([20, 20], 0.4, 0.05, seed=1)
    names = [f"n{i}" for i in range(drawn.n)]
    graph = Graph.from_edges(drawn.edges, drawn.n, names=names)
    words = np.random.default_rng(0).integers(0, 2, (graph.n, 3))
    rows = "".join(f"{name},{','.join(map(str, row))}\n" for name, row in zip(names, words.tolist(), strict=True))
    (folder / "nodes.csv").write_text(f"node,a,b,c\n{rows}")
    (folder / "settings.toml").write_text(SETTINGS)
    for suffix in ("csv", "npz", "parquet"):
        write_graph(graph, folder / f"graph.{suffix}")
    sides = np.arange(40) % 2
    two = graph.edges[sides[graph.edges[:, 0]] != sides[graph.edges[:, 1]]]
    fields = {"weights": np.linspace(1, 2, len(two)), "times": np.arange(len(two)), "sides": sides, "names": names}
    write_graph(Graph.from_edges(two, 40, attributes=words, labels=sides, **fields), folder / "full.npz")
    split(graph).save(folder / "split.npz")
    before, place = os.environ.copy(), Path.cwd()
    os.environ.update(environment)
    os.chdir(folder)
    try:
        for command in stock_commands(runs):
            assert main(list(command)) == 0, command
    finally:
        os.chdir(place)
        os.environ.clear()
        os.environ.update(before)


def draw(contents, attempt, examples, turn):
    """Call ``attempt`` with some contents of a file."""

    @seeded(turn)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(contents)
    def each(content):
        attempt(content)

    each()


def fuzz(folder, runs, environment, examples, seconds=None, start=0):
    """Damage one file after the other, and read it; what ended in another way than with 0 or 2."""
    made = list(targets(folder, runs))
    work, saved = folder.parent / "work", folder.parent / "found"
    saved.mkdir(exist_ok=True)
    shutil.copytree(folder, work, dirs_exist_ok=True)
    warm = [(list(target.command), str(work)) for target in {each.command[:2]: each for each in made}.values()]
    found, done = {}, [0]
    deadline = None if seconds is None else time.monotonic() + seconds
    with fork_server(warm, environment) as run:

        def attempt(target, content):
            shutil.rmtree(work)
            shutil.copytree(folder, work)
            for name in target.without:
                (work / name).unlink(missing_ok=True)
            (work / target.file).write_bytes(content)
            code, errors = run(target.command, work)
            done[0] += 1
            said = errors.strip().splitlines()[-1:] or [""]
            if code not in (0, 2) or "not enough memory" in errors or len(said[0]) > 2_000 or "Traceback" in errors:
                key = (str(target.command[0]), str(code), said[0].partition(": ")[2][:120])
                if key not in found:
                    place = saved / f"{len(found)}{Path(target.file).suffix}"
                    place.write_bytes(content)
                    found[key] = f"{target} -> {code}: {' '.join(errors.split())[-600:]} ({place})"
                    sys.stderr.write(found[key] + "\n")

        turn = start
        while deadline is None or time.monotonic() < deadline:
            batch = made if deadline is None else random.Random(turn).sample(made, min(8, len(made)))
            for target in batch:
                if deadline is not None and time.monotonic() > deadline:
                    break

                draw(damaged(folder / target.file), partial(attempt, target), examples, turn)
            turn += 1
            if deadline is None:
                break
    return done[0], list(found.values())


@pytest.fixture
def open_faults(sealed, monkeypatch):
    """The environment of the commands: unexpected errors become the exit code 70, and one thread."""
    monkeypatch.delenv("GELATO_DEBUG", raising=False)
    return sealed | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(["src", os.environ.get("PYTHONPATH", "")])}


@pytest.mark.study
def test_no_file_crashes_a_reader_in_an_hour(tmp_path, open_faults):
    folder = tmp_path / "stock"
    folder.mkdir()
    make_stock(folder, FIT, open_faults)
    start = int(os.environ.get("GELATO_FUZZ_START", "0"))
    done, found = fuzz(folder, FIT, open_faults, examples=25, seconds=SECONDS, start=start)
    sys.stderr.write(f"{done:,} files were read\n")
    assert found == []


def test_few_damaged_files_of_each_kind_end_with_0_or_2(tmp_path, open_faults):
    folder = tmp_path / "stock"
    folder.mkdir()
    make_stock(folder, QUICK, open_faults)
    done, found = fuzz(folder, QUICK, open_faults, examples=1)
    assert done >= 40
    assert found == []

"""The command explain, in this process: the order of what it prints, and tables read as those of the model were."""

import io
from contextlib import redirect_stderr, redirect_stdout

import pytest

from gelato.cli import main
from gelato.io import from_pandas
from gelato.methods.gelato.model import Gelato

LINKS = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 2), (3, 5), (1, 4)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "links.csv").write_text("source,target\n" + "".join(f"n{u},n{v}\n" for u, v in LINKS))
    return tmp_path


def output_of(*args):
    """Exit code, and stdout and stderr in the order in which they were written."""
    stream = io.StringIO()
    with redirect_stdout(stream), redirect_stderr(stream):
        code = main(args)
    return code, stream.getvalue()


def test_what_was_read_is_told_before_the_explanation(folder):
    code, output = output_of("explain", "links.csv", "n0", "n3", "--method", "ac")
    assert code == 0
    assert output.startswith("links.csv: 9 links between 6 nodes")
    assert output.index("\nn0 and n3: score") > 0


def test_a_mistyped_node_is_told_in_one_line(folder):
    code, output = output_of("explain", "links.csv", "n0", "N3")
    assert (code, output) == (2, "gelato: unknown node 'N3'; did you mean 'n3'?\n")


def test_the_attributes_have_the_kinds_that_they_had_for_the_model(folder):
    pandas = pytest.importorskip("pandas")
    names = [f"n{node}" for node in range(6)]
    frame = pandas.DataFrame({"source": [f"n{u}" for u, _ in LINKS], "target": [f"n{v}" for _, v in LINKS]})
    nodes = pandas.DataFrame({"node": names, "zone": ["1", "2", "x", "y", "x", "y"]})
    graph = from_pandas(frame, nodes)
    Gelato(eta=0.0, alpha=0.5, beta=0.5, self_loops="all", hidden=4, epochs=1).fit(graph).save(folder / "model")
    (folder / "zones.csv").write_text("node,zone\n" + "".join(f"{name},{i % 2 + 1}\n" for i, name in enumerate(names)))
    given = ("links.csv", "n0", "n3", "--attributes", "zones.csv", "--model", "model")
    code, output = output_of("explain", *given)
    assert code == 0, output
    assert "1 categorical column (zone)" in output


def test_a_number_without_bounds_shows_none_in_the_help():
    code, output = output_of("predict", "--help")
    assert code == 0
    assert "x<=None" not in output

"""Tables written as JSON: what any other program reads back."""

import gzip
import json
import tracemalloc
from datetime import date

import numpy as np
import pytest

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import FORMATS, read_attributes, read_graph, read_pairs, write_attributes, write_graph, write_table

HEADER = ["rank", "name", "score", "hidden"]
ROWS = [
    [1, 'Zoë, "x"\n', 0.1, True],
    [np.int64(2), np.str_("b"), np.float32(0.5), np.bool_(False)],
    (np.uint8(3), None, float("nan"), np.float64("-inf")),
    (2**70, ("a", 1), np.float64(1e-300), date(2024, 5, 31)),
]
EXPECTED = [
    {"rank": 1, "name": 'Zoë, "x"\n', "score": 0.1, "hidden": True},
    {"rank": 2, "name": "b", "score": 0.5, "hidden": False},
    {"rank": 3, "name": None, "score": None, "hidden": None},
    {"rank": 2**70, "name": "('a', 1)", "score": 1e-300, "hidden": "2024-05-31"},
]


def refused(constant):
    raise AssertionError(f"{constant} is not JSON")


def test_a_json_file_is_a_list_of_objects_one_a_line(tmp_path):
    write_table(tmp_path / "t.json", HEADER, ROWS)
    text = (tmp_path / "t.json").read_text(encoding="utf-8")
    assert json.loads(text, parse_constant=refused) == EXPECTED
    lines = text.splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("[", "]", len(ROWS) + 2)
    assert "Zoë" in lines[1]
    assert list(json.loads(lines[1].rstrip(","))) == HEADER


def test_a_jsonl_file_has_an_object_a_line(tmp_path):
    write_table(tmp_path / "t.jsonl", HEADER, ROWS)
    lines = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line, parse_constant=refused) for line in lines] == EXPECTED


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_json_can_be_gzipped_and_is_the_same_bytes(tmp_path, suffix):
    write_table(tmp_path / f"t{suffix}", HEADER, ROWS)
    write_table(tmp_path / f"t{suffix}.gz", HEADER, ROWS)
    assert gzip.decompress((tmp_path / f"t{suffix}.gz").read_bytes()) == (tmp_path / f"t{suffix}").read_bytes()


def test_a_table_without_rows_is_an_empty_list(tmp_path):
    write_table(tmp_path / "t.json", HEADER, [])
    assert json.loads((tmp_path / "t.json").read_text()) == []
    write_table(tmp_path / "t.jsonl", HEADER, [])
    assert (tmp_path / "t.jsonl").read_text() == ""


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_rows_are_written_as_they_come(tmp_path, suffix):
    rows = ([i, f"node {i}"] for i in range(20_000))
    tracemalloc.start()
    write_table(tmp_path / f"t{suffix}", ["i", "name"], rows)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < (tmp_path / f"t{suffix}").stat().st_size / 2


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_what_json_cannot_hold_is_refused_and_leaves_nothing(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    with pytest.raises(InputError, match=r"t\.json.*: two columns are called 'a'; rename one"):
        write_table(path, ["a", "b", "a"], [[1, 2, 3]])
    with pytest.raises(InputError, match=r"t\.json.*cannot be written as UTF-8"):
        write_table(path, ["a"], [["\udc80"]])
    assert list(tmp_path.iterdir()) == []


def test_attributes_can_be_written_as_json(tmp_path):
    write_attributes(Graph.from_edges([[0, 1]], attributes=np.array([[0.0, 2], [1, 0]])), tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == [
        {"node": 0, "x0": 0.0, "x1": 2.0},
        {"node": 1, "x0": 1.0, "x1": 0.0},
    ]


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".json.gz"])
def test_graphs_are_neither_read_from_json_nor_written_to_it(tmp_path, suffix):
    graph, path = Graph.from_edges([[0, 1]]), tmp_path / f"e{suffix}"
    assert suffix not in FORMATS
    path.write_text('[{"source": "a", "target": "b"}]')
    for call in (lambda: read_graph(path), lambda: write_graph(graph, path)):
        with pytest.raises(InputError, match=rf"e\.json.*: unknown graph format '{suffix}'; known: \.csv, .*\.tsv"):
            call()
    for call in (lambda: read_attributes(path), lambda: read_pairs(path, graph)):
        with pytest.raises(InputError, match=rf"unknown table format '{suffix}'; known: \.csv") as caught:
            call()
        assert "json" not in str(caught.value).partition("known:")[2]


def test_numbers_of_numpy_and_missing_cells_are_plain_in_text_files_too(tmp_path):
    write_table(tmp_path / "t.csv", ["a", "b", "c", "d"], [[np.float64(1.5), np.float64(2), np.int64(3), None]])
    assert (tmp_path / "t.csv").read_text() == 'a,b,c,d\n1.5,2,3,""\n'

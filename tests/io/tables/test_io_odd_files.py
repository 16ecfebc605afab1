"""Odd files: what a reader that goes row by row makes of them, frozen or written from the definition."""

import json
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.compute
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import read_graph
from gelato.io.formats import read_graph_and_notes
from gelato.io.tables import csv
from reference_tables import Refused, links_of

FROZEN = [json.loads(line) for line in (Path(__file__).parent / "odd_files.jsonl").read_text().splitlines()]
"""Files, options, and what the reader that went row by row made of them."""


@pytest.mark.parametrize("case", FROZEN, ids=[str(i) for i in range(len(FROZEN))])
def test_an_odd_file_is_read_as_it_was_by_the_reader_of_rows(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(case["file"]).write_bytes(case["text"].encode("latin-1"))
    try:
        graph, reading = read_graph_and_notes(case["file"], **case["options"])
    except InputError as error:
        assert str(error) == case["refused"]
        return
    assert graph.names.tolist() == case["names"]
    assert graph.edges.tolist() == case["edges"]
    assert graph.adjacency.data.tolist() == case["adjacency"]
    assert (graph.times is None) == ("times" not in case)
    assert graph.times is None or graph.times.tolist() == case["times"]
    assert graph.sides is None or graph.sides.tolist() == case["sides"]
    assert reading[0] == case["said"]


BARE = [
    "a",
    "b",
    "7",
    "007",
    "07",
    "0",
    "1",
    "1",
    "2",
    "x y",
    "é",
    "\u00a0n",
    "东",
    "#c",
    "%d",
    'in"ch',
    "+1",
    "0x1F",
    "",
]
QUOTED = ["q", "q,q", 'q""q', "q\nq", "q\r\nq", "q\rq", " q ", "q;", "\tq\t", "q #", ""]
WEIGHTS = ["1", "2.5", "1e-3", "0.1", "1_000", "3"]
TIMES = ["1", "2.5", "1e9", "17", "-4"]
ODD_NUMBERS = ["nan", "inf", "", "1,5", "x", "0", "-2", "1e400", "nan(ind)", "0x10"]
SPACES = ["", "", "", "", " ", "  ", "\u00a0"]


@st.composite
def files(draw):
    """A text table of links with its delimiter and suffix."""
    suffix, delimiter = draw(
        st.sampled_from([(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".txt", "|"), (".txt", ",")])
    )
    ends = draw(st.sampled_from([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"]]))
    header = ["source", "target", *draw(st.sampled_from([[], ["weight"], ["time"], ["weight", "time"]]))]
    plain = draw(st.booleans())
    odd = draw(st.sampled_from([False, False, True]))

    def cell(role):
        if role in ("weight", "time"):
            cells = (WEIGHTS if role == "weight" else TIMES) + (ODD_NUMBERS if odd else [])
            text = draw(st.sampled_from([text for text in cells if delimiter not in text]))
        elif not plain and draw(st.integers(0, 3)) == 0:
            return '"' + draw(st.sampled_from(QUOTED if odd else QUOTED[:-1])) + '"'
        else:
            text = draw(st.sampled_from([text for text in BARE[: None if odd else -1] if delimiter not in text]))
            text = text.replace('"', "") if plain else text
        return draw(st.sampled_from(SPACES)) + text + draw(st.sampled_from(SPACES))

    lines = [delimiter.join(header)]
    for _ in range(draw(st.integers(1, 8))):
        row = delimiter.join(map(cell, header))
        lines.append(row if row.strip() and row[0] not in "#%" else f"a{row}")
        if odd and draw(st.integers(0, 9)) == 0:
            lines.append(draw(st.sampled_from([row + delimiter, "alone", '"open'])))
        if draw(st.integers(0, 4)) == 0:
            lines.append(
                draw(st.sampled_from(["", "  ", "\t", "\u00a0", *(["# c", '%"'] if suffix == ".txt" else [])]))
            )
    text = "".join(line + draw(st.sampled_from(ends)) for line in lines)
    return text if draw(st.booleans()) else text.rstrip("\r\n"), delimiter, suffix


@settings(max_examples=400, deadline=None)
@given(files())
@example(("source,target\n007,7\n7,07\n", ",", ".csv"))
@example(('source,target\n"a\nb",c\nd\n', ",", ".csv"))
def test_any_file_is_read_as_the_definition_says(tmp_path_factory, file):
    text, delimiter, suffix = file
    path = tmp_path_factory.mktemp("odd") / f"e{suffix}"
    path.write_bytes(text.encode())
    how = {"delimiter": delimiter, "header": True, "directed": True}
    try:
        names, links = links_of(text, delimiter, comments=suffix == ".txt")
    except Refused as refused:
        line, problem = refused.args
        with pytest.raises(InputError) as caught:
            read_graph(path, **how)
        assert f", line {line}: {problem}" in str(caught.value)
        return
    if len(names) < 2 or all(u == v for u, v, _, _ in links):
        return
    graph = read_graph(path, **how)
    columns = list(zip(*links, strict=True))
    weights, times = (None if column[0] is None else column for column in columns[2:])
    expected = Graph.from_edges(
        np.array(links, dtype=object)[:, :2].astype(np.int64), len(names), weights=weights, times=times, directed=True
    )
    assert graph.names.tolist() == names
    assert graph.fingerprint == expected.fingerprint
    assert graph.dropped == expected.dropped
    assert times is None or graph.times.tolist() == expected.times.tolist()


def test_pyarrow_and_python_have_the_same_white_space():
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    trimmed = pyarrow.compute.utf8_trim_whitespace(pyarrow.array(letters)).to_pylist()
    assert [letter for letter, left in zip(letters, trimmed, strict=True) if (left == "") != letter.isspace()] == []


def test_a_row_longer_than_a_block_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "LEAST_BLOCK", 1)
    long = "x" * 4_000
    for content in (f"{long},b\nb,c\n", f'source,target\n"{long}\n{long}",b\nb,c\n'):
        (tmp_path / "e.csv").write_text(content)
        assert read_graph(tmp_path / "e.csv").n == 3


def test_a_quoted_cell_too_long_for_the_csv_module_is_taken_for_an_open_quote(tmp_path):
    (tmp_path / "e.csv").write_text('source,target,note\na,b,"' + "x\n" * 70_000 + '"\n')
    with pytest.raises(InputError, match=r"e\.csv, line 2: field larger than field limit.*is a quote left open"):
        read_graph(tmp_path / "e.csv")


def test_regular_text_is_not_looked_at_row_by_row(tmp_path, monkeypatch):
    monkeypatch.setattr(csv.TextTable, "_rewritten", lambda self: pytest.fail("row by row"))
    rows = [f"{i},n{i}" for i in range(50)]
    quoted = ['"a, ""b""","c\nd"', *(f'"{i}","n {i}"' for i in range(50))]
    files = {
        "a.csv": "\n".join(rows),
        "crlf.csv": "\r\n".join(rows),
        "returns.csv": "\r".join(rows),
        "blank.csv": "source,target\n" + "\n\n  \n".join(rows),
        "comments.txt": "\n# x\n".join(rows),
        "spaces.txt": "\n".join(row.replace(",", "   ") for row in rows),
        "loose.csv": "\n".join(row.replace(",", " , ") for row in rows),
        "quoted.csv": "\n".join(quoted),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content.encode())
        assert read_graph(tmp_path / name).m >= 50

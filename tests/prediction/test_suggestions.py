"""Suggestions: their ranks and columns, and the same values again from every file and library they go to."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelato import Autocovariance, CommonNeighbors
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import read_graph, read_pairs
from gelato.methods.heuristics.neighborhood import common_neighbors
from gelato.prediction.precision import ExpectedPrecision
from gelato.prediction.suggestions import CHANCE_COLUMNS, PRECISION_COLUMNS, Suggestions
from gelato.ranking.top import top

HOSTILE = [
    "plain",
    "comma, and space ",
    "quote \" and '",
    "tab\there",
    "line\nbreak",
    "=1+1",
    "<script>alert(1)</script>",
    "[bold red]",
    "größe 東京 🎈",
    "\u202eright to left",
    "null",
    "0012",
]


@pytest.fixture(scope="module")
def graph():
    """A ring of odd names."""
    n = len(HOSTILE)
    names = np.array(HOSTILE, dtype=object)
    return Graph.from_edges([(u, (u + 1) % n) for u in range(n)], n, names=names, attributes=np.eye(n))


@pytest.fixture(scope="module")
def found(graph):
    """All pairs of the ring, with a precision that is told of the first twelve ranks, and reasons."""
    links = top(common_neighbors(graph), graph, 20)
    ahead = np.cumsum(np.tile([[1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]], (5, 1)), axis=1).astype(float)
    precision = ExpectedPrecision(0.1, 3, 100, ahead, ahead, np.arange(1.0, 13.0))
    plain = Suggestions(graph, links.pairs, links.score)
    return replace(plain, precision=precision, reasons=[f"because of {HOSTILE[i % 12]}" for i in range(20)])


def wanted(found):
    """The rows by the definition."""
    rows = []
    for i, ((u, v), score) in enumerate(zip(found.pairs.tolist(), found.score.tolist(), strict=True)):
        row = {"rank": i + 1, "source": HOSTILE[u], "target": HOSTILE[v], "score": score}
        for names, state in ((CHANCE_COLUMNS, found.precision.chance), (PRECISION_COLUMNS, found.precision.at)):
            stated = state(i + 1)
            values = (None,) * 3 if stated is None else (stated.expected, stated.low, stated.high)
            row |= {name: None if x is None else round(x, 4) for name, x in zip(names, values, strict=True)}
        rows.append(row | {"reason": found.reasons[i]})
    return rows


def test_columns_and_rows_hold_all_that_is_known(found, graph):
    assert found.rows() == wanted(found)
    assert len(found) == 20 and found.columns()["chance"][12:] == [None] * 8
    assert None not in found.columns()["chance"][:12] and found.columns()["precision_to_rank"][11] is not None
    assert list(found) == [(row["source"], row["target"], row["score"]) for row in wanted(found)]
    bare = Suggestions(graph, found.pairs, found.score)
    assert list(bare.columns()) == ["rank", "source", "target", "score"]
    assert list(replace(bare, reasons=found.reasons).columns()) == ["rank", "source", "target", "score", "reason"]
    assert found.precision is not None and bare.precision is None  # a copy was told


def test_nodes_without_names_are_called_by_their_index():
    plain = Suggestions(Graph.from_edges([(0, 1), (1, 2), (2, 3)]), np.array([[0, 2], [1, 3]]), np.array([2.0, 1.0]))
    assert list(plain) == [(0, 2, 2.0), (1, 3, 1.0)]
    assert json.dumps(plain.rows())


@given(st.lists(st.integers(1, 4), min_size=0, max_size=6))
def test_each_list_of_a_node_has_its_own_ranks(lengths):
    pairs = [(u, 10 + i) for u, length in enumerate(lengths) for i in range(length)]
    graph = Graph.from_edges([(0, 9)], 20)
    found = Suggestions(graph, np.array(pairs, np.int64).reshape(-1, 2), np.zeros(len(pairs)), per_node=True)
    assert found.rank.tolist() == [i + 1 for length in lengths for i in range(length)]
    whole = Suggestions(graph, found.pairs, found.score)
    assert whole.rank.tolist() == list(range(1, len(pairs) + 1))


# Files


def test_a_csv_or_tsv_file_says_the_same(found, tmp_path):
    for name, delimiter in (("links.csv", ","), ("links.tsv", "\t")):
        found.write(tmp_path / name)
        with (tmp_path / name).open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter=delimiter))
        assert list(rows[0]) == list(found.columns())
        for row, told in zip(rows, wanted(found), strict=True):
            for key, value in told.items():
                if isinstance(value, float):  # comes back to its last digit
                    assert float(row[key]) == value
                else:
                    assert row[key] == ("" if value is None else str(value))


def test_a_json_file_says_the_same(found, tmp_path):
    found.write(tmp_path / "links.json")
    assert json.loads((tmp_path / "links.json").read_text(encoding="utf-8")) == wanted(found)
    found.write(tmp_path / "links.jsonl")
    lines = (tmp_path / "links.jsonl").read_bytes().decode().split("\n")
    assert [json.loads(line) for line in lines[:-1]] == wanted(found) and lines[-1] == ""


def test_a_parquet_file_says_the_same_in_the_same_types(found, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    found.write(tmp_path / "links.parquet")
    table = parquet.read_table(tmp_path / "links.parquet")
    assert table.to_pylist() == wanted(found)
    numbers = ("score", *CHANCE_COLUMNS, *PRECISION_COLUMNS)
    assert str(table.schema.field("rank").type) == "int64"
    assert {str(table.schema.field(name).type) for name in numbers} == {"double"}


def test_what_was_written_can_be_left_out_of_the_next_suggestions(found, graph, tmp_path):
    for name in ("links.csv", "links.tsv", "links.parquet"):
        found.write(tmp_path / name)
        assert read_pairs(tmp_path / name, graph).tolist() == found.pairs.tolist()


def test_no_suggestions_make_a_file_without_rows(graph, tmp_path):
    nothing = Suggestions(graph, np.empty((0, 2), np.int64), np.empty(0))
    assert nothing.words() == [] and nothing.rows() == [] and nothing.rank.tolist() == []
    nothing.write(tmp_path / "links.csv")
    assert (tmp_path / "links.csv").read_text().splitlines() == ["rank,source,target,score"]
    nothing.write(tmp_path / "links.json")
    assert json.loads((tmp_path / "links.json").read_text()) == []
    assert len(nothing.to_pandas()) == 0


def test_a_file_that_cannot_be_written_is_refused_and_the_old_one_stays(found, tmp_path):
    with pytest.raises(InputError, match=r"links.xlsx: unknown table format '.xlsx'"):
        found.write(tmp_path / "links.xlsx")
    odd = Graph.from_edges([(0, 1)], 3, names=np.array(["a", "b", "half \ud800"], dtype=object))
    broken = Suggestions(odd, np.array([[0, 2]]), np.ones(1))
    for name in ("links.csv", "links.json"):
        found.write(tmp_path / name)
        before = (tmp_path / name).read_bytes()
        with pytest.raises(InputError, match="cannot be written"):
            broken.write(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["links.csv", "links.json"]


# Libraries


def test_a_pandas_frame_says_the_same(found):
    pandas = pytest.importorskip("pandas")
    frame = found.to_pandas()
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    assert rows == wanted(found)
    assert pandas.api.types.is_integer_dtype(frame["rank"]) and pandas.api.types.is_float_dtype(frame["score"])


def test_a_polars_frame_says_the_same(found):
    pytest.importorskip("polars")
    assert found.to_polars().to_dicts() == wanted(found)


def test_a_frame_of_lists_for_each_node_has_their_ranks():
    pytest.importorskip("pandas")
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)])
    links = top(common_neighbors(graph), graph, 2, per_node=True)
    found = Suggestions(graph, links.pairs, links.score, per_node=True)
    assert found.to_pandas()["rank"].tolist() == [1, 2] * 5 == found.rank.tolist()
    pytest.importorskip("polars")
    assert found.to_polars()["rank"].to_list() == [1, 2] * 5


def test_networkx_gets_them_as_further_edges_with_score_and_rank(found, graph):
    pytest.importorskip("networkx")
    result = found.to_networkx()
    assert set(result.nodes) == set(HOSTILE) and result.number_of_edges() == graph.m + len(found)
    for row in wanted(found):
        data = result.edges[row["source"], row["target"]]
        assert data == {"predicted": True, "score": row["score"], "rank": row["rank"]}
    assert sum(not data["predicted"] for *_, data in result.edges(data=True)) == graph.m


def test_pytorch_geometric_gets_them_apart_from_the_links(found, graph):
    pytest.importorskip("torch_geometric")
    data = found.to_pyg()
    assert data.edge_index.shape == (2, 2 * graph.m)
    assert data.predicted_edge_index.T.tolist() == found.pairs.tolist()
    np.testing.assert_allclose(data.predicted_score.numpy(), found.score, rtol=1e-6)
    assert data.names == HOSTILE


def test_scipy_gets_a_symmetric_matrix_of_their_scores(found, graph):
    matrix = found.to_scipy().toarray()
    assert matrix.shape == (graph.n, graph.n) and np.array_equal(matrix, matrix.T)
    u, v = found.pairs.T
    np.testing.assert_array_equal(matrix[u, v], found.score)
    assert np.count_nonzero(matrix) == 2 * np.count_nonzero(found.score)


def test_suggestions_written_as_links_are_no_links_when_they_are_read(found, graph, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = [(HOSTILE[u], HOSTILE[v], False) for u, v in graph.edges.tolist()]
    rows += [(source, target, True) for source, target, _ in found]
    pandas.DataFrame(rows, columns=["source", "target", "predicted"]).to_csv(tmp_path / "both.csv", index=False)
    again = read_graph(tmp_path / "both.csv")
    assert again.m == graph.m


# Words


@pytest.mark.parametrize(
    ("ranks", "cuts"), [(1, [1]), (10, [10]), (11, [10, 11]), (100, [10, 100]), (1200, [10, 100, 1000, 1200])]
)
def test_the_words_tell_of_the_first_ten_hundred_thousand_and_of_all(ranks, cuts):
    graph = Graph.from_edges([(0, 1)], 60)
    u, v = np.triu_indices(60, 1)
    pairs = np.column_stack([u, v])[1 : ranks + 1]
    ahead = np.cumsum(np.arange(ranks) % 3 == 0)[None].astype(float)
    precision = ExpectedPrecision(0.1, 99, 99, ahead, ahead, np.arange(1.0, ranks + 1))
    told = Suggestions(graph, pairs, np.zeros(ranks), precision=precision).words()
    assert told == precision.words(*cuts)
    assert all(f"of the first {k:,}" in " ".join(told) for k in cuts[1:])


def test_that_too_little_is_known_is_said_once():
    graph = Graph.from_edges([(0, 1)], 9)
    pairs = np.column_stack(np.triu_indices(9, 1))[1:21]
    nothing = ExpectedPrecision(0.1, 1, 1, np.zeros((1, 20)), np.zeros((1, 20)), np.arange(1.0, 21.0))
    told = Suggestions(graph, pairs, np.zeros(20), precision=nothing)
    assert told.words() == nothing.words(10, 20)
    assert {row["chance"] for row in told.rows()} == {None}
    assert Suggestions(graph, pairs, np.zeros(20)).words() == []


@given(asked=st.sets(st.integers(0, 5), min_size=1, max_size=3), two=st.booleans())
def test_a_node_that_was_asked_for_comes_first(asked, two):
    links = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)]
    graph = Graph.from_edges(links, 6, sides=[0, 1, 0, 1, 0, 1] if two else None)
    model = CommonNeighbors() if not two else Autocovariance()
    found = model.fit(graph).suggest(20, nodes=sorted(asked), repeats=0, reasons=False)
    assert len(found)
    for (u, v, _), pair in zip(found, found.pairs.tolist(), strict=True):
        assert {u, v} == set(pair)
        assert u in asked
        if v in asked:
            assert (u, v) == (tuple(pair) if not two else tuple(sorted(pair, key=graph.sides.tolist().__getitem__)))


def test_the_order_of_a_directed_pair_stays_that_of_its_link():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], 4, directed=True)
    found = CommonNeighbors().fit(graph).suggest(9, nodes=[2], repeats=0, reasons=False)
    assert [(u, v) for u, v, _ in found] == [tuple(pair) for pair in found.pairs.tolist()]

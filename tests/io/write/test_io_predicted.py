"""Predicted links on their way out: flagged, scored, ranked, in the names of the graph."""

from types import SimpleNamespace

import networkx
import numpy as np
import pandas
import polars
import pytest
import torch
from scipy.sparse import csr_array

from gelato import HEURISTICS, load, top
from gelato.errors import InputError
from gelato.graph import DroppedRows, Graph
from gelato.io import (
    from_networkx,
    from_pandas,
    from_polars,
    from_pyg,
    links_to_pandas,
    links_to_polars,
    links_to_scipy,
    read_graph,
    to_networkx,
    to_pandas,
    to_polars,
    to_pyg,
    to_scipy,
)

EDGES = [[0, 1], [0, 2], [1, 3]]
FRAMES = [(to_pandas, from_pandas, links_to_pandas), (to_polars, from_polars, links_to_polars)]


def graph_of(directed=False, **fields):
    return Graph.from_edges(EDGES, 5, directed=directed, names=np.array(list("abcde"), dtype=object), **fields)


def links_of(pairs, score):
    return SimpleNamespace(pairs=np.array(pairs, dtype=np.int64).reshape(-1, 2), score=np.array(score, dtype=float))


LINKS = links_of([[3, 2], [1, 4], [0, 4]], [0.5, 0.25, -1.0])


def test_networkx_has_predicted_links_with_score_and_rank_and_flags_all():
    result = to_networkx(graph_of(weights=[1, 2, 3]), predicted=LINKS)
    assert result.number_of_edges() == 6
    assert result.edges["c", "d"] == {"predicted": True, "score": 0.5, "rank": 1}
    assert result.edges["b", "e"] == {"predicted": True, "score": 0.25, "rank": 2}
    assert result.edges["e", "a"] == {"predicted": True, "score": -1.0, "rank": 3}
    assert result.edges["a", "c"] == {"weight": 2.0, "predicted": False}
    assert type(result.edges["c", "d"]["score"]) is float
    assert type(result.edges["c", "d"]["rank"]) is int


def test_networkx_keeps_the_direction_of_predicted_links():
    result = to_networkx(graph_of(directed=True), predicted=links_of([[3, 2], [1, 0]], [2, 1]))
    assert result.has_edge("d", "c")
    assert not result.has_edge("c", "d")
    assert result.edges["b", "a"] == {"predicted": True, "score": 1.0, "rank": 2}
    assert result.edges["a", "b"] == {"predicted": False}


def test_both_directions_of_a_pair_are_two_links_of_a_directed_graph():
    graph, links = graph_of(directed=True), links_of([[3, 2], [2, 3], [1, 0]], [3, 2, 1])
    assert to_networkx(graph, predicted=links).edges["c", "d"] == {"predicted": True, "score": 2.0, "rank": 2}
    assert links_to_scipy(graph, links)[[3, 2], [2, 3]].tolist() == [3, 2]
    frame = to_pandas(graph, predicted=links)[0]
    assert frame["source"].tolist()[3:] == ["d", "c", "b"]
    assert frame["predicted"].tolist() == [False] * 3 + [True] * 3


def test_without_predictions_nothing_is_flagged():
    assert to_networkx(graph_of()).edges["a", "b"] == {}
    assert list(to_pandas(graph_of())[0].columns) == ["source", "target"]
    assert "predicted_score" not in to_pyg(graph_of())


def test_a_link_that_is_there_and_was_predicted_stays_observed_and_gains_its_score():
    links = links_of([[1, 4], [1, 0]], [3, 2])
    assert to_networkx(graph_of(), predicted=links).edges["a", "b"] == {"predicted": False, "score": 2.0, "rank": 2}
    frame = to_pandas(graph_of(), predicted=links)[0]
    assert frame["predicted"].tolist() == [False, False, False, True]
    assert frame["score"].fillna(-9).tolist() == [2.0, -9, -9, 3.0]


def test_of_a_link_predicted_twice_the_better_rank_counts():
    links = links_of([[3, 2], [2, 3], [1, 4]], [5, 4, 3])
    result = to_networkx(graph_of(), predicted=links)
    assert result.edges["c", "d"] == {"predicted": True, "score": 5.0, "rank": 1}
    assert result.edges["b", "e"]["rank"] == 3
    assert links_to_scipy(graph_of(), links)[[2, 3], [3, 2]].tolist() == [5, 5]
    assert to_pandas(graph_of(), predicted=links)[0]["score"].tolist()[3:] == [5, 3]
    assert len(links_to_pandas(graph_of(), links)) == 3


@pytest.mark.parametrize("directed", [False, True])
def test_networkx_gives_back_the_observed_links_alone_unless_asked_for_all(directed):
    graph = graph_of(directed, weights=[1, 2, 3], times=[3, 2, 1])
    there = to_networkx(graph, predicted=LINKS)
    back = from_networkx(there, time="time")
    assert back.fingerprint == graph.fingerprint
    assert back.times.tolist() == graph.times.tolist()
    assert back.dropped == DroppedRows()
    assert from_networkx(there, predicted=None).m == 6


def test_a_networkx_key_called_predicted_that_is_no_flag_drops_nothing():
    given = networkx.Graph([("a", "b", {"predicted": 0.9}), ("b", "c", {"predicted": "True"}), ("c", "d", {})])
    assert from_networkx(given).m == 3
    flagged = networkx.Graph([("a", "b", {"guess": True}), ("b", "c", {"predicted": True})])
    assert from_networkx(flagged, predicted="guess").edges.tolist() == [[1, 2]]


@pytest.mark.parametrize("directed", [False, True])
def test_pyg_has_predicted_links_apart_each_once_as_ranked(directed):
    graph = graph_of(directed)
    data = to_pyg(graph, predicted=LINKS)
    assert data.validate()
    assert data.edge_index.shape == (2, 3 if directed else 6)
    assert data.predicted_edge_index.tolist() == [[3, 1, 0], [2, 4, 4]]
    assert data.predicted_edge_index.dtype == torch.int64
    assert data.predicted_score.tolist() == [0.5, 0.25, -1.0]
    assert from_pyg(data, directed=directed).fingerprint == graph.fingerprint


def test_the_matrix_of_scores_is_symmetric_when_the_graph_is_undirected():
    matrix = links_to_scipy(graph_of(), LINKS)
    assert isinstance(matrix, csr_array)
    assert matrix.shape == (5, 5)
    assert (matrix != matrix.T).nnz == 0
    assert matrix[[3, 2, 1, 0], [2, 3, 4, 4]].tolist() == [0.5, 0.5, 0.25, -1.0]
    assert matrix.nnz == 6
    directed = links_to_scipy(graph_of(directed=True), LINKS)
    assert directed[[3, 2], [2, 3]].tolist() == [0.5, 0.0]
    assert directed.nnz == 3
    assert (to_scipy(graph_of()) != graph_of().adjacency).nnz == 0


@pytest.mark.parametrize(("frame", "listed"), [(pandas, links_to_pandas), (polars, links_to_polars)])
def test_frames_of_links_have_rank_names_and_score(frame, listed):
    result = listed(graph_of(), LINKS)
    assert isinstance(result, frame.DataFrame)
    assert list(result.columns) == ["rank", "source", "target", "score"]
    assert result["rank"].to_list() == [1, 2, 3]
    assert result["source"].to_list() == ["d", "b", "a"]
    assert result["target"].to_list() == ["c", "e", "e"]
    assert result["score"].to_list() == [0.5, 0.25, -1.0]
    assert listed(Graph.from_edges(EDGES, 5), LINKS)["source"].to_list() == [3, 1, 0]
    assert len(listed(graph_of(), links_of([], []))) == 0


@pytest.mark.parametrize(("write", "read", "listed"), FRAMES)
@pytest.mark.parametrize("rich", [False, True])
def test_frames_with_predicted_links_flag_them_and_give_back_the_graph(write, read, listed, rich):
    graph = graph_of(weights=[1, 2, 3], times=[3, 2, 1]) if rich else graph_of()
    edges, nodes = write(graph, predicted=LINKS)
    header = ["source", "target", *(["weight", "time"] if rich else []), "predicted", "score"]
    assert list(edges.columns) == header
    assert edges["source"].to_list() == ["a", "a", "b", "d", "b", "a"]
    assert edges["predicted"].to_list() == [False] * 3 + [True] * 3
    assert edges["score"].to_list()[3:] == [0.5, 0.25, -1.0]
    missing = edges["score"].isna() if write is to_pandas else edges["score"].is_null()
    assert missing.to_list() == [True] * 3 + [False] * 3
    back = read(edges, isolated=True)
    assert {back.name_of(node) for node in range(back.n)} == set("abcd")
    assert back.m == 3
    assert back.weighted == rich
    if not rich:
        assert read(edges, predicted=False).m == 6
    assert (
        read(
            edges.rename({"predicted": "guess"}, axis=1)
            if write is to_pandas
            else edges.rename({"predicted": "guess"}),
            predicted="guess",
        ).m
        == 3
    )
    assert nodes["node"].to_list() == list("abcde")


@pytest.mark.parametrize("write", [to_pandas, to_polars])
def test_no_predicted_links_leave_columns_without_scores(write):
    edges, _ = write(graph_of(), predicted=links_of([], []))
    assert edges["predicted"].to_list() == [False] * 3
    assert write is to_polars or edges["score"].dtype == np.float64


def test_a_file_of_flagged_links_gives_the_observed_ones_alone(tmp_path):
    edges, _ = to_pandas(graph_of(), predicted=LINKS)
    edges.to_csv(tmp_path / "e.csv", index=False)
    edges.to_parquet(tmp_path / "e.parquet")
    for name in ("e.csv", "e.parquet"):
        assert read_graph(tmp_path / name).m == 3
        assert read_graph(tmp_path / name, predicted=False).m == 6
    (tmp_path / "p.csv").write_text("from,to,predicted\na,b,0.9\nb,c,1\nc,d,false\nd,e,TRUE\n")
    assert read_graph(tmp_path / "p.csv").m == 3
    (tmp_path / "q.csv").write_text("paper,cites,predicted\na,b,True\n")
    with pytest.raises(
        InputError,
        match=r"q\.csv: all links are marked as predicted, .*; keep them with predicted=False",
    ):
        read_graph(tmp_path / "q.csv")


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (links_of([[0, 3], [1, 9]], [1, 0]), r"link \(1, 9\) names a node outside 0..4"),
        (links_of([[0, 3], [2, 2]], [1, 0]), "predicted link 2 joins 'c' with itself; leave it out"),
        (links_of([[0, 3]], [1, 0]), r"must be \(k, 2\) pairs and \(k,\) scores, got \(1, 2\) and \(2,\)"),
        (SimpleNamespace(pairs=np.zeros((1, 3)), score=[1.0]), r"got \(1, 3\) and \(1,\)"),
        (SimpleNamespace(pairs=[[0.5, 1.5]], score=[1.0]), "must be integer node indices, got float64"),
    ],
)
def test_predicted_links_that_do_not_fit_the_graph_are_refused(links, expected):
    for call in (to_networkx, to_pyg, to_pandas, to_polars):
        with pytest.raises(InputError, match=expected):
            call(graph_of(), predicted=links)
    for call in (links_to_scipy, links_to_pandas, links_to_polars):
        with pytest.raises(InputError, match=expected):
            call(graph_of(), links)


def test_the_links_that_top_returns_are_taken_as_they_are():
    graph = load("debian-sample")
    links = top(HEURISTICS["ac"](graph), graph, 10)
    frame = links_to_pandas(graph, links)
    assert frame["source"].tolist() == [graph.name_of(u) for u in links.pairs[:, 0]]
    assert to_networkx(graph, predicted=links).number_of_edges() == graph.m + 10

"""Scores of the spectral method as sums over neighbours: against dense solvers, with loose eigenvectors, everywhere."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphs
import reference
from gelato import Graph, make, open_model, open_run
from gelato.cli import main
from gelato.datasets import block_model
from gelato.io import write_graph
from gelato.methods.spectral.choice import factors_of, pairs_of, weights_of
from gelato.methods.spectral.reasons import NeighbourExplainer
from gelato.methods.spectral.settings import SpectralSettings
from gelato.prediction.suggest import with_reasons
from gelato.report.from_run import report_of
from gelato.report.page import page_of
from gelato.spectrum import eigen
from gelato.spectrum.adjacency import scaled_adjacency
from gelato.spectrum.factors import factor_block

KINDS = ["plain", "weighted", "directed", "bipartite"]
FIXED = {"power": 0.25, "rank": 6, "shrink": "soft", "self_loops": "all"}
NAMES = ["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal"]


def graph_of(kind, seed, nodes=12):
    if kind == "bipartite":
        return graphs.random_bipartite(seed, weighted=bool(seed % 2))
    return graphs.random_graph(seed, nodes=nodes, weighted=kind != "plain", directed=kind == "directed")


def explainer_of(graph, used):
    factors = factors_of(graph, used)
    return factors, NeighbourExplainer(graph, factors, used)


def parts_of(explanation):
    return math.fsum([*(part.value for part in explanation.neighbours), explanation.rest, explanation.remainder])


def slow_terms(graph, used):
    """Two functions of ``(u, v)``, by numpy's dense solvers: terms of the nodes ``u`` links to, and of those linking to
    ``v``, each by node.
    """
    A = graph.adjacency.toarray()
    A += np.diag({"all": np.ones(graph.n), "isolated": A.sum(axis=1) == 0, "none": np.zeros(graph.n)}[used.self_loops])
    out, into = (np.where(d > 0, d, 1) ** used.power for d in (A.sum(axis=1), A.sum(axis=0)))
    U, value, Vt = np.linalg.svd(A / out[:, None] / into)
    V = Vt.T
    if not graph.directed:
        value, U = np.linalg.eigh(A / out[:, None] / into)
        order = np.argsort(-abs(value))
        value, U = value[order], U[:, order]
        V = U
    rank = min(used.rank, graph.n)
    size = abs(value[:rank])
    kept = size > 1e-12 * size[0]
    ratio = np.where(kept, 1 - (size[-1] / np.where(kept, size, 1) if used.shrink == "soft" else 0), 0)
    like_left, like_right = (F[:, :rank] * ratio @ F[:, :rank].T for F in (U, V))

    def around_source(u, v):
        return {w: A[u, w] * into[v] / into[w] * like_right[w, v] for w in np.flatnonzero(A[u]).tolist()}

    def around_target(u, v):
        return {w: A[w, v] * out[u] / out[w] * like_left[u, w] for w in np.flatnonzero(A[:, v]).tolist()}

    return around_source, around_target


def about(graph, u, v, score):
    return {"graph": graph, "pair": (u, v), "score": score, "linked": False, "limit": 5}


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 10_000),
    power=st.sampled_from([0.0, 0.25, 0.5]),
    rank=st.integers(1, 14),
    shrink=st.sampled_from(["soft", "none"]),
    self_loops=st.sampled_from(["none", "isolated", "all"]),
)
@settings(max_examples=20)
def test_each_neighbour_adds_what_the_formula_says(kind, seed, power, rank, shrink, self_loops):
    graph = graph_of(kind, seed)
    rank = rank if shrink == "soft" else graph.n  # unshrunk, equal eigenvalues must be kept together
    used = SpectralSettings(power=power, rank=rank, shrink=shrink, self_loops=self_loops)
    factors, explain = explainer_of(graph, used)
    slow_source, slow_target = slow_terms(graph, used)
    pairs = np.array(reference.all_pairs(graph.n, graph.directed))
    near = 1e-9 * (factors.floor or 1.0)
    for (u, v), score in zip(pairs.tolist(), factors.listed(pairs).tolist(), strict=True):
        for total, slow in zip(explain.sums(**about(graph, u, v, score)), (slow_source, slow_target), strict=True):
            assert dict(zip(total.nodes.tolist(), total.values.tolist(), strict=True)) == pytest.approx(
                slow(u, v), abs=near
            )
            assert abs(total.remainder) <= 1e-10 * total.magnitude + 1e-12 * factors.floor
            assert np.abs(total.resemblance).max(initial=0) <= 1
    for explanation in explain(pairs, 3):
        assert abs(parts_of(explanation) - explanation.score) <= 1e-10 * explanation.magnitude


@pytest.fixture
def loose(monkeypatch):
    """Eigenvectors by power iteration, however small the graph."""
    monkeypatch.setattr(eigen, "DENSE_NODES", 0)


@pytest.mark.usefixtures("loose")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shrink", ["soft", "held-out", "none"])
def test_what_loose_eigenvectors_miss_is_the_remainder(directed, shrink):
    plain = block_model([30, 30], 0.2, 0.02, seed=1)
    graph = Graph.from_edges(plain.edges, plain.n, directed=directed)
    used = SpectralSettings(power=0.25, rank=5, shrink=shrink, self_loops="all", iterations=1)
    found = pairs_of(graph, used)
    weights = weights_of(graph, found, used)
    factors = factor_block(found, weights)
    explain = NeighbourExplainer(graph, factors, used)
    M = scaled_adjacency(graph, 0.25, "all").matrix.toarray()
    k = len(weights)
    U, V, value = found.left[:, :k], found.right[:, :k], found.values[:k]
    out, into = found.out_scale[:, None], found.in_scale
    missed = {  # by the residuals of the eigenpairs, without a difference of scores
        "source": out * ((U * value - M @ V) * (weights / value) @ V.T) * into,
        "target": out * (U * (weights / value) @ (V * value - M.T @ U).T) * into,
    }
    pairs = np.array(reference.all_pairs(graph.n, directed))[::7]
    for (u, v), score in zip(pairs.tolist(), factors.listed(pairs).tolist(), strict=True):
        for name, total in zip(("source", "target"), explain.sums(**about(graph, u, v, score)), strict=True):
            assert total.remainder == pytest.approx(missed[name][u, v], abs=1e-12 * factors.floor)
    shares = [abs(each.remainder) / each.magnitude for each in explain(pairs, 5)]
    assert max(shares) > 1e-4
    for each in explain(pairs, 5):
        assert abs(parts_of(each) - each.score) <= 1e-10 * each.magnitude
    if directed:  # M V = U diag(l) holds for triplets of M Q, however loose Q is
        assert np.abs(missed["source"]).max() < 1e-12 * factors.floor < np.abs(missed["target"]).max()


def named(edges, nodes=None, **kinds):
    count = nodes or 1 + max(map(max, edges))
    return Graph.from_edges(edges, count, names=NAMES[:count], **kinds)


def fitted(graph, **changed):
    return make("spectral", **{**FIXED, **changed}).fit(graph)


def test_the_end_is_told_whose_few_neighbours_say_more():
    graph = named([(0, 2), (0, 3), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (4, 7)])
    model = fitted(graph, rank=4)
    explanation = model.explain("ann", "bob")
    assert (explanation.around, explanation.other) == (0, 1)
    assert explanation.reason().startswith("neighbours of ann that resemble bob: cat (")
    assert {part.node for part in explanation.named} == {2, 3} and explanation.supporting == 2
    explain = model.explainer()
    both = explain.sums(**about(graph, 0, 1, explanation.score))
    assert both[0].clarity > both[1].clarity
    turned = model.explain("bob", "ann")
    assert turned.around == 0 and turned.reason() == explanation.reason()


def test_links_of_either_direction_are_told_apart():
    links = [(0, 2), (0, 3), (4, 2), (4, 3), (4, 1), (5, 1), (5, 2), (5, 3)]  # ann links as eve and fay do, but to bob
    explanation = fitted(named(links, directed=True), rank=2, self_loops="none").explain("ann", "bob", limit=9)
    assert explanation.around == 1
    assert explanation.reason() == "nodes that link to bob and resemble ann: eve (50%), fay (50%)"
    assert (
        explanation.lines()[3]
        == "the score is a sum over the 2 nodes that link to bob, each counted by how much it resembles ann:"
    )
    links = [(0, 2), (0, 3), (6, 2), (6, 3), (6, 1), (7, 1), (7, 2), (7, 3), (5, 1), (4, 1)]
    explanation = fitted(named(links, directed=True), rank=2, self_loops="none").explain("ann", "bob", limit=9)
    assert explanation.around == 0
    assert explanation.reason() == "ann links to nodes that resemble bob: cat (50%), dan (50%)"


def test_nodes_without_links_and_of_other_components_are_told():
    graph = named([(0, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 4)], 8)
    lonely = fitted(graph, self_loops="none").explain("ann", "hal")
    assert lonely.score == 0 and lonely.lines()[1:] == [
        "hal has no neighbour",
        "",
        "0 (the nodes above) = 0",
    ]
    assert lonely.as_json()["neighbours"] == []
    apart = fitted(graph).explain("ann", "eve")
    assert apart.reason() == "eve has no neighbour that resembles ann" and abs(apart.score) < 1e-12
    assert all(part.value == part.resemblance == 0 for part in apart.neighbours)
    looped = fitted(graph).explain("ann", "hal")
    assert looped.reason() == "hal has no neighbour" and looped.self_loop
    assert looped.lines()[3].startswith("the score is a sum over hal itself, ")


def test_pairs_inside_a_side_are_explained_but_never_ranked():
    graph = graphs.random_bipartite(5)
    one, another = np.flatnonzero(graph.sides == 0)[:2].tolist()
    explanation = fitted(graph, self_loops="none").explain(one, another, index=True)
    assert explanation.same_side and explanation.rank is None
    assert abs(parts_of(explanation) - explanation.score) <= 1e-10 * max(explanation.magnitude, 1e-300)


@pytest.fixture(scope="module")
def graph():
    plain = block_model([16, 16], 0.35, 0.03, seed=2)
    return Graph.from_edges(plain.edges, plain.n, names=[f"n{i}" for i in range(plain.n)])


@pytest.mark.parametrize("directed", [False, True])
def test_a_saved_model_explains_as_before(graph, directed, tmp_path):
    turned = Graph.from_edges(graph.edges, graph.n, names=graph.names, directed=directed)
    model = fitted(turned)
    model.save(tmp_path / "model")
    again = open_model(tmp_path / "model")
    links = model.suggest(20, repeats=0, reasons=False)
    for one, other in zip(
        *(each.explain_pairs(links.pairs, with_rank=True, index=True) for each in (model, again)), strict=True
    ):
        assert one.as_json() == other.as_json() and one.lines() == other.lines() and one.svg() == other.svg()
    np.testing.assert_array_equal(
        again.score_pairs(links.pairs, index=True), model.score_pairs(links.pairs, index=True)
    )


def test_a_model_applied_to_another_graph_explains_by_that_graph(graph):
    rest = graph.without(graph.edges[:5])
    links = fitted(graph).on(rest)
    u, v = graph.edges[0].tolist()
    explanation = links.explain(u, v, index=True)
    assert not explanation.linked and abs(parts_of(explanation) - explanation.score) <= 1e-10 * explanation.magnitude
    neighbours = set(rest.adjacency[[explanation.around]].indices.tolist()) | {explanation.around}
    assert {part.node for part in explanation.neighbours} <= neighbours


def test_suggestions_have_reasons_and_ranks(graph):
    model = fitted(graph)
    links = with_reasons(model, model.suggest(70, repeats=0, reasons=False))
    explained = model.explain_pairs(links.pairs, with_rank=True, index=True)
    assert model.explains and [each.reason() for each in explained] == links.reasons
    assert explained[0].rank == 1 and not any(each.linked for each in explained)
    alone = model.explain(*explained[7].pair, index=True)
    assert alone.as_json() == explained[7].as_json()
    assert sum("that resemble" in reason for reason in links.reasons) == 70


def test_the_commands_predict_and_explain(graph, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_graph(graph, "graph.npz")
    fixed = [each for name, value in FIXED.items() for each in ("--option", f"{name}={value}")]
    given_options = ("--method", "spectral", *fixed, "--repeats", "0", "--quiet")
    assert main(["predict", "graph.npz", *given_options, "--top", "5", "--out", "links.json"]) == 0
    rows = json.loads((tmp_path / "links.json").read_text())
    first = rows[0]
    assert "that resemble" in first["reason"]
    capsys.readouterr()
    ends = (first["source"], first["target"])
    assert main(["explain", "links.run", *ends, "--picture", "why.svg"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{ends[0]} and {ends[1]}: score ") and lines[1] == first["reason"]
    assert (tmp_path / "why.svg").read_text().startswith("<svg")
    assert main(["explain", "links.run", *ends, "--json", "--walks", "2"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["neighbours"]) == 2 and {told["neighbours_of"], told["resembling"]} == set(ends)
    parts = sum(part["value"] for part in told["neighbours"]) + told["rest"] + told["remainder"]
    assert parts == pytest.approx(told["score"]) and told["score"] == pytest.approx(first["score"])
    assert main(["explain", "graph.npz", *ends, "--method", "spectral", "--quiet"]) == 0
    assert "the score is a sum over the" in capsys.readouterr().out


def test_the_page_of_a_run_shows_the_neighbours(graph, tmp_path):
    make("spectral", **FIXED).fit(graph, run=tmp_path / "run")
    report = report_of(open_run(tmp_path / "run"), title="mine", top=6, parts=2, repeats=0, threads=1)
    assert all("that resemble" in each.reason and each.picture for each in report.suggestions)
    text = page_of(report, [])
    assert report.suggestions[0].reason in text and text.count("the score is a sum over the") >= 6

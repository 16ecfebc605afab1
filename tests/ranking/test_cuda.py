"""The engine of a GPU against threads: the same counts and the same best pairs for every form of scores.

Its code runs on any device of PyTorch, so it is tested on the CPU everywhere, and on a GPU where there is one.
"""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods import HEURISTICS, make
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.engines import running_on
from gelato.ranking.engines.local import Cuda
from gelato.ranking.estimate import scan_cost
from gelato.ranking.pair_list import score_pairs
from gelato.ranking.rank import densities, explicit_pairs, rank
from gelato.ranking.top import top
from gelato.regimes import partitioned, unbiased
from gelato.scores import BlockScores, LiftedScores, device_scan, walk_device
from gelato.scores.autocovariance import autocovariance
from gelato.scores.device_scan import run_or_halve
from gelato.spectrum.adjacency import scaled_adjacency
from gelato.spectrum.eigen import eigenpairs
from gelato.splits import split
from graphs import cycle, random_bipartite, random_graph, star

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
WALKS = ["ac", "cn", "aa", "ra", "katz", "jaccard", "cosine"]


WAYS = {"lists": 0.0, "tiles": 1e30}
"""How much laying out a walk costs, so that walks are always laid out, or never."""


@pytest.fixture(params=[(place, way) for place in DEVICES for way in WAYS], ids="-".join)
def engine(request, monkeypatch):
    """An engine whose blocks are small, so that there are several of them."""
    place, way = request.param
    for module in (device_scan, walk_device):
        monkeypatch.setattr(module, "block_memory", lambda place: 1e4)
    monkeypatch.setattr(device_scan, "LEAST", 4)
    monkeypatch.setattr(walk_device, "WORTH", WAYS[way])
    return partial(Cuda, device=place)


@pytest.fixture(scope="module")
def graph():
    return block_model([70, 60, 40], 0.1, 0.02, attributes=12, seed=3)


def on(engine, run):
    with running_on(engine, engine.keywords["device"]):
        return run()


def same_ranks(one, other):
    for name in ("above", "tied"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def same_links(one, other):
    np.testing.assert_array_equal(one.pairs, other.pairs)
    np.testing.assert_allclose(one.score, other.score, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("place", DEVICES)
@pytest.mark.parametrize("way", WAYS)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(WALKS), bipartite=st.booleans())
@settings(max_examples=15)
def test_counts_and_best_pairs_are_those_of_threads(place, way, seed, name, bipartite):
    graph = random_bipartite(seed) if bipartite else random_graph(seed, weighted=seed % 2 == 0, directed=seed % 3 == 0)
    parts = split(graph, 0, (0.0, 0.34))
    scores, candidates = HEURISTICS[name](parts.train), unbiased(parts)
    engine = partial(Cuda, device=place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk_device, "WORTH", WAYS[way])
        compare(engine, parts, scores, candidates)


def compare(engine, parts, scores, candidates):
    labels = np.arange(parts.graph.n) % 2
    regimes = [candidates] + (
        [partitioned(parts, labels)] if (labels[parts.test[:, 0]] == labels[parts.test[:, 1]]).any() else []
    )
    for chosen in regimes:
        same_ranks(on(engine, partial(rank, scores, chosen)), rank(scores, chosen))
    for k in (1, 7, 1000):
        for options in ({}, {"per_node": True}, {"nodes": [0, 3]}, {"between": ([0, 1, 2], [2, 3, 4])}):
            run = partial(top, scores, parts.train, k, **options)
            same_links(on(engine, run), run())


@pytest.mark.parametrize("name", ["ac", "cn", "pa", "lifted", "block", "spectral", "nested"])
def test_every_form_in_small_blocks(graph, engine, name):
    parts = split(graph, 0, (0.05, 0.1))
    candidates = unbiased(parts)
    if name == "spectral":
        scores = make("spectral", rank=8).fit(parts).scores()
    elif name == "block":
        x = np.random.default_rng(0).integers(0, 3, (graph.n, 4)).astype(float)
        scores = BlockScores(graph.n, lambda rows, columns: x[rows] @ x[columns].T)
    else:
        scores = HEURISTICS["aa" if name in ("lifted", "nested") else name](parts.train)
    if name in ("lifted", "nested"):
        scores = LiftedScores(scores, parts.test[:20], np.arange(20.0) % 3)
    if name == "nested":
        scores = LiftedScores(scores, parts.valid[:9], np.arange(9.0))

    same_ranks(on(engine, lambda: rank(scores, candidates)), rank(scores, candidates))
    np.testing.assert_allclose(
        on(engine, lambda: score_pairs(scores, parts.test)).value, score_pairs(scores, parts.test).value, rtol=1e-12
    )
    for k, options in ((50, {}), (4, {"per_node": True}), (30, {"min_score": 0.5}), (20, {"nodes": [1, 9]})):
        run = partial(top, scores, parts.train, k, **options)
        same_links(on(engine, run), run())


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
@pytest.mark.parametrize("directed", [False, True])
def test_walks_of_every_length(engine, steps, directed):
    graph = random_graph(11, nodes=40, directed=directed)
    parts = split(graph, 0, (0.0, 0.2))
    scores = autocovariance(parts.train, steps=steps)
    same_ranks(on(engine, lambda: rank(scores, unbiased(parts))), rank(scores, unbiased(parts)))


@pytest.mark.parametrize("graph", [star(40), cycle(40)], ids=["star", "cycle"])
@pytest.mark.parametrize("k", [1, 33, 500])
def test_ties_at_the_cut_and_pairs_that_no_walk_joins(engine, graph, k):
    for name in ("cn", "ac", "pa"):
        scores = HEURISTICS[name](graph)
        same_links(on(engine, lambda scores=scores: top(scores, graph, k)), top(scores, graph, k))


@pytest.mark.parametrize("directed", [False, True])
def test_eigenpairs_are_those_of_the_host(engine, directed):
    graph = block_model([250, 200, 150], 0.1, 0.01, seed=5)
    if directed:
        graph = Graph.from_edges(graph.edges, graph.n, directed=True)
    adjacency = scaled_adjacency(graph, 0.5, "all")
    run = partial(eigenpairs, adjacency, 5, iterations=60)
    found, wanted = on(engine, run), run()
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-6)
    M = adjacency.matrix.toarray()
    np.testing.assert_allclose(M @ found.right[:, :3], found.left[:, :3] * found.values[:3], atol=1e-5)


def test_many_values_of_g_are_counted_one_by_one(engine, monkeypatch):
    random = np.random.default_rng(4)
    pairs = random.integers(0, 1500, (4000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    parts = split(Graph.from_edges(pairs, 1500, weights=random.random(len(pairs)) + 0.5), 0, (0.0, 0.02))
    scores = HEURISTICS["ac"](parts.train)
    assert scores.groups[1] is None
    candidates = unbiased(parts)
    for module in (device_scan, walk_device):
        monkeypatch.setattr(module, "block_memory", lambda place: 1e8)
    same_ranks(on(engine, lambda: rank(scores, candidates)), rank(scores, candidates))


@pytest.mark.parametrize("name", ["ac", "cosine"])
def test_what_a_count_takes_is_told_from_one_block(graph, engine, name):
    parts = split(graph)
    scores, candidates = HEURISTICS[name](parts.train), unbiased(parts)
    told = on(engine, lambda: scan_cost(scores, candidates))
    assert told.seconds > 0
    assert told.pairs == candidates.negatives + len(candidates.excluded)
    explicit = explicit_pairs(scores, candidates)
    assert explicit / 2 < told.explicit < explicit * 2


def test_densities_and_explicit_pairs(graph, engine):
    parts = split(graph)
    scores, candidates = HEURISTICS["ac"](parts.train), unbiased(parts)
    edges = np.linspace(-1e-4, 1e-3, 7)
    np.testing.assert_array_equal(
        on(engine, lambda: densities(scores, candidates, edges)), densities(scores, candidates, edges)
    )
    assert on(engine, lambda: explicit_pairs(scores, candidates)) == explicit_pairs(scores, candidates)


def test_weights_whose_products_would_vanish_stay_on_the_host(engine, caplog):
    pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 3)]
    graph = Graph.from_edges(pairs, 6, weights=[1e-160, 1e-160, 1.0, 1e-160, 1.0, 1e-160])
    scores = HEURISTICS["ac"](graph)
    run = partial(top, scores, graph, 5)
    same_links(on(engine, run), run())
    assert "so the CPU ranks the pairs" in caplog.text


def test_a_stopped_count_is_taken_up(graph, engine, tmp_path):
    parts = split(graph)
    scores, candidates = HEURISTICS["ac"](parts.train), unbiased(parts)
    seen = []

    def stop(done, total):
        seen.append(done)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        on(engine, lambda: rank(scores, candidates, progress=stop, checkpoint=Checkpoint(tmp_path / "count", None)))
    again = []
    run = partial(rank, scores, candidates, checkpoint=Checkpoint(tmp_path / "count", None))
    found = on(engine, lambda: run(progress=lambda done, total: again.append(done)))
    assert again[0] > seen[1]
    same_ranks(found, rank(scores, candidates))


def test_a_block_that_does_not_fit_is_halved():
    done = []

    def run(block):
        if block[1] - block[0] > 3:
            raise torch.OutOfMemoryError
        done.append(block)

    run_or_halve((0, 10), run)
    assert done == [(0, 2), (2, 5), (5, 7), (7, 10)]
    with pytest.raises(InputError, match="too little memory for the scores of one node"):
        run_or_halve((0, 1), lambda block: (_ for _ in ()).throw(torch.OutOfMemoryError()))


def test_scores_that_are_not_finite_are_refused(engine):
    scores = BlockScores(6, lambda rows, columns: np.full((len(rows), len(columns)), np.inf))
    with pytest.raises(InputError, match="scores must be finite"):
        on(engine, lambda: top(scores, cycle(6), 3))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_machine_without_a_gpu_says_so():
    with pytest.raises(InputError, match="needs a GPU that PyTorch can use, and there is none"):
        top(HEURISTICS["cn"](cycle(6)), cycle(6), 3, engine="cuda")

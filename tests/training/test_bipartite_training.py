"""Training on bipartite graphs: non-links are pairs across the two sides, against dense oracles over these pairs."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

import reference
import reference_training as naive
from gelato import split
from gelato.errors import InputError
from gelato.graph import joins_sides, pair_keys
from gelato.methods.gae.model import Reconstruction
from gelato.methods.gelato.batches import BackgroundCells, GelatoBatches
from gelato.methods.gelato.enhance.enhancer import new_enhancer
from gelato.methods.gelato.settings import GelatoSettings
from gelato.methods.gelato.task import new_task
from gelato.methods.gelato.walks.autocovariance import standardized
from gelato.methods.gelato.walks.full import BatchedWalks, DenseWalks
from gelato.methods.gelato.walks.sparse import SegmentWalks, SupportWalks
from gelato.methods.gelato.walks.topology import Topology
from gelato.networks.gnn.validation import PrecisionOfAllPairs
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.scores import BlockScores
from gelato.similarity.enhanced_links import enhanced_links
from gelato.training.losses import n_pair
from gelato.training.negative_sampling import draw_non_links
from graphs import complete_bipartite, random_bipartite

CPU = torch.device("cpu")
bipartite = st.integers(0, 10_000).map(random_bipartite)

WAYS = {
    "support": lambda pattern: SupportWalks(pattern, 3),
    "two steps": lambda pattern: SupportWalks(pattern, 2),
    "laid out": lambda pattern: SegmentWalks(pattern, device="cpu", dtype=torch.float64),
    "dense": lambda pattern: DenseWalks(pattern, device="cpu", dtype=torch.float64),
    "batched": lambda pattern: BatchedWalks(pattern, 3, device="cpu", size=3),
}
every_way = pytest.mark.parametrize("way", WAYS)


def made(graph, way="support", eta=0.5):
    """Enhanced links, of which those added by attributes may join nodes of one side; their names; walks."""
    links = enhanced_links(graph, eta)
    topology = Topology(links.n, links.pairs)
    return links, topology, WAYS[way](topology.pattern)


def named(topology, u, v):
    pairs = topology.order[np.column_stack([u, v])]
    return [tuple(sorted(pair)) for pair in pairs.tolist()]


def pairs_across(graph, labels=None):
    every = reference.all_pairs(graph.n, False, graph.sides.tolist())
    return {(u, v) for u, v in every if labels is None or labels[u] == labels[v]}


@every_way
@given(bipartite, st.integers(1, 5), st.sampled_from([None, 2, 3]))
@settings(max_examples=25, deadline=None)
def test_an_epoch_has_every_pair_across_once_listed_or_counted(way, graph, count, parts):
    links, topology, walks = made(graph, way)
    labels = None if parts is None else np.arange(graph.n) * 5 % parts
    known = {tuple(pair) for pair in graph.edges.tolist()}
    every = pairs_across(graph, labels)
    assume(known & every)
    batches = GelatoBatches(links, topology, walks, batches=count, labels=labels, sides=graph.sides)
    positives, negatives = [], []
    for batch in batches.epoch(3):
        names = named(topology, *(part.numpy() for part in batch.listed[:2]))
        positives += names[: batch.p]
        negatives += names[batch.p :]
    reached = every if walks.complete else set(named(topology, *walks.reached().T))
    assert sorted(positives) == sorted(known & every)
    assert sorted(negatives) == sorted((every & reached) - known)
    rest = 0
    if batches.background is not None:
        batches.background.update(torch.rand(graph.n, dtype=torch.float64))
        rest = int(batches.background.count.sum())
    assert rest == len(every - reached - known)


@given(bipartite, st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_drawn_non_links_are_unlinked_pairs_across_and_any_of_them_may_come(graph, seed):
    links, topology, walks = made(graph)
    free = pairs_across(graph) - {tuple(pair) for pair in graph.edges.tolist()}
    assume(free)
    batches = GelatoBatches(links, topology, walks, ratio=3, sides=graph.sides)
    for batch in batches.epoch(seed):
        assert set(named(topology, *(part.numpy()[batch.p :] for part in batch.listed[:2]))) <= free
    known = np.sort(pair_keys(graph.edges, graph.n))
    drawn = draw_non_links(200 * len(free), graph.n, False, known, np.random.default_rng(seed), graph.sides)
    pairs, times = np.unique(drawn, axis=0, return_counts=True)
    assert set(map(tuple, pairs.tolist())) == free
    assert times.min() > 100 and times.max() < 300  # each is expected 200 times


def test_a_complete_bipartite_graph_has_no_non_link_to_draw():
    graph = complete_bipartite(3, 2)
    with pytest.raises(InputError, match="no non-links"):
        draw_non_links(4, 5, False, np.sort(pair_keys(graph.edges, 5)), np.random.default_rng(0), graph.sides)


@pytest.mark.parametrize("parts", [None, 2], ids=["whole", "parts"])
@pytest.mark.parametrize("seed", range(8))
def test_the_n_pair_loss_and_its_gradient_are_those_of_listing_every_pair_across(seed, parts):
    graph = random_bipartite(seed, nodes=16, weighted=True)
    labels = None if parts is None else np.arange(graph.n) % parts
    if labels is not None and (labels[graph.edges[:, 0]] == labels[graph.edges[:, 1]]).sum() < 2:
        pytest.skip("no links inside parts")
    links, topology, walks = made(graph)
    batches = GelatoBatches(links, topology, walks, batches=2, labels=labels, sides=graph.sides)
    random = torch.Generator().manual_seed(seed)
    weights = torch.rand(len(links.pairs), generator=random, dtype=torch.float64).add_(0.5).requires_grad_()
    batches.background.update(topology.matrices(weights.detach()).degree)
    reached, known = set(named(topology, *walks.reached().T)), {tuple(pair) for pair in graph.edges.tolist()}
    apart = sorted(pairs_across(graph, labels) - reached - known)
    for batch in batches.epoch(seed):
        mask = torch.ones_like(weights)
        mask[batch.masked] = 0
        scored = standardized(topology, walks, weights * mask, batch.listed, 3)
        cells = batches.background.scores(scored.degree, scored.background)
        mine = n_pair(scored.score[: batch.p], scored.score[batch.p :], cells, batches.background.count / 2)

        score = naive.naive(graph.n, links.pairs, weights * mask, steps=3).score
        listed = torch.stack([score[u, v] for u, v in named(topology, *(part.numpy() for part in batch.listed[:2]))])
        positive, negative = listed[: batch.p], listed[batch.p :]
        shared = sum((score[u, v].exp() / 2 for u, v in apart), torch.zeros((), dtype=torch.float64)) / batch.p
        terms = [softplus((negative[i :: batch.p].exp().sum() + shared).log() - s) for i, s in enumerate(positive)]
        wanted = sum(terms) / (len(listed) + len(apart) / 2)
        torch.testing.assert_close(mine, wanted, rtol=1e-9, atol=0)
        got, want = (torch.autograd.grad(loss, weights)[0] for loss in (mine, wanted))
        torch.testing.assert_close(got, want, rtol=1e-6, atol=1e-9 * float(want.abs().max()))


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_the_mean_of_many_cells_is_near_that_of_all_pairs_across(seed):
    random = np.random.default_rng(seed)
    n = 300
    sides = (random.random(n) < 0.2).astype(np.int8)
    degree = torch.tensor(random.lognormal(sides, 0.7))
    pairs = np.array([(u, v) for u in range(n) for v in range(u + 1, n)])
    taken = pairs[random.random(len(pairs)) < 0.05]
    background = BackgroundCells(n, taken, directed=False, labels=None, device=CPU, sides=sides)
    background.update(degree)
    gone = np.isin(pair_keys(pairs, n), pair_keys(taken, n))
    free = torch.tensor(pairs[joins_sides(pairs, sides) & ~gone])
    assert background.count.sum() == len(free)
    factor = torch.tensor(0.02, dtype=torch.float64)
    exact = torch.exp(-factor * degree[free[:, 0]] * degree[free[:, 1]]).mean()
    cells = (background.count * torch.exp(background.scores(degree, factor))).sum() / background.count.sum()
    torch.testing.assert_close(cells, exact, rtol=1e-3, atol=0)


@every_way
@given(bipartite)
@settings(max_examples=20, deadline=None)
def test_the_best_reached_pairs_of_validation_lie_across(way, graph):
    links, topology, walks = made(graph, way)
    weights = torch.rand(len(links.pairs), dtype=torch.float64) + 0.5
    matrices = topology.matrices(weights)
    vol = matrices.degree.sum()
    known = torch.as_tensor(walks.find(topology.renamed(graph.edges)))
    sides = torch.tensor(graph.sides[topology.order])
    score, place = walks.best(matrices, 1 / vol, 1 / vol**2, known[known >= 0], graph.n, sides)
    listed = walks.listed(place[score > -torch.inf])
    steps = 2 if way == "two steps" else 3
    dense = naive.naive(graph.n, links.pairs, weights, steps=steps)
    reached = pairs_across(graph) if walks.complete else set(named(topology, *walks.reached().T))
    free = (pairs_across(graph) & reached) - {tuple(pair) for pair in graph.edges.tolist()}
    wanted = sorted((float(dense.score[u, v] * dense.deviation) for u, v in free), reverse=True)[: graph.n]
    assert set(named(topology, *(part.numpy() for part in listed[:2]))) <= free
    np.testing.assert_allclose(score[score > -torch.inf].numpy(), wanted, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("encoder", ["mlp"])
@pytest.mark.parametrize("seed", range(6))
def test_validation_of_gelato_is_the_precision_of_its_exact_ranks(seed, encoder):
    parts = split(random_bipartite(seed, nodes=40), seed, (0.2, 0.1))
    given = GelatoSettings(eta=0.5, alpha=0.5, beta=0.5, self_loops="isolated", hidden=4, encoder=encoder)
    task = new_task(new_enhancer(parts.train, given, CPU), parts, given)
    assert task.ranks().negatives == unbiased(parts, "valid").negatives
    assert task.validate() == pytest.approx(metric("precision@100%", task.ranks()))


# Other methods.


def dense_loss(Z, sides, links, left_out):
    """The loss over an ``n x n`` matrix of labels, of which the entries across count, less the pairs left out."""
    n = len(Z)
    Y, counted = torch.zeros(n, n, dtype=Z.dtype), torch.tensor(sides[:, None] != sides).to(Z.dtype)
    for u, v in links:
        Y[u, v] = Y[v, u] = 1
    for u, v in left_out:
        counted[u, v] = counted[v, u] = 0
    total, ones = counted.sum(), Y.sum()
    terms = binary_cross_entropy_with_logits(Z @ Z.T, Y, pos_weight=(total - ones) / ones, reduction="none")
    return total / (2 * (total - ones)) * (terms * counted).sum() / total


@given(bipartite, st.integers(0, 1000), st.integers(1, 200), st.booleans())
@settings(deadline=None)
def test_gae_rebuilds_the_entries_across(graph, seed, block, masked):
    random = np.random.default_rng(seed)
    mine = random.random(graph.m) < 0.5 if masked else np.ones(graph.m, dtype=bool)
    mine[0] = True
    assume(graph.m < np.bincount(graph.sides).prod())
    links, left_out = graph.edges[mine], graph.edges[~mine]
    Z = torch.tensor(2 * random.standard_normal((graph.n, 3)), requires_grad=True)
    wanted = dense_loss(Z, graph.sides, links, left_out)
    wanted.backward()
    loss, gradient = Reconstruction(graph.n, links, left_out, CPU, graph.sides)(Z.detach(), block)
    torch.testing.assert_close(loss, wanted.detach(), rtol=1e-10, atol=0)
    torch.testing.assert_close(gradient, Z.grad, rtol=1e-9, atol=1e-12)


@given(bipartite, st.integers(0, 1000), st.sampled_from([1, 2, 3, 1000]), st.integers(1, 13))
@settings(deadline=None)
def test_precision_is_that_of_exact_ranks_across_also_with_ties(graph, seed, values, block_rows):
    assume(graph.m >= 5)  # so that a fifth is a link
    parts = split(graph, seed, (0.2, 0.2))
    S = np.random.default_rng(seed).integers(values, size=(graph.n, graph.n)).astype(float)
    S = np.triu(S) + np.triu(S, 1).T
    exact = metric(
        "precision@100%", rank(BlockScores.from_rows(graph.n, lambda rows: S[rows]), unbiased(parts, "valid"))
    )
    scores = torch.tensor(S)
    quick = PrecisionOfAllPairs(parts, CPU)(lambda a, b: scores[a:b, a:].clone(), block_rows)
    assert quick == pytest.approx(exact)

"""Pairs that no walk joins, counted by cells of degree bins, against their enumeration."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference_training as naive
from gelato.graph import Graph
from gelato.methods.gelato.batches import BINS, BackgroundCells, degree_bins
from gelato.methods.gelato.walks.autocovariance import standardized
from gelato.methods.gelato.walks.sparse import SupportWalks
from gelato.methods.gelato.walks.topology import Listed, Topology
from graphs import random_graph

CPU = torch.device("cpu")
OWN = BINS // 3
"""Of so few nodes no two share a bin: each moves on by more than one."""

variants = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
parted = pytest.mark.parametrize("parts", [None, 3], ids=["whole", "parts"])


def taken_pairs(n, directed, share, random):
    every = np.array(naive.pairs_inside(n, directed))
    return every[random.random(len(every)) < share]


def free_pairs(n, taken, directed, labels):
    known = {tuple(pair) for pair in taken.tolist()}
    free = [pair for pair in naive.pairs_inside(n, directed, labels) if pair not in known]
    return torch.tensor(free, dtype=torch.int64).reshape(-1, 2)


def labels_of(n, parts):
    return None if parts is None else np.arange(n) * 7 % parts


def made(n, taken, directed, labels, degree):
    background = BackgroundCells(n, taken, directed=directed, labels=labels, device=CPU)
    background.update(degree)
    return background


def degrees(n, random):
    """Some equal, some apart by orders of magnitude, one tiny."""
    degree = np.where(random.random(n) < 0.5, random.integers(1, 4, n), random.lognormal(0, 1.5, n))
    degree[random.integers(n)] = 1e-21
    return torch.tensor(degree)


# Counts.


@variants
@given(st.integers(2, 60), st.sampled_from([None, 1, 2, 5]), st.sampled_from([0.0, 0.2, 1.0]), st.integers(0, 1000))
def test_cells_count_every_pair_that_is_not_taken_once(directed, n, parts, share, seed):
    random = np.random.default_rng(seed)
    taken, labels, degree = taken_pairs(n, directed, share, random), labels_of(n, parts), degrees(n, random)
    background = made(n, taken, directed, labels, degree)
    free = free_pairs(n, taken, directed, labels)
    bins = degree_bins(degree)
    want = np.zeros((BINS, BINS))
    for u, v in bins[free].tolist():
        low, high = (u, v) if directed else (min(u, v), max(u, v))
        want[low, high] += 1
    np.testing.assert_array_equal(background.count.view(BINS, BINS).numpy(), want)
    assert background.count.sum() == len(free)


def test_counts_follow_the_degrees_of_the_last_update_in_the_same_memory():
    random = np.random.default_rng(0)
    taken = taken_pairs(40, False, 0.2, random)
    first, second = degrees(40, random), degrees(40, random)
    background = made(40, taken, False, None, first)
    memory = background.count.data_ptr()
    background.update(second)
    fresh = made(40, taken, False, None, second)
    factor = torch.tensor(0.1, dtype=torch.float64)
    assert torch.equal(background.count, fresh.count)
    assert torch.equal(background.scores(second, factor), fresh.scores(second, factor))
    assert background.count.data_ptr() == memory


# Bins.


@given(st.integers(1, 200), st.integers(0, 1000))
def test_bins_follow_the_degrees(n, seed):
    degree = degrees(n, np.random.default_rng(seed))
    bins = degree_bins(degree)
    assert bins.min() >= 0 and bins.max() < BINS
    order = torch.argsort(degree, stable=True)
    assert (bins[order].diff() >= 0).all()


@given(st.integers(2, OWN), st.integers(0, 1000))
def test_few_nodes_have_a_bin_each(n, seed):
    assert len(degree_bins(degrees(n, np.random.default_rng(seed))).unique()) == n


# Scores.


def exact_mean(degree, factor, free, function):
    u, v = free.T
    return function(-factor * degree[u] * degree[v]).mean()


def binned_mean(background, degree, factor, function):
    return (background.count * function(background.scores(degree, factor))).sum() / background.count.sum()


@variants
@parted
@pytest.mark.parametrize("function", [torch.exp, lambda s: s, torch.square], ids=["exp", "itself", "square"])
def test_means_over_equal_degrees_are_exact(directed, parts, function):
    n, random = 150, np.random.default_rng(0)
    taken, labels = taken_pairs(n, directed, 0.1, random), labels_of(n, parts)
    degree = torch.full((n,), 1.75, dtype=torch.float64)
    background = made(n, taken, directed, labels, degree)
    factor = torch.tensor(0.3, dtype=torch.float64)
    want = exact_mean(degree, factor, free_pairs(n, taken, directed, labels), function)
    torch.testing.assert_close(binned_mean(background, degree, factor, function), want, rtol=1e-12, atol=0)


@variants
@parted
@given(st.integers(4, OWN), st.integers(0, 1000))
@settings(max_examples=30)
def test_means_and_gradients_of_nodes_with_bins_of_their_own_are_exact(directed, parts, n, seed):
    random = np.random.default_rng(seed)
    taken, labels = taken_pairs(n, directed, 0.3, random), labels_of(n, parts)
    degree = degrees(n, random)
    free = free_pairs(n, taken, directed, labels)
    assume(len(free))
    background = made(n, taken, directed, labels, degree)
    check_mean_and_gradient(background, degree, free, 0.2, rtol=1e-11)


def check_mean_and_gradient(background, degree, free, factor, *, rtol):
    leaves = [degree.clone().requires_grad_(), torch.tensor(factor, dtype=torch.float64, requires_grad=True)]
    got, want = binned_mean(background, *leaves, torch.exp), exact_mean(*leaves, free, torch.exp)
    torch.testing.assert_close(got, want, rtol=rtol, atol=0)
    for mine, its in zip(torch.autograd.grad(got, leaves), torch.autograd.grad(want, leaves), strict=True):
        torch.testing.assert_close(mine, its, rtol=rtol, atol=rtol * float(its.abs().max()))


def test_the_gradient_of_cell_scores_equals_its_numerical_gradient():
    random = np.random.default_rng(0)
    degree = torch.tensor(random.lognormal(0, 1, 40), requires_grad=True)
    background = made(40, taken_pairs(40, False, 0.2, random), False, None, degree.detach())
    factor = torch.tensor(0.2, dtype=torch.float64, requires_grad=True)

    def mean(degree, factor):
        return binned_mean(background, degree, factor, torch.exp)

    assert torch.autograd.gradcheck(mean, (degree, factor))


def uneven_graph(n, links, *, directed, seed=0):
    """A few hubs, weights over orders of magnitude: degrees that are all different."""
    random = np.random.default_rng(seed)
    chance = 1 / np.arange(1, n + 1) ** 0.5
    pairs = np.column_stack([random.choice(n, links, p=chance / chance.sum()), random.integers(0, n, links)])
    return Graph.from_edges(pairs, n, weights=random.lognormal(0, 1, links), directed=directed)


def walked(graph):
    """What training has: degrees, the factor of the background, and the reached pairs."""
    topology = Topology(graph.n, graph.edges, directed=graph.directed)
    walks = SupportWalks(topology.pattern, 3)
    weights = torch.tensor(graph.adjacency[graph.edges[:, 0], graph.edges[:, 1]])
    nothing = torch.empty(0, dtype=torch.int64)
    found = standardized(topology, walks, weights, Listed(nothing, nothing, nothing), 3)
    return found.degree, found.background, walks.reached()


def in_cells(background, bins, free, degree, factor, directed):
    """Cell of each free pair, and how far its score is from that of its cell."""
    ends = bins[free] if directed else bins[free].sort(dim=1).values
    cell = ends[:, 0] * BINS + ends[:, 1]
    return cell, -factor * degree[free[:, 0]] * degree[free[:, 1]] - background.scores(degree, factor)[cell]


@variants
@parted
def test_the_binned_mean_of_exp_errs_by_less_than_slope_and_curvature_allow(directed, parts):
    graph = uneven_graph(400, 400, directed=directed)
    degree, factor, taken = walked(graph)
    labels = labels_of(graph.n, parts)
    background = made(graph.n, taken, directed, labels, degree)
    free = free_pairs(graph.n, taken, directed, labels)
    want = exact_mean(degree, factor, free, torch.exp)
    error = (binned_mean(background, degree, factor, torch.exp) - want).abs()
    cell, gap = in_cells(background, degree_bins(degree), free, degree, factor, directed)
    # scores are negative: slope and curvature of exp are at most 1; the first term is what the taken pairs and
    # those of a node with itself leave of the mean gap of a cell, the second is the curvature
    drift = torch.zeros(BINS * BINS, dtype=torch.float64).index_add_(0, cell, gap).abs().sum()
    bound = (drift + gap.square().sum() / 2) / len(free)
    assert error <= bound + 1e-15
    assert bound < 1e-3
    assert error < 2e-5  # measured: 3e-6 to 5e-6; the mean is about 0.95


@variants
@parted
def test_gradients_with_respect_to_degrees_are_right_for_bins_and_near_for_nodes(directed, parts):
    graph = uneven_graph(400, 400, directed=directed)
    degree, factor, taken = walked(graph)
    labels = labels_of(graph.n, parts)
    background = made(graph.n, taken, directed, labels, degree)
    free = free_pairs(graph.n, taken, directed, labels)
    leaf = degree.clone().requires_grad_()
    (got,) = torch.autograd.grad(binned_mean(background, leaf, factor, torch.exp), leaf)
    (want,) = torch.autograd.grad(exact_mean(leaf, factor, free, torch.exp), leaf)
    bins = degree_bins(degree)
    sums = [torch.zeros(BINS, dtype=torch.float64).index_add_(0, bins, part) for part in (got, want)]
    assert float((sums[0] - sums[1]).norm() / sums[1].norm()) < 1e-3  # measured: 4e-5 to 3e-4
    # the nodes of a bin share its gradient evenly, although each has other pairs taken out
    assert float((got - want).norm() / want.norm()) < 0.1  # measured: 0.01 to 0.07


@pytest.mark.parametrize("seed", range(5))
@variants
def test_a_small_graph_has_the_background_that_the_formula_gives(directed, seed):
    graph = random_graph(seed, nodes=15, weighted=True, directed=directed)
    degree, factor, taken = walked(graph)
    background = made(graph.n, taken, directed, None, degree)
    free = free_pairs(graph.n, taken, directed, None)
    if len(free):
        check_mean_and_gradient(background, degree, free, float(factor), rtol=1e-9)
    assert background.count.sum() == len(free)

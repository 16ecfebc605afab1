"""Standardised autocovariance and its gradient, by every way, against the formula over all ``n^2`` entries."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference
import reference_training as naive
from gelato.errors import InputError
from gelato.methods.gelato.walks.autocovariance import standardized, walks_of
from gelato.methods.gelato.walks.full import BatchedWalks, DenseWalks
from gelato.methods.gelato.walks.sparse import SegmentWalks, SupportWalks
from gelato.methods.gelato.walks.topology import Listed, Topology
from graphs import cycle, graphs, path, random_graph, star

TINY = 1e-21
DOUBLE, SINGLE = torch.float64, torch.float32

WAYS = {
    "support": lambda pattern, dtype: SupportWalks(pattern, 3, dtype=dtype),
    "laid out": lambda pattern, dtype: SegmentWalks(pattern, device="cpu", dtype=dtype),
    "dense": lambda pattern, dtype: DenseWalks(pattern, device="cpu", dtype=dtype),
    "dense, five columns at a time": lambda pattern, dtype: DenseWalks(pattern, device="cpu", dtype=dtype, size=5),
    "batched": lambda pattern, dtype: BatchedWalks(pattern, 3, device="cpu", size=4),
}
"""Of three steps on an undirected graph."""

every_way = pytest.mark.parametrize("way", WAYS)
three_ways = pytest.mark.parametrize("way", ["support", "laid out", "dense"])
every_loop = pytest.mark.parametrize("self_loops", ["isolated", "all"])


class Case(NamedTuple):
    n: int
    pairs: np.ndarray
    weights: np.ndarray
    directed: bool = False
    self_loops: str = "isolated"

    @property
    def topology(self):
        return Topology(self.n, self.pairs, directed=self.directed, self_loops=self.self_loops)

    def naive(self, weights, steps):
        return naive.naive(self.n, self.pairs, weights, steps=steps, self_loops=self.self_loops, directed=self.directed)


def case_of(graph, weights=None, self_loops="isolated"):
    known = graph.adjacency[graph.edges[:, 0], graph.edges[:, 1]] if weights is None else weights
    return Case(graph.n, graph.edges.copy(), np.asarray(known, np.float64), graph.directed, self_loops)


@st.composite
def cases(draw, directed=False, tiny=("none", "links", "node", "all")):
    """Links of all kinds: as given, masked (weight 0), tiny, or all those of a node tiny; a few nodes have none."""
    graph = draw(graphs(weighted=True, directed=directed))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    case = case_of(graph, self_loops=draw(st.sampled_from(["isolated", "all"])))
    weights = case.weights * random.uniform(0.5, 1.5, graph.m)
    weights[random.random(graph.m) < draw(st.sampled_from([0.0, 0.3]))] = 0
    small = draw(st.sampled_from(tiny))
    chosen = {
        "none": np.zeros(graph.m, bool),
        "links": random.random(graph.m) < 0.3,
        "node": (case.pairs == 1).any(axis=1),
        "all": np.ones(graph.m, bool),
    }[small]
    weights[chosen] *= TINY
    assume(weights.any())
    return case._replace(weights=weights)


def listed_by(walks, topology, pairs):
    renamed = topology.renamed(pairs)
    return Listed(*(torch.as_tensor(part.copy()) for part in (*renamed.T, walks.find(renamed))))


def every_pair(case):
    return np.array(naive.pairs_inside(case.n, case.directed))


def scores_by(walks, case, weights, pairs, steps, topology=None):
    """Scores of pairs, and what they would be if no walk joined them."""
    topology = case.topology if topology is None else topology
    found = standardized(topology, walks, weights, listed_by(walks, topology, pairs), steps)
    u, v = torch.as_tensor(topology.rank)[torch.as_tensor(pairs)].T
    return found.score, -found.background * found.degree[u] * found.degree[v]


def mixed(score, background, seed=0):
    """A number to which every score and every background score adds something else."""
    random = torch.Generator().manual_seed(seed)
    factors = torch.randn(2, len(score), generator=random, dtype=DOUBLE)
    return factors[0] @ score + factors[1] @ background


def gradient(value, weights):
    return torch.autograd.grad(value, weights)[0]


def both_by(walks, case, pairs, steps):
    """Scores of pairs, and a gradient."""
    weights = torch.tensor(case.weights, requires_grad=True)
    score, background = scores_by(walks, case, weights, pairs, steps)
    return score.detach(), gradient(mixed(score, background), weights)


def both_by_formula(case, pairs, steps):
    weights = torch.tensor(case.weights, requires_grad=True)
    wanted, (u, v) = case.naive(weights, steps), pairs.T
    return wanted.score[u, v].detach(), gradient(mixed(wanted.score[u, v], wanted.background[u, v]), weights)


def well_conditioned(case, steps, least=1e-4):
    """Whether the sum of squares loses few digits: where walks forget their start, the background is nearly all."""
    wanted = case.naive(torch.tensor(case.weights), steps)
    walk = wanted.score - wanted.background
    return bool(wanted.score.square().sum() > least * walk.square().sum())


def check_against_the_formula(walks_from, case, steps, *, tolerance, smallest=0.0):
    """Values and gradients of all pairs; ``tolerance`` is relative, what is below ``smallest`` may be lost."""
    topology, pairs = case.topology, every_pair(case)
    weights = torch.tensor(case.weights, requires_grad=True)
    wanted = case.naive(weights, steps)
    u, v = pairs.T
    score, background = scores_by(walks_from(topology.pattern), case, weights, pairs, steps, topology)
    close(background, wanted.background[u, v], tolerance)
    # a score is a difference of two terms, one of which is the background
    close(score, wanted.score[u, v], tolerance, tolerance * wanted.background[u, v].abs() + smallest)

    got = gradient(mixed(score, background), weights)
    want = gradient(mixed(wanted.score[u, v], wanted.background[u, v]), weights)
    # where a masked link would be the first of its node the scores jump, and there is no gradient to speak of
    bare = np.array(wanted.bare)[case.pairs]
    smooth = torch.as_tensor(~bare[:, 0] if case.directed else ~bare.any(axis=1))
    got, want = got[smooth], want[smooth]
    if case.directed:
        # of a node reached by large weights and left by tiny ones the gradient is as large as 1 / TINY, and what a
        # single link of it has is the difference of two such numbers: there, compare the relative change of the weight
        out = np.bincount(case.pairs[:, 0], case.weights, minlength=case.n)[case.pairs[:, 0]]
        unit = torch.as_tensor(np.where(out < 1e-9, case.weights, 1.0))[smooth]
        got, want = got * unit, want * unit
    close(got, want, tolerance, tolerance * want.abs().max())


def close(got, want, rtol, atol=0.0):
    worst = (got - want).abs() - rtol * want.abs() - atol
    assert torch.isfinite(got).all()
    assert (worst <= 0).all(), f"off by {(got - want).abs().max():.2g} of {want.abs().max():.2g}"


# The oracle.


@every_loop
@pytest.mark.parametrize("directed", [False, True])
@given(st.data(), st.integers(1, 4))
@settings(max_examples=10)
def test_the_dense_formula_gives_what_exact_fractions_give(directed, self_loops, data, steps):
    graph = data.draw(graphs(weighted=True, directed=directed))
    case = case_of(graph, self_loops=self_loops)
    score = case.naive(torch.tensor(case.weights), steps).score
    exact = reference.ac(graph, steps, self_loops)
    want = torch.tensor([[float(exact(u, v)) for v in range(graph.n)] for u in range(graph.n)], dtype=DOUBLE)
    deviation = want.std(correction=0)
    assume(deviation > 1e-6)
    torch.testing.assert_close(score, want / deviation, rtol=1e-9, atol=1e-9)


# Values and gradients.


@pytest.mark.parametrize("steps", range(1, 6))
@pytest.mark.parametrize("directed", [False, True])
@given(st.data())
@settings(max_examples=40)
def test_scores_and_gradients_of_any_number_of_steps_equal_the_formula(directed, steps, data):
    case = data.draw(cases(directed=directed))
    assume(well_conditioned(case, steps))
    for way in (
        lambda pattern: SupportWalks(pattern, steps),
        lambda pattern: BatchedWalks(pattern, steps, device="cpu", size=5),
    ):
        check_against_the_formula(way, case, steps, tolerance=1e-9)


@every_way
@given(cases())
@settings(max_examples=40)
def test_scores_and_gradients_of_every_way_equal_the_formula(way, case):
    assume(well_conditioned(case, 3))
    check_against_the_formula(lambda pattern: WAYS[way](pattern, DOUBLE), case, 3, tolerance=1e-9)


@every_way
@given(cases(tiny=("none", "links", "node")))
@settings(max_examples=30)
def test_single_precision_loses_digits_but_no_link(way, case):
    assume(well_conditioned(case, 3, 1e-2))
    # two tiny steps of a walk are worth 1e-42, less than single precision can tell from 0
    check_against_the_formula(lambda pattern: WAYS[way](pattern, SINGLE), case, 3, tolerance=1e-4, smallest=1e-36)


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("directed", [False, True])
@given(st.data())
@settings(max_examples=15)
def test_single_precision_of_any_number_of_steps_loses_digits_but_no_link(directed, steps, data):
    case = data.draw(cases(directed=directed, tiny=("none", "node")))
    assume(well_conditioned(case, steps, 1e-2))
    check_against_the_formula(
        lambda pattern: SupportWalks(pattern, steps, dtype=SINGLE), case, steps, tolerance=1e-4, smallest=1e-36
    )


@every_way
@every_loop
def test_a_node_whose_degree_is_tiny_keeps_its_scores_and_gradients(way, self_loops):
    graph = random_graph(8, nodes=20, weighted=True)
    case = case_of(graph, self_loops=self_loops)
    case.weights[(case.pairs == 1).any(axis=1)] *= TINY
    topology, pairs = case.topology, every_pair(case)
    weights = torch.tensor(case.weights, requires_grad=True)
    walks = WAYS[way](topology.pattern, DOUBLE)
    degree = standardized(topology, walks, weights, listed_by(walks, topology, pairs), 3).degree
    assert (degree[topology.rank[1]] < 1e-20) == (self_loops == "isolated")
    check_against_the_formula(lambda _: walks, case, 3, tolerance=1e-9)
    score, _ = scores_by(walks, case, weights, pairs, 3, topology)
    of_node = (pairs == 1).any(axis=1)
    assert (score.detach().numpy()[of_node] != 0).all()
    assert (gradient(score.square().sum(), weights).numpy() != 0).all()


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=["single", "double"])
@every_way
def test_loops_that_outweigh_every_link_leave_the_scores_finite(way, dtype):
    case = case_of(random_graph(3), self_loops="all")
    weights, pairs = torch.tensor(TINY * case.weights), every_pair(case)
    score, _ = scores_by(WAYS[way](case.topology.pattern, dtype), case, weights, pairs, 3)
    wanted = case.naive(weights, 3).score[tuple(pairs.T)]
    close(score, wanted, 1e-5)


@three_ways
def test_scores_do_not_depend_on_the_unit_of_weights_that_no_loop_joins(way):
    case = case_of(cycle(9), np.linspace(1, 2, 9))
    walks, pairs = WAYS[way](case.topology.pattern, DOUBLE), every_pair(case)
    want, _ = scores_by(walks, case, torch.tensor(case.weights), pairs, 3)
    for unit in (2.0**-70, 2.0**40):
        got, _ = scores_by(walks, case, torch.tensor(unit * case.weights), pairs, 3)
        assert torch.equal(got, want)


@three_ways
@every_loop
def test_all_scores_stay_defined_when_every_link_is_masked(way, self_loops):
    case = case_of(random_graph(3), self_loops=self_loops)
    weights, pairs = torch.zeros(len(case.pairs), dtype=DOUBLE), every_pair(case)
    score, _ = scores_by(WAYS[way](case.topology.pattern, DOUBLE), case, weights, pairs, 3)
    close(score, case.naive(weights, 3).score[tuple(pairs.T)], 1e-9)


@three_ways
def test_a_masked_link_scores_as_if_it_had_never_been(way):
    graph = random_graph(11, nodes=20, weighted=True)
    gone = graph.edges[::3]
    kept = graph.without(gone)
    case, smaller = case_of(graph), case_of(kept)
    masked = case.weights.copy()
    masked[::3] = 0
    pairs = every_pair(case)
    got, _ = scores_by(WAYS[way](case.topology.pattern, DOUBLE), case, torch.tensor(masked), pairs, 3)
    walks = WAYS[way](smaller.topology.pattern, DOUBLE)
    want, _ = scores_by(walks, smaller, torch.tensor(smaller.weights), pairs, 3)
    torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-11)


@every_way
def test_a_pair_listed_twice_counts_twice_in_the_gradient(way):
    case = case_of(random_graph(5, weighted=True))
    pairs = every_pair(case)[[0, 4, 4, 7, 0, 0]]
    _, got = both_by(WAYS[way](case.topology.pattern, DOUBLE), case, pairs, 3)
    close(got, both_by_formula(case, pairs, 3)[1], 1e-9, 1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_a_pair_listed_twice_counts_twice_whatever_the_number_of_steps(directed):
    case = case_of(random_graph(5, weighted=True, directed=directed))
    pairs = every_pair(case)[[0, 4, 4, 7, 0, 0]]
    _, got = both_by(SupportWalks(case.topology.pattern, 2), case, pairs, 2)
    close(got, both_by_formula(case, pairs, 2)[1], 1e-9, 1e-12)


# Numerical gradients.


class _Recorded(torch.autograd.Function):
    """A scalar function whose gradient is taken once: walks may use up what they kept for it."""

    @staticmethod
    def forward(context, weights, function):
        with torch.enable_grad():
            leaf = weights.detach().requires_grad_()
            value = function(leaf)
            context.save_for_backward(gradient(value, leaf))
        return value.detach()

    @staticmethod
    def backward(context, above):
        return above * context.saved_tensors[0], None


def numerical_gradient_is_right(walks, case, steps):
    pairs, topology = every_pair(case), case.topology

    def function(weights):
        return mixed(*scores_by(walks, case, weights, pairs, steps, topology))

    weights = torch.tensor(case.weights, requires_grad=True)
    return torch.autograd.gradcheck(lambda leaf: _Recorded.apply(leaf, function), (weights,))


@every_loop
@three_ways
def test_the_gradient_of_every_way_equals_its_numerical_gradient(way, self_loops):
    case = case_of(random_graph(4, weighted=True), self_loops=self_loops)
    assert numerical_gradient_is_right(WAYS[way](case.topology.pattern, DOUBLE), case, 3)


@pytest.mark.parametrize("steps", [1, 2, 4])
@pytest.mark.parametrize("directed", [False, True])
def test_the_gradient_of_any_number_of_steps_equals_its_numerical_gradient(directed, steps):
    case = case_of(random_graph(6, weighted=True, directed=directed))
    assert numerical_gradient_is_right(SupportWalks(case.topology.pattern, steps), case, steps)


# What must not matter.


def same_bits(results):
    return all(torch.equal(mine, its) for other in results[1:] for mine, its in zip(results[0], other, strict=True))


@pytest.mark.parametrize(("directed", "steps"), [(False, 1), (False, 3), (True, 3), (False, 4)])
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=["single", "double"])
def test_the_number_of_threads_changes_no_bit(directed, steps, dtype):
    case = case_of(random_graph(1, nodes=80, weighted=True, directed=directed))
    pattern, pairs = case.topology.pattern, every_pair(case)
    walks = [SupportWalks(pattern, steps, dtype=dtype, threads=threads) for threads in (1, 2, 3)]
    assert same_bits([both_by(each, case, pairs, steps) for each in walks])


def test_the_number_of_threads_changes_no_bit_of_laid_out_walks():
    case = case_of(random_graph(1, nodes=80, weighted=True))
    pattern, pairs = case.topology.pattern, every_pair(case)
    walks = [SegmentWalks(pattern, device="cpu", threads=threads) for threads in (1, 2, 3)]
    assert same_bits([both_by(each, case, pairs, 3) for each in walks])


def test_the_number_of_columns_at_a_time_changes_nothing_beyond_rounding():
    case = case_of(random_graph(1, nodes=40, weighted=True))
    pattern, pairs = case.topology.pattern, every_pair(case)
    results = [
        both_by(DenseWalks(pattern, device="cpu", dtype=DOUBLE, size=columns), case, pairs, 3)
        for columns in (1, 7, case.n - 1, case.n)
    ]
    for other in results[1:]:
        torch.testing.assert_close(other, results[0], rtol=1e-12, atol=1e-12)


@every_loop
@pytest.mark.parametrize("directed", [False, True])
@given(st.data(), st.sampled_from([2, 3]))
@settings(max_examples=20)
def test_scores_and_gradients_do_not_depend_on_the_names_of_nodes(directed, self_loops, data, steps):
    graph = data.draw(graphs(weighted=True, directed=directed))
    case = case_of(graph, self_loops=self_loops)
    random = np.random.default_rng(graph.m)
    name, shuffled = random.permutation(graph.n), random.permutation(graph.m)
    moved = name[case.pairs]
    moved = (moved if directed else np.sort(moved, axis=1))[shuffled]
    other = case._replace(pairs=moved, weights=case.weights[shuffled])
    assume(well_conditioned(case, steps))
    pairs = every_pair(case)
    score, change = both_by(SupportWalks(case.topology.pattern, steps), case, pairs, steps)
    moved_score, moved_change = both_by(SupportWalks(other.topology.pattern, steps), other, name[pairs], steps)
    close(moved_score, score, 0, 1e-10)
    close(moved_change, change[shuffled], 0, 1e-9)


# Pairs and their places.


@three_ways
@given(graphs(), st.sampled_from(["isolated", "all"]), st.booleans())
@settings(max_examples=25)
def test_unlinked_places_are_those_of_reached_non_links_inside_parts(way, graph, self_loops, parts):
    topology = Topology(graph.n, graph.edges, self_loops=self_loops)
    walks = WAYS[way](topology.pattern, DOUBLE)
    labels = np.arange(graph.n) % 2 if parts else None
    links = graph.edges[::2]
    by_name = None if labels is None else labels[topology.order]
    found = walks.listed(walks.unlinked(topology.renamed(links), by_name))
    got = [tuple(sorted(pair)) for pair in topology.order[torch.stack(found[:2], dim=1).numpy()].tolist()]
    joined = naive.reached(neighbors_of(graph, self_loops), 3)
    want = {
        pair
        for pair in naive.pairs_inside(graph.n, False, labels)
        if (walks.complete or pair in joined) and list(pair) not in links.tolist()
    }
    assert len(got) == len(set(got))
    assert set(got) == want
    np.testing.assert_array_equal(walks.find(torch.stack(found[:2], dim=1).numpy()), found.place.numpy())


def neighbors_of(graph, self_loops):
    neighbors = naive.neighborhoods(graph.n, graph.edges.tolist(), directed=graph.directed)
    if self_loops == "all":
        neighbors = [near | {u} for u, near in enumerate(neighbors)]
    return neighbors


@three_ways
@given(graphs(), st.sampled_from(["isolated", "all"]))
@settings(max_examples=25)
def test_reached_pairs_are_those_that_some_walk_joins(way, graph, self_loops):
    topology = Topology(graph.n, graph.edges, self_loops=self_loops)
    walks = WAYS[way](topology.pattern, DOUBLE)
    got = [tuple(sorted(pair)) for pair in topology.order[walks.reached()].tolist()]
    joined = naive.reached(neighbors_of(graph, self_loops), 3)
    every = naive.pairs_inside(graph.n, False)
    assert sorted(got) == [pair for pair in every if walks.complete or pair in joined]
    place = walks.find(topology.renamed(np.array(every)))
    assert [pair for pair, i in zip(every, place, strict=True) if i >= 0] == sorted(got)
    assert len(set(place[place >= 0].tolist())) == len(got)


@every_way
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=["single", "double"])
@given(graphs(), st.integers(1, 12), st.integers(0, 100))
@settings(max_examples=25)
def test_the_best_pairs_are_those_of_a_sort_of_all(way, dtype, graph, k, seed):
    random = np.random.default_rng(seed)
    case = case_of(graph, random.uniform(0.5, 2, graph.m), self_loops=str(random.choice(["isolated", "all"])))
    topology = case.topology
    walks = WAYS[way](topology.pattern, dtype)
    weights = torch.tensor(case.weights)
    excluded = graph.edges[random.random(graph.m) < 0.5]
    matrices = topology.matrices(weights)
    vol = matrices.degree.sum()
    out = torch.as_tensor(walks.find(topology.renamed(excluded)))
    score, place = walks.best(matrices, 1 / vol, 1 / vol**2, out, k)
    R = case.naive(weights, 3)
    R = R.score * R.deviation
    joined = naive.reached(neighbors_of(graph, case.self_loops), 3)
    free = [
        (u, v)
        for u, v in naive.pairs_inside(graph.n, False)
        if (walks.complete or (u, v) in joined) and [u, v] not in excluded.tolist()
    ]
    exact = {(u, v): float(R[u, v]) for u, v in free}
    want = sorted(exact.values(), reverse=True)[:k]
    real = torch.isfinite(score)
    found = walks.listed(place[real])
    pairs = [tuple(sorted(p)) for p in topology.order[torch.stack(found[:2], dim=1).numpy()].tolist()]
    tolerance = 1e-12 if dtype == DOUBLE else 1e-6
    assert len(set(pairs)) == len(pairs) == len(want)
    assert (score[real].diff() <= 0).all()
    assert (score[~real] == -torch.inf).all()
    np.testing.assert_allclose(score[real].double().numpy(), want, rtol=0, atol=tolerance)
    np.testing.assert_allclose([exact[pair] for pair in pairs], want, rtol=0, atol=tolerance)


# Refusals and choice.


def test_dense_walks_refuse_a_directed_graph():
    with pytest.raises(InputError, match="undirected"):
        DenseWalks(case_of(random_graph(0, directed=True)).topology.pattern, device="cpu")


@pytest.mark.parametrize(
    ("graph", "steps", "way"),
    [
        (star(12), 3, SupportWalks),  # leaves meet the hub only
        (star(12), 4, SupportWalks),
        (random_graph(0, directed=True), 3, SupportWalks),
        (path(40), 3, SupportWalks),
        (cycle(3), 3, DenseWalks),
        (cycle(3), 2, SupportWalks),
    ],
)
def test_whole_columns_are_computed_only_where_nearly_all_pairs_are_reached(graph, steps, way):
    pattern = case_of(graph).topology.pattern
    assert isinstance(walks_of(pattern, steps, torch.device("cpu"), dtype=DOUBLE), way)

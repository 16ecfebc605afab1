"""Walks on a fixed pattern: which pairs they reach, their values and gradients, and the lists that lay them out."""

import threading
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_training as naive
from gelato.kernels.threads import run_ranges
from gelato.kernels.walk_gradients import Pattern, reached_fraction, walk_gradient, walk_support, walk_values
from gelato.kernels.walk_segments import reverse_positions, walk_segments
from gelato.methods.gelato.walks.sparse import SegmentWalks
from graphs import cycle, graphs, path, random_graph, star

steps_of = st.integers(1, 5)


def neighbors_of(graph, loops=False):
    near = naive.neighborhoods(graph.n, graph.edges.tolist(), directed=graph.directed)
    return [here | {u} for u, here in enumerate(near)] if loops else near


def pattern_of(graph, loops=False):
    near = neighbors_of(graph, loops)
    indptr = np.cumsum([0, *map(len, near)]).astype(np.int64)
    indices = np.array([v for here in near for v in sorted(here)], np.int32)
    return Pattern(indptr, indices, not graph.directed)


def entries_of(pattern):
    """``(a, b)`` of each entry."""
    return [(u, int(v)) for u in range(pattern.n) for v in pattern.indices[pattern.indptr[u] : pattern.indptr[u + 1]]]


def listed(support):
    return list(zip(support.rows.tolist(), support.indices.tolist(), strict=True))


def wanted_pairs(graph, loops, steps):
    """Every ``(u, v)`` that is reached, sorted; once if the order of a pair does not matter."""
    found = naive.reached(neighbors_of(graph, loops), steps)
    return sorted((u, v) for u, v in found if graph.directed or u <= v)


def full(values, pattern):
    """The matrix, with gradients to its entries."""
    rows, columns = torch.tensor(entries_of(pattern)).T
    return torch.zeros(pattern.n, pattern.n, dtype=values.dtype).index_put((rows, columns), values)


@st.composite
def patterns(draw, directed=None):
    """A graph, whether its nodes have loops, and the pattern."""
    graph = draw(graphs(directed=draw(st.booleans()) if directed is None else directed))
    loops = draw(st.booleans())
    return graph, loops, pattern_of(graph, loops)


# Which pairs are reached.


@given(patterns(), steps_of, st.integers(1, 3))
def test_the_support_is_every_pair_that_some_walk_joins(made, steps, threads):
    graph, loops, pattern = made
    assert listed(walk_support(pattern, steps, threads)) == wanted_pairs(graph, loops, steps)


@given(patterns(), steps_of)
def test_a_pair_is_found_at_its_place_and_nowhere_off_the_support(made, steps):
    graph, loops, pattern = made
    support = walk_support(pattern, steps)
    place = {pair: i for i, pair in enumerate(wanted_pairs(graph, loops, steps))}
    every = [(u, v) for u in range(graph.n) for v in range(graph.n)]
    assert support.find(np.array(every)).tolist() == [place.get(pair, -1) for pair in every]
    assert support.find(np.empty((0, 2), np.int64)).tolist() == []


@given(patterns(), steps_of, st.booleans())
def test_unlinked_pairs_are_neither_links_nor_loops_nor_across_parts(made, steps, parts):
    graph, loops, pattern = made
    labels = np.arange(graph.n) // 3 if parts else None
    support = walk_support(pattern, steps)
    links = graph.edges[::2]
    got = [listed(support)[i] for i in support.unlinked(links, labels)]
    inside = set(naive.pairs_inside(graph.n, graph.directed, labels)) - {tuple(link) for link in links.tolist()}
    assert got == [pair for pair in wanted_pairs(graph, loops, steps) if pair in inside]


@given(patterns(), steps_of)
def test_the_pairs_of_a_support_leave_out_its_diagonal(made, steps):
    graph, loops, pattern = made
    want = [[u, v] for u, v in wanted_pairs(graph, loops, steps) if u != v]
    assert walk_support(pattern, steps).pairs().tolist() == want


@given(patterns(), steps_of)
def test_the_reached_share_of_all_rows_counts_every_pair_in_both_orders(made, steps):
    graph, loops, pattern = made
    want = len(naive.reached(neighbors_of(graph, loops), steps)) / graph.n**2
    assert reached_fraction(pattern, steps, np.random.default_rng(0)) == pytest.approx(want, rel=1e-12)


def test_the_reached_share_of_some_rows_is_that_of_all_where_nodes_look_alike():
    pattern = pattern_of(cycle(50))
    assert reached_fraction(pattern, 3, np.random.default_rng(0), rows=5) == 4 / 50


@pytest.mark.parametrize(
    ("graph", "steps", "pairs"),
    [
        (path(4), 1, [(0, 1), (1, 2), (2, 3)]),
        (path(4), 2, [(0, 0), (0, 2), (1, 1), (1, 3), (2, 2), (3, 3)]),
        (path(4), 3, [(0, 1), (0, 3), (1, 2), (2, 3)]),
        (star(3), 2, [(0, 0), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)]),
    ],
)
def test_walks_on_small_graphs_reach_what_they_are_seen_to_reach(graph, steps, pairs):
    assert listed(walk_support(pattern_of(graph), steps)) == pairs


# Values and gradients.


@given(patterns(), steps_of, st.integers(0, 1000))
def test_powers_and_their_gradients_equal_those_of_dense_matrices(made, steps, seed):
    _, _, pattern = made
    random = np.random.default_rng(seed)
    first, inner = random.normal(size=(2, len(pattern.indices)))
    support = walk_support(pattern, steps)
    F, P = (torch.tensor(values, requires_grad=True) for values in (first, inner))
    M = full(F, pattern)
    for _ in range(steps - 1):
        M = M @ full(P, pattern)
    u, v = np.array(listed(support)).reshape(-1, 2).T
    above = random.normal(size=len(u))
    got = walk_values(pattern, first, inner, support)
    np.testing.assert_allclose(got, M[u, v].detach().numpy(), rtol=1e-12, atol=1e-12)
    total = M[u, v] @ torch.tensor(above)
    d_first, d_inner = torch.autograd.grad(total, (F, P), allow_unused=True, materialize_grads=True)
    got_first, got_inner = walk_gradient(pattern, first, inner, support, above)
    np.testing.assert_allclose(got_first, d_first.numpy(), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(got_inner, d_inner.numpy(), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_no_bit_of_powers_and_their_gradients(directed, steps, dtype):
    pattern = pattern_of(random_graph(7, nodes=90, directed=directed), loops=True)
    random = np.random.default_rng(0)
    first, inner = random.normal(size=(2, len(pattern.indices))).astype(dtype)
    results = []
    for threads in (1, 2, 3, 11):
        support = walk_support(pattern, steps, threads)
        above = np.cos(np.arange(len(support.indices))).astype(dtype)
        results.append(
            [
                support.indices,
                walk_values(pattern, first, inner, support, threads),
                *walk_gradient(pattern, first, inner, support, above, threads),
            ]
        )
    for other in results[1:]:
        for mine, its in zip(results[0], other, strict=True):
            assert mine.dtype == its.dtype
            np.testing.assert_array_equal(its, mine)
    assert results[0][1].dtype == dtype


# The layout of three steps.


def laid_out(made):
    _, _, pattern = made
    support = walk_support(pattern, 3)
    pairs = sorted(naive.reached(neighbors_of(*made[:2]), 2))
    return pattern, support, pairs, walk_segments(pattern, support)


@given(patterns(directed=False))
def test_every_list_of_a_layout_names_positions_that_exist(made):
    pattern, support, pairs, layout = laid_out(made)
    entries, reached, two = len(pattern.indices), len(support.indices), len(pairs)
    sizes = {
        "two": (two, entries, entries),
        "three": (reached, two, entries),
        "back": (two, reached, entries),
        "entries": (entries, two, entries),
    }
    for name, (sums, first, second) in sizes.items():
        indptr, x, y = getattr(layout, name)
        assert len(indptr) == sums + 1, name
        assert indptr[0] == 0 and indptr[-1] == len(x) == len(y), name
        assert (np.diff(indptr) > 0).all(), name
        assert (x >= 0).all() and (x < first).all(), name
        assert (y >= 0).all() and (y < second).all(), name
    assert sorted(layout.mirrored) == list(range(two))
    assert sorted(layout.reverse) == list(range(entries))


@given(patterns(directed=False))
def test_every_sum_of_a_layout_runs_over_the_walks_through_its_pair(made):
    pattern, support, pairs, layout = laid_out(made)
    near = neighbors_of(*made[:2])
    entries, reached = entries_of(pattern), listed(support)

    def products(segments, i, x_names, y_names):
        span = range(segments.indptr[i], segments.indptr[i + 1])
        return sorted((x_names[segments.x[p]], y_names[segments.y[p]]) for p in span)

    for i, (u, b) in enumerate(pairs):
        through = sorted(((u, a), (a, b)) for a in near[u] if b in near[a])
        assert products(layout.two, i, entries, entries) == through
        back = sorted(((min(u, v), max(u, v)), (b, v)) for v in near[b])
        assert products(layout.back, i, reached, entries) == back
        assert pairs[layout.mirrored[i]] == (b, u)
    for i, (u, v) in enumerate(reached):
        through = sorted(((u, b), (b, v)) for b in near[v] if (u, b) in pairs)
        assert products(layout.three, i, pairs, entries) == through
    for i, (a, b) in enumerate(entries):
        assert products(layout.entries, i, pairs, entries) == sorted(((a, c), (b, c)) for c in near[b])
        assert entries[layout.reverse[i]] == (b, a)
    np.testing.assert_array_equal(reverse_positions(pattern), layout.reverse)


def symmetric_step(pattern, random):
    """Values of a symmetric ``A`` and of ``D^-1 A``."""
    entries = entries_of(pattern)
    weight = {pair: random.uniform(0.5, 2) for pair in entries}
    first = np.array([weight[min(pair), max(pair)] for pair in entries])
    degree = np.zeros(pattern.n)
    for (u, _), value in zip(entries, first, strict=True):
        degree[u] += value
    return first, first / np.array([degree[u] for u, _ in entries])


@given(patterns(directed=False), st.integers(0, 1000))
@settings(max_examples=50)
def test_laid_out_walks_equal_the_dense_product_and_its_gradient(made, seed):
    _, _, pattern = made
    random = np.random.default_rng(seed)
    first, inner = symmetric_step(pattern, random)
    walks = SegmentWalks(pattern, device="cpu", dtype=torch.float64)
    F, P = (torch.tensor(values, requires_grad=True) for values in (first, inner))
    M = full(F, pattern) @ full(P, pattern) @ full(P, pattern)
    u, v = np.array(listed(walks.support)).T
    np.testing.assert_allclose(walks.power(F.detach(), P.detach()), M[u, v].detach().numpy(), rtol=1e-12, atol=1e-14)
    above = torch.tensor(random.normal(size=len(u)))
    G = torch.zeros(pattern.n, pattern.n, dtype=torch.float64)
    G[u, v], G[v, u] = above, above
    want = torch.autograd.grad((G * M).sum(), (F, P))
    got = walks.gradient(F.detach(), P.detach(), above)
    for mine, its in zip(got, want, strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-11, atol=1e-11)


@given(patterns(directed=False), st.integers(0, 1000))
@settings(max_examples=30)
def test_laid_out_walks_equal_those_on_the_support_once_both_orders_of_a_pair_are_added(made, seed):
    _, _, pattern = made
    random = np.random.default_rng(seed)
    first, inner = symmetric_step(pattern, random)
    walks = SegmentWalks(pattern, device="cpu", dtype=torch.float64)
    support = walks.support
    tensors = torch.tensor(first), torch.tensor(inner)
    np.testing.assert_allclose(walks.power(*tensors), walk_values(pattern, first, inner, support), rtol=1e-12)
    above = random.normal(size=len(support.indices))
    twice = np.where(support.rows == support.indices, above, 2 * above)  # a pair stands for both its orders
    by_layout = [part.numpy() for part in walks.gradient(*tensors, torch.tensor(above))]
    by_support = walk_gradient(pattern, first, inner, support, twice)
    links = [change_of_links(pattern, first, inner, *parts) for parts in (by_layout, by_support)]
    np.testing.assert_allclose(links[0], links[1], rtol=1e-10, atol=1e-10)


def change_of_links(pattern, first, inner, d_first, d_inner):
    """Gradients of the links of ``A`` from those of the entries of ``A`` and of ``D^-1 A``."""
    entries, total = entries_of(pattern), {}
    degree, pull = np.zeros(pattern.n), np.zeros(pattern.n)
    for (u, _), weight, share, change in zip(entries, first, inner, d_inner, strict=True):
        degree[u] += weight
        pull[u] += share * change
    for (u, v), plain, change in zip(entries, d_first, d_inner, strict=True):
        link = min(u, v), max(u, v)
        total[link] = total.get(link, 0.0) + plain + (change - pull[u]) / degree[u]
    return [total[link] for link in sorted(total)]


# Threads.


@given(st.lists(st.integers(0, 5), max_size=12))
def test_every_range_between_cuts_runs_once_and_empty_ones_never(lengths):
    cuts = np.cumsum([0, *lengths])
    seen, lock = [], threading.Lock()

    def task(begin, end):
        with lock:
            seen.append((begin, end))

    run_ranges(cuts, task)
    assert sorted(seen) == [(int(a), int(b)) for a, b in pairwise(cuts) if a < b]


@pytest.mark.parametrize("bad", [0, 2, 3])
def test_an_error_in_a_range_reaches_the_caller(bad):
    def task(begin, end):
        if begin == bad:
            raise RuntimeError(f"range {bad}")

    with pytest.raises(RuntimeError, match=f"range {bad}"):
        run_ranges(range(5), task)

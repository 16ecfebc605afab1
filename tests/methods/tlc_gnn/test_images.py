"""Images of all near pairs: none is left out, those on a device are the same, and a killed run resumes them."""

import pickle
import time
from copy import deepcopy

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from gelato import Graph, InputError
from gelato.datasets import block_model
from gelato.kernels import vicinity_images as kernels
from gelato.kernels.ricci_curvature import link_lengths
from gelato.kernels.vicinity_images import vicinity_images
from gelato.methods.tlc_gnn import images as module
from gelato.methods.tlc_gnn import workload
from gelato.methods.tlc_gnn.images import VicinityImages, image_key
from gelato.methods.tlc_gnn.workload import even_blocks, planned_pairs, transport_threads
from gelato.ranking.checkpoint import Checkpoint
from pair_networks import CPU, hub_graph


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GELATO_CACHE", str(tmp_path))
    return tmp_path / "images"


@pytest.fixture(scope="module")
def graph():
    return block_model([40, 40], 0.12, 0.02, seed=1)


def all_images(graph, hops):
    """``(n, n, 25)`` of every pair, near or not."""
    A, n = graph.pattern, graph.n
    lengths, images = np.zeros(A.nnz), np.zeros((n * n, 25), np.float32)
    link_lengths(A.indptr, A.indices, 0, n, lengths)
    pairs = np.array([(u, v) for u in range(n) for v in range(n)])
    off = pairs[:, 0] != pairs[:, 1]
    part = images[off]
    vicinity_images(A.indptr, A.indices, lengths, pairs[off], hops, module.SPREAD, part)
    images[off] = part
    return images.reshape(n, n, 25)


@pytest.mark.parametrize("hops", [1, 2])
@pytest.mark.parametrize("threads", [1, 3])
def test_all_pairs_that_have_an_image_are_listed(graph, hops, threads, monkeypatch):
    monkeypatch.setattr(module, "OF_BLOCK", 2e5)
    monkeypatch.setattr(workload, "PAIRS_OF_COUNT", 37)
    monkeypatch.setattr(workload, "ROWS_OF_BAND", 7)
    images = VicinityImages.of(graph.pattern, hops, threads=threads)
    dense = np.zeros((graph.n, graph.n, 25), np.float32)
    dense[tuple(images.pairs.T)] = images.pixels
    wanted = all_images(graph, hops)
    np.testing.assert_array_equal(dense + dense.transpose(1, 0, 2), wanted)
    assert len(images.pairs) == np.triu(wanted.any(axis=2)).sum() > 100 and (np.diff(images.pairs) > 0).all()


def test_a_device_finds_them_for_listed_pairs_and_for_blocks(graph):
    images, dense = VicinityImages.of(graph.pattern, 1), all_images(graph, 1)
    device = images.on(CPU, torch.float64)
    assert images.on(CPU, torch.float32).pixels is device.pixels and device.pixels.dtype == torch.float32  # one copy
    random = np.random.default_rng(0)
    u, v = random.integers(0, graph.n, (2, 500))
    which, pixels = device.listed(torch.as_tensor(u), torch.as_tensor(v))
    assert pixels.dtype == torch.float64
    found = np.zeros((500, 25))
    found[which] = pixels
    np.testing.assert_array_equal(found, dense[u, v])
    rows, columns = np.sort(random.choice(graph.n, 9, False)), np.sort(random.choice(graph.n, 30, False))
    for some in (rows, rows[:0]):
        which, pixels = device.block(torch.as_tensor(some), torch.as_tensor(columns))
        found = np.zeros((len(some) * 30, 25))
        found[which] = pixels
        np.testing.assert_array_equal(found.reshape(-1, 30, 25), dense[np.ix_(some, columns)])


def test_a_graph_without_near_pairs_has_no_images():
    for links in ([(0, 1)], [(0, 1), (2, 3)]):
        images = VicinityImages.of(Graph.from_edges(links).pattern, 2)
        assert images.pairs.shape == (0, 2) and images.pixels.shape == (0, 25)
        nodes = torch.arange(2)
        assert len(images.on(CPU, torch.float32).listed(nodes, nodes.flip(0))[0]) == 0
        assert len(images.on(CPU, torch.float32).block(nodes, nodes)[0]) == 0


def test_links_count_without_weights_and_in_any_order_of_columns():
    graph = hub_graph()
    A = graph.pattern
    turned = csr_array(A[:, ::-1])[:, ::-1]
    weighted = csr_array((np.arange(1.0, A.nnz + 1), A.indices, A.indptr), shape=A.shape)
    images = VicinityImages.of(A, 2)
    for other in (turned, weighted):
        assert image_key(other, 2) == images.key != image_key(other, 1)
        np.testing.assert_array_equal(VicinityImages.of(other, 2).pixels, images.pixels)


def test_what_is_long_in_the_making_is_kept_and_resumed(graph, cache, monkeypatch):
    """Killed in the middle: the blocks that were kept are not made again; a finished file is only read."""
    wanted = VicinityImages.of(graph.pattern, 2)
    assert not cache.exists()  # of a moment's work nothing is kept
    made, stop = [], [3]
    kernel = module.vicinity_images

    def counted(*arguments):
        if len(made) == stop[0]:
            raise KeyboardInterrupt
        made.append(len(arguments[3]))
        kernel(*arguments)

    monkeypatch.setattr(module, "vicinity_images", counted)
    monkeypatch.setattr(module, "OF_BLOCK", 4e6)
    monkeypatch.setattr(module, "KEPT_FROM", 0.0)
    monkeypatch.setattr(module, "WRITTEN", np.inf)
    with pytest.raises(KeyboardInterrupt):
        VicinityImages.of(graph.pattern, 2, threads=1)
    assert len(list(cache.glob("*.npz"))) == 1
    stop[0] = -1
    VicinityImages.of(graph.pattern, 2, threads=1)
    blocks = len(made)
    assert blocks > 4 and sum(made) == len(planned_pairs(graph.pattern, 2, None, 1)[0])  # none of them twice
    for damage in (None, "cut", np.nan, np.inf, -1.0):
        (path,) = cache.glob("*.npz")
        if damage == "cut":
            path.write_bytes(path.read_bytes()[:-50])
        elif damage is not None:
            arrays = dict(np.load(path))
            arrays["part_pixels"][3, 2] = damage
            np.savez(path, **arrays)
        made.clear()
        again = VicinityImages.of(graph.pattern, 2, threads=1)
        np.testing.assert_array_equal(again.pixels, wanted.pixels)
        np.testing.assert_array_equal(again.pairs, wanted.pairs)
        assert len(made) == (0 if damage is None else blocks)


def test_writing_takes_little_of_the_time_however_large_the_images_are(graph, monkeypatch):
    """The more bytes, the longer between two writes, and never less than a minute."""
    given, start = [], Checkpoint.__init__
    monkeypatch.setattr(Checkpoint, "__init__", lambda self, *given_: given.append(given_[2]) or start(self, *given_))
    VicinityImages.of(graph.pattern, 2)
    monkeypatch.setattr(module, "WRITTEN", 100.0)
    VicinityImages.of(graph.pattern, 2)
    held = 100 * len(planned_pairs(graph.pattern, 2, None, 1)[0])
    assert 60 < given[0] < 61 and given[1] == 60 + held / 100


def test_copies_share_them_and_pickles_leave_the_device_out(graph):
    images = VicinityImages.of(graph.pattern, 1)
    images.on(CPU, torch.float32)
    assert deepcopy([images])[0] is images
    other = pickle.loads(pickle.dumps(images))
    np.testing.assert_array_equal(other.pixels, images.pixels)
    assert other.key == images.key and other._on == {}


def test_a_graph_of_too_many_near_pairs_is_refused(graph, monkeypatch):
    monkeypatch.setattr(workload, "MOST_PAIRS", 10)
    for hops in (1, 2):
        with pytest.raises(
            InputError, match=rf"more than 10 pairs of nodes .* with hops={hops}; use another method, or"
        ):
            VicinityImages.of(graph.pattern, hops)
    monkeypatch.setattr(workload, "MOST_PAIRS", len(planned_pairs_of_one_hop(graph)))
    with pytest.raises(InputError, match="with hops=2; set hops to 1, or use another method"):
        VicinityImages.of(graph.pattern, 2)


def planned_pairs_of_one_hop(graph):
    return np.argwhere(np.triu((graph.pattern @ graph.pattern).toarray(), 1))


def test_graphs_that_would_take_hours_are_refused_before_any_image_is_made(graph, monkeypatch):
    """By the work of their pairs, or of the curvature of their links alone."""
    work = [np.sum([each.sum() for each in planned_pairs(graph.pattern, hops, None, 1)[1:]]) for hops in (1, 2)]
    monkeypatch.setattr(module, "vicinity_images", None)
    assert work[0] < work[1] / 4
    for most, repair in ((work[0] * 1.01, "set hops to 1"), (work[0] * 0.99, "use another method, or a smaller graph")):
        monkeypatch.setattr(workload, "MOST_WORK", most)
        with pytest.raises(InputError, match=f"images of pairs would take hours on this graph with hops=2; {repair}"):
            VicinityImages.of(graph.pattern, 2)
    monkeypatch.setattr(workload, "MOST_WORK", 1e4)
    with pytest.raises(InputError, match="curvature of links alone would take hours on this graph with hops=1; use"):
        VicinityImages.of(graph.pattern, 1)


def test_the_bound_on_work_lies_between_sparse_and_dense_graphs(monkeypatch):
    """A dense graph is refused in a moment."""
    dense = block_model([400], 0.5, 0.0, seed=2).pattern
    begin = time.perf_counter()
    with pytest.raises(InputError, match="would take hours on this graph with hops=2; use another method"):
        VicinityImages.of(dense, 2)
    assert time.perf_counter() - begin < 10
    sparse = block_model([300] * 4, 0.008, 0.0005, seed=2).pattern
    assert sum(each.sum() for each in planned_pairs(sparse, 2, None, 1)[1:]) < workload.MOST_WORK / 20


def test_work_is_what_is_counted_of_entries_links_and_tables():
    """Of a linked pair, links next to an end; by sets."""
    graph = hub_graph()
    A, work = graph.pattern.toarray() > 0, np.zeros(1)
    degree, linked = A.sum(axis=1), 0
    for u, v in np.argwhere(np.triu(np.ones(A.shape), 1)):
        B, linked = A.copy(), linked + A[u, v]
        B[u, v] = B[v, u] = False
        balls = [B[x] | (np.arange(len(A)) == x) for x in (u, v)]
        inside = balls[0] & balls[1]
        inside[[u, v]] = True
        links = np.argwhere(np.triu(B & inside[:, None] & inside))
        next_to = [(x, y) for x, y in links if A[u, v] and {x, y} & set(np.flatnonzero(balls[0] | balls[1]))]
        entries = degree[[u, v]].sum() + degree[inside].sum()
        table = sum(degree[x] * degree[y] for x, y in next_to)
        wanted = kernels.OF_ENTRY * entries + kernels.OF_LINK * len(links) + kernels.OF_TABLE * table
        given = graph.pattern.indptr.astype(np.int64), graph.pattern.indices.astype(np.int64), np.array([[u, v]])
        assert kernels.vicinity_work(*given, 1, np.inf, work) == work[0] == wanted
    assert linked > 20


def test_blocks_have_even_work_in_order():
    work = np.random.default_rng(0).random(500) * 10
    work[77] = 400.0
    blocks = even_blocks(work, 50.0)
    np.testing.assert_array_equal(np.concatenate([np.arange(500)[part] for part in blocks]), np.arange(500))
    sums = np.array([work[part].sum() for part in blocks])
    assert (np.sort(sums)[:-1] < 60).all() and len(blocks) > 30 and even_blocks(work[:0], 50.0) == []


def test_links_between_hubs_that_are_too_large_are_refused(monkeypatch):
    star = Graph.from_edges([(0, v) for v in range(1, 8)])
    monkeypatch.setattr(workload, "LARGEST_PRODUCT", 7)
    VicinityImages.of(star.pattern, 1)
    monkeypatch.setattr(workload, "LARGEST_PRODUCT", 6)
    with pytest.raises(InputError, match="degrees of product 7, but curvature is computed up to 6; use another method"):
        VicinityImages.of(star.pattern, 1)


def test_tables_of_all_threads_together_are_bounded(monkeypatch):
    star = Graph.from_edges([(0, v) for v in range(1, 8)]).pattern
    assert transport_threads(star, 64) == 64
    monkeypatch.setattr(workload, "OF_TABLES", 3 * 5 * 7)
    assert transport_threads(star, 64) == 3 and transport_threads(star, 2) == 2
    monkeypatch.setattr(workload, "OF_TABLES", 1)
    assert transport_threads(star, 64) == 1


def test_of_a_bipartite_graph_only_pairs_across_have_images():
    random = np.random.default_rng(0)
    links = np.column_stack([random.integers(0, 20, 70), random.integers(20, 45, 70)])
    graph = Graph.from_edges(links, 45, sides=np.arange(45) >= 20)
    whole, across = VicinityImages.of(graph.pattern, 2), VicinityImages.of(graph.pattern, 2, graph.sides)
    kept = graph.sides[whole.pairs[:, 0]] != graph.sides[whole.pairs[:, 1]]
    np.testing.assert_array_equal(across.pairs, whole.pairs[kept])
    np.testing.assert_array_equal(across.pixels, whole.pixels[kept])
    assert across.key != whole.key and 0 < kept.sum() < len(kept)

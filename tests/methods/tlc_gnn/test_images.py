"""Images of all near pairs: none is left out, those on a device are the same, and a killed run resumes them."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from gelato import Graph, InputError
from gelato.datasets import block_model
from gelato.kernels.ricci_curvature import link_lengths
from gelato.kernels.vicinity_images import vicinity_images
from gelato.methods.tlc_gnn import images as module
from gelato.methods.tlc_gnn.images import VicinityImages, image_key, near_pairs
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
    monkeypatch.setattr(module, "default_threads", lambda: threads)
    monkeypatch.setattr(module, "PAIRS_OF_BLOCK", 37)
    monkeypatch.setattr(module, "ROWS_OF_BAND", 7)
    images = VicinityImages.of(graph.pattern, hops)
    dense = np.zeros((graph.n, graph.n, 25), np.float32)
    dense[tuple(images.pairs.T)] = images.pixels
    wanted = all_images(graph, hops)
    np.testing.assert_array_equal(dense + dense.transpose(1, 0, 2), wanted)
    assert len(images.pairs) == np.triu(wanted.any(axis=2)).sum() > 100 and (np.diff(images.pairs) > 0).all()


def test_a_device_finds_them_for_listed_pairs_and_for_blocks(graph):
    images, dense = VicinityImages.of(graph.pattern, 1), all_images(graph, 1)
    device = images.on(CPU, torch.float64)
    assert images.on(CPU, torch.float64) is device and device.pixels.dtype == torch.float64
    random = np.random.default_rng(0)
    u, v = random.integers(0, graph.n, (2, 500))
    which, pixels = device.listed(torch.as_tensor(u), torch.as_tensor(v))
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
    kernel, start = module.vicinity_images, Checkpoint.__init__

    def counted(*arguments):
        if len(made) == stop[0]:
            raise KeyboardInterrupt
        made.append(len(arguments[3]))
        kernel(*arguments)

    monkeypatch.setattr(module, "vicinity_images", counted)
    monkeypatch.setattr(module, "PAIRS_OF_BLOCK", 200)
    monkeypatch.setattr(module, "default_threads", lambda: 1)
    monkeypatch.setattr(Checkpoint, "__init__", lambda self, path, key: start(self, path, key, every=0.0))
    with pytest.raises(KeyboardInterrupt):
        VicinityImages.of(graph.pattern, 2)
    assert len(list(cache.glob("*.npz"))) == 1
    stop[0] = -1
    blocks = -(-sum(map(len, near_pairs(graph.pattern, 2))) // 200)
    for calls in (blocks, blocks):  # in all: the second time none
        again = VicinityImages.of(graph.pattern, 2)
        np.testing.assert_array_equal(again.pixels, wanted.pixels)
        np.testing.assert_array_equal(again.pairs, wanted.pairs)
        assert len(made) == calls > 4
    (path,) = cache.glob("*.npz")
    path.write_bytes(path.read_bytes()[:-50])
    np.testing.assert_array_equal(VicinityImages.of(graph.pattern, 2).pixels, wanted.pixels)
    assert len(made) == 2 * blocks


def test_copies_share_them_and_pickles_leave_the_device_out(graph):
    images = VicinityImages.of(graph.pattern, 1)
    images.on(CPU, torch.float32)
    assert deepcopy([images])[0] is images
    other = pickle.loads(pickle.dumps(images))
    np.testing.assert_array_equal(other.pixels, images.pixels)
    assert other.key == images.key and other._on == {}


def test_a_graph_of_too_many_near_pairs_is_refused(graph, monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 10)
    with pytest.raises(InputError, match=r"more than 10 pairs of nodes .* with hops=2; set hops to 1"):
        VicinityImages.of(graph.pattern, 2)
    with pytest.raises(InputError, match="with hops=1; use another method, or a smaller graph"):
        VicinityImages.of(graph.pattern, 1)


def test_links_between_hubs_that_are_too_large_are_refused(monkeypatch):
    star = Graph.from_edges([(0, v) for v in range(1, 8)])
    monkeypatch.setattr(module, "LARGEST_PRODUCT", 7)
    VicinityImages.of(star.pattern, 1)
    monkeypatch.setattr(module, "LARGEST_PRODUCT", 6)
    with pytest.raises(InputError, match="degrees of product 7, but curvature is computed up to 6; use another method"):
        VicinityImages.of(star.pattern, 1)

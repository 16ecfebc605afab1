"""The loss over all entries by blocks equals its dense form, and so does its gradient."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import binary_cross_entropy_with_logits

from gelato.methods.gae.model import Reconstruction
from graphs import graphs, random_graph


def dense_loss(Z, links, left_out):
    """The loss as the paper's code has it: an n x n matrix of labels, weighted, less the pairs left out."""
    n = len(Z)
    Y, counted = torch.zeros(n, n, dtype=Z.dtype), torch.ones(n, n, dtype=Z.dtype)
    for u, v in links:
        Y[u, v] = Y[v, u] = 1
    for u, v in left_out:
        counted[u, v] = counted[v, u] = 0
    total, ones = counted.sum(), Y.sum()
    Y += torch.eye(n, dtype=Z.dtype)
    terms = binary_cross_entropy_with_logits(Z @ Z.T, Y, pos_weight=(total - ones) / ones, reduction="none")
    return total / (2 * (total - ones)) * (terms * counted).sum() / total


@given(graphs(), st.integers(0, 1000), st.integers(1, 200), st.booleans())
def test_the_loss_over_all_entries_is_the_dense_one(graph, seed, block, masked):
    random = np.random.default_rng(seed)
    mine = random.random(graph.m) < 0.5 if masked else np.ones(graph.m, dtype=bool)
    mine[0] = True
    links, left_out = graph.edges[mine], graph.edges[~mine]
    Z = torch.tensor(2 * random.standard_normal((graph.n, 3)), requires_grad=True)
    wanted = dense_loss(Z, links, left_out)
    wanted.backward()
    loss, gradient = Reconstruction(graph.n, links, left_out, torch.device("cpu"))(Z.detach(), block)
    torch.testing.assert_close(loss, wanted.detach(), rtol=1e-10, atol=0)
    torch.testing.assert_close(gradient, Z.grad, rtol=1e-9, atol=1e-12)


def test_large_logits_overflow_nothing():
    graph = random_graph(5)
    reconstruction = Reconstruction(graph.n, graph.edges, graph.edges[:0], torch.device("cpu"))
    loss, gradient = reconstruction(torch.full((graph.n, 2), 1e4))
    assert torch.isfinite(loss) and torch.isfinite(gradient).all()


def test_no_activation_is_larger_than_a_block(monkeypatch):
    n, block = 400, 4000
    sizes = []
    plain = torch.nn.functional.softplus
    monkeypatch.setattr(
        "gelato.methods.gae.model.softplus", lambda x: sizes.append(x.numel()) or plain(x), raising=True
    )
    Reconstruction(n, np.array([[0, 1], [3, 399]]), np.empty((0, 2), np.int64), torch.device("cpu"))(
        torch.ones(n, 2), block
    )
    assert max(sizes) == pytest.approx(block) and sum(size >= 10 for size in sizes) >= n * n / 2 / block

"""Messages: the normalised adjacency, and links that are masked."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from gelato.networks.pairwise.masked_graph import MaskedGraphs, Propagation
from graphs import graphs, random_graph


def dense(A, loop):
    """``D^-1/2 (A + w I) D^-1/2``, entry by entry."""
    B = A + loop * np.eye(len(A))
    d = B.sum(axis=1)
    return np.array([[B[u, v] / np.sqrt(d[u] * d[v]) for v in range(len(A))] for u in range(len(A))])


@given(graphs(weighted=True))
def test_the_step_is_the_normalised_adjacency(graph):
    A = graph.adjacency.toarray()
    np.testing.assert_allclose(Propagation(graph).matrix().toarray(), dense(A, A[A > 0].mean()), rtol=1e-12)


@given(graphs(weighted=True), st.integers(0, 1000))
def test_a_masked_link_is_as_if_it_were_not_there_in_either_direction(graph, seed):
    masked = np.flatnonzero(np.random.default_rng(seed).random(graph.m) < 0.4)
    A = graph.adjacency.toarray()
    whole = dense(A.copy(), A[A > 0].mean())
    for u, v in graph.edges[masked]:
        A[u, v] = A[v, u] = 0
    propagation = Propagation(graph)
    loop = A[A > 0].mean() if A.any() else 1.0  # of a link that is learned, not even the weight is seen
    np.testing.assert_allclose(propagation.matrix(masked).toarray(), dense(A, loop), rtol=1e-12)
    np.testing.assert_allclose(propagation.matrix().toarray(), whole, rtol=1e-12)


def test_the_unit_of_weights_does_not_matter():
    graph = random_graph(3, weighted=True)
    scaled = type(graph)(graph.adjacency * 1024.0)
    np.testing.assert_array_equal(Propagation(graph).matrix().toarray(), Propagation(scaled).matrix().toarray())


def test_the_gradient_of_a_step_is_that_of_the_dense_matrix():
    graph = random_graph(1, weighted=True)
    masked = np.array([0, 2])
    views = MaskedGraphs(graph, torch.device("cpu"))
    h = torch.randn(graph.n, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    weight = torch.randn(graph.n, 4, generator=torch.Generator().manual_seed(1))
    (views.masked(masked).step @ h * weight).sum().backward()
    A = torch.tensor(Propagation(graph).matrix(masked).toarray(), dtype=torch.float32)
    torch.testing.assert_close(h.grad, A.T @ weight)

"""Means over neighbours and normalised attributes, by dense matrices."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from gelato import Graph
from gelato.networks.hyperbolic.neighborhoods import NeighborShares, neighbor_means, normalized_inputs
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from pair_networks import CPU, hub_graph


def weighted_graph():
    graph = hub_graph(5)
    weights = np.random.default_rng(0).uniform(0.5, 3, graph.m)
    return Graph.from_edges(graph.edges, graph.n, weights=weights, attributes=graph.attributes)


def row_normalized(graph):
    """``D^-1 (A + w I)``."""
    A = graph.adjacency.toarray() + graph.adjacency.data.mean() * np.eye(graph.n)
    return A / A.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("masked", [[], [0, 3, 7]])
@pytest.mark.parametrize("make", [hub_graph, weighted_graph])
def test_means_and_entries_are_those_of_the_row_normalised_adjacency(make, masked):
    graph = make()
    view = MaskedGraphs(graph, CPU, torch.float64).masked(np.array(masked, dtype=np.int64))
    P = torch.tensor(row_normalized(graph.without(graph.edges[masked])))
    H = torch.randn(graph.n, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    means = neighbor_means(view, H)
    torch.testing.assert_close(means, P @ H)
    (means**2).sum().backward()
    torch.testing.assert_close(H.grad, (2 * P.T @ P @ H).detach())
    near = NeighborShares.of(view)
    assert len(near.share) == 2 * (graph.m - len(masked)) + graph.n  # masked links have none
    dense = torch.zeros_like(P).index_put_((near.row.index, near.column.index), near.share[:, 0])
    torch.testing.assert_close(dense, P)


@pytest.mark.parametrize("sparse", [False, True])
def test_each_row_of_attributes_counts_by_its_share_of_the_whole(sparse):
    X = np.zeros((5, 90))
    X[0, :4], X[1, 2], X[3, 5], X[3, 6] = 2, 7, -3, 1
    graph = Graph.from_edges([(0, 1), (1, 2)], 5, attributes=csr_array(X) if sparse else X + 0.0)
    view = MaskedGraphs(graph, CPU, torch.float64).whole
    W = torch.randn(90, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    scaled = X / np.maximum(np.abs(X).sum(axis=1, keepdims=True), 1)
    torch.testing.assert_close(normalized_inputs(view, W), torch.tensor(scaled) @ W)
    dense = MaskedGraphs(Graph.from_edges([(0, 1)], 5, attributes=np.where(X == 0, 0, X)[:, :7]), CPU, torch.float64)
    torch.testing.assert_close(normalized_inputs(dense.whole, W[:7]), torch.tensor(scaled)[:, :7] @ W[:7])


def test_without_attributes_the_inputs_are_learned_rows():
    W = torch.ones(3, 2)
    assert normalized_inputs(MaskedGraphs(Graph.from_edges([(0, 1)], 3), CPU).whole, W) is W

"""The pair MLP alone: every kind of attributes, in blocks that equal the network pair by pair."""

import pickle

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, issparse

from gelato import Gelato, read_graph, split
from gelato.graph import Graph
from gelato.methods.config_files import read_config
from gelato.networks.pair_mlp.block import pair_block
from gelato.networks.pair_mlp.network import PairInputs, PairMLP

KINDS = {
    "sparse": lambda X: csr_array(X),
    "sparse and single": lambda X: csr_array(X, dtype=np.float32),
    "sparse with negatives": lambda X: csr_array(X - 0.7 * (X > 1)),
    "dense": lambda X: X,
    "dense and single": lambda X: X.astype(np.float32),
}


def graph_with(kind, directed=False):
    random = np.random.default_rng(3)
    X = random.random((13, 6)) * random.integers(0, 3, size=(13, 6))
    return Graph.from_edges(random.integers(13, size=(40, 2)), 13, directed=directed, attributes=KINDS[kind](X))


def network(f):
    """An MLP whose normalisation is not the identity."""
    torch.manual_seed(0)
    net = PairMLP(f, hidden=5)
    for norm in (net.first_norm, net.second_norm):
        for part in (norm.running_mean, norm.running_var, norm.weight.data, norm.bias.data):
            part.copy_(torch.rand(5) + 0.1)
    return net.eval()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_block_is_what_the_network_says_of_each_pair(kind, directed):
    graph = graph_with(kind, directed)
    net = network(graph.f)
    block = pickle.loads(pickle.dumps(pair_block(net, graph)))
    rows, columns = np.array([0, 2, 3, 11]), np.arange(1, 13)
    pairs = np.array([(u, v) for u in rows for v in columns])
    features = PairInputs(graph.attributes, pairs, directed=directed, device=torch.device("cpu"))
    plain = net.by_torch(features).detach().numpy().reshape(4, 12)
    np.testing.assert_allclose(block(rows, columns), plain, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(block.listed(pairs).reshape(4, 12), block(rows, columns), rtol=1e-12, atol=1e-12)
    part = block(rows[1:3], columns[4:9])
    np.testing.assert_allclose(part, block(rows, columns)[1:3, 4:9], rtol=1e-12, atol=1e-12)
    if not directed:
        every = np.arange(13)
        np.testing.assert_allclose(block(every, every), block(every, every).T, rtol=1e-12, atol=1e-12)


def test_the_pair_mlp_alone_is_trained_on_a_table_of_numbers(tmp_path):
    """Attributes from a CSV file are sparse and double precision, which once were mixed with single."""
    random = np.random.default_rng(0)
    edges = {(u, v) for u, v in random.integers(30, size=(120, 2)).tolist() if u < v}
    (tmp_path / "links.csv").write_text("source,target\n" + "".join(f"n{u},n{v}\n" for u, v in sorted(edges)))
    named = sorted({f"n{u}" for pair in edges for u in pair})
    rows = "".join(f"{name},{random.random():.3f},word{random.integers(15)}\n" for name in named)
    (tmp_path / "nodes.csv").write_text("node,size,word\n" + rows)
    graph = read_graph(tmp_path / "links.csv", attributes=tmp_path / "nodes.csv")
    assert issparse(graph.attributes) and graph.attributes.dtype == np.float64
    parts = split(graph)
    model = Gelato(**{**read_config("ablations/cora-ac").settings, "epochs": 1, "ratio": 2}).fit(parts)
    assert np.isfinite(model.scores().pairs(parts.test)).all()

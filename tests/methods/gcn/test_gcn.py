"""GCN, shallow and deep: its log-odds by their formula, and two cliques."""

import numpy as np
import pytest
import torch

from gelato.datasets.generators import two_cliques
from gelato.methods.gcn.model import GCN
from gelato.methods.gcn.settings import GcnSettings
from gelato.networks.gnn.encoder import embeddings
from gelato.networks.pairwise.masked_graph import MaskedGraphs
from gelato.splits import Split
from pair_networks import CPU, hub_graph, network_of
from small_loop import trained

SMALL = {"hidden": 8, "epochs": 4, "learning_rate": 0.02}
WAYS = {
    "gcn": GcnSettings(**SMALL, batch_size=5, passes=2),
    "deeper": GcnSettings(**SMALL, layers=3, predictor_layers=3, ratio=3),
    "shallow": GcnSettings(**SMALL, layers=1, predictor_layers=1, dropout=0.0),
}
every_way = pytest.mark.parametrize("way", WAYS)


@every_way
def test_missing_links_inside_cliques_come_first(way):
    model, settings = GCN(), WAYS[way].replaced(epochs=60, dropout=0.0, patience=None, passes=1, batch_size=24)
    graph = two_cliques(8, bridge=True)
    order = np.argsort((graph.edges[:, 0] < 8) & (graph.edges[:, 1] >= 8), kind="stable")  # the bridge is the last one
    inside, bridge = graph.edges[order[:-1]], graph.edges[order[-1:]]
    hidden = np.sort(np.random.default_rng(0).choice(len(inside), 8, replace=False))
    hidden_links = np.concatenate([inside[hidden], bridge])
    whole = Split(graph, graph.without(hidden_links), inside[hidden[:4]], inside[hidden[4:]], "cliques")
    network, (last, *_) = trained(model, whole, settings)
    network.load_state_dict(last)  # as precision at four links does not tell the epochs apart
    scores = model.scores_of(network, whole.train)
    across = np.array([(u, v) for u in range(8) for v in range(8, 16)])
    assert scores.pairs(whole.test).min() > scores.pairs(across).max()


@every_way
def test_scores_are_those_of_the_formula(way):
    """``MLP(h_u ∘ h_v)`` with embeddings that are computed without torch."""
    graph = hub_graph()
    network = network_of("gcn", graph, layers=WAYS[way].layers, predictor_layers=WAYS[way].predictor_layers).eval()
    H = embeddings(network.encoder, graph)
    pairs = np.array([(u, v) for u in range(graph.n) for v in range(graph.n)])
    scores = GCN().scores_of(network, graph).pairs(pairs)
    with torch.no_grad():
        single = network.context(MaskedGraphs(graph, CPU).whole).tensors["H"]
        torch.testing.assert_close(single.double(), torch.tensor(H), rtol=1e-4, atol=1e-5)
        wanted = network.double().predictor(torch.tensor(H[pairs[:, 0]] * H[pairs[:, 1]]))[:, 0]
    np.testing.assert_allclose(scores, wanted, rtol=1e-10, atol=1e-11)
    assert len(np.unique(scores.round(8))) > 20  # something to tell apart

"""The networks on pairs by name, small enough for tests, and a graph with all kinds of pairs."""

import numpy as np
import pytest
import torch

from gelato import Graph, make
from gelato.methods import METHODS

NAMES = [name for name, method in METHODS.items() if {"loss", "selection"} <= set(method.options())]
SMALL = {"hidden": 6, "epochs": 1, "patience": None, "batch_size": 20, "batches": 3, "parts": 2, "passes": 2}
SMALL |= {"edges": 12}
CPU = torch.device("cpu")

every = pytest.mark.parametrize("name", NAMES)


def model_of(name, **settings):
    """A predictor with small settings, of those that the method has."""
    known = METHODS[name].options()
    return make(name, **{key: value for key, value in (SMALL | settings).items() if key in known})


def undropped(name):
    """Settings without anything by chance."""
    return {key: 0.0 for key in METHODS[name].options() if key.endswith("dropout")}


def hub_graph(seed=1, nodes=24):
    """Random links, a hub, a far component and an isolated node."""
    random = np.random.default_rng(seed)
    links = [(0, v) for v in range(1, 9)] + [tuple(random.integers(1, nodes - 5, 2)) for _ in range(18)]
    links += [(nodes - 4, nodes - 3), (nodes - 3, nodes - 2)]
    return Graph.from_edges(
        np.array(links), nodes, attributes=random.random((nodes, 5)) * (random.random((nodes, 5)) > 0.4)
    )


def network_of(name, graph, **settings):
    """A network with statistics and biases that are not 0."""
    model = model_of(name, **settings)
    network = model.network(graph, model.settings, CPU)
    with torch.no_grad():
        random = torch.Generator().manual_seed(3)
        for key, value in network.state_dict().items():
            if value.is_floating_point():
                value += 0.2 * torch.rand(value.shape, generator=random) if "var" not in key else 0.5
    return network

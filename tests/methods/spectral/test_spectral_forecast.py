"""Predicted times: in proportion to what is asked for, whatever the speed of the machine."""

import numpy as np
import pytest

from gelato.graph import Graph
from gelato.methods.spectral.model import spectral_seconds
from gelato.methods.spectral.settings import SpectralSettings
from gelato.spectrum import eigen
from gelato.spectrum.adjacency import scaled_adjacency
from gelato.spectrum.eigen import eigenpairs_seconds


@pytest.fixture(autouse=True)
def steady(monkeypatch):
    """A machine on which every timed product takes ten milliseconds."""

    def timed(task, runs):
        task()
        return 0.01

    monkeypatch.setattr(eigen, "seconds_of", timed)


def sparse(nodes, links):
    return Graph.from_edges(np.random.default_rng(0).integers(nodes, size=(links, 2)), nodes)


def test_more_iterations_and_a_higher_rank_take_longer():
    adjacency = scaled_adjacency(sparse(3000, 20_000), 0.25, "all")
    short = eigenpairs_seconds(adjacency, 200, 10)
    assert eigenpairs_seconds(adjacency, 200, 20) > short
    assert eigenpairs_seconds(adjacency, 400, 10) > 1.5 * short
    assert eigenpairs_seconds(adjacency, 2900, 10) == pytest.approx(20 * 3000**3 / (2 * 768**3 / 0.01))


def test_a_choice_takes_longer_than_given_settings():
    graph = sparse(1500, 9000)
    given = SpectralSettings(power=0.25, rank=64, shrink="soft", self_loops="all")
    alone = eigenpairs_seconds(scaled_adjacency(graph, 0.25, "all"), 64, 10)
    assert spectral_seconds(graph, given) == pytest.approx(alone)
    assert spectral_seconds(graph, given.replaced(shrink="held-out")) == pytest.approx(3 * alone)
    assert spectral_seconds(graph, given.replaced(power=None)) > 6 * alone
    for name in ("rank", "shrink", "self_loops"):
        assert spectral_seconds(graph, given.replaced(**{name: None})) > 2 * alone

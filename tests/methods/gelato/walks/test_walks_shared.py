"""Parts dealt to processes: the losses, weights and validations of one process, whatever their number."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import processes
from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.methods.gelato.model import Gelato
from gelato.methods.gelato.walks.shared import dealt
from gelato.runs.processes import joined
from gelato.splits import split
from graphs import random_bipartite

SETTINGS = {
    "eta": 0.25,
    "alpha": 0.5,
    "beta": 0.5,
    "self_loops": "isolated",
    "regime": "partitioned",
    "parts": 4,
    "batches": 5,
    "epochs": 2,
    "hidden": 16,
    "precision": "float64",
    "threads": 1,
    "device": "cpu",
}
CASES = {
    "dropout": {"dropout": 0.5},
    "other loops, steps and no dropout": {"self_loops": "all", "steps": 2, "dropout": 0.0},
    "a loss of the whole batch": {"loss": "precision", "learn_mixing": True},
    "a line": {"loss": "cross-entropy", "batches": 1},
    "messages": {"encoder": "gcn"},
    "parts of unequal size": {"parts": 7},
}


def blocks():
    return block_model([30, 20, 30, 40], 0.15, 0.01, attributes=24, seed=3)


def directed():
    graph = blocks()
    return type(graph).from_edges(graph.edges, graph.n, directed=True, attributes=graph.attributes)


def bipartite():
    graph = random_bipartite(5, nodes=40)
    return type(graph).from_edges(
        graph.edges, graph.n, attributes=np.random.default_rng(0).random((graph.n, 6)), sides=graph.sides
    )


def everyone_meets():
    """A graph on which three steps join nearly all pairs, so that all are listed."""
    return block_model([12, 12], 0.8, 0.2, attributes=10, seed=1)


GRAPHS = {"directed": directed, "bipartite": bipartite, "all pairs are reached": everyone_meets}
EVERY = {name: (blocks, options) for name, options in CASES.items()} | {
    name: (graph, {"parts": 3 if graph is not everyone_meets else 2}) for name, graph in GRAPHS.items()
}


def trained(graph, options):
    """Losses, validations and weights of a small training."""
    model = Gelato(**{**SETTINGS, **options}).fit(split(graph(), 1, (0.1, 0.1)))
    figures = [(epoch.loss, epoch.precision) for epoch in model.history_]
    return figures, {name: value.numpy() for name, value in model.state_.items()}, model.weights_


if __name__ == "__main__":  # as one of several processes
    with joined() as together:
        found = {name: trained(*case) for name, case in EVERY.items()}
    if together.first:
        Path(sys.argv[1]).write_bytes(pickle.dumps(found))


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """What two processes found, for every case."""
    file = tmp_path_factory.mktemp("shared") / "found"
    outcomes = processes.ended(processes.start([__file__, file], 2, PYTHONPATH=":".join(map(str, sys.path))))
    assert [code for code, *_ in outcomes] == [0, 0], outcomes[0][2][-500:]
    return pickle.loads(file.read_bytes())


@pytest.mark.parametrize("name", EVERY)
def test_two_processes_end_with_the_loss_and_the_weights_of_one(shared, name):
    figures, state, weights = trained(*EVERY[name])
    found, found_state, found_weights = shared[name]
    np.testing.assert_allclose(found, figures, rtol=0, atol=1e-9)
    for key, value in state.items():
        np.testing.assert_allclose(found_state[key], value, rtol=0, atol=1e-5, err_msg=key)
    np.testing.assert_allclose(found_weights, weights, rtol=0, atol=1e-5)


def test_parts_go_to_the_process_that_has_the_least_the_largest_first():
    assert dealt(np.array([1.0, 5.0, 2.0, 4.0, 3.0]), 2).tolist() == [0, 0, 0, 1, 1]
    assert dealt(np.ones(4), 4).tolist() == [0, 1, 2, 3]


def test_fewer_parts_than_processes_are_refused():
    with pytest.raises(InputError, match="3 processes need at least 3 parts, not 2; ask for more"):
        dealt(np.ones(2), 3)

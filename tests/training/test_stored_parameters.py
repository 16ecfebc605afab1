"""Stored parameters that are not those of a network: what is said of them."""

import pytest
import torch
from torch import nn

from gelato.io.untrusted import DamagedData
from gelato.training.trained_predictor import check_shapes


def network():
    return nn.Linear(3, 2)


def refused(state, reason):
    with pytest.raises(DamagedData) as error:
        check_shapes(network, state)
    assert str(error.value) == f"the stored parameters do not fit the network of this model: {reason}"


def test_parameters_that_fit_are_taken():
    check_shapes(network, network().state_dict())


def test_parameters_that_are_missing_strange_or_of_another_shape_are_named():
    state = network().state_dict()
    refused({"weight": state["weight"]}, "bias is missing")
    refused({**state, "x": torch.zeros(3)}, "x does not belong to it")
    refused({**state, "bias": torch.zeros(3)}, "bias should have shape (2,), not (3,)")
    refused({**state, "x" * 10_000: torch.zeros(3)}, f"{'x' * 100} does not belong to it")

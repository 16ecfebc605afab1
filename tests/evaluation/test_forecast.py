"""What steps will take: benchmarks/forecasts.py holds it against what they took."""

import pytest

from gelato.datasets import block_model
from gelato.evaluation.forecast import STEPS, forecast
from gelato.methods.gelato.model import Gelato


@pytest.fixture(scope="module")
def graph():
    return block_model([80] * 6, 0.08, 0.003, attributes=100, words=12, seed=0)


@pytest.mark.parametrize("step", STEPS)
def test_a_forecast_adds_up_and_grows_with_what_is_asked(graph, step):
    model = Gelato(epochs=4, patience=2)
    twice = [forecast(graph, model, step, top_k=10, repeats=1, started=2.0) for _ in range(2)]
    few = min(twice, key=lambda each: each.seconds)  # the machine may be busy
    assert few.seconds == pytest.approx(sum(few.parts.values())) and few.at_most >= few.seconds > 2.0
    assert few.parts["start and read"] == 2.0 and few.peak_memory_bytes > 10e6
    assert few.as_json()["step"] == step
    if step != "explain":
        more = forecast(graph, model, step, top_k=10, repeats=60, started=2.0)
        assert more.parts["hide links and find them"] > 10 * few.parts["hide links and find them"]


def test_a_graph_without_attributes_needs_no_training():
    plain = block_model([60, 60], 0.1, 0.01, seed=1)
    found = forecast(plain, Gelato(), "predict")
    assert found.at_most == found.seconds and "choose settings" not in found.parts

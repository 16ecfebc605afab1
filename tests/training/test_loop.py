"""The loop itself, on a model so small that every step can be followed."""

import json

import pytest
import torch
from torch import nn

from gelato.training.loop import Loop, torch_threads
from gelato.training.settings import TrainingSettings

CPU = torch.device("cpu")


class Shift(nn.Module):
    """One parameter: how far positives are above negatives."""

    def __init__(self):
        super().__init__()
        self.gap = nn.Parameter(torch.zeros(1))


class Line:
    """A task whose loss falls with the gap; batches listed in ``spoiled`` have an undefined gradient."""

    def __init__(self, network, *, batches=5, spoiled=(), validations=()):
        self.network, self.count, self.spoiled, self.validations = network, batches, spoiled, list(validations)
        self.offset = nn.Parameter(torch.zeros(1))
        self.extra = {"offset": self.offset}
        self.seeds, self.drawn = [], []

    def batches(self, seed):
        self.seeds.append(seed)
        return iter(range(self.count))

    def backward(self, batch, random):
        self.optimized.zero_grad()
        self.drawn.append(torch.rand(1, generator=random).item())
        gap = self.network.gap.double() - self.offset
        if batch in self.spoiled:
            gap = gap * torch.tensor(float("nan"))
        loss = nn.functional.softplus(-gap).sum()
        loss.backward()
        return loss.detach()

    def optimizer(self):
        self.optimized = torch.optim.Adam([*self.network.parameters(), self.offset], lr=1e-3)
        return self.optimized

    def validate(self):
        return self.validations.pop(0) if self.validations else float(self.network.gap.detach())


def loop_of(task, **settings):
    return Loop(task, TrainingSettings(**settings), CPU)


def test_a_step_whose_gradient_is_not_finite_is_skipped_and_counted():
    whole, spoiled = (Line(Shift(), batches=n, spoiled=bad) for n, bad in ((3, ()), (5, (1, 4))))
    for task in (whole, spoiled):
        loop_of(task, epochs=2).run()
    assert whole.network.gap.item() == spoiled.network.gap.item() > 0
    again = loop_of(Line(Shift(), spoiled=(1, 4)), epochs=2)
    state = again.run()
    assert state.skipped == 4 and [epoch.skipped for epoch in state.history] == [2, 4]


def test_an_epoch_of_skipped_steps_alone_has_no_loss():
    state = loop_of(Line(Shift(), spoiled=range(5)), epochs=1).run()
    assert state.history[0].loss != state.history[0].loss and state.skipped == 5


def test_the_first_of_equally_good_epochs_is_kept():
    task = Line(Shift(), validations=[0.1, 0.3, 0.2, 0.3])
    state = loop_of(task, epochs=4).run()
    assert (state.best_epoch, state.precision) == (2, 0.3)
    assert [epoch.best for epoch in state.history] == [True, True, False, False]
    assert state.best["gap"].item() < task.network.gap.item()  # a copy of then, not what was trained on


@pytest.mark.parametrize(("patience", "epochs"), [(None, 6), (1, 3), (2, 4), (9, 6)])
def test_patience_counts_the_epochs_since_the_best(patience, epochs):
    task = Line(Shift(), validations=[0.1, 0.3, 0.2, 0.2, 0.2, 0.2])
    assert loop_of(task, epochs=6, patience=patience).run().epoch == epochs


def test_every_epoch_has_its_own_seed_and_the_same_in_every_run():
    first, second, other = (Line(Shift()) for _ in range(3))
    loop_of(first, epochs=3).run()
    loop_of(second, epochs=3).run()
    loop_of(other, epochs=3, random_state=1).run()
    assert first.seeds == second.seeds and len(set(first.seeds)) == 3
    assert set(first.seeds).isdisjoint(other.seeds)


def test_every_step_has_its_own_randomness_and_the_same_in_every_run():
    first, second = Line(Shift()), Line(Shift())
    for task in (first, second):
        loop_of(task, epochs=2).run()
    assert first.drawn == second.drawn and len(set(first.drawn)) == 10


def test_training_resumes_from_its_tensors_and_state():
    whole, half, rest = (loop_of(Line(Shift()), epochs=epochs) for epochs in (6, 3, 6))
    whole.run()
    half.run()
    rest.restore(half.tensors(), json.loads(json.dumps(half.facts())))
    rest.run()
    assert rest.task.network.gap.item() == whole.task.network.gap.item()
    assert rest.task.offset.item() == whole.task.offset.item() != 0
    assert [epoch.loss for epoch in rest.state.history] == [epoch.loss for epoch in whole.state.history]
    assert rest.state.best_epoch == whole.state.best_epoch


def test_torch_gets_its_threads_back():
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError), torch_threads(1):
        assert torch.get_num_threads() == 1
        raise RuntimeError
    assert torch.get_num_threads() == before

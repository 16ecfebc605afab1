"""The loop itself, on a model so small that every step can be followed."""

import pytest
import torch
from torch import nn

from gelato.methods.gelato.batches import Batch
from gelato.methods.gelato.scorer import Scored
from gelato.methods.gelato.settings import Settings
from gelato.methods.gelato.walks.listed import Listed
from gelato.training.loop import Trainer

CPU = torch.device("cpu")


class Shift(nn.Module):
    """One parameter: how far positives are above negatives."""

    def __init__(self):
        super().__init__()
        self.gap = nn.Parameter(torch.zeros(1))


class Line:
    """Scores a positive by the gap and a negative by 0; batches listed in ``spoiled`` have an undefined gradient."""

    replayable = False

    def __init__(self, model, *, batches=5, spoiled=(), validations=()):
        self.model, self.count, self.spoiled, self.validations = model, batches, spoiled, list(validations)
        self.seeds = []

    def epoch(self, seed):
        self.seeds.append(seed)
        for i in range(self.count):
            place = torch.tensor([i])
            yield Batch(place, Listed(place, place, place), 1)

    def scores(self, batch, random):
        gap = self.model.gap.double()
        if int(batch.masked) in self.spoiled:
            gap = gap * torch.tensor(float("nan"))
        return Scored(gap, torch.zeros(3, dtype=torch.float64))

    def validate(self):
        return self.validations.pop(0) if self.validations else float(self.model.gap.detach())


def trainer(scorer, **settings):
    return Trainer(scorer.model, scorer, Settings(**settings), CPU)


def test_a_step_whose_gradient_is_not_finite_is_skipped_and_counted():
    whole, spoiled = (Line(Shift(), batches=n, spoiled=bad) for n, bad in ((3, ()), (5, (1, 4))))
    for scorer in (whole, spoiled):
        trainer(scorer, epochs=2).run()
    assert whole.model.gap.item() == spoiled.model.gap.item() > 0
    again = trainer(Line(Shift(), spoiled=(1, 4)), epochs=2)
    state = again.run()
    assert state.skipped == 4 and [epoch.skipped for epoch in state.history] == [2, 4]


def test_an_epoch_of_skipped_steps_alone_has_no_loss():
    state = trainer(Line(Shift(), spoiled=range(5)), epochs=1).run()
    assert state.history[0].loss != state.history[0].loss and state.skipped == 5


def test_the_first_of_equally_good_epochs_is_kept():
    scorer = Line(Shift(), validations=[0.1, 0.3, 0.2, 0.3])
    state = trainer(scorer, epochs=4).run()
    assert (state.best_epoch, state.precision) == (2, 0.3)
    assert [epoch.best for epoch in state.history] == [True, True, False, False]
    assert state.best["gap"].item() < scorer.model.gap.item()  # a copy of then, not what was trained on


@pytest.mark.parametrize(("patience", "epochs"), [(None, 6), (1, 3), (2, 4), (9, 6)])
def test_patience_counts_the_epochs_since_the_best(patience, epochs):
    scorer = Line(Shift(), validations=[0.1, 0.3, 0.2, 0.2, 0.2, 0.2])
    assert trainer(scorer, epochs=6, patience=patience).run().epoch == epochs


def test_every_epoch_has_its_own_seed_and_the_same_in_every_run():
    first, second, other = (Line(Shift()) for _ in range(3))
    trainer(first, epochs=3).run()
    trainer(second, epochs=3).run()
    trainer(other, epochs=3, random_state=1).run()
    assert first.seeds == second.seeds and len(set(first.seeds)) == 3
    assert set(first.seeds).isdisjoint(other.seeds)


def test_cross_entropy_learns_its_line_and_n_pair_does_not():
    for loss, learned in (("cross-entropy", True), ("n-pair", False)):
        loop = trainer(Line(Shift()), epochs=1, loss=loss)
        loop.run()
        assert (loop.line.tolist() != [1.0, 0.0]) == learned


def test_training_goes_on_from_its_tensors_and_state():
    whole = trainer(Line(Shift()), epochs=6, loss="cross-entropy")
    whole.run()
    half = trainer(Line(Shift()), epochs=3, loss="cross-entropy")
    half.run()
    rest = trainer(Line(Shift()), epochs=6, loss="cross-entropy")
    state = {name: value for name, value in vars(half.state).items() if name != "best"}
    state["history"] = [vars(epoch) for epoch in half.state.history]
    rest.restore({name: value.clone() for name, value in half.tensors().items()}, state)
    rest.run()
    assert rest.model.gap.item() == whole.model.gap.item()
    assert rest.line.tolist() == whole.line.tolist()
    assert [epoch.loss for epoch in rest.state.history] == [epoch.loss for epoch in whole.state.history]
    assert rest.state.best_epoch == whole.state.best_epoch


def test_torch_gets_its_threads_back():
    before = torch.get_num_threads()
    trainer(Line(Shift()), epochs=1).run()
    assert torch.get_num_threads() == before

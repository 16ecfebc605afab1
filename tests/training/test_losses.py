"""Every registered loss against its definition, its numerical gradient and its limits; n-pair against enumeration."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck

import reference_losses as reference
from gelato.errors import InputError
from gelato.methods.gelato.settings import LOSS_NAMES
from gelato.training.losses import LOSSES, n_pair

EACH = pytest.mark.parametrize("name", LOSSES)

SCORES = st.integers(-16, 16).map(lambda i: i / 4)
"""Few and exact, so that scores tie, also at the bound of precision and at the bend of the hinge."""

POSITIVES = st.lists(SCORES, min_size=1, max_size=5)
NEGATIVES = st.lists(SCORES, min_size=1, max_size=12)
COUNTED = st.lists(st.tuples(SCORES, st.integers(0, 20).map(lambda i: i / 4)), max_size=6)
"""Scores and how many pairs each stands for, a part of a pair too: a batch gets a part of each cell."""


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Tensors are tiny here: more threads only wait for one another."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def double(numbers, grad=False):
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=grad)


def columns(counted, grad=False):
    """``background`` and ``count``, as a loss takes them."""
    return double([x for x, _ in counted], grad), double([times for _, times in counted])


def value(name, positives, negatives, counted=None):
    more = () if counted is None else columns(counted)
    return LOSSES[name].of(double(positives), double(negatives), *more).item()


def gradients(name, positives, negatives, counted=()):
    """Of positives, negatives and background, as lists."""
    background, count = columns(counted, grad=True)
    scores = [double(positives, grad=True), double(negatives, grad=True), background]
    loss = LOSSES[name].of(*scores, count) if counted else LOSSES[name].of(*scores[:2])
    return [part.tolist() for part in torch.autograd.grad(loss, scores, allow_unused=True, materialize_grads=True)]


def close(a, b):
    return a == pytest.approx(b, rel=1e-9, abs=1e-12)


def test_the_settings_know_the_names_of_all_losses():
    assert tuple(LOSSES) == LOSS_NAMES


def test_every_loss_has_an_oracle():
    assert set(reference.ORACLES) == set(LOSSES)


def test_cross_entropy_alone_sees_scores_through_a_learned_line():
    assert [name for name in LOSSES if LOSSES[name].affine] == ["cross-entropy"]


# Values


@EACH
@settings(max_examples=40)
@given(positives=POSITIVES, negatives=NEGATIVES)
def test_every_loss_of_listed_scores_equals_its_definition(name, positives, negatives):
    assert close(value(name, positives, negatives), reference.ORACLES[name](positives, negatives))


@EACH
@settings(max_examples=40)
@given(positives=POSITIVES, negatives=NEGATIVES, counted=COUNTED)
def test_every_loss_with_a_background_equals_its_definition(name, positives, negatives, counted):
    expected = reference.ORACLES[name](positives, negatives, counted)
    assert close(value(name, positives, negatives, counted), expected)


@pytest.mark.parametrize("name", ["n-pair", "pairwise-hinge", "pairwise-exponential", "pairwise-logistic"])
def test_listed_negative_j_goes_to_positive_j_mod_p(name):
    _, negative, _ = gradients(name, [0.0, 99.0, 0.0], [0.0, 1.0, 0.5, 0.0, 1.0, 2.0, 0.0])
    assert [j for j, gradient in enumerate(negative) if gradient < 1e-12] == [1, 4]  # far below the one they meet


@EACH
def test_no_positives_are_refused(name):
    with pytest.raises(InputError, match="a loss needs at least one positive, got none"):
        LOSSES[name].of(double([]), double([1.0]))


# Limits


@EACH
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_value_and_gradient_are_finite_for_scores_as_large_as_a_thousand(name, dtype):
    count = torch.tensor([4.5, 1e9], dtype=dtype)
    for positives in ((1e3, 1e3), (-1e3, -1e3), (1e3, -1e3)):
        for negatives in ((1e3,) * 5, (-1e3,) * 5, (-1e3, 1e3, 1e3, -1e3, 1e3), (1e3,), (-1e3,)):
            parts = [
                torch.tensor(part, dtype=dtype, requires_grad=True) for part in (positives, negatives, (1e3, -1e3))
            ]
            for scores, more in ((parts[:2], ()), (parts, (count,))):
                loss = LOSSES[name].of(*scores, *more)
                assert loss.dtype == dtype
                assert torch.isfinite(loss)
                assert all(torch.isfinite(part).all() for part in torch.autograd.grad(loss, scores))


@EACH
def test_a_background_alone_gives_the_value_of_the_definition_and_a_finite_gradient(name):
    counted = [(-0.25, 3.0), (-0.5, 5.0)]
    expected = reference.ORACLES[name]([1.0, 2.0, 3.0], [], counted)
    assert close(value(name, [1.0, 2.0, 3.0], [], counted), expected)
    positive, _, background = gradients(name, [1.0, 2.0, 3.0], [], counted)
    assert torch.isfinite(double(positive + background)).all()


# Gradients


@EACH
@pytest.mark.parametrize("q", [2, 4, 11])
def test_the_gradient_of_every_loss_equals_its_numerical_gradient(name, q):
    random = torch.Generator().manual_seed(q)
    scores = [torch.randn(size, generator=random, dtype=torch.float64, requires_grad=True) for size in (4, q, 5)]
    count = double([0.5, 2.0, 1.0, 40.0, 3.25], grad=True)
    assert gradcheck(LOSSES[name].of, tuple(scores[:2]))
    assert gradcheck(LOSSES[name].of, (*scores, count))


@EACH
@settings(max_examples=40)
@given(positives=POSITIVES, negatives=NEGATIVES, counted=COUNTED, rise=SCORES.map(abs))
def test_no_loss_rises_when_all_positives_rise(name, positives, negatives, counted, rise):
    before = value(name, positives, negatives, counted)
    assert value(name, [s + rise for s in positives], negatives, counted) <= before + 1e-12


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "precision"])
@settings(max_examples=40)
@given(positives=POSITIVES, negatives=NEGATIVES, counted=COUNTED, rise=SCORES.map(abs), data=st.data())
def test_no_loss_but_precision_rises_when_one_positive_rises(name, positives, negatives, counted, rise, data):
    i = data.draw(st.integers(0, len(positives) - 1))
    higher = [s + rise * (j == i) for j, s in enumerate(positives)]
    assert value(name, higher, negatives, counted) <= value(name, positives, negatives, counted) + 1e-12
    assert gradients(name, positives, negatives, counted)[0][i] <= 0


@given(positives=POSITIVES, negatives=NEGATIVES, counted=COUNTED, rise=SCORES.map(abs), data=st.data())
def test_precision_does_not_rise_with_a_positive_that_is_above_the_bound(positives, negatives, counted, rise, data):
    scores = [*positives, *negatives, *(x for x, times in counted for _ in range(int(times)))]
    bound = sorted(scores, reverse=True)[len(positives) - 1]
    above = [i for i, s in enumerate(positives) if s > bound]
    counted = [(x, int(times)) for x, times in counted]
    assume(above)
    i = data.draw(st.sampled_from(above))
    higher = [s + rise * (j == i) for j, s in enumerate(positives)]
    before = value("precision", positives, negatives, counted)
    assert value("precision", higher, negatives, counted) <= before + 1e-12


@pytest.mark.parametrize("name", [name for name in LOSSES if name not in ("precision", "pairwise-hinge")])
def test_a_smooth_loss_falls_when_a_positive_with_a_negative_rises(name):
    losses = [value(name, [s, 0.0, 1.0], [0.0, 1.0, 2.0, -1.0]) for s in (-3.0, -1.0, 0.0, 2.0, 4.0)]
    assert losses == sorted(losses, reverse=True)
    assert len(set(losses)) == len(losses)


@EACH
@settings(max_examples=40)
@given(positives=POSITIVES, negatives=NEGATIVES, counted=COUNTED, rise=SCORES.map(abs), data=st.data())
def test_no_loss_falls_when_one_negative_rises(name, positives, negatives, counted, rise, data):
    i = data.draw(st.integers(0, len(negatives) + len(counted) - 1))
    higher = [x + rise * (j == i) for j, x in enumerate(negatives)]
    moved = [(x + rise * (j + len(negatives) == i), times) for j, (x, times) in enumerate(counted)]
    assert value(name, positives, higher, moved) >= value(name, positives, negatives, counted) - 1e-12


# The background


@EACH
@settings(max_examples=40)
@given(positives=POSITIVES, negatives=NEGATIVES, counted=COUNTED, data=st.data())
def test_cells_that_stand_for_no_pair_change_nothing(name, positives, negatives, counted, data):
    counted = [(x, times) for x, times in counted if times] or [(0.5, 1.5)]
    empty = data.draw(st.lists(SCORES, min_size=1, max_size=4))
    more = data.draw(st.permutations([*counted, *((x, 0.0) for x in empty)]))
    assert close(value(name, positives, negatives, more), value(name, positives, negatives, counted))
    *before, _ = gradients(name, positives, negatives, counted)
    *after, background = gradients(name, positives, negatives, more)
    assert all(gradient == 0 for gradient, (_, times) in zip(background, more, strict=True) if times == 0)
    if name != "precision":  # where scores tie at its bound, any of them may take the gradient
        assert all(close(a, b) for a, b in zip(before, after, strict=True))


@EACH
def test_a_background_of_no_pairs_at_all_changes_nothing(name):
    positives, negatives, nothing = [1.0, 2.0, 3.5], [0.5, 4.0, -1.0, 0.25], [(9.0, 0.0), (-0.5, 0.0)]
    assert close(value(name, positives, negatives, nothing), value(name, positives, negatives))
    *after, background = gradients(name, positives, negatives, nothing)
    *before, _ = gradients(name, positives, negatives)
    assert background == [0.0, 0.0]
    assert all(close(a, b) for a, b in zip(before, after, strict=True))


@given(positives=POSITIVES, negatives=NEGATIVES, counted=COUNTED)
def test_cross_entropy_of_counted_scores_is_that_of_listed_ones(positives, negatives, counted):
    counted = [(x, int(times)) for x, times in counted]
    listed = [*negatives, *(x for x, times in counted for _ in range(times))]
    assert close(value("cross-entropy", positives, negatives, counted), value("cross-entropy", positives, listed))


@EACH
@pytest.mark.parametrize("times", [1, 3])
def test_counted_scores_equal_listed_ones_where_every_positive_gets_as_many(name, times):
    random = torch.Generator().manual_seed(times)
    positives, negatives, background = (torch.randn(size, generator=random).tolist() for size in (4, 7, 5))
    count = 4 * times
    listed = [*negatives, *(x for x in background for _ in range(count))]
    counted = [(x, count) for x in background]
    assert close(value(name, positives, negatives, counted), value(name, positives, listed))
    positive, negative, shared = gradients(name, positives, negatives, counted)
    wanted_positive, single, _ = gradients(name, positives, listed)
    each = [sum(single[7 + count * i : 7 + count * (i + 1)]) for i in range(5)]
    for found, wanted in ((positive, wanted_positive), (negative, single[:7]), (shared, each)):
        assert close(found, wanted)


def over_rotations(of, positives):
    """Mean over all p ways to hand the shares round: then every positive meets every negative as often."""
    return sum(of(torch.roll(positives, i)) for i in range(len(positives))) / len(positives)


@pytest.mark.parametrize("name", ["pairwise-hinge", "pairwise-logistic", "pairwise-exponential"])
def test_a_pairwise_loss_of_counted_scores_is_the_mean_over_groupings_of_listed_ones(name):
    random = torch.Generator().manual_seed(3)
    positive, negative, background = (
        torch.randn(size, generator=random, dtype=torch.float64, requires_grad=True) for size in (5, 8, 3)
    )
    count, all_of = double([2.0, 3.0, 6.0]), LOSSES[name].of
    listed = torch.cat([negative, *(x.expand(times) for x, times in zip(background, (2, 3, 6), strict=True))])
    # the exponential's is linear before its logarithm
    linear = torch.exp if name == "pairwise-exponential" else torch.clone
    one_by_one = over_rotations(lambda s: linear(all_of(s, listed)), positive)
    counted = over_rotations(lambda s: linear(all_of(s, negative, background, count)), positive)
    torch.testing.assert_close(counted, one_by_one, rtol=1e-12, atol=0)
    scores = positive, negative, background
    for found, wanted in zip(
        torch.autograd.grad(counted, scores), torch.autograd.grad(one_by_one, scores), strict=True
    ):
        torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-14)


# N-pair: the support form against enumerating every pair

P, CELL, SHUFFLES = 8, 10, 250


def groupings(of, scores, seed):
    """Mean loss and gradients over 250 shuffles with all 8 rotations each, 2,000 groupings, and their standard errors.

    Rotations hand every share to every positive: the error to first order in a share is 0.
    """
    random = torch.Generator().manual_seed(seed)
    rows = []
    for _ in range(SHUFFLES):
        loss = over_rotations(lambda s: of(s, random), scores[0])
        rows.append(torch.cat([loss.detach()[None], *torch.autograd.grad(loss, scores)]))
    rows = torch.stack(rows)
    return rows.mean(dim=0), rows.std(dim=0) / SHUFFLES**0.5


def compared(scale):
    """Support form minus enumeration, of a problem with 83 times ``scale`` negatives for each of 8 positives.

    Returns:
        loss times the number of pairs: enumerated, the difference, its Jensen term and its tolerance; for positives,
        listed negatives and cells: the relative difference of the gradients in norm, and its standard error.
    """
    random = torch.Generator().manual_seed(scale)
    positive = torch.randn(P, generator=random, dtype=torch.float64) + 1
    listed = torch.randn(64 * scale, generator=random, dtype=torch.float64)
    background = (-2 * torch.rand(600 * scale, generator=random, dtype=torch.float64)).sort().values
    cell, count = background.view(-1, CELL).mean(dim=1), torch.full((60 * scale,), float(CELL), dtype=torch.float64)
    width = (background.view(-1, CELL)[:, -1] - background.view(-1, CELL)[:, 0]).max().item()
    for scores in (positive, listed, background, cell):
        scores.requires_grad_()

    def shuffled(x, random):
        return x[torch.randperm(len(x), generator=random)]

    every, its_error = groupings(
        lambda s, random: n_pair(s, shuffled(torch.cat([listed, background]), random)),
        [positive, listed, background],
        seed=1,
    )
    some, other_error = groupings(
        lambda s, random: n_pair(s, shuffled(listed, random), cell, count), [positive, listed, cell], seed=2
    )
    pairs = P + len(listed) + len(background)
    error = pairs * torch.hypot(its_error[0], other_error[0]).item()
    jensen = reference.jensen(positive.tolist(), listed.tolist(), background.tolist())
    # Hoeffding: the logarithm of the mean exp of a cell is at most width^2 / 8 above its mean, and so for each positive
    loss = (pairs * every[0]).item(), (pairs * (some[0] - every[0])).item(), jensen, 4 * error + P * width**2 / 8
    ends = 1, 1 + P, 1 + P + len(listed)
    gradient = []
    for first, last in ((ends[0], ends[1]), (ends[1], ends[2]), (ends[2], None)):
        mine, error, theirs, other = (part[first:last] for part in (every, its_error, some, other_error))
        if last is None:  # a cell moves with all its pairs
            mine, error = mine.view(-1, CELL).sum(dim=1), error.view(-1, CELL).sum(dim=1)
        noise = torch.hypot(error, other).norm()
        gradient.append(((theirs - mine).norm() / mine.norm()).item())
        gradient.append((noise / mine.norm()).item())
    return loss, gradient


@pytest.fixture(scope="module")
def small_and_large():
    return compared(1), compared(10)


@pytest.mark.parametrize("which", [0, 1], ids=["83 negatives a group", "830 negatives a group"])
def test_the_support_form_of_n_pair_is_above_the_enumeration_by_its_jensen_term(small_and_large, which):
    (loss, difference, jensen, tolerance), _ = small_and_large[which]
    assert abs(difference - jensen) < tolerance  # four standard errors of the means, and what cells lose
    assert abs(difference) < 1e-3 * loss


def test_the_support_form_of_n_pair_comes_closer_as_groups_grow(small_and_large):
    ((_, small, small_term, _), _), ((_, large, large_term, _), _) = small_and_large
    assert large_term < small_term / 5
    assert abs(large) < abs(small) / 3


@pytest.mark.parametrize("which", [0, 1], ids=["83 negatives a group", "830 negatives a group"])
def test_the_gradient_of_the_support_form_of_n_pair_is_that_of_the_enumeration(small_and_large, which):
    """In norm, up to one part in the size of a group, and three standard errors of the means."""
    size = (83, 830)[which]
    _, gradient = small_and_large[which]
    for difference, error in zip(gradient[::2], gradient[1::2], strict=True):
        assert difference < 1 / size + 3 * error < 0.05

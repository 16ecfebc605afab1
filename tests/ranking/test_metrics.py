"""Metrics: values by hand, monotone in the ranks, and what random scores reach."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.errors import InputError
from gelato.ranking.metrics import DEFAULT_METRICS, METRICS, metric, random_metric
from gelato.ranking.ranks import Ranks, ranks_in_list

NAMES = [name for name in METRICS if not METRICS[name].cut] + [
    "hits@1",
    "hits@3",
    "precision@1",
    "precision@4",
    "precision@50%",
]


def ranks_of(positive, negative) -> Ranks:
    positive, negative = np.array(positive, float), np.array(negative, float)
    above = np.array([(negative > x).sum() for x in positive])
    tied = np.array([(negative == x).sum() for x in positive])
    return Ranks(positive, above, tied, len(negative))


def test_the_average_precision_of_a_list_with_ties_is_that_of_scikit_learn():
    from sklearn.metrics import average_precision_score

    random = np.random.default_rng(0)
    score, sought = random.integers(0, 9, 200).astype(float), random.random(200) < 0.2
    ranks = ranks_in_list(score, sought)
    assert metric("ap", ranks) == pytest.approx(average_precision_score(sought, score))
    assert ranks.above.tolist() == ranks_of(score[sought], score[~sought]).above.tolist()
    assert ranks.tied.tolist() == ranks_of(score[sought], score[~sought]).tied.tolist()


def test_metrics_by_hand():
    ranks = ranks_of([5, 3, 3, 0], [4, 3, 1, 1, 0, 0])
    assert metric("hits@1", ranks) == 1 / 4
    assert metric("hits@2", ranks) == 1 / 4  # the two positives at 3 tie with the second-best negative
    assert metric("hits@3", ranks) == 3 / 4
    assert metric("precision@1", ranks) == 1
    assert metric("precision@3", ranks) == pytest.approx((1 + 2 / 3) / 3)  # one of three tied at 3 fits
    assert metric("precision@100%", ranks) == pytest.approx((1 + 4 / 3) / 4)
    assert metric("mrr_optimistic", ranks) == pytest.approx((1 + 1 / 2 + 1 / 2 + 1 / 5) / 4)
    assert metric("mrr_pessimistic", ranks) == pytest.approx((1 + 1 / 3 + 1 / 3 + 1 / 7) / 4)
    assert metric("mrr", ranks) == pytest.approx((1 + 1 / 2.5 + 1 / 2.5 + 1 / 6) / 4)
    assert metric("auc", ranks) == pytest.approx((6 + 4.5 + 4.5 + 1) / 24)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "ap"])
@settings(max_examples=60, deadline=None)
@given(
    positive=st.lists(st.integers(0, 4), min_size=1, max_size=8),
    negative=st.lists(st.integers(0, 4), min_size=4, max_size=12),
    data=st.data(),
)
def test_a_positive_that_rises_never_lowers_a_metric(name, positive, negative, data):
    i = data.draw(st.integers(0, len(positive) - 1))
    risen = [x + (1 if j == i else 0) for j, x in enumerate(positive)]
    assert metric(name, ranks_of(risen, negative)) >= metric(name, ranks_of(positive, negative)) - 1e-12


@settings(max_examples=100, deadline=None)
@given(order=st.permutations(range(9)), data=st.data())
def test_a_positive_that_passes_a_negative_never_lowers_the_average_precision(order, data):
    # without ties: where a positive rises into a tie with negatives, grouped AP may fall, in scikit-learn as here
    i = data.draw(st.integers(0, 7))
    positive, negative = sorted(order[:4]), sorted(order[4:])
    if i in positive and i + 1 in negative:
        risen = [i + 1 if x == i else x for x in positive]
        fallen = [i if x == i + 1 else x for x in negative]
        assert metric("ap", ranks_of(risen, fallen)) > metric("ap", ranks_of(positive, negative))


@pytest.mark.parametrize("name", NAMES)
def test_the_expected_value_for_random_scores_is_the_mean_over_shuffles(name):
    random = np.random.default_rng(0)
    values = []
    for _ in range(6000):
        order = random.permutation(11)
        values.append(metric(name, ranks_of(order[:4], order[4:])))
    expected = random_metric(name, ranks_of(range(4), range(7)))
    assert np.mean(values) == pytest.approx(expected, abs=4 * np.std(values) / math.sqrt(len(values)))


def test_the_expected_values_of_large_tests_are_finite_and_small():
    ranks = Ranks(np.zeros(4432), np.zeros(4432, np.int64), np.zeros(4432, np.int64), 194_325_862)
    assert random_metric("ap", ranks) == pytest.approx(4432 / 194_330_294, rel=0.01)
    assert random_metric("mrr", ranks) == pytest.approx(19.66 / 194_325_863, rel=0.01)
    small, large = (sum(1 / i for i in range(1, n + 1)) for n in (9_999, 10_001))
    p, q = 1, 10_000
    got = random_metric("mrr", Ranks(np.zeros(p), np.zeros(p, int), np.zeros(p, int), q)) * (q + 1)
    assert small < got == pytest.approx(large, rel=1e-12)


def test_a_cut_beyond_the_negatives_has_no_answer():
    ranks = ranks_of([2, 1], [0, 0, 1])
    assert math.isnan(metric("hits@4", ranks))
    assert math.isnan(random_metric("hits@4", ranks))
    assert math.isnan(metric("precision@6", ranks))
    assert metric("hits@3", ranks) == 1.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recall", "unknown metric 'recall'"),
        ("hits", "needs a cut-off"),
        ("hits@0", "needs a cut-off"),
        ("ap@3", "takes no"),
    ],
)
def test_a_metric_that_is_none_is_refused(name, message):
    with pytest.raises(InputError, match=message):
        metric(name, ranks_of([1], [0]))


def test_every_default_metric_has_a_value_and_an_expectation():
    ranks = ranks_of(range(50), range(7000))
    for name in DEFAULT_METRICS:
        assert 0 <= metric(name, ranks) <= 1
        assert 0 <= random_metric(name, ranks) <= 1

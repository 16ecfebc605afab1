"""The buffer of the best entries: selection, order, and what it remembers of the entries it dropped."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.kernels.top_buffer import ScoreLimits, TieRule, keep_best, merge_buffers, new_buffer, place_levels
from gelato.kernels.top_buffer import clear_buffer as forget

FREE = ScoreLimits(-np.inf, np.inf, 1.0, -np.inf, False)
TIES = TieRule(1e-12, 0.0, np.zeros(1000), 0.0, 0.0)


def filled(scores, keys, keep, limits=FREE):
    best = new_buffer(keep, max(0, len(scores) - keep), limits, TIES)
    best.score[: len(scores)], best.key[: len(keys)] = scores, keys
    best.size[0] = len(scores)
    return best


def entries(best):
    size = best.size[0]
    return list(zip(best.score[:size].tolist(), best.key[:size].tolist(), strict=True))


def in_order(pairs):
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=90), st.integers(1, 100), st.integers(0, 10**6))
def test_the_best_are_selected_and_the_best_of_the_others_is_remembered(scores, keep, seed):
    keys = np.random.default_rng(seed).permutation(len(scores))
    expected = in_order(list(zip(scores, keys.tolist(), strict=True)))
    best = filled(scores, keys, keep)
    assert keep_best(best) == min(keep, len(scores))
    assert in_order(entries(best)) == expected[:keep]
    if keep < len(scores):
        worst, below = expected[keep - 1], [score for score, _ in expected[keep:] if score < expected[keep - 1][0]]
        assert (best.bound[0], best.last[0]) == worst
        assert best.bound[1] == max(below, default=-np.inf)
        assert best.cut[0] == pytest.approx(worst[0], rel=1e-10) and best.cut[0] <= worst[0]
        forget(best)
        assert (best.size[0], best.bound.tolist(), best.cut[0]) == (0, [-np.inf, -np.inf], -np.inf)
    else:
        assert best.bound.tolist() == [-np.inf, -np.inf]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 999), min_size=1, max_size=90, unique=True), st.integers(1, 100))
def test_the_smallest_keys_are_selected_where_these_count(keys, keep):
    best = filled(np.arange(len(keys), dtype=float), keys, keep, FREE._replace(by_key=True))
    keep_best(best)
    assert sorted(key for _, key in entries(best)) == sorted(keys)[:keep]


PATTERNS = {
    "rising": np.arange,
    "falling": lambda n: np.arange(n)[::-1],
    "equal": np.zeros,
    "up and down": lambda n: np.minimum(np.arange(n), np.arange(n)[::-1]),
    "any": lambda n: np.random.default_rng(n).random(n),
    "few": lambda n: np.random.default_rng(n).integers(3, size=n),
}


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("size", [1, 2, 12, 13, 14, 50, 1000])
def test_entries_of_any_pattern_come_in_order(pattern, size):
    scores, keys = PATTERNS[pattern](size).astype(float), np.random.default_rng(size).permutation(size)
    best = filled(scores, keys, size)
    assert place_levels(best, 1000, size)[0] == size
    assert entries(best) == in_order(list(zip(scores.tolist(), keys.tolist(), strict=True)))


def test_buffers_of_threads_are_merged_into_one():
    scores, keys = np.random.default_rng(0).integers(9, size=60).astype(float), np.arange(60)
    parts = [filled(scores[i::3], keys[i::3], 7) for i in range(3)]
    keep_best(parts[1])
    whole = merge_buffers(parts)
    expected = in_order(list(zip(scores.tolist(), keys.tolist(), strict=True)))
    assert in_order(entries(whole)) == expected[:7]
    assert whole.bound[0] == expected[6][0]


def test_a_level_that_may_go_on_below_is_not_called_known():
    near = 1 - 1e-15
    best = filled(np.array([2.0, 1.0, near]), np.array([5, 6, 7]), 2)
    keep_best(best)
    assert place_levels(best, 1000, 1) == (1, 0, True)
    assert place_levels(best, 1000, 2) == (2, 1, False)


def test_a_level_whose_worst_score_was_cut_off_is_known_up_to_its_last_key():
    """Key 9 has the better bits; keys 1 and 2 tie with it, and so does key 3, which was dropped."""
    near = 1 - 1e-15
    best = filled(np.array([1.0, near, near, near]), np.array([9, 1, 2, 3]), 3)
    keep_best(best)
    assert place_levels(best, 1000, 2) == (2, 0, True)
    assert best.key[:2].tolist() == [1, 2]
    assert place_levels(best, 1000, 3) == (3, 0, False)

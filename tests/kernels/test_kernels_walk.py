"""Walks into ranges of columns, pairs, and the threads that run them."""

import itertools
import threading

import numpy as np
import pytest

from gelato.kernels.threads import run_blocks
from gelato.kernels.walk import walk_memory
from gelato.methods.heuristics.neighborhood import katz
from gelato.scores import WalkScores
from gelato.scores.autocovariance import autocovariance
from graphs import random_graph
from score_matrices import list_walks


@pytest.mark.parametrize("make", [autocovariance, katz])
@pytest.mark.parametrize("seed", range(5))
def test_a_walk_into_a_range_equals_the_range_of_the_whole_walk(make, seed):
    scores = make(random_graph(seed, nodes=16, weighted=seed % 2 == 0))
    n = scores.n
    high = np.repeat([n // 2, n], [n // 2, n - n // 2])
    low = np.minimum(np.arange(n) + 1, high)
    got = dense(scores, low, high)
    whole = dense(scores, np.zeros(n, np.int64), np.full(n, n))
    column = np.arange(n)
    inside = (column >= low[:, None]) & (column < high[:, None])
    np.testing.assert_array_equal(got, np.where(inside, whole, 0))
    assert got.any()


def dense(scores: WalkScores, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    rows, space = np.arange(scores.n), walk_memory(scores.walk)
    return np.nan_to_num(list_walks(rows, low, high, scores.walk, scores.formula, scores.node, space))


def test_working_memory_is_clean_after_a_block():
    scores = autocovariance(random_graph(1))
    space = walk_memory(scores.walk)
    low, high = np.zeros(scores.n, np.int64), np.full(scores.n, scores.n)
    list_walks(np.arange(scores.n), low, high, scores.walk, scores.formula, scores.node, space)
    assert not space.here.any()
    assert not space.there.any()
    assert not space.reached.any()


def test_blocks_run_once_each_and_ascending_on_every_thread():
    seen: dict[int, list[int]] = {}
    done: list[int] = []
    run_blocks(
        range(200),
        threading.get_ident,
        lambda thread, block: seen.setdefault(thread, []).append(block),
        lambda thread, block: done.append(block),
        threads=4,
    )
    assert sorted(done) == list(range(200))
    assert sorted(itertools.chain(*seen.values())) == list(range(200))
    assert all(blocks == sorted(blocks) for blocks in seen.values())


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_block_reaches_the_caller_and_stops_the_rest(threads):
    done: list[int] = []

    def task(state: None, block: int) -> None:
        if block == 5:
            raise RuntimeError("block 5")

    with pytest.raises(RuntimeError, match="block 5"):
        run_blocks(range(100_000), lambda: None, task, lambda state, block: done.append(block), threads)
    assert len(done) < 100_000

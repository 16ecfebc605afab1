"""The engine auto: threads unless a job is long and a GPU is there."""

import numpy as np
import pytest

from gelato import load, split
from gelato.ranking.engines import ENGINES, local, running_on
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.scores.autocovariance import autocovariance


@pytest.fixture(scope="module")
def candidates():
    parts = split(load("debian-sample"))
    return autocovariance(parts.train), unbiased(parts)


@pytest.mark.parametrize(("patience", "gpu", "moved"), [(5.0, True, False), (0.0, True, True), (0.0, False, False)])
def test_a_gpu_is_for_long_jobs(candidates, monkeypatch, patience, gpu, moved):
    """A stand-in for the GPU tells whether it was chosen; it counts on threads, so ranks are the same."""
    chosen = []

    class Gpu(local.Threads):
        def __init__(self, threads):
            chosen.append("cuda")
            super().__init__(threads)

    monkeypatch.setattr(local, "PATIENCE", patience)
    monkeypatch.setattr(local, "FEW_BLOCKS", 1)
    monkeypatch.setattr(local, "has_gpu", lambda: gpu)
    monkeypatch.setattr(local, "Cuda", Gpu)
    wanted = rank(*candidates, threads=2)
    with running_on(ENGINES["auto"]):
        found = rank(*candidates, threads=2)
    assert bool(chosen) == moved
    np.testing.assert_array_equal(found.above, wanted.above)
    np.testing.assert_array_equal(found.tied, wanted.tied)


def test_a_job_of_few_blocks_is_not_timed(candidates, monkeypatch):
    monkeypatch.setattr(local, "seconds_of", lambda *_: pytest.fail("a block was timed"))
    monkeypatch.setattr(local, "FEW_BLOCKS", 10**9)
    with running_on(ENGINES["auto"]):
        rank(*candidates, threads=2)

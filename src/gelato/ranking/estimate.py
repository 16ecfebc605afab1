"""Time and memory of an exact evaluation, predicted from a sample of rows before it runs."""

import time

import numpy as np

from gelato.costs.estimates import Cost, Estimate, seconds_of
from gelato.kernels.threads import default_threads
from gelato.memory.usage import peak_memory
from gelato.ranking.counting import CountJob
from gelato.ranking.engines import device_in_use, engine_of
from gelato.ranking.engines.ray import ALONE
from gelato.ranking.pair_list import score_pairs
from gelato.ranking.queries import candidates_query
from gelato.regimes import Candidates
from gelato.scores import Scores


def scan_cost(scores: Scores, candidates: Candidates, *, threads: int | None = None, seed: int = 0) -> Estimate:
    """Predict time and memory of ``rank(scores, candidates)`` from a sample, in a way that suits these scores.

    With the engine ``cuda``, one block is timed on the GPU, and the memory is that of the host. With the engine
    ``ray``, the time is for all workers of the cluster, and the memory is that of this process.

    Args:
        scores: any predictor.
        candidates: positives, and which non-links count.
        threads: all cores by default.
        seed: of the sample.
    """
    threads, start = engine_of(None, default_threads() if threads is None else threads).capacity()
    before = peak_memory()
    if candidates.sampled is not None:
        pairs = np.concatenate([candidates.positives, candidates.sampled])
        seconds, few = seconds_of(lambda: score_pairs(scores, pairs, threads=threads)), len(pairs)
        return Estimate.of(Cost(seconds, 64 * few, few), pairs=few, threads=threads, loaded=before)
    device = device_in_use()
    cost = None if device is None else _device_cost(scores, candidates, threads, device)
    if cost is None:
        cost = scores.cost(candidates_query(candidates), candidates.positives, threads, seed)
    count = candidates.negatives + len(candidates.excluded)
    used = min(scores.workers or threads, threads)
    expected = Estimate.of(cost, pairs=count, threads=used, loaded=before)
    return expected.after(start) if cost.seconds > ALONE else expected  # a quick job is not sent to a cluster


def _device_cost(scores: Scores, candidates: Candidates, threads: int, device: str) -> Cost | None:
    """From listed pairs, one block in the middle and the closed form, each timed once it is warm; ``None`` on a CPU."""
    positives = candidates.positives
    score_pairs(scores, positives, threads=threads)
    begin = time.perf_counter()
    bins = scores.levels(score_pairs(scores, positives, threads=threads)).bins
    job = CountJob(scores.counts(candidates_query(candidates)), bins)
    moved = job.on_device(device)
    if moved is None or not moved.blocks:
        return None
    seconds = time.perf_counter() - begin
    block = moved.blocks[len(moved.blocks) // 2]
    moved.run(moved.start(), block)
    part = moved.start()
    share = sum(map(moved.pairs_of, moved.blocks)) / max(1, moved.pairs_of(block))
    seconds += share * seconds_of(lambda: moved.run(part, block))
    explicit = round(share * moved.explicit(part))
    seconds += seconds_of(lambda: moved.negatives(part, threads))
    lists = 4 * 16 * (len(positives) + len(candidates.excluded))
    return Cost(seconds, 3 * part.counters.nbytes + lists, explicit)

"""Time and memory of an exact evaluation, predicted from a sample of rows before it runs."""

import time
from dataclasses import asdict, dataclass

import numpy as np

from gelato.kernels.threads import default_threads
from gelato.memory import peak_memory
from gelato.ranking.counting import CountJob, query_of
from gelato.ranking.engines import at_hand, device_in_use
from gelato.ranking.engines.ray import ALONE
from gelato.ranking.listed import score_pairs
from gelato.regimes import Candidates
from gelato.scores import Scores
from gelato.scores.contract import Cost


@dataclass(frozen=True)
class Estimate:
    """What an evaluation will take.

    Attributes:
        seconds: wall time on ``threads`` threads.
        memory_bytes: working memory above that of the loaded graph.
        pairs: number of pairs in all, links included.
        explicit: number of them with an explicit score, about.
        threads: number of threads assumed.
        peak_memory_bytes: that of the whole process: what it took to load the graph, plus ``memory_bytes``.
    """

    seconds: float
    memory_bytes: int
    pairs: int
    explicit: int
    threads: int
    peak_memory_bytes: int

    def as_json(self) -> dict[str, float]:
        """All fields, ready for ``json.dumps``."""
        return asdict(self)


def estimate(scores: Scores, candidates: Candidates, *, threads: int | None = None, seed: int = 0) -> Estimate:
    """Predict time and memory of ``rank(scores, candidates)`` from a sample, in a way that suits these scores.

    With the engine ``cuda``, one block is timed on the GPU, and the memory is that of the host. With the engine
    ``ray``, the time is for all workers of the cluster, and the memory is that of this process.

    Args:
        scores: any predictor.
        candidates: positives, and which non-links count.
        threads: all cores by default.
        seed: of the sample.
    """
    threads, start = at_hand(default_threads() if threads is None else threads)
    before = peak_memory()
    if candidates.sampled is not None:
        begin = time.perf_counter()
        score_pairs(scores, np.concatenate([candidates.positives, candidates.sampled]), threads=threads)
        few = len(candidates.positives) + len(candidates.sampled)
        return Estimate(time.perf_counter() - begin, 64 * few, few, few, threads, before + 64 * few)
    device = device_in_use()
    cost = None if device is None else _device_cost(scores, candidates, threads, device)
    if cost is None:
        cost = scores.cost(query_of(candidates), candidates.positives, threads, seed)
    pairs = candidates.negatives + len(candidates.excluded)
    used = min(scores.workers or threads, threads)
    seconds = cost.seconds + (start if cost.seconds > ALONE else 0.0)  # a quick job is not sent to a cluster
    return Estimate(seconds, cost.memory_bytes, pairs, cost.explicit, used, before + cost.memory_bytes)


def _device_cost(scores: Scores, candidates: Candidates, threads: int, device: str) -> Cost | None:
    """From listed pairs, one block in the middle and the closed form, each timed once it is warm; ``None`` on a CPU."""
    positives = candidates.positives
    score_pairs(scores, positives, threads=threads)
    begin = time.perf_counter()
    bins = scores.levels(score_pairs(scores, positives, threads=threads)).bins
    job = CountJob(scores.counts(query_of(candidates)), bins)
    moved = job.moved(device)
    if moved is None or not moved.blocks:
        return None
    seconds = time.perf_counter() - begin
    block = moved.blocks[len(moved.blocks) // 2]
    moved.run(moved.start(), block)
    part = moved.start()
    begin = time.perf_counter()
    moved.run(part, block)
    share = sum(map(moved.pairs_of, moved.blocks)) / max(1, moved.pairs_of(block))
    seconds += share * (time.perf_counter() - begin)
    explicit = round(share * moved.explicit(part))
    begin = time.perf_counter()
    moved.negatives(part, threads)
    lists = 4 * 16 * (len(positives) + len(candidates.excluded))
    return Cost(seconds + time.perf_counter() - begin, 3 * part.counters.nbytes + lists, explicit)

"""The cost model of docs/scale.md: what an exact ranking by walks touches, and the seconds it should take."""

import time
from dataclasses import dataclass

import numpy as np
from numba import njit

from gelato.graph import Graph


@dataclass(frozen=True)
class Work:
    """What the walks of a ranking do.

    Attributes:
        nodes: nodes of the graph, for what is done once for each of them.
        inner: links followed by all steps but the last.
        last: links followed by the last step, which leads only to later nodes.
        explicit: pairs reached, each of which is scored and counted once.
    """

    nodes: int
    inner: int
    last: int
    explicit: int

    @property
    def touched(self) -> int:
        """Links followed in all."""
        return self.inner + self.last

    @property
    def bytes(self) -> int:
        """Bytes read and written, mostly in caches.

        For each link an index and an accumulator, read and written; for each pair its place in the list, its value,
        its group of degrees and two counters.
        """
        return 20 * self.touched + 58 * self.explicit

    @property
    def operations(self) -> int:
        """Additions and multiplications: one for each link, about six for each pair."""
        return self.touched + 6 * self.explicit


def work_of(graph: Graph, steps: int) -> Work:
    """Count the work of walks of ``steps`` steps exactly, in the time of the walks themselves."""
    pattern = graph.pattern
    counts = _count(pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64), steps)
    return Work(graph.n, *map(int, counts))


def bound_of(graph: Graph, steps: int) -> float:
    """The number of all walks over two: sums of products of degrees, known without walking.

    With two steps these are the touches themselves; longer walks meet and go on as one, so they touch less.
    """
    walks = np.ones(graph.n)
    for _ in range(steps):
        walks = graph.pattern @ walks
    return float(walks.sum()) / 2


NANOSECONDS = {"nodes": 528.0, "touched": 3.16, "explicit": 21.5}
"""Of each node, each link followed and each pair counted, on one thread; from ``curves.py fit``."""


def predicted(work: Work, threads: int = 1) -> float:
    """Seconds of an exact ranking."""
    return 1e-9 * sum(getattr(work, name) * each for name, each in NANOSECONDS.items()) / threads


@njit(cache=True)
def _count(indptr, indices, steps):
    n = len(indptr) - 1
    seen, here, there = np.full(n, -1), np.zeros(n, np.int64), np.zeros(n, np.int64)
    inner = last = explicit = 0
    mark = -1
    for u in range(n):
        here[0] = u
        count = 1
        for _ in range(steps - 1):
            mark += 1
            reached = 0
            for i in range(count):
                a = here[i]
                inner += indptr[a + 1] - indptr[a]
                for j in range(indptr[a], indptr[a + 1]):
                    b = indices[j]
                    if seen[b] != mark:
                        seen[b] = mark
                        there[reached] = b
                        reached += 1
            here, there = there, here
            count = reached
        mark += 1
        for i in range(count):
            a = here[i]
            begin = indptr[a] + np.searchsorted(indices[indptr[a] : indptr[a + 1]], u + 1)
            last += indptr[a + 1] - begin
            for j in range(begin, indptr[a + 1]):
                if seen[indices[j]] != mark:
                    seen[indices[j]] = mark
                    explicit += 1
    return inner, last, explicit


@njit(cache=True)
def _scatter(total, state, times):
    """Add to accumulators in a random order (xorshift), as walks into a graph without any order do."""
    mask = len(total) - 1
    for _ in range(times):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        total[state & np.uint64(mask)] += 1.0


def main() -> None:
    """Print what following one link costs by the size of the accumulators, when nodes have no order at all."""
    seed, times = np.uint64(88172645463325252), 5_000_000
    for bits in (13, 16, 18, 20, 23, 27):
        total = np.zeros(2**bits)
        _scatter(total, seed, times)  # compiled, and the pages are there
        seconds = []
        for _ in range(3):
            begin = time.process_time()
            _scatter(total, seed, times)
            seconds.append(time.process_time() - begin)
        print(f"{2**bits:>11,} nodes, {2**bits * 8 / 1e6:>8.1f} MB: {min(seconds) / times * 1e9:.2f} ns")


if __name__ == "__main__":
    main()

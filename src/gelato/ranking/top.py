"""The best missing links: exact top-k over all unlinked pairs, in bounded memory."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.kernels.threads import default_threads, run_blocks
from gelato.kernels.top import Heap, heap_of, top_dense, top_walks
from gelato.kernels.walk import Space, space_of
from gelato.ranking.layout import layout_of
from gelato.ranking.rank import Progress, check_fit
from gelato.regimes import Candidates
from gelato.scores import DenseScores, Scores, WalkScores


@dataclass(frozen=True, eq=False)
class Links:
    """Ranked links, best first: ``(k, 2)`` pairs and their ``(k,)`` scores."""

    pairs: Pairs
    score: NDArray[np.float64]


def top(scores: Scores, graph: Graph, k: int, *, threads: int | None = None, progress: Progress | None = None) -> Links:
    """The ``k`` best pairs that are not links of ``graph``; of equal scores the smaller ``(u, v)`` comes first.

    Background pairs take part like all others. Memory is ``O(n + k)`` for each thread.
    """
    check_fit(scores, graph.n, graph.directed)
    none = np.empty((0, 2), np.int64)
    candidates = Candidates(graph.n, graph.directed, none, graph.edges)
    if not 1 <= k <= candidates.negatives:
        raise InputError(f"k must lie between 1 and the {candidates.negatives:,} unlinked pairs, got {k:,}")
    layout = layout_of(candidates)
    skip = (layout.skip.indptr, layout.skip.indices)
    size = scores.block_rows if isinstance(scores, DenseScores) else max(16, min(1024, graph.n // 64))
    heaps: list[Heap] = []
    total, done = layout.pairs_of(np.arange(graph.n)), 0

    def state() -> tuple[Heap, Space | None]:
        heaps.append(heap_of(k))
        return heaps[-1], space_of(scores.walk) if isinstance(scores, WalkScores) else None

    def task(mine: tuple[Heap, Space | None], rows: NDArray[np.int64]) -> None:
        heap, space = mine
        if isinstance(scores, WalkScores):
            walk, form, node = scores.walk, scores.form, scores.node
            top_walks(rows, layout.low, layout.high, *skip, walk, form, node, space, heap)
        else:
            top_dense(rows, layout.low, layout.high, *skip, scores.checked_block(rows), heap)

    def report(mine: tuple[Heap, Space | None], rows: NDArray[np.int64]) -> None:
        nonlocal done
        done += layout.pairs_of(rows)
        if progress is not None:
            progress(done, total)

    threads = default_threads() if threads is None else threads
    workers = scores.threads or threads if isinstance(scores, DenseScores) else threads
    run_blocks(layout.blocks(size), state, task, report, min(workers, threads))
    score, u, v = (np.concatenate([part[: heap.size[0]] for heap in heaps for part in (heap[i],)]) for i in range(3))
    order = np.lexsort((v, u, -score))[:k]
    return Links(np.column_stack([u, v])[order], scores.unit * score[order])

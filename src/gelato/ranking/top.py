"""The best missing links: exact top-k over all unlinked pairs, in bounded memory."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.kernels.best import Best, Limits, Ties, best_of, level_end, merged, place_levels, window
from gelato.kernels.threads import default_threads, run_blocks
from gelato.kernels.walk import Space
from gelato.ranking.rank import Progress, check_fit
from gelato.ranking.sweeps import Block, Nodes, Sweep, background_of, sweep_by_row, sweeps_of
from gelato.scores import DenseScores, Scores

SLACK = 32
"""How many pairs more than asked for are kept at least, so that mostly the level at the cut is known to its end."""

ROOM = 1024
"""How many further pairs a buffer takes at least before the best are selected."""

Found = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Raw scores and keys of pairs: the key is ``u * n + v``."""


@dataclass(frozen=True, eq=False)
class Links:
    """Ranked links, best first: ``(k, 2)`` pairs and their ``(k,)`` scores."""

    pairs: Pairs
    score: NDArray[np.float64]


def top(
    scores: Scores,
    graph: Graph,
    k: int,
    *,
    per_node: bool = False,
    nodes: ArrayLike | None = None,
    between: tuple[ArrayLike, ArrayLike] | None = None,
    exclude: ArrayLike | None = None,
    min_score: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Links:
    """The ``k`` best of all pairs that are not links of ``graph``; fewer if fewer qualify.

    Pairs that no walk joins take part like all others. Memory is ``O(n + k)`` for each thread, besides the result;
    time that of walks from the nodes that matter: all, or with ``nodes`` or ``between`` those of the smaller side.

    Ties come in the order of ``(u, v)``, also at the cut. Scores tie when rounding may explain their difference
    (docs/decisions.md, 3): the best score that is left begins a level, those within the tolerance of it belong to it,
    and inside a level ``(u, v)`` decides. So no pair comes before one that is better by more than the tolerance.

    Args:
        scores: any predictor.
        graph: its links are left out.
        k: how many pairs, at least 1.
        per_node: the best ``k`` partners of each node instead, or of each of ``nodes``, or of each of the first of
            ``between`` with partners in the second. Pairs are then (node, partner), by node, then best first; on a
            directed graph from the node to the partner, on others a pair may come under both of its nodes.
        nodes: ``(q,)`` node indices; only pairs with at least one end among them.
        between: two arrays of node indices, which may overlap; only pairs with one end in each, on a directed graph
            from the first to the second.
        exclude: ``(e, 2)`` pairs left out besides the links; either way round unless the graph is directed.
        min_score: leave out pairs with a lower score.
        threads: all cores by default. The result does not depend on it.
        progress: called with the pairs done and in all.
    """
    check_fit(scores, graph.n, graph.directed)
    threads = default_threads() if threads is None else threads
    for name, value in (("k", k), ("threads", threads)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise InputError(f"{name} must be a whole number of at least 1, got {value!r}")
    if min_score is not None and (not isinstance(min_score, Real) or np.isnan(min_score)):
        raise InputError(f"min_score must be a number, got {min_score!r}")
    rows, partners = _restriction(nodes, between, graph.n)
    skip = _left_out(graph, exclude)
    minimum = -np.inf if min_score is None else float(min_score)
    if any(side is not None and len(side) == 0 for side in (rows, partners)):
        return Links(np.empty((0, 2), np.int64), np.empty(0))
    search = _Search(scores, minimum, int(threads), progress)
    if per_node:
        return search.best_by_row(int(k), sweep_by_row(scores, skip, rows, partners))
    return search.best(int(k), sweeps_of(scores, skip, rows, partners))


def _restriction(
    nodes: ArrayLike | None, between: tuple[ArrayLike, ArrayLike] | None, n: int
) -> tuple[Nodes | None, Nodes | None]:
    """The nodes at one end of all pairs and those at the other; ``None`` stands for all nodes."""
    if between is None:
        return None if nodes is None else _checked_nodes(nodes, n, "nodes"), None
    if nodes is not None:
        raise InputError("nodes and between cannot be combined; give one of them")
    if len(between) != 2:
        raise InputError(f"between must be two lists of nodes, got {len(between)}")
    one, other = (_checked_nodes(side, n, "between") for side in between)
    return one, other


def _checked_nodes(given: ArrayLike, n: int, option: str) -> Nodes:
    nodes = np.asarray(given)
    if nodes.ndim != 1 or (nodes.size and not np.issubdtype(nodes.dtype, np.integer)):
        raise InputError(f"{option} must list node indices, got {nodes.dtype} of shape {nodes.shape}")
    outside = (nodes < 0) | (nodes >= n)
    if outside.any():
        raise InputError(f"{option} lists node {nodes[outside][0]}; nodes go from 0 to {n - 1}")
    return np.unique(nodes.astype(np.int64))


def _left_out(graph: Graph, exclude: ArrayLike | None) -> csr_array:
    """``(n, n)`` the links and the pairs of ``exclude``, in both directions when undirected."""
    given = np.asarray([] if exclude is None else exclude)
    if given.size == 0:
        return graph.pattern
    if given.ndim != 2 or given.shape[1] != 2 or not np.issubdtype(given.dtype, np.integer):
        raise InputError(f"exclude must list pairs of node indices, got {given.dtype} of shape {given.shape}")
    outside = ((given < 0) | (given >= graph.n)).any(axis=1)
    if outside.any():
        u, v = given[outside][0]
        raise InputError(f"exclude lists ({u}, {v}); nodes go from 0 to {graph.n - 1}")
    pairs = given.astype(np.int64)
    pairs = pairs if graph.directed else np.concatenate([pairs, pairs[:, ::-1]])
    more = csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=graph.pattern.shape)
    return csr_array(graph.pattern + more)


class _Search:
    """One search for the best pairs of some scores."""

    def __init__(self, scores: Scores, minimum: float, threads: int, progress: Progress | None) -> None:
        node, sign = background_of(scores)
        most = float(node.max()) ** 2 if sign else 0.0
        least, self._threads = 0.0, threads
        if isinstance(scores, DenseScores):
            least, self._threads = float(scores.floor), min(scores.threads or threads, threads)
        self._ties = Ties(float(scores.tolerance), sign, node, most, least)
        self._limits = _limits(minimum, float(scores.unit))
        self._n, self._unit = scores.n, scores.unit
        self._progress = progress

    def best(self, k: int, sweeps: list[Sweep]) -> Links:
        """The best ``k`` pairs of some sweeps that hold no pair twice."""
        return self._links(*self._found(k, sweeps, self._progress))

    def best_by_row(self, k: int, sweep: Sweep) -> Links:
        """The best ``k`` pairs of each row."""
        rows = len(sweep.pattern.rows)
        k = min(k, sweep.columns)
        score, key, count = np.empty((rows, k)), np.empty((rows, k), np.int64), np.zeros(rows, np.int64)
        keep = k + min(SLACK, 8 + k // 4)

        def state() -> Best:
            return best_of(keep, keep, self._limits, self._ties)

        def task(sweep: Sweep, block: Block, space: Space | None, best: Best) -> None:
            sweep.offer_by_row(block, space, best, (score, key, count))

        if k > 0:
            self._run([sweep], state, task, self._progress)
        for i in np.flatnonzero(count < 0).tolist():
            found = self._found(k, [sweep.row(i)], None)
            count[i] = len(found[0])
            score[i, : count[i]], key[i, : count[i]] = found
        filled = np.arange(k) < count[:, None]
        return self._links(score[filled], key[filled])

    def _links(self, score: NDArray[np.float64], key: NDArray[np.int64]) -> Links:
        return Links(np.column_stack(np.divmod(key, self._n)), self._unit * score)

    def _found(self, k: int, sweeps: list[Sweep], progress: Progress | None) -> Found:
        """The best ``k`` pairs, in order."""
        k = min(k, sum(sweep.pairs_of() for sweep in sweeps))
        if k == 0:
            return np.empty(0), np.empty(0, np.int64)
        kept = self._kept(k + max(SLACK, k // 16), sweeps, self._limits, progress)
        count, begin, known = place_levels(kept, self._n, k)
        return (kept.score[:count], kept.key[:count]) if known else self._settled(k, sweeps, kept, begin)

    def _settled(self, k: int, sweeps: list[Sweep], kept: Best, begin: int) -> Found:
        """The same when the level at the cut, whose entries in ``kept`` follow ``begin``, is not known well enough.

        The rows are gone through again, once or more for the level's lower end and once for its smallest keys, so that
        memory stays that of ``k`` pairs however many tie.
        """
        score, key = kept.score[begin : kept.size[0]], kept.key[begin : kept.size[0]]
        highest, lowest = float(score.max()), float(score.min())
        anchor = key[score == highest].min()
        near = self._limits._replace(floor=max(self._limits.floor, highest - window(highest, self._ties)))
        finished = False
        while not finished:
            below = near._replace(ceiling=float(np.nextafter(lowest, -np.inf)))
            more_score, more_key, all_of_them = self._in_order(kept.keep, sweeps, below)
            score, key = np.append(highest, more_score), np.append(anchor, more_key)
            end = level_end(score, key, 0, len(key), self._n, self._ties)
            finished = end < len(score) or all_of_them
            lowest = float(score[end - 1]) if end > 1 else lowest
        level = self._limits._replace(floor=lowest, ceiling=highest, by_key=True)
        more_score, more_key, _ = self._in_order(k - begin, sweeps, level)
        return np.append(kept.score[:begin], more_score), np.append(kept.key[:begin], more_key)

    def _in_order(self, keep: int, sweeps: list[Sweep], limits: Limits) -> tuple[*Found, bool]:
        """The best ``keep`` pairs within limits in bitwise order, and whether these are all."""
        kept = self._kept(keep, sweeps, limits, None)
        score, key = kept.score[: kept.size[0]], kept.key[: kept.size[0]]
        order = np.argsort(key) if limits.by_key else np.lexsort((key, -score))
        return score[order], key[order], bool(kept.bound[0] == -np.inf)

    def _kept(self, keep: int, sweeps: list[Sweep], limits: Limits, progress: Progress | None) -> Best:
        """The best ``keep`` pairs within limits."""
        parts: list[Best] = []
        free: list[Best] = []
        cut = np.full(1, limits.floor)

        def state() -> Best:
            try:
                return free.pop()  # one of those that the explicit pairs have filled
            except IndexError:
                mine = best_of(keep, max(ROOM, keep // 2), limits, self._ties, cut)
                parts.append(mine)
                return mine

        self._run(sweeps, state, Sweep.offer, progress)
        free += parts
        background = [part for sweep in sweeps for part in sweep.background(cut[0])]
        self._run(background, state, Sweep.offer_background, None)
        return merged(parts)

    def _run(
        self,
        sweeps: list[Sweep],
        state: Callable[[], Best],
        task: Callable[[Sweep, Block, Space | None, Best], None],
        progress: Progress | None,
    ) -> None:
        """Call ``task`` for all blocks of some sweeps, in each thread with a ``state`` of its own."""
        done, total = 0, sum(sweep.pairs_of() for sweep in sweeps)
        for sweep in sweeps:

            def fresh(sweep: Sweep = sweep) -> tuple[Space | None, Best]:
                return sweep.space(), state()

            def work(mine: tuple[Space | None, Best], block: Block, sweep: Sweep = sweep) -> None:
                task(sweep, block, *mine)

            def report(mine: tuple[Space | None, Best], block: Block, sweep: Sweep = sweep) -> None:
                nonlocal done
                done += sweep.pairs_of(block)
                if progress is not None:
                    progress(done, total)

            run_blocks(sweep.blocks(), fresh, work, report, self._threads)


def _limits(minimum: float, unit: float) -> Limits:
    """Limits of the raw scores for a least score."""
    raw = minimum / unit
    floor = raw - 1e-9 * abs(raw) - 1e-290 / unit
    return Limits(floor if np.isfinite(floor) else -np.inf, np.inf, unit, minimum, False)

"""The best missing links: exact top-k over all unlinked pairs, in bounded memory."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.kernels.threads import default_threads
from gelato.kernels.top_buffer import ScoreLimits, TopBuffer, keep_best, level_end, place_levels, tie_window
from gelato.ranking.engines import Engine, Progress, engine_of
from gelato.ranking.job import FoldOptions, Job, Sum
from gelato.ranking.queries import bipartite_queries, search_query
from gelato.ranking.rank import check_fit
from gelato.ranking.top_search import TopJob, TopPerRowJob
from gelato.scores import Query, Scores, key_of
from gelato.scores.contract import SearchScan

SLACK = 32
"""How many pairs more than asked for are kept at least, so that mostly the level at the cut is known to its end."""

ROOM = 1024
"""How many further pairs a buffer takes at least before the best are selected."""

Entries = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Raw scores and keys of pairs: the key is ``u * n + v``."""


@dataclass(frozen=True, eq=False)
class TopLinks:
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
    engine: str | None = None,
) -> TopLinks:
    """The ``k`` best of all pairs that are not links of ``graph``; fewer if fewer qualify.

    On a bipartite graph, only pairs across its two sides are ranked, even with the restrictions below.
    Pairs that no walk joins are ranked like all others. Each thread needs ``O(n + k)`` memory besides the result. The
    time is that of walks from all nodes or, with ``nodes`` or ``between``, from the smaller set of nodes.

    Ties are listed in the order of ``(u, v)``, also at the cut. Scores tie when rounding may explain their difference
    (docs/decisions.md, 3): the best remaining score begins a level, scores within its tolerance belong to the level,
    and a level is sorted by ``(u, v)``. So no pair comes before one that is better by more than the tolerance.

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
        progress: called with the pairs done and in total.
        engine: a name in ``ENGINES``: what runs the blocks; that of ``running_on`` by default.
    """
    check_fit(scores, graph.n, graph.directed)
    threads = default_threads() if threads is None else threads
    for name, value in (("k", k), ("threads", threads)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise InputError(f"{name} must be a whole number of at least 1, got {value!r}")
    if min_score is not None and (not isinstance(min_score, Real) or np.isnan(min_score)):
        raise InputError(f"min_score must be a number, got {min_score!r}")
    query = search_query(graph, per_node=per_node, nodes=nodes, between=between, exclude=exclude)
    scans = [scores.searches(each) for each in bipartite_queries(query, graph.sides)]
    if scans and not per_node:
        scans = [list(chain.from_iterable(scans))]
    plans = [_by_tier(each) for each in scans]
    minimum = -np.inf if min_score is None else float(min_score)
    how = _SearchContext(scores, query, minimum, engine_of(engine, int(threads)))
    search = _by_row if per_node else _overall
    reports = _shared(progress, scans)
    links = [search(int(k), plan, how, report) for plan, report in zip(plans, reports, strict=True)]
    if len(links) == 1:
        return links[0]
    pairs = np.concatenate([np.empty((0, 2), np.int64), *(each.pairs for each in links)])
    order = np.argsort(pairs[:, 0], kind="stable")
    return TopLinks(pairs[order], np.concatenate([np.empty(0), *(each.score for each in links)])[order])


@dataclass(frozen=True, eq=False)
class _SearchContext:
    """What all parts of a search share: what is searched, the least score, and what runs the blocks."""

    scores: Scores
    query: Query
    minimum: float
    engine: Engine

    def unit(self, scans: Sequence[SearchScan]) -> float:
        """Factor from raw scores of scans of one tier to those that the user sees."""
        return self.scores.units[scans[0].tier]

    def identity(self, scans: Sequence[SearchScan], keep: int, limits: ScoreLimits) -> str | None:
        """Hash of all that the best pairs of some scans depend on; ``None`` where the scores have no key."""
        query = self.query
        if self.scores.key is None:
            return None
        asked = (query.skip, query.rows, query.columns, query.either_end, query.by_row)
        plan = [(scan.tier, np.asarray(scan.rows), list(scan.blocks)) for scan in scans]
        return key_of(self.scores.key, asked, plan, keep, tuple(limits))


def _by_tier(scans: Sequence[SearchScan]) -> list[list[SearchScan]]:
    """The scans of each tier, the highest first."""
    tiers = defaultdict(list)
    for scan in scans:
        tiers[scan.tier].append(scan)
    return [tiers[tier] for tier in sorted(tiers, reverse=True)]


def _overall(k: int, tiers: list[list[SearchScan]], how: _SearchContext, progress: Progress | None) -> TopLinks:
    """The best ``k`` pairs, of the highest tier first."""
    score, key = np.empty(0), np.empty(0, np.int64)
    for scans, report in zip(tiers, _shared(progress, tiers), strict=True):
        if len(key) < k:
            more_score, more_key = _Search(scans, how).best(k - len(key), report)
            score, key = np.append(score, how.unit(scans) * more_score), np.append(key, more_key)
        elif report is not None:
            report(_pairs(scans), None)  # none of them can come any more
    return TopLinks(_as_pairs(key, how.query.n), score)


def _by_row(k: int, tiers: list[list[SearchScan]], how: _SearchContext, progress: Progress | None) -> TopLinks:
    """The best ``k`` pairs of each row, of the highest tier first."""
    rows = len(tiers[0][0].rows)
    row, score, key, left = [], [], [], np.full(rows, k)
    for (scan,), report in zip(tiers, _shared(progress, tiers), strict=True):
        raw, keys, count = _Search([scan], how).best_by_row(k, report)
        taken = np.minimum(count, left)
        row.append(taken)
        score.append(_first(raw, taken))
        score[-1] *= how.unit([scan])
        key.append(_first(keys, taken))
        left -= taken
    if len(tiers) == 1:
        return TopLinks(_as_pairs(key[0], how.query.n), score[0])
    order = np.argsort(np.concatenate([np.repeat(np.arange(rows), taken) for taken in row]), kind="stable")
    return TopLinks(_as_pairs(np.concatenate(key)[order], how.query.n), np.concatenate(score)[order])


def _first(array: NDArray[Any], taken: NDArray[np.int64]) -> NDArray[Any]:
    """The first ``taken[i]`` entries of each row ``i``, one row after another."""
    if (taken == array.shape[1]).all():
        return array.ravel()  # no copy
    return array[np.arange(array.shape[1]) < taken[:, None]]


def _as_pairs(key: NDArray[np.int64], n: int) -> Pairs:
    """``(k, 2)`` the pairs of some keys."""
    pairs = np.empty((len(key), 2), np.int64)
    np.divmod(key, n, out=(pairs[:, 0], pairs[:, 1]))
    return pairs


def _pairs(scans: Sequence[SearchScan]) -> int:
    """How many pairs some scans hold, those left out included."""
    return sum(scan.pairs_of(block) for scan in scans for block in scan.blocks)


def _shared(progress: Progress | None, tiers: Sequence[Sequence[SearchScan]]) -> list[Progress | None]:
    """One report of progress for each tier, which go on from one another."""
    if progress is None:
        return [None] * len(tiers)
    ends = np.cumsum([0, *map(_pairs, tiers)]).tolist()
    return [_after(progress, before, ends[-1]) for before in ends[:-1]]


def _after(progress: Progress, before: int, pairs: int) -> Progress:
    """A report of progress that starts at ``before`` of all ``pairs``."""
    return lambda done, _: progress(before + done, pairs)


class _Search:
    """One search for the best pairs of some scans of one tier, which hold no pair twice."""

    def __init__(self, scans: Sequence[SearchScan], how: _SearchContext, limits: ScoreLimits | None = None) -> None:
        self._scans, self._how = scans, how
        self._limits = limits or _limits(how.minimum, how.unit(scans))

    def best_by_row(self, k: int, progress: Progress | None) -> tuple[*Entries, NDArray[np.int64]]:
        """``(r, k)`` raw scores and keys of the best pairs of each row, and ``(r,)`` how many there are."""
        (scan,) = self._scans
        k = min(k, scan.columns)
        if k == 0:
            rows = len(scan.rows)
            return np.empty((rows, 0)), np.empty((rows, 0), np.int64), np.zeros(rows, np.int64)
        # some more than asked for, to see how far the level at the cut reaches
        slack = min(SLACK, 8 + k // 4) if scan.ties.rounded else 0  # what ties then has the very same score
        job = TopPerRowJob([scan], k, k + slack, self._limits)
        score, key, count = self._fold(job, k, progress).out
        for i in np.flatnonzero(count < 0).tolist():
            one_score, one_key = _Search([scan.row(i)], self._how, self._limits).best(k)
            count[i] = len(one_key)
            score[i, : count[i]], key[i, : count[i]] = one_score, one_key
        return score, key, count

    def best(self, k: int, progress: Progress | None = None) -> Entries:
        """The best ``k`` pairs, in order."""
        k = min(k, _pairs(self._scans))
        if k == 0:
            return np.empty(0), np.empty(0, np.int64)
        kept = self._kept(k + max(SLACK, k // 16), self._limits, progress)
        count, begin, known = place_levels(kept, self._how.query.n, k)
        return (kept.score[:count], kept.key[:count]) if known else self._settled(k, kept, begin)

    def _settled(self, k: int, kept: TopBuffer, begin: int) -> Entries:
        """The same when the level at the cut, whose entries in ``kept`` follow ``begin``, is not known well enough.

        The rows are gone through again, once or more for the level's lower end and once for its smallest keys, so that
        memory stays that of ``k`` pairs however many tie.
        """
        score, key = kept.score[begin : kept.size[0]], kept.key[begin : kept.size[0]]
        highest, lowest = float(score.max()), float(score.min())
        anchor, ties = key[score == highest].min(), self._scans[0].ties
        near = self._limits._replace(floor=max(self._limits.floor, highest - tie_window(highest, ties)))
        finished = False
        while not finished:
            below = near._replace(ceiling=float(np.nextafter(lowest, -np.inf)))
            more_score, more_key, all_of_them = self._in_order(kept.keep, below)
            score, key = np.append(highest, more_score), np.append(anchor, more_key)
            end = level_end(score, key, 0, len(key), self._how.query.n, ties)
            finished = end < len(score) or all_of_them
            lowest = float(score[end - 1]) if end > 1 else lowest
        level = self._limits._replace(floor=lowest, ceiling=highest, by_key=True)
        more_score, more_key, _ = self._in_order(k - begin, level)
        return np.append(kept.score[:begin], more_score), np.append(kept.key[:begin], more_key)

    def _in_order(self, keep: int, limits: ScoreLimits) -> tuple[*Entries, bool]:
        """The best ``keep`` pairs within limits in bitwise order, and whether these are all."""
        kept = self._kept(keep, limits, None)
        score, key = kept.score[: kept.size[0]], kept.key[: kept.size[0]]
        # bitwise order, without levels: the caller decides what ties
        order = np.argsort(key) if limits.by_key else np.lexsort((key, -score))
        return score[order], key[order], bool(kept.bound[0] == -np.inf)

    def _kept(self, keep: int, limits: ScoreLimits, progress: Progress | None) -> TopBuffer:
        """The best ``keep`` pairs within limits: of the explicit ones, then of those that could still be better."""
        job = TopJob(self._scans, keep, max(ROOM, keep // 2), limits)
        explicit = self._fold(job, keep, progress, limits)
        keep_best(explicit.best)
        rest = [scan for each in self._scans for scan in each.rest(float(explicit.best.cut[0]))]
        if not rest:
            return explicit.best
        more = TopJob(rest, keep, job.room, limits, explicit.best.cut, explicit.best)
        return job.merge(explicit, self._how.engine.fold(more)).best

    def _fold(self, job: Job[Sum], keep: int, progress: Progress | None, limits: ScoreLimits | None = None) -> Sum:
        """The result of a job over the scans."""
        identity = partial(self._how.identity, self._scans, keep, limits or self._limits)
        return self._how.engine.fold(job, FoldOptions(progress, identity=identity))


def _limits(minimum: float, unit: float) -> ScoreLimits:
    """Limits of the raw scores for a least score."""
    raw = minimum / unit
    # raw scores are compared first; a floor that rounding put too high would lose pairs, one too low costs a comparison
    floor = raw - 1e-9 * abs(raw) - 1e-290 / unit
    return ScoreLimits(floor if np.isfinite(floor) else -np.inf, np.inf, unit, minimum, False)

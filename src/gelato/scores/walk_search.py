"""Searching walk scores: which rows of which walks hold the pairs that are asked for, each pair once."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gelato.kernels.pair_mask import BACKWARD, EITHER, FORWARD, PARTNER, ColumnsByBackground, SearchRows, search_rows
from gelato.kernels.top_buffer import TieRule, TopBuffer
from gelato.kernels.top_pairs import top_background, top_walks, top_walks_per_row
from gelato.kernels.top_per_row import FEW, top_short_lists_per_row
from gelato.kernels.walk import WalkMemory, walk_memory
from gelato.scores.contract import BestByRow, Block, Nodes, Query, RowSearch
from gelato.scores.pair_ranges import blocks_of

if TYPE_CHECKING:
    from gelato.scores.walk import WalkScores


@dataclass(frozen=True, eq=False)
class WalkSearchScan(RowSearch):
    """Rows of walk scores and what counts in them.

    Attributes:
        scores: their nodes may go by other indices, their links may be reversed.
        search: which pairs.
        original: the scores by the indices of the graph, where the rest is better searched in another order; the query
            then asks for all pairs of an undirected graph.
        query: what is asked for.
    """

    scores: "WalkScores"
    search: SearchRows
    query: Query
    original: "WalkScores | None"
    workers: ClassVar[int | None] = None

    @cached_property
    def ties(self) -> TieRule:
        """When raw scores tie; nodes by the indices of the graph."""
        sign = self.scores.background_sign
        node = np.empty(self.scores.n)
        node[self.search.name] = self.scores.node
        most = float(node.max()) ** 2 if sign else 0.0
        return TieRule(float(self.scores.tolerance), sign, node, most, 0.0, not self.scores.counts_walks)

    @cached_property
    def partners(self) -> ColumnsByBackground:
        """The columns by falling background."""
        part = self.search
        column = np.flatnonzero(part.side & PARTNER)
        column = column[np.argsort(part.name[column])]
        value = -self.scores.background_sign * part.node[column]
        order = np.argsort(value, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(value[order])) + 1, len(order))
        ascending = bool((np.diff(column[order]) > 0).all())  # then row i may begin behind what others hold
        start = np.searchsorted(column[order], part.low) if ascending else np.zeros(len(part.rows), np.int64)
        return ColumnsByBackground(column[order], np.repeat(ends, np.diff(ends, prepend=0)), start)

    @cached_property
    def blocks(self) -> list[Block]:
        rows = len(self.search.rows)
        return blocks_of(0, rows, max(4, min(1024, rows // 64)))

    def on_device(self, device: str) -> "WalkSearchScan | None":
        from gelato.scores.walk_device import DeviceWalkSearch, walk_on

        mine, walk = (self.scores, self.search, self.query, self.original), walk_on(self.scores, device)
        return None if walk is None else DeviceWalkSearch(*mine, device, walk)

    def pairs_of(self, block: Block) -> int:
        if not self.search.low.any():  # no triangle: rows with those columns that are partners
            return (block[1] - block[0]) * self.columns
        low = self.search.low[slice(*block)]
        return int(len(self.search.node) * len(low) - low.sum())

    def row(self, i: int) -> "WalkSearchScan":
        return WalkSearchScan(self.scores, self.search.single(i), self.query, None)

    def start(self) -> WalkMemory:
        return walk_memory(self.scores.walk)

    def offer(self, work: WalkMemory, block: Block, best: TopBuffer) -> None:
        """Offer what walks reach; the blocks of one ``work`` must ascend."""
        top_walks(*block, self.search, self.scores.walk, self.scores.formula, work, best)

    def rest(self, cut: float) -> list["WalkSearchScan"]:
        """Where pairs that no walk joins may have this raw score or a higher one."""
        part, sign = self.search, self.scores.background_sign
        if not (sign * (part.node[part.rows] * part.lead) >= cut).any():
            return []
        if self.original is None:
            return [self]
        order = np.argsort(-sign * self.original.node, kind="stable")
        return [_triangle(self.original, self.query, order)]

    def offer_rest(self, work: WalkMemory, block: Block, best: TopBuffer) -> None:
        top_background(*block, self.search, self.partners, self.scores.walk, self.scores.formula, work, best)

    def offer_by_row(self, work: WalkMemory, block: Block, best: TopBuffer, out: BestByRow) -> None:
        how = (self.scores.walk, self.scores.formula, work, best, out)
        search = top_short_lists_per_row if best.keep <= FEW else top_walks_per_row
        search(*block, self.search, self.partners, *how)


def search_scans(scores: "WalkScores", query: Query) -> list[WalkSearchScan]:
    """Scans that together find every pair of a query once. Walks start on the side with fewer nodes."""
    rows, columns = query.ends()
    if query.by_row:
        return [_scan(scores, query, rows, columns, FORWARD)]
    if not query.directed:
        fewer, more = sorted((rows, columns), key=len)
        if query.rows is not None:
            return [_scan(scores, query, fewer, more, EITHER)]
        # walks that start at the hubs and end at other nodes make fewer steps
        hubs_first = np.argsort(-np.diff(scores.first.indptr), kind="stable")
        return [replace(_triangle(scores, query, hubs_first), original=scores)]
    if query.either_end:
        every = np.arange(scores.n)
        others = np.setdiff1d(every, rows)
        into = [_from_fewer(scores, query, others, rows)] if len(others) else []
        return [_scan(scores, query, rows, every, FORWARD), *into]
    return [_from_fewer(scores, query, rows, columns)]


def _triangle(scores: "WalkScores", query: Query, order: Nodes) -> WalkSearchScan:
    """Every pair of an undirected graph, its nodes in this order."""
    every = np.arange(scores.n)
    scan = _scan(scores.permuted(order), query, every, every, EITHER, order)
    return replace(scan, search=scan.search._replace(low=every + 1))


def _from_fewer(scores: "WalkScores", query: Query, sources: Nodes, targets: Nodes) -> WalkSearchScan:
    """Directed pairs from sources to targets: walks from the sources, or against the links from fewer targets."""
    back = scores.transposed() if len(targets) < len(sources) else None
    if back is None:
        return _scan(scores, query, sources, targets, FORWARD)
    return _scan(back, query, targets, sources, BACKWARD)


def _scan(
    scores: "WalkScores", query: Query, rows: Nodes, partners: Nodes, turn: int, name: Nodes | None = None
) -> WalkSearchScan:
    """Pairs of ``rows`` and ``partners``; ``name`` is the old index of each node."""
    node = scores.node[partners]
    lead = float(node.max() if scores.background_sign > 0 else node.min())
    search = search_rows(query.skip, rows, partners, turn, scores.node, name)
    return WalkSearchScan(scores, search._replace(lead=lead), query, None)

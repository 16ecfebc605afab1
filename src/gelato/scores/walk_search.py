"""Searching walk scores: which rows of which walks hold the pairs that are asked for, each pair once."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gelato.kernels.best import Best, Ties
from gelato.kernels.few import FEW, few_walks_by_row
from gelato.kernels.sought import BACKWARD, EITHER, FORWARD, PARTNER, Partners, SearchRows, row_of, search_rows
from gelato.kernels.top import top_background, top_walks, top_walks_by_row
from gelato.kernels.walk import Space, space_of
from gelato.scores.contract import BestByRow, Block, Nodes, Query, SearchScan
from gelato.scores.ranges import blocks_of

if TYPE_CHECKING:
    from gelato.scores.walk import WalkScores


@dataclass(frozen=True, eq=False)
class WalkSearchScan:
    """Rows of walk scores and what counts in them.

    Attributes:
        scores: their nodes may go by other indices, their links may be turned round.
        sought: which pairs.
        original: the scores by the indices of the graph, where the rest is better searched in another order; the query
            then asks for all pairs of an undirected graph.
        query: what is asked for.
    """

    scores: "WalkScores"
    sought: SearchRows
    query: Query
    original: "WalkScores | None" = None
    tier = 0
    workers = None

    @property
    def unit(self) -> float:
        """Factor of the whole score."""
        return self.scores.unit

    @cached_property
    def ties(self) -> Ties:
        """When raw scores tie; nodes by the indices of the graph."""
        sign = self.scores.background_sign
        node = np.empty(self.scores.n)
        node[self.sought.name] = self.scores.node
        most = float(node.max()) ** 2 if sign else 0.0
        return Ties(float(self.scores.tolerance), sign, node, most, 0.0, not self.scores.counts_walks)

    @property
    def rows(self) -> Nodes:
        """The rows, one by one."""
        return self.sought.rows

    @property
    def columns(self) -> int:
        """How many columns count."""
        return int(np.count_nonzero(self.sought.side & PARTNER))

    @cached_property
    def partners(self) -> Partners:
        """The columns by falling background."""
        part = self.sought
        column = np.flatnonzero(part.side & PARTNER)
        column = column[np.argsort(part.name[column])]
        value = -self.scores.background_sign * part.node[column]
        order = np.argsort(value, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(value[order])) + 1, len(order))
        ascending = bool((np.diff(column[order]) > 0).all())  # then row i may begin behind what others hold
        start = np.searchsorted(column[order], part.low) if ascending else np.zeros(len(part.rows), np.int64)
        return Partners(column[order], np.repeat(ends, np.diff(ends, prepend=0)), start)

    @cached_property
    def blocks(self) -> list[Block]:
        """All rows, in ascending blocks."""
        rows = len(self.sought.rows)
        return blocks_of(0, rows, max(4, min(1024, rows // 64)))

    def moved(self, device: str) -> "SearchScan | None":
        """The same scan on a device."""
        import torch

        from gelato.scores.walk_device import DeviceWalkSearch, walk_on

        walk = walk_on(self.scores, torch.device(device))
        return None if walk is None else DeviceWalkSearch(self, torch.device(device), walk)

    def pairs_of(self, block: Block) -> int:
        """How many pairs a block holds, those left out included."""
        if not self.sought.low.any():  # no triangle: rows with those columns that are partners
            return (block[1] - block[0]) * self.columns
        low = self.sought.low[slice(*block)]
        return int(len(self.sought.node) * len(low) - low.sum())

    def row(self, i: int) -> "WalkSearchScan":
        """The row at position ``i`` alone."""
        return WalkSearchScan(self.scores, row_of(self.sought, i), self.query)

    @property
    def space(self) -> int:
        """That of the working memory of the walks."""
        return self.scores.space

    def start(self) -> Space:
        """Working memory of the walks."""
        return space_of(self.scores.walk)

    def offer(self, work: Space, block: Block, best: Best) -> None:
        """Offer what walks reach; the blocks of one ``work`` must ascend."""
        top_walks(*block, self.sought, self.scores.walk, self.scores.form, work, best)

    def rest(self, cut: float) -> list["WalkSearchScan"]:
        """Where pairs that no walk joins may have this raw score or a higher one."""
        part, sign = self.sought, self.scores.background_sign
        if not (sign * (part.node[part.rows] * part.lead) >= cut).any():
            return []
        if self.original is None:
            return [self]
        order = np.argsort(-sign * self.original.node, kind="stable")
        return [_triangle(self.original, self.query, order)]

    def offer_rest(self, work: Space, block: Block, best: Best) -> None:
        """Offer the pairs of a block that no walk joins."""
        top_background(*block, self.sought, self.partners, self.scores.walk, self.scores.form, work, best)

    def offer_by_row(self, work: Space, block: Block, best: Best, out: BestByRow) -> None:
        """Put the best pairs of each row of a block into ``out``, in order."""
        how = (self.scores.walk, self.scores.form, work, best, out)
        search = few_walks_by_row if best.keep <= FEW else top_walks_by_row
        search(*block, self.sought, self.partners, *how)


def search_scans(scores: "WalkScores", query: Query) -> list[WalkSearchScan]:
    """Where every pair of a query is found once. Walks start on the side with fewer nodes."""
    if query.labels is not None:
        raise NotImplementedError("searching inside parts is not available")
    every = np.arange(scores.n)
    rows, columns = query.rows, query.columns
    if query.by_row:
        return [_scan(scores, query, every if rows is None else rows, every if columns is None else columns, FORWARD)]
    if rows is None:
        return [_scan(scores, query, every, every, FORWARD) if query.directed else _hubs_first(scores, query)]
    if not query.directed:
        fewer, more = sorted((rows, every if columns is None else columns), key=len)
        return [_scan(scores, query, fewer, more, EITHER)]
    if query.either_end:
        others = np.setdiff1d(every, rows)
        into = [_from_fewer(scores, query, others, rows)] if len(others) else []
        return [_scan(scores, query, rows, every, FORWARD), *into]
    return [_from_fewer(scores, query, rows, every if columns is None else columns)]


def _hubs_first(scores: "WalkScores", query: Query) -> WalkSearchScan:
    """Every pair of an undirected graph. Walks that start at the hubs and end at other nodes make fewer steps."""
    scan = _triangle(scores, query, np.argsort(-np.diff(scores.first.indptr), kind="stable"))
    return replace(scan, original=scores)


def _triangle(scores: "WalkScores", query: Query, order: Nodes) -> WalkSearchScan:
    """Every pair of an undirected graph, its nodes in this order."""
    every = np.arange(scores.n)
    return _scan(scores.permuted(order), query, every, every, EITHER, name=order, low=every + 1)


def _from_fewer(scores: "WalkScores", query: Query, sources: Nodes, targets: Nodes) -> WalkSearchScan:
    """Directed pairs from sources to targets: walks from the sources, or against the links from fewer targets."""
    back = scores.turned() if len(targets) < len(sources) else None
    if back is None:
        return _scan(scores, query, sources, targets, FORWARD)
    return _scan(back, query, targets, sources, BACKWARD)


def _scan(
    scores: "WalkScores",
    query: Query,
    rows: Nodes,
    partners: Nodes,
    turn: int,
    name: Nodes | None = None,
    low: Nodes | None = None,
) -> WalkSearchScan:
    """Pairs of ``rows`` and ``partners`` in columns from ``low`` on; ``name`` is the old index of each node."""
    sign = scores.background_sign
    lead = float(scores.node[partners].max() if sign > 0 else scores.node[partners].min())
    sought = search_rows(query.skip, rows, partners, turn, scores.node, lead, name, low)
    return WalkSearchScan(scores, sought, query)

"""Walk scores on a GPU: dense tiles of what walks reach, counted and searched where they are."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.graph import Pairs
from gelato.kernels.best import Best
from gelato.kernels.bins import Bins
from gelato.kernels.device.counts import Background, added, bounds_of, count_listed, count_reached, scores_of
from gelato.kernels.device.hits import Candidates, keys_of, offer_list, offer_tile, offer_tile_by_row
from gelato.kernels.device.walks import DeviceWalk, device_walk, entries_of
from gelato.kernels.sought import PARTNER, ROW
from gelato.scores.contract import BestByRow, Block, Counts, ScoredPairs
from gelato.scores.device import (
    DeviceCountScan,
    DeviceRanges,
    DeviceSearchScan,
    blocks_on,
    device_ranges,
    in_pieces,
    listed_in,
    on,
    room,
    rows_of,
)
from gelato.scores.walk_counts import summed_rows

if TYPE_CHECKING:
    from gelato.scores.walk import WalkScores
    from gelato.scores.walk_counts import WalkCountScan
    from gelato.scores.walk_search import WalkSearchScan

LOG = logging.getLogger(__name__)

_MOVED: "WeakKeyDictionary[WalkScores, dict[torch.device, DeviceWalk | None]]" = WeakKeyDictionary()


def walk_on(scores: "WalkScores", device: torch.device) -> DeviceWalk | None:
    """The walk of some scores on a device, moved there once; ``None`` where it must stay on the host."""
    moved = _MOVED.setdefault(scores, {})
    if device not in moved:
        moved[device] = device_walk(scores.walk, device)
        if moved[device] is None:
            LOG.warning("link weights differ by too many orders of magnitude for the GPU, so the CPU ranks the pairs")
    return moved[device]


WORTH = 12
"""A walk that is laid out takes as long as so many entries of a product with a dense block."""

BYTES_PER_WALK = 100
"""What laying out a walk takes: its place and value, and those of the sorted list."""


def number_of_walks(scores: "WalkScores") -> NDArray[np.float64]:
    """``(n,)`` how many walks start at each node."""
    count = np.ones(scores.n)
    for matrix in (*([scores.inner] * (scores.steps - 1)), scores.first):
        count = summed_rows(matrix, count)
    return count


def is_thin(scores: "WalkScores", rows: NDArray[np.int64]) -> bool:
    """Whether walks from some rows are so few that they are better laid out one by one."""
    dense = (scores.steps - 1) * scores.inner.nnz * len(rows)
    return bool(WORTH * number_of_walks(scores)[rows].sum() < dense)


def thin_blocks(scores: "WalkScores", begin: int, rows: NDArray[np.int64], device: torch.device) -> list[Block]:
    """Positions of rows, from ``begin`` on, in blocks whose walks fit a device."""
    group = np.floor(np.cumsum(number_of_walks(scores)[rows] + 1) * BYTES_PER_WALK / room(device))
    cuts = [begin, *(begin + np.flatnonzero(np.diff(group)) + 1).tolist(), begin + len(rows)]
    return list(pairwise(cuts)) if len(rows) else []


def _bytes_per_row(scores: "WalkScores") -> int:
    """What a row takes: two steps of a walk, scores, masks."""
    return scores.dtype.itemsize * (2 * len(scores.weight) + 4 * scores.n) + 8 * scores.n


@dataclass(frozen=True, eq=False)
class DeviceWalkCounts(DeviceCountScan):
    """``WalkCountScan`` on a device."""

    scan: "WalkCountScan"
    walk: DeviceWalk

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks of rows that fit the device."""
        ranges, size = self.scan.ranges, _bytes_per_row(self.scan.scores)
        rows = [(0, self.scan.scores.n)] if ranges.middle is None else ranges.rows()
        if self._thin:
            return [
                block
                for some in rows
                for block in thin_blocks(self.scan.scores, some[0], np.arange(*some), self.device)
            ]
        triangle = ranges.middle is None and not self.scan.scores.directed
        return [block for some in rows for block in blocks_on(self.device, *some, size, triangle)]

    @cached_property
    def _thin(self) -> bool:
        return is_thin(self.scan.scores, np.arange(self.scan.scores.n))

    @cached_property
    def _ranges(self) -> DeviceRanges:
        return device_ranges(self.scan.ranges, self.device)

    @cached_property
    def _skipped(self) -> Tensor:
        """Keys of the pairs left out, ascending."""
        skip = self.scan.ranges.skip
        row = np.repeat(np.arange(self.scan.scores.n), np.diff(skip.indptr))
        return on(row * self.scan.scores.n + skip.indices, self.device)

    @cached_property
    def _background(self) -> Background:
        value, group = self.scan.scores.groups
        return Background(on(value, self.device), None if group is None else on(group, self.device))

    def count(self, work: None, block: Block, bins: Bins, counters: Counts) -> None:
        """Count a block."""
        explicit, shadow = self.scan.views(bins, counters)

        def run(rows: Block) -> None:
            low, high = self.scan.ranges.low[slice(*rows)], self.scan.ranges.high[slice(*rows)]
            first, last = int(low.min()), int(high.max())
            if first >= last:
                return
            mine, theirs = (
                torch.zeros(each.shape, dtype=torch.int64, device=self.device) for each in (explicit, shadow)
            )
            counted = (self.scan.scores.form, self._background, bounds_of(bins, self.device), mine, theirs)
            nodes = torch.arange(*rows, device=self.device)
            if self._thin:
                some = slice(*rows)
                source, v, values = self.walk.listed(nodes, self._ranges.low[some], self._ranges.high[some])
                u = nodes[source]
                kept = ~listed_in(u * self.scan.scores.n + v, self._skipped)
                count_listed(u[kept], v[kept], values[kept], *counted)
            else:
                values = self.walk.reached(nodes, first, last)
                count_reached(self._ranges.tile(values, rows, first, 0.0), *counted)
            added(mine, explicit)
            added(theirs, shadow)

        in_pieces(block, run)


@dataclass(frozen=True, eq=False)
class DeviceWalkSearch(DeviceSearchScan):
    """``WalkSearchScan`` on a device."""

    scan: "WalkSearchScan"
    walk: DeviceWalk

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks of rows that fit the device."""
        if self._thin:
            return thin_blocks(self.scan.scores, 0, self.scan.rows, self.device)
        return self._dense_blocks((0, len(self.scan.rows)))

    @cached_property
    def _thin(self) -> bool:
        return is_thin(self.scan.scores, self.scan.rows)

    def _dense_blocks(self, block: Block) -> list[Block]:
        """Rows in blocks whose dense scores fit the device."""
        size = _bytes_per_row(self.scan.scores)
        return blocks_on(self.device, *block, size, bool(self.scan.sought.low.any()))

    def _in_tiles(self, block: Block, run: Callable[[Block], None]) -> None:
        for rows in self._dense_blocks(block):
            in_pieces(rows, run)

    def offer(self, work: None, block: Block, best: Best) -> None:
        """Offer what walks reach."""
        if self._thin:
            in_pieces(block, lambda rows: self._offer_list(rows, best))
        else:
            self._in_tiles(block, lambda rows: offer_tile(self._tile(rows, reached=True), best))

    def _offer_list(self, block: Block, best: Best) -> None:
        """Lay out the walks of some rows and offer what they reach."""
        sought, n, mine = self._sought, self.scan.scores.n, slice(*block)
        rows, low = sought["rows"][mine], sought["low"][mine]
        source, v, reached = self.walk.listed(rows, low, torch.full_like(low, n))
        at, entry = entries_of(sought["skip_indptr"], torch.arange(*block, device=self.device))
        skipped = torch.sort(at * n + sought["skip_indices"][entry]).values
        kept = is_pair(sought, rows[source], v) & ~listed_in(source * n + v, skipped)
        u, v, reached = rows[source[kept]], v[kept], reached[kept]
        score = scores_of(reached.double(), sought["node"][u], sought["node"][v], self.scan.scores.form)
        offer_list(score, keys_of(sought["name"][u], sought["name"][v], n, self.scan.sought.turn), best)

    def offer_rest(self, work: None, block: Block, best: Best) -> None:
        """Offer the pairs of a block that no walk joins."""
        self._in_tiles(block, lambda rows: offer_tile(self._tile(rows, reached=False), best))

    def offer_by_row(self, work: None, block: Block, best: Best, out: BestByRow) -> None:
        """Put the best pairs of each row of a block into ``out``, in order."""
        tile = partial(self._tile, reached=None)
        self._in_tiles(block, lambda rows: offer_tile_by_row(tile(rows), best, rows_of(out, rows)))

    @cached_property
    def _sought(self) -> dict[str, Tensor]:
        """The arrays of the search, on the device."""
        names = ("rows", "low", "skip_indptr", "skip_indices", "side", "name", "node")
        return {name: on(getattr(self.scan.sought, name), self.device) for name in names}

    def _tile(self, block: Block, reached: bool | None) -> Candidates:
        """Scores of some rows; those that walks reach, those that they do not, or both."""
        sought, mine = self._sought, slice(*block)
        n, form = self.scan.scores.n, self.scan.scores.form
        first = int(self.scan.sought.low[mine].min())
        rows, low = sought["rows"][mine], sought["low"][mine]
        columns = torch.arange(first, n, device=self.device)
        walked = self.walk.reached(rows, first, n).double()
        counted = counted_of(sought, rows, low, columns)
        at, entry = entries_of(sought["skip_indptr"], torch.arange(*block, device=self.device))
        place = sought["skip_indices"][entry] - first
        counted[place[place >= 0], at[place >= 0]] = False
        if reached is not None:
            counted &= (walked != 0) == reached
        g_u, g_v = sought["node"][rows], sought["node"][columns][:, None]
        explicit = scores_of(walked, g_u, g_v, form)
        background = self.scan.scores.background_sign * (g_u * g_v)
        score = torch.where(walked != 0, explicit, background)
        names = sought["name"]
        return Candidates(score, counted, names[rows], names[columns], n, self.scan.sought.turn)


def counted_of(sought: dict[str, Tensor], rows: Tensor, low: Tensor, columns: Tensor) -> Tensor:
    """``(c, b)`` which columns are pairs of which rows; skipped ones are not left out."""
    column = columns[:, None]
    return is_pair(sought, rows, column) & (column >= low) & (column != rows)


def is_pair(sought: dict[str, Tensor], u: Tensor, v: Tensor) -> Tensor:
    """Whether row ``u`` and column ``v`` are a pair that counts and is not left to row ``v``, as in ``kernels.top``."""
    side_u, side_v = sought["side"][u], sought["side"][v]
    twice = (v < u) & ((side_v & ROW) != 0) & ((side_u & PARTNER) != 0)
    return ((side_v & PARTNER) != 0) & ~twice


@dataclass(frozen=True, eq=False)
class DeviceWalkListing:
    """Listed pairs of walk scores, on a device."""

    scores: "WalkScores"
    walk: DeviceWalk
    device: torch.device
    workers = 1

    def listing(self) -> None:
        """No working memory."""

    def dealt(self, pairs: Pairs) -> list[NDArray[np.int64]]:
        """Positions of pairs in portions by the end that walks start at."""
        source, rank = np.unique(self.scores.ends(pairs)[0], return_inverse=True)
        blocks = blocks_on(self.device, 0, len(source), _bytes_per_row(self.scores), triangle=False)
        return [np.flatnonzero((rank >= begin) & (rank < end)) for begin, end in blocks]

    def scored(self, pairs: Pairs, work: None = None) -> ScoredPairs:
        """Places of ``(p, 2)`` pairs."""
        u, v = self.scores.ends(pairs)
        reached = np.empty(len(pairs))
        order = np.argsort(u, kind="stable")

        def run(block: Block) -> None:
            some = order[slice(*block)]
            sources, source = np.unique(u[some], return_inverse=True)
            walked = self.walk.joined(*(on(nodes, self.device) for nodes in (sources, source, v[some])))
            reached[some] = walked.double().cpu().numpy()

        in_pieces((0, len(pairs)), run)
        return self.scores.placed(pairs, reached)

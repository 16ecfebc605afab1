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
from gelato.kernels.gpu import to_device
from gelato.kernels.gpu.counts import WalkCounts, added, count_listed, count_reached, tile_scores
from gelato.kernels.gpu.top import TileSearch, offer_list, offer_tile, offer_tile_by_row, pair_name_keys
from gelato.kernels.gpu.walks import DeviceWalk, device_walk
from gelato.kernels.score_bins import Bins
from gelato.kernels.top_buffer import TopBuffer
from gelato.kernels.walk import WalkMemory
from gelato.scores.contract import BestByRow, Block, Counts, ScoredPairs
from gelato.scores.device_scan import DeviceCount, DeviceSearch, array_on_device, block_memory, blocks_on, run_or_halve
from gelato.scores.walk_counts import WalkCountScan, number_of_walks
from gelato.scores.walk_search import WalkSearchScan

if TYPE_CHECKING:
    from gelato.scores.walk import WalkScores

LOG = logging.getLogger(__name__)

_MOVED: "WeakKeyDictionary[WalkScores, dict[str, DeviceWalk | None]]" = WeakKeyDictionary()


def walk_on(scores: "WalkScores", device: str) -> DeviceWalk | None:
    """The walk of some scores on a device, moved there once; ``None`` where it must stay on the host."""
    moved = _MOVED.setdefault(scores, {})
    if device not in moved:
        moved[device] = device_walk(scores.walk, device)
        if moved[device] is None:
            LOG.warning("link weights differ by too many orders of magnitude for the GPU, so the CPU ranks the pairs")
    return moved[device]


WORTH = 12
"""Cost of a walk that is laid out one by one, in entries of a product with a dense block."""

BYTES_PER_WALK = 100
"""What laying out a walk takes: its place and value, and those of the sorted list."""


def is_listed_faster(scores: "WalkScores", rows: NDArray[np.int64]) -> bool:
    """Whether walks from some rows are so few that they are better laid out one by one."""
    dense = (scores.steps - 1) * scores.inner.nnz * len(rows)
    return bool(WORTH * number_of_walks(scores)[rows].sum() < dense)


def thin_blocks(scores: "WalkScores", begin: int, rows: NDArray[np.int64], device: str) -> list[Block]:
    """Positions of rows, from ``begin`` on, in blocks whose walks fit a device."""
    group = np.floor(np.cumsum(number_of_walks(scores)[rows] + 1) * BYTES_PER_WALK / block_memory(device))
    cuts = [begin, *(begin + np.flatnonzero(np.diff(group)) + 1).tolist(), begin + len(rows)]
    return list(pairwise(cuts)) if len(rows) else []


def _bytes_per_row(scores: "WalkScores") -> int:
    """What a row takes: two steps of a walk, scores, masks."""
    return scores.dtype.itemsize * (2 * len(scores.weight) + 4 * scores.n) + 8 * scores.n


def _among_sorted(keys: Tensor, sought: Tensor) -> Tensor:
    """``(p,)`` which of some keys are among ascending ones."""
    if len(sought) == 0:
        return torch.zeros_like(keys, dtype=torch.bool)
    return sought[torch.searchsorted(sought, keys).clamp(max=len(sought) - 1)] == keys


@dataclass(frozen=True, eq=False)
class DeviceWalkCounts(DeviceCount, WalkCountScan):
    """``WalkCountScan`` on a device."""

    walk: DeviceWalk

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks of rows that fit the device."""
        ranges, scores, device = self.ranges, self.scores, self.device
        parts = [(0, scores.n)] if ranges.middle is None else ranges.rows()
        if self._thin:
            return [block for rows in parts for block in thin_blocks(scores, rows[0], np.arange(*rows), device)]
        triangle, size = ranges.middle is None and not scores.directed, _bytes_per_row(scores)
        return [block for rows in parts for block in blocks_on(device, *rows, size, triangle)]

    @cached_property
    def _thin(self) -> bool:
        return is_listed_faster(self.scores, np.arange(self.scores.n))

    @cached_property
    def _skipped(self) -> Tensor:
        """Keys of the pairs left out, ascending."""
        skip = self.ranges.skip
        row = np.repeat(np.arange(self.scores.n), np.diff(skip.indptr))
        return array_on_device(row * self.scores.n + skip.indices, self.device)

    @cached_property
    def _groups(self) -> tuple[Tensor, Tensor | None]:
        value, group = self.scores.groups
        return array_on_device(value, self.device), None if group is None else array_on_device(group, self.device)

    def count(self, work: WalkMemory, block: Block, bins: Bins, counters: Counts) -> None:
        explicit, shadow = self.views(bins, counters)

        def run(rows: Block) -> None:
            low, high = self.ranges.low[slice(*rows)], self.ranges.high[slice(*rows)]
            first, last = int(low.min()), int(high.max())
            if first >= last:
                return
            bounds, zeros = (
                to_device(bins.bounds, self.device),
                partial(torch.zeros, dtype=torch.int64, device=self.device),
            )
            mine, theirs = zeros(explicit.shape), zeros(shadow.shape)
            counts = WalkCounts(self.scores.formula, *self._groups, bounds, mine, theirs)
            nodes = torch.arange(*rows, device=self.device)
            if self._thin:
                inside = (array_on_device(each, self.device) for each in (low, high))
                source, v, values = self.walk.listed(nodes, *inside)
                u = nodes[source]
                kept = ~_among_sorted(u * self.scores.n + v, self._skipped)
                count_listed(u[kept], v[kept], values[kept], counts)
            else:
                values = self.walk.reached(nodes, first, last)
                count_reached(self.tile(values, rows, first, 0.0), counts)
            added(mine, explicit)
            added(theirs, shadow)

        run_or_halve(block, run)


@dataclass(frozen=True, eq=False)
class DeviceWalkSearch(DeviceSearch, WalkSearchScan):
    """``WalkSearchScan`` on a device."""

    walk: DeviceWalk

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks of rows that fit the device."""
        if self._thin:
            return thin_blocks(self.scores, 0, self.rows, self.device)
        return self._dense_blocks((0, len(self.rows)))

    @cached_property
    def _thin(self) -> bool:
        return is_listed_faster(self.scores, self.rows)

    def _dense_blocks(self, block: Block) -> list[Block]:
        """Rows in blocks whose dense scores fit the device."""
        return blocks_on(self.device, *block, _bytes_per_row(self.scores), bool(self.search.low.any()))

    def _in_tiles(self, block: Block, run: Callable[[Block], None]) -> None:
        for rows in self._dense_blocks(block):
            run_or_halve(rows, run)

    def offer(self, work: WalkMemory, block: Block, best: TopBuffer) -> None:
        if self._thin:
            run_or_halve(block, lambda rows: self._offer_list(rows, best))
        else:
            self._in_tiles(block, lambda rows: offer_tile(self._tile(rows, reached=True), best))

    def _offer_list(self, block: Block, best: TopBuffer) -> None:
        """Lay out the walks of some rows and offer what they reach."""
        search, n, mine = self.arrays, self.scores.n, slice(*block)
        rows, low = search["rows"][mine], search["low"][mine]
        source, v, reached = self.walk.listed(rows, low, torch.full_like(low, n))
        skipped, at = self.skipped(block)
        known = _among_sorted(source * n + v, torch.sort(at * n + skipped).values)
        kept = self.is_pair(rows[source], v) & ~known
        u, v, reached = rows[source[kept]], v[kept], reached[kept]
        score = tile_scores(reached.double(), search["node"][u], search["node"][v], self.scores.formula)
        offer_list(score, pair_name_keys(search["name"][u], search["name"][v], n, self.search.turn), best)

    def offer_rest(self, work: WalkMemory, block: Block, best: TopBuffer) -> None:
        self._in_tiles(block, lambda rows: offer_tile(self._tile(rows, reached=False), best))

    def offer_by_row(self, work: WalkMemory, block: Block, best: TopBuffer, out: BestByRow) -> None:
        self._in_tiles(block, lambda rows: offer_tile_by_row(self._tile(rows, reached=None), best, out, rows))

    def _tile(self, block: Block, reached: bool | None) -> TileSearch:
        """Scores of some rows; those that walks reach, those that they do not, or both."""
        search, n = self.arrays, self.scores.n
        first = int(self.search.low[slice(*block)].min())
        rows, columns = search["rows"][slice(*block)], torch.arange(first, n, device=self.device)
        walked = self.walk.reached(rows, first, n).double()
        counted = self.counted(block, columns)
        skipped, at = self.skipped(block)
        counted[skipped[skipped >= first] - first, at[skipped >= first]] = False
        if reached is not None:
            counted &= (walked != 0) == reached
        g_u, g_v = search["node"][rows], search["node"][columns][:, None]
        explicit = tile_scores(walked, g_u, g_v, self.scores.formula)
        background = self.scores.background_sign * (g_u * g_v)
        score = torch.where(walked != 0, explicit, background)
        names = search["name"]
        return TileSearch(score, counted, names[rows], names[columns], n, self.search.turn)


@dataclass(frozen=True, eq=False)
class DeviceWalkListing:
    """Listed pairs of walk scores, on a device."""

    scores: "WalkScores"
    walk: DeviceWalk
    device: str
    workers = 1

    def working_memory(self) -> None:
        """No working memory."""

    def portions(self, pairs: Pairs) -> list[NDArray[np.int64]]:
        source, rank = np.unique(self.scores.ends(pairs)[0], return_inverse=True)
        blocks = blocks_on(self.device, 0, len(source), _bytes_per_row(self.scores), triangle=False)
        return [np.flatnonzero((rank >= begin) & (rank < end)) for begin, end in blocks]

    def score_list(self, pairs: Pairs, work: None = None) -> ScoredPairs:
        u, v = self.scores.ends(pairs)
        reached = np.empty(len(pairs))
        order = np.argsort(u, kind="stable")

        def run(block: Block) -> None:
            some = order[slice(*block)]
            sources, source = np.unique(u[some], return_inverse=True)
            walked = self.walk.joined(*(array_on_device(nodes, self.device) for nodes in (sources, source, v[some])))
            reached[some] = walked.double().cpu().numpy()

        run_or_halve((0, len(pairs)), run)
        return self.scores.scores_from_walks(pairs, reached)

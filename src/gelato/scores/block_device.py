"""Block scores on a GPU: tiles that are computed, counted and searched where they are."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import torch
from torch import Tensor

from gelato.errors import InputError
from gelato.kernels.best import Best
from gelato.kernels.bins import Bins
from gelato.kernels.device.counts import added, bounds_of, count_scores
from gelato.kernels.device.hits import Candidates, offer_tile, offer_tile_by_row
from gelato.kernels.device.walks import entries_of
from gelato.scores.contract import BestByRow, Block, Counts
from gelato.scores.device import (
    DeviceCountScan,
    DeviceRanges,
    DeviceSearchScan,
    blocks_on,
    device_ranges,
    in_pieces,
    on,
    rows_of,
)
from gelato.scores.walk_device import counted_of

if TYPE_CHECKING:
    from gelato.scores.block import BlockScores
    from gelato.scores.block_scans import BlockCountScan, BlockSearchScan

TensorBlock = Callable[[Tensor, Tensor], Tensor]
"""Ascending ``(b,)`` rows and ``(c,)`` columns to their ``(b, c)`` scores, on a device, in double precision."""


@runtime_checkable
class Movable(Protocol):
    """A block function that can also be computed on a device."""

    def on(self, device: torch.device) -> TensorBlock:
        """The same function of tensors."""


def block_on(scores: "BlockScores", device: torch.device) -> TensorBlock:
    """The block of some scores as a function of tensors; one that only runs on the host is moved tile by tile."""
    block = scores.block
    if isinstance(block, Movable):
        return block.on(device)
    return lambda rows, columns: on(scores.checked(rows.cpu().numpy(), columns.cpu().numpy()), device)


def _checked(values: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """``(c, b)`` scores, which must be finite; a copy that may be written to."""
    if not bool(torch.isfinite(values).all()):
        i, j = (int(part[0]) for part in (~torch.isfinite(values)).nonzero(as_tuple=True))
        raise InputError(f"score of ({rows[i]}, {columns[j]}) is {values[i, j]}; scores must be finite")
    return values.double().T.contiguous()


def _bytes_per_row(columns: int) -> int:
    """What a row takes: scores, a copy of them, masks."""
    return 8 * 5 * columns


@dataclass(frozen=True, eq=False)
class DeviceBlockCounts(DeviceCountScan):
    """``BlockCountScan`` on a device."""

    scan: "BlockCountScan"
    block: TensorBlock

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks of rows that fit the device, none of which crosses a part."""
        blocks: list[Block] = []
        for begin, end in self.scan.ranges.rows():
            width = int(self.scan.ranges.high[begin]) - self.scan.first_column(begin)
            blocks += blocks_on(self.device, begin, end, _bytes_per_row(width), self.scan.triangular)
        return blocks

    @cached_property
    def _ranges(self) -> DeviceRanges:
        return device_ranges(self.scan.ranges, self.device)

    @cached_property
    def _order(self) -> Tensor:
        return on(self.scan.ranges.order, self.device)

    def count(self, work: None, block: Block, bins: Bins, counters: Counts) -> None:
        """Compute a block and count it."""

        def run(rows: Block) -> None:
            first, last = self.scan.first_column(rows[0]), int(self.scan.ranges.high[rows[0]])
            nodes, columns = self._order[slice(*rows)], self._order[first:last]
            values = _checked(self.block(nodes, columns), nodes, columns)
            counts = torch.zeros(counters.shape, dtype=torch.int64, device=self.device)
            count_scores(self._ranges.tile(values, rows, first, float("nan")), bounds_of(bins, self.device), counts)
            added(counts, counters)

        in_pieces(block, run)


@dataclass(frozen=True, eq=False)
class DeviceBlockSearch(DeviceSearchScan):
    """``BlockSearchScan`` on a device."""

    scan: "BlockSearchScan"
    block: TensorBlock

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks of rows that fit the device."""
        size = _bytes_per_row(len(self.scan.column))
        return blocks_on(self.device, 0, len(self.scan.rows), size, self.scan.mirrored is not None)

    def offer(self, work: None, block: Block, best: Best) -> None:
        """Compute a block and offer it."""
        in_pieces(block, lambda rows: offer_tile(self._tile(rows), best))

    def offer_rest(self, work: None, block: Block, best: Best) -> None:
        """Nothing: every pair is explicit."""

    def offer_by_row(self, work: None, block: Block, best: Best, out: BestByRow) -> None:
        """Put the best pairs of each row of a block into ``out``, in order."""
        in_pieces(block, lambda rows: offer_tile_by_row(self._tile(rows), best, rows_of(out, rows)))

    @cached_property
    def _sought(self) -> dict[str, Tensor]:
        """The arrays of the search, on the device."""
        names = ("rows", "low", "skip_indptr", "skip_indices", "side")
        return {name: on(getattr(self.scan.sought, name), self.device) for name in names}

    def _tile(self, block: Block) -> Candidates:
        """Scores of some rows with the columns that are not left to other rows."""
        sought, mine = self._sought, slice(*block)
        rows, low = sought["rows"][mine], sought["low"][mine]
        columns = on(self.scan.columns_of(block), self.device)
        score = _checked(self.block(rows, columns), rows, columns)
        counted = counted_of(sought, rows, low, columns)
        at, entry = entries_of(sought["skip_indptr"], torch.arange(*block, device=self.device))
        skipped = sought["skip_indices"][entry]
        place = torch.searchsorted(columns, skipped).clamp(max=max(0, len(columns) - 1))
        known = columns[place] == skipped if len(columns) else torch.zeros_like(skipped, dtype=torch.bool)
        counted[place[known], at[known]] = False
        return Candidates(score, counted, rows, columns, self.scan.scores.n, self.scan.sought.turn)

"""Block scores on a GPU: tiles that are computed, counted and searched where they are."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from gelato.errors import InputError
from gelato.kernels.gpu import to_device
from gelato.kernels.gpu.counts import added, count_scores
from gelato.kernels.gpu.top import TileSearch, offer_tile, offer_tile_by_row
from gelato.kernels.score_bins import Bins
from gelato.kernels.top_buffer import TopBuffer
from gelato.scores.block_scans import BlockCountScan, BlockSearchScan, Positions
from gelato.scores.contract import BestByRow, Block, Counts
from gelato.scores.device_scan import DeviceCount, DeviceSearch, array_on_device, blocks_on, run_or_halve

if TYPE_CHECKING:
    from gelato.scores.block import BlockScores

TensorBlock = Callable[[Tensor, Tensor], Tensor]
"""Ascending ``(b,)`` rows and ``(c,)`` columns to their ``(b, c)`` scores, on a device, in double precision."""

BYTES_PER_PAIR = 8 * 5
"""What a pair of a tile takes: its score, a copy of it, masks."""


def block_on(scores: "BlockScores", device: str) -> TensorBlock:
    """The block of some scores as a function of tensors; one without a method ``on`` is moved tile by tile."""
    on: Callable[[torch.device], TensorBlock] | None = getattr(scores.block, "on", None)
    if on is not None:
        return on(torch.device(device))
    return lambda rows, columns: array_on_device(scores.checked(rows.cpu().numpy(), columns.cpu().numpy()), device)


def _checked(values: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """``(c, b)`` scores, which must be finite; a copy that may be written to."""
    if not bool(torch.isfinite(values).all()):
        i, j = (int(part[0]) for part in (~torch.isfinite(values)).nonzero(as_tuple=True))
        raise InputError(f"score of ({rows[i]}, {columns[j]}) is {values[i, j]}; scores must be finite")
    return values.double().T.contiguous()


@dataclass(frozen=True, eq=False)
class DeviceBlockCounts(DeviceCount, BlockCountScan):
    """``BlockCountScan`` on a device."""

    tensors: TensorBlock

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks of rows that fit the device, none of which crosses a part."""
        blocks: list[Block] = []
        for begin, end in self.ranges.rows():
            width = int(self.ranges.high[begin]) - self.first_column(begin)
            blocks += blocks_on(self.device, begin, end, BYTES_PER_PAIR * width, self.triangular)
        return blocks

    @cached_property
    def _order(self) -> Tensor:
        return array_on_device(self.ranges.order, self.device)

    def count(self, work: None, block: Block, bins: Bins, counters: Counts) -> None:

        def run(rows: Block) -> None:
            first, last = self.first_column(rows[0]), int(self.ranges.high[rows[0]])
            nodes, columns = self._order[slice(*rows)], self._order[first:last]
            values = _checked(self.tensors(nodes, columns), nodes, columns)
            counts = torch.zeros(counters.shape, dtype=torch.int64, device=self.device)
            count_scores(self.tile(values, rows, first, float("nan")), to_device(bins.bounds, self.device), counts)
            added(counts, counters)

        run_or_halve(block, run)


@dataclass(frozen=True, eq=False)
class DeviceBlockSearch(DeviceSearch, BlockSearchScan):
    """``BlockSearchScan`` on a device."""

    tensors: TensorBlock

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks of rows that fit the device."""
        return blocks_on(self.device, 0, len(self.rows), BYTES_PER_PAIR * len(self.column), self.mirrored is not None)

    def offer(self, work: Positions, block: Block, best: TopBuffer) -> None:
        run_or_halve(block, lambda rows: offer_tile(self._tile(rows), best))

    def offer_by_row(self, work: Positions, block: Block, best: TopBuffer, out: BestByRow) -> None:
        run_or_halve(block, lambda rows: offer_tile_by_row(self._tile(rows), best, out, rows))

    def _tile(self, block: Block) -> TileSearch:
        """Scores of some rows with the columns that are not left to other rows."""
        rows, columns = self.arrays["rows"][slice(*block)], array_on_device(self.columns_of(block), self.device)
        score = _checked(self.tensors(rows, columns), rows, columns)
        counted = self.counted(block, columns)
        skipped, at = self.skipped(block)
        place = torch.searchsorted(columns, skipped).clamp(max=max(0, len(columns) - 1))
        known = columns[place] == skipped if len(columns) else torch.zeros_like(skipped, dtype=torch.bool)
        counted[place[known], at[known]] = False
        return TileSearch(score, counted, rows, columns, self.scores.n, self.search.turn)

"""What scans on a device share: how many rows go at once, and what happens where memory runs out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.kernels.best import Ties
from gelato.kernels.bins import Bins
from gelato.kernels.device.counts import Tile
from gelato.kernels.device.tensors import tensor_on
from gelato.kernels.device.walks import entries_of
from gelato.scores.contract import BestByRow, Block, Counts, Nodes, SearchScan
from gelato.scores.ranges import Ranges, blocks_of

SHARE = 0.6
"""How much of the free memory a block takes at most."""

ON_HOST = 1 << 28
"""Bytes of a block where the device is the host itself, in tests."""

STEPS = 8
"""A triangle is cut into so many blocks at least: what lies below its diagonal is computed for nothing."""

LEAST = 256
"""Rows of a block of a triangle that is cut, at least."""


def room(device: torch.device) -> float:
    """Bytes that a block may take."""
    return SHARE * (torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else ON_HOST)


def blocks_on(device: torch.device, begin: int, end: int, bytes_per_row: int, triangle: bool) -> list[Block]:
    """Rows in blocks that fit the memory of a device."""
    size = max(1, int(room(device)) // max(1, bytes_per_row))
    if triangle:
        size = min(size, max(LEAST, -(-(end - begin) // STEPS)))
    return blocks_of(begin, end, size)


def in_pieces(block: Block, run: Callable[[Block], None]) -> None:
    """Run a block, or its halves where memory does not suffice; ``run`` must leave nothing behind when it fails."""
    try:
        run(block)
        return
    except torch.OutOfMemoryError as error:
        begin, end = block
        if end - begin < 2:
            raise InputError(
                "the GPU has too little memory for the scores of one node; use --engine threads"
            ) from error
    torch.cuda.empty_cache()
    middle = (begin + end) // 2
    in_pieces((begin, middle), run)
    in_pieces((middle, end), run)


def listed_in(keys: Tensor, sought: Tensor) -> Tensor:
    """``(p,)`` which of some keys are among ascending ones."""
    if len(sought) == 0:
        return torch.zeros_like(keys, dtype=torch.bool)
    return sought[torch.searchsorted(sought, keys).clamp(max=len(sought) - 1)] == keys


@dataclass(frozen=True, eq=False)
class DeviceRanges:
    """Which pairs of a count a row holds, on a device."""

    low: Tensor
    high: Tensor
    skip_indptr: Tensor
    skip_indices: Tensor

    def tile(self, values: Tensor, block: Block, first: int, left_out: float) -> Tile:
        """The tile of ``(c, b)`` values of a block; pairs that are skipped get the value of those that do not count."""
        rows = torch.arange(*block, device=values.device)
        at, entry = entries_of(self.skip_indptr, rows)
        values[self.skip_indices[entry] - first, at] = left_out
        return Tile(values, rows, first, self.low[slice(*block)], self.high[slice(*block)])


def device_ranges(ranges: Ranges, device: torch.device) -> DeviceRanges:
    """Ranges on a device."""
    return DeviceRanges(
        *(on(array, device) for array in (ranges.low, ranges.high, ranges.skip.indptr, ranges.skip.indices))
    )


def on(array: NDArray[Any], device: torch.device) -> Tensor:
    """An array on a device; whole numbers in 64 bits."""
    tensor = tensor_on(array, device)
    return tensor if tensor.is_floating_point() else tensor.long()


@dataclass(frozen=True, eq=False)
class DeviceScan:
    """A scan on a device, with the pairs of one on the host in other blocks."""

    scan: Any
    device: torch.device
    workers = 1

    @property
    def tier(self) -> int:
        """That of all its pairs."""
        return int(self.scan.tier)

    @property
    def space(self) -> int:
        """Working memory is on the device."""
        return 0

    def moved(self, device: str) -> None:
        """It is there."""

    def pairs_of(self, block: Block) -> int:
        """How many pairs a block holds, those left out included."""
        return int(self.scan.pairs_of(block))

    def start(self) -> None:
        """No working memory."""


@dataclass(frozen=True, eq=False)
class DeviceCountScan(DeviceScan):
    """A count whose counters and closed form are those of the host."""

    def counters(self, bins: Bins) -> Counts:
        """Those of the host."""
        counters: Counts = self.scan.counters(bins)
        return counters

    def negatives(self, bins: Bins, counters: Counts, threads: int = 1) -> Counts:
        """All pairs by bin, once every block has been counted."""
        counts: Counts = self.scan.negatives(bins, counters, threads)
        return counts

    def explicit(self, bins: Bins, counters: Counts) -> int:
        """How many pairs had a score of their own."""
        return int(self.scan.explicit(bins, counters))


@dataclass(frozen=True, eq=False)
class DeviceSearchScan(DeviceScan):
    """A search whose ties are those of the host."""

    @property
    def unit(self) -> float:
        """Factor of the whole score."""
        return float(self.scan.unit)

    @property
    def ties(self) -> Ties:
        """When raw scores tie."""
        ties: Ties = self.scan.ties
        return ties

    @property
    def rows(self) -> Nodes:
        """The rows, one by one."""
        rows: Nodes = self.scan.rows
        return rows

    @property
    def columns(self) -> int:
        """How many columns count."""
        return int(self.scan.columns)

    def rest(self, cut: float) -> Sequence[SearchScan]:
        """Where pairs that ``offer`` leaves out may have this raw score or a better one."""
        scans: Sequence[SearchScan] = self.scan.rest(cut)
        return scans

    def row(self, i: int) -> SearchScan:
        """The row at position ``i`` alone."""
        scan: SearchScan = self.scan.row(i)
        return scan


def rows_of(out: BestByRow, block: Block) -> BestByRow:
    """Where the best pairs of a block of rows go."""
    score, key, count = out
    begin, end = block
    return score[begin:end], key[begin:end], count[begin:end]

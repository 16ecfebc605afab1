"""What scans on a device share: how many rows go at once, and what happens where memory runs out.

A scan on a device is the scan on the host that it was made from, in other blocks: counters, closed forms and ties are
those of the host.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.kernels.gpu import to_device
from gelato.kernels.gpu.counts import Tile
from gelato.kernels.gpu.walks import row_entries
from gelato.kernels.pair_mask import PARTNER, ROW, SearchRows
from gelato.scores.contract import Block
from gelato.scores.pair_ranges import PairRanges, blocks_of

SHARE = 0.6
"""How much of the free memory a block takes at most."""

ON_HOST = 1 << 28
"""Bytes of a block where the device is the host itself, in tests."""

STEPS = 8
"""A triangle is cut into so many blocks at least: what lies below its diagonal is computed for nothing."""

LEAST = 256
"""Rows of a block of a triangle that is cut, at least."""


def block_memory(device: str) -> float:
    """Bytes that a block may take."""
    return SHARE * (torch.cuda.mem_get_info(device)[0] if device.startswith("cuda") else ON_HOST)


def blocks_on(device: str, begin: int, end: int, bytes_per_row: int, triangle: bool) -> list[Block]:
    """Rows in blocks that fit the memory of a device."""
    size = max(1, int(block_memory(device)) // max(1, bytes_per_row))
    if triangle:
        size = min(size, max(LEAST, -(-(end - begin) // STEPS)))
    return blocks_of(begin, end, size)


def run_or_halve(block: Block, run: Callable[[Block], None]) -> None:
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
    run_or_halve((begin, middle), run)
    run_or_halve((middle, end), run)


def array_on_device(array: NDArray[Any], device: str) -> Tensor:
    """An array on a device; whole numbers in 64 bits."""
    tensor = to_device(array, device)
    return tensor if tensor.is_floating_point() else tensor.long()


@dataclass(frozen=True, eq=False)
class DeviceCount:
    """A count on a device, one block after another."""

    ranges: PairRanges
    device: str
    workers: ClassVar[int | None] = 1

    def on_device(self, device: str) -> None:
        """``None``: this scan is on a device already."""

    @cached_property
    def _ranges(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Which columns each row counts, and which of them are skipped, in compressed rows."""
        ranges = self.ranges
        arrays = (ranges.low, ranges.high, ranges.skip.indptr, ranges.skip.indices)
        low, high, indptr, indices = (array_on_device(array, self.device) for array in arrays)
        return low, high, indptr, indices

    def tile(self, values: Tensor, block: Block, first: int, left_out: float) -> Tile:
        """The tile of ``(c, b)`` values of a block; pairs that are skipped get the value of those that do not count."""
        low, high, skip_indptr, skip_indices = self._ranges
        rows = torch.arange(*block, device=self.device)
        at, entry = row_entries(skip_indptr, rows)
        values[skip_indices[entry] - first, at] = left_out
        return Tile(values, rows, first, low[slice(*block)], high[slice(*block)])


@dataclass(frozen=True, eq=False)
class DeviceSearch:
    """A search on a device, one block after another."""

    search: SearchRows
    device: str
    workers: ClassVar[int | None] = 1

    def on_device(self, device: str) -> None:
        """``None``: this scan is on a device already."""

    @cached_property
    def arrays(self) -> dict[str, Tensor]:
        """The arrays of the search, on the device."""
        names = ("rows", "low", "skip_indptr", "skip_indices", "side", "name", "node")
        return {name: array_on_device(getattr(self.search, name), self.device) for name in names}

    def skipped(self, block: Block) -> tuple[Tensor, Tensor]:
        """The columns that some rows skip, and the position of the row of each."""
        at, entry = row_entries(self.arrays["skip_indptr"], torch.arange(*block, device=self.device))
        return self.arrays["skip_indices"][entry], at

    def counted(self, block: Block, columns: Tensor) -> Tensor:
        """``(c, b)`` which columns are pairs of which rows; skipped ones are not left out."""
        rows, low, column = self.arrays["rows"][slice(*block)], self.arrays["low"][slice(*block)], columns[:, None]
        return self.is_pair(rows, column) & (column >= low) & (column != rows)

    def is_pair(self, u: Tensor, v: Tensor) -> Tensor:
        """Whether row ``u`` and column ``v`` are a pair that counts and is not left to row ``v``."""
        side_u, side_v = self.arrays["side"][u], self.arrays["side"][v]
        twice = (v < u) & ((side_v & ROW) != 0) & ((side_u & PARTNER) != 0)
        return ((side_v & PARTNER) != 0) & ~twice

"""Triton: one pass over a tile that makes scores of its values and counts them by bin."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from gelato.kernels.gpu.counts import Tile, WalkCounts
from gelato.kernels.walk import JACCARD

if TYPE_CHECKING:
    import triton.language as tl  # type: ignore[import-not-found, unused-ignore]

COLUMNS, ROWS = 32, 32
"""Tile of one program."""

COUNTERS = 1 << 22
"""Counters at most, over all copies: programs that add to the same bin would wait for one another."""

COPIES = 64
"""Copies of the counters at most."""


@cache
def _kernel() -> Any:
    """The kernel; Triton's language is a global of this module as soon as it is asked for."""
    global tl, _bin
    import triton  # type: ignore[import-not-found, unused-ignore]
    import triton.language as tl

    _bin = triton.jit(_bin)
    return triton.jit(_count)


def _bin(score, bounds, size, wanted, STEPS: tl.constexpr):  # type: ignore[no-untyped-def]
    """How many of ``size`` ascending bounds are at most each score."""
    low = tl.zeros_like(score).to(tl.int32)
    high = low + size
    for _ in range(STEPS):
        middle = (low + high) // 2
        open = low < high
        bound = tl.load(bounds + middle, mask=wanted & open, other=float("inf"))
        right = open & (bound <= score)
        low = tl.where(right, middle + 1, low)
        high = tl.where(open & (bound > score), middle, high)
    return low


def _count(  # type: ignore[no-untyped-def]
    values, stride, columns, rows, first, row_node, row_low, row_high, node, group, groups, factors,
    bounds, size, explicit, explicit_copies, shadow, shadow_copies,
    RAW: tl.constexpr, RATIO: tl.constexpr, GROUPED: tl.constexpr, STEPS: tl.constexpr,
    COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Count a tile; raw values are scores themselves, others what walks reached."""
    i = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    j = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    one = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    u = tl.load(row_node + j, mask=j < rows, other=-1)
    low = tl.load(row_low + j, mask=j < rows, other=0)
    high = tl.load(row_high + j, mask=j < rows, other=0)
    v = first + i
    inside = (i < columns)[:, None] & (j < rows)[None, :]
    inside = inside & (v[:, None] >= low[None, :]) & (v[:, None] < high[None, :]) & (v[:, None] != u[None, :])
    value = tl.load(values + i.to(tl.int64)[:, None] * stride + j[None, :], mask=inside, other=0.0).to(tl.float64)
    scale = tl.load(factors)  # numbers given to a kernel would be rounded to single precision
    sign = tl.load(factors + 1)
    if RAW:
        counted = inside & (value == value)
        score = value
    else:
        counted = inside & (value != 0)
        if GROUPED:
            group_u = tl.load(group + u, mask=j < rows, other=0).to(tl.int32)
            group_v = tl.load(group + v, mask=i < columns, other=0).to(tl.int32)
            g_u = tl.load(node + group_u)
            g_v = tl.load(node + group_v)
        else:
            g_u = tl.load(node + u, mask=j < rows, other=0.0)
            g_v = tl.load(node + v, mask=i < columns, other=0.0)
        product = g_v[:, None] * g_u[None, :]
        if RATIO:  # noqa: SIM108
            score = value / (g_v[:, None] + g_u[None, :] - value)
        else:
            score = scale * value + sign * product
    if tl.sum(counted.to(tl.int32)) > 0:
        place = _bin(score, bounds, size, counted, STEPS)
        mine = explicit + (one % explicit_copies).to(tl.int64) * (size + 1)
        tl.atomic_add(mine + place, 1, mask=counted & (place > 0))
        tl.atomic_add(mine, tl.sum((counted & (place == 0)).to(tl.int32)))
        if not RAW:
            if GROUPED:
                theirs = shadow + (one % shadow_copies).to(tl.int64) * groups * groups
                tl.atomic_add(theirs + (group_u[None, :] * groups + group_v[:, None]), 1, mask=counted)
            else:
                behind = sign * product
                theirs = shadow + (one % shadow_copies).to(tl.int64) * (size + 1)
                lowest = tl.load(bounds)
                seen = counted & (behind >= lowest)
                tl.atomic_add(theirs + _bin(behind, bounds, size, seen, STEPS), 1, mask=seen)


def count_tile(tile: Tile, bounds: Tensor, explicit: Tensor, walked: WalkCounts | None = None) -> None:
    """Add the scores of a tile to ``(2 L + 1,)`` counts by bin; or what walks reached to those and to the shadow."""
    values = tile.values if tile.values.stride(1) == 1 else tile.values.contiguous()
    columns, rows = values.shape
    size = len(bounds)
    mine, copies = _copies(explicit, values.numel())
    theirs, more = _copies(explicit if walked is None else walked.shadow, values.numel())
    node, group = (bounds, None) if walked is None else (walked.node, walked.group)
    numbers = [1.0, 0.0] if walked is None else [walked.form.scale, walked.form.sign]
    factors = torch.tensor(numbers, dtype=torch.float64, device=values.device)
    with torch.cuda.device(values.device):
        _kernel()[(-(-columns // COLUMNS), -(-rows // ROWS))](
            values, values.stride(0), columns, rows, tile.first, tile.rows, tile.low, tile.high,
            node, node if group is None else group, len(node), factors, bounds, size, mine, copies, theirs, more,
            RAW=walked is None, RATIO=walked is not None and walked.form.kind == JACCARD, GROUPED=group is not None,
            STEPS=size.bit_length(), COLUMNS=COLUMNS, ROWS=ROWS, enable_fp_fusion=False,
        )  # fmt: skip
    explicit += mine.sum(0).view(explicit.shape)
    if walked is not None:
        walked.shadow.add_(theirs.sum(0).view(walked.shadow.shape))


def _copies(counts: Tensor, entries: int) -> tuple[Tensor, int]:
    """``(copies, size)`` zeros of a type that can count ``entries``, and the number of copies."""
    copies = max(1, min(COPIES, COUNTERS // counts.numel()))
    kind = torch.int32 if entries < 2**31 else torch.int64
    return torch.zeros((copies, counts.numel()), dtype=kind, device=counts.device), copies

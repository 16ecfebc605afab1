"""Triton: sums over the segments of sparse structures, as ``torch_ops.segments`` defines them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    import triton.language as tl  # type: ignore[import-not-found, unused-ignore]

ROWS, HEAD, WIDE = 32, 8, 16
"""Segments of one program of ``segment_dot``; positions of each in its first step, and in each step thereafter."""

ENTRIES, COLUMNS = 16, 128
"""Entries of a row that ``sparse_dense`` adds in one step, and columns that one program adds them for."""

WIDTH = 128
"""Entries of a row that ``neighbor_dot`` adds in one step."""


@cache
def _triton() -> Any:
    """Triton, or ``None`` where it cannot be imported; its language becomes a global of this module."""
    global tl
    try:
        import triton  # type: ignore[import-not-found, unused-ignore]
        import triton.language as tl
    except ImportError:
        return None
    return triton


@cache
def _compiled(kernel: Callable[..., None]) -> Any:
    return _triton().jit(kernel)


def on_triton(tensor: Tensor) -> bool:
    """Whether Triton kernels can work on a tensor."""
    return tensor.is_cuda and _triton() is not None


def segment_dot(x: Tensor, x_index: Tensor, y: Tensor, y_index: Tensor, indptr: Tensor) -> Tensor:
    """``segment_dot`` on CUDA."""
    segments = len(indptr) - 1
    out = x.new_empty(segments)
    if segments:
        arrays = [array.contiguous() for array in (x, x_index, y, y_index, indptr)]
        grid = (-(-segments // ROWS),)
        _compiled(_segment_dot_kernel)[grid](*arrays, out, segments, ROWS=ROWS, HEAD=HEAD, WIDE=WIDE, num_warps=4)
    return out


def sparse_dense(indptr: Tensor, indices: Tensor, values: Tensor | None, dense: Tensor, out: Tensor) -> Tensor:
    """``sparse_dense`` on CUDA."""
    rows, columns = out.shape
    if rows and columns:
        tile = min(COLUMNS, 1 << (columns - 1).bit_length())
        # programs are started along the first axis first: those that run together share a tile of columns
        grid = (rows, -(-columns // tile))
        arrays = (*_compressed(indptr, indices, values), dense, out, columns, *dense.stride(), *out.stride())
        _compiled(_sparse_dense_kernel)[grid](*arrays, ENTRIES=ENTRIES, COLUMNS=tile, num_warps=4)
    return out


def neighbor_dot(
    indptr: Tensor, indices: Tensor, values: Tensor | None, rows: Tensor, columns: Tensor, dense: Tensor
) -> Tensor:
    """``neighbor_dot`` on CUDA."""
    out = dense.new_empty(len(rows))
    if len(rows):
        arrays = (*_compressed(indptr, indices, values), rows.contiguous(), columns.contiguous(), dense, out)
        _compiled(_neighbor_dot_kernel)[(len(rows),)](*arrays, *dense.stride(), WIDTH=WIDTH, num_warps=1)
    return out


def _compressed(indptr: Tensor, indices: Tensor, values: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    return indptr.contiguous(), indices.contiguous(), None if values is None else values.contiguous()


def _segment_dot_kernel(  # type: ignore[no-untyped-def]
    x, x_index, y, y_index, indptr, out, segments, ROWS: tl.constexpr, HEAD: tl.constexpr, WIDE: tl.constexpr
):
    """``ROWS`` segments: their first ``HEAD`` positions, which most of them end in, then ``WIDE`` at a time."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    base = tl.load(indptr + tl.program_id(0) * ROWS)  # positions count from here: 32 bits suffice
    begin = (tl.load(indptr + tl.minimum(row, segments)) - base).to(tl.int32)
    end = (tl.load(indptr + tl.minimum(row + 1, segments)) - base).to(tl.int32)
    x_index += base
    y_index += base

    # positions first, segments second: then Triton lays out the gathers as it does the reading of the indices
    start = begin[None, :] + tl.arange(0, HEAD)[:, None]
    short = start < end[None, :]
    head = tl.load(x + tl.load(x_index + start, mask=short, other=0), mask=short, other=0)
    head *= tl.load(y + tl.load(y_index + start, mask=short, other=0), mask=short, other=0)

    rest = tl.zeros((WIDE, ROWS), x.dtype.element_ty)
    longest = tl.max(end - begin, axis=0)
    for offset in range(HEAD, longest, WIDE):
        position = begin[None, :] + (offset + tl.arange(0, WIDE))[:, None]
        here = position < end[None, :]
        product = tl.load(x + tl.load(x_index + position, mask=here, other=0), mask=here, other=0)
        product *= tl.load(y + tl.load(y_index + position, mask=here, other=0), mask=here, other=0)
        rest += product
    tl.store(out + row, tl.sum(head, axis=0) + tl.sum(rest, axis=0), mask=row < segments)


def _sparse_dense_kernel(  # type: ignore[no-untyped-def]
    indptr, indices, values, dense, out, columns, dense_row, dense_column, out_row, out_column,
    ENTRIES: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """One row and ``COLUMNS`` columns of the product, ``ENTRIES`` of the row at a time."""
    row = tl.program_id(0).to(tl.int64)
    column = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)
    inside = column < columns
    begin = tl.load(indptr + row)
    end = tl.load(indptr + row + 1)
    total = tl.zeros((ENTRIES, COLUMNS), dense.dtype.element_ty)
    for first in range(begin, end, ENTRIES):
        position = first + tl.arange(0, ENTRIES)
        here = position < end
        index = tl.load(indices + position, mask=here, other=0).to(tl.int64)
        place = (index * dense_row)[:, None] + (column * dense_column)[None, :]
        tile = tl.load(dense + place, mask=here[:, None] & inside[None, :], other=0)
        if values is not None:
            tile *= tl.load(values + position, mask=here, other=0)[:, None]
        total += tile
    tl.store(out + row * out_row + column * out_column, tl.sum(total, axis=0), mask=inside)


def _neighbor_dot_kernel(  # type: ignore[no-untyped-def]
    indptr, indices, values, rows, columns, dense, out, dense_row, dense_column, WIDTH: tl.constexpr
):
    """One listed pair, ``WIDTH`` entries of its row ``j`` at a time."""
    pair = tl.program_id(0)
    i = tl.load(rows + pair).to(tl.int64)
    j = tl.load(columns + pair)
    begin = tl.load(indptr + j)
    end = tl.load(indptr + j + 1)
    total = tl.zeros((WIDTH,), dense.dtype.element_ty)
    for first in range(begin, end, WIDTH):
        position = first + tl.arange(0, WIDTH)
        here = position < end
        index = tl.load(indices + position, mask=here, other=0).to(tl.int64)
        product = tl.load(dense + i * dense_row + index * dense_column, mask=here, other=0)
        if values is not None:
            product *= tl.load(values + position, mask=here, other=0)
        total += product
    tl.store(out + pair, tl.sum(total, axis=0))

"""Sums over the segments of sparse structures, on tensors.

segment_dot:   ``out[i] = sum over p in segment i of  x[x_index[p]] * y[y_index[p]]``
sparse_dense:  ``out = A B`` for a sparse ``A`` and a dense ``B``
neighbor_dot:  ``out[e] = (D A^T)[i_e, j_e]`` for a dense ``D`` and listed pairs ``(i_e, j_e)``

Sparse matrices are in compressed rows. On CUDA, where triton can be imported, Triton kernels do the work: one program
owns each sum, no two add to the same place, and the number of programs depends on shapes alone, so that results are
the same bit for bit in every run, and no call waits for the device or stands in the way of a CUDA graph. Elsewhere
torch does it, in chunks. Sums are formed in the dtype of the tensors, and no gradient flows through them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

if TYPE_CHECKING:
    import triton.language as tl  # type: ignore[import-not-found, unused-ignore]

CHUNK = 1 << 20
"""Positions that torch treats at a time: at most 64 bytes each, and one segment more."""

ROWS, HEAD, WIDE = 32, 8, 16
"""Segments of one program of ``segment_dot``; positions of each in its first step, and in each step thereafter."""

ENTRIES, COLUMNS = 16, 128
"""Entries of a row that ``sparse_dense`` adds in one step, and columns that one program adds them for."""

WIDTH = 128
"""Entries of a row that ``neighbor_dot`` adds in one step."""


def segment_dot(x: Tensor, x_index: Tensor, y: Tensor, y_index: Tensor, indptr: Tensor) -> Tensor:
    """``(s,)`` sums ``out[i] = sum_{p = indptr[i]}^{indptr[i + 1] - 1} x[x_index[p]] * y[y_index[p]]``.

    Args:
        x, y: ``(.,)`` of one floating dtype.
        x_index, y_index: ``(positions,)`` int32.
        indptr: ``(s + 1,)`` int32 or int64, ascending; an empty segment sums to 0.
    """
    if on_triton(x):
        with torch.cuda.device_of(x):
            return _launch_segment_dot(x, x_index, y, y_index, indptr)
    return _segment_dot_by_torch(x, x_index, y, y_index, indptr)


def sparse_dense(
    indptr: Tensor, indices: Tensor, values: Tensor | None, dense: Tensor, out: Tensor | None = None
) -> Tensor:
    """``(rows, columns)`` product of a sparse ``(rows, k)`` and a dense ``(k, columns)`` matrix.

    Args:
        indptr: ``(rows + 1,)`` int32 or int64.
        indices: ``(entries,)`` int32.
        values: ``(entries,)`` of the dtype of ``dense``; ``None`` when all entries are 1, which saves reading them.
        out: takes the result, and must not share memory with ``dense``.
    """
    if out is None:
        out = dense.new_empty(len(indptr) - 1, dense.shape[1])
    if on_triton(dense):
        with torch.cuda.device_of(dense):
            return _launch_sparse_dense(indptr, indices, values, dense, out)
    return _sparse_dense_by_torch(indptr, indices, values, dense, out)


def neighbor_dot(
    indptr: Tensor, indices: Tensor, values: Tensor | None, rows: Tensor, columns: Tensor, dense: Tensor
) -> Tensor:
    """``(e,)`` sums ``out[e] = sum over p in row j of  values[p] * dense[i, indices[p]]`` for pairs ``(i, j)``.

    Args:
        indptr, indices, values: a sparse ``(m, n)`` matrix, as for ``sparse_dense``.
        rows, columns: ``(e,)`` int32, the ``i`` and ``j`` of each pair; fastest when sorted by ``i``.
        dense: ``(b, n)``.
    """
    if on_triton(dense):
        with torch.cuda.device_of(dense):
            return _launch_neighbor_dot(indptr, indices, values, rows, columns, dense)
    return _neighbor_dot_by_torch(indptr, indices, values, rows, columns, dense)


# By torch.


@torch.no_grad()
def _segment_dot_by_torch(x: Tensor, x_index: Tensor, y: Tensor, y_index: Tensor, indptr: Tensor) -> Tensor:
    out = x.new_zeros(len(indptr) - 1)
    for first, last, begin, end in _chunks(indptr):
        product = x.index_select(0, x_index[begin:end])
        product *= y.index_select(0, y_index[begin:end])
        out[first:last] = _segment_sum(product, indptr[first : last + 1] - begin)
    return out


@torch.no_grad()
def _sparse_dense_by_torch(
    indptr: Tensor, indices: Tensor, values: Tensor | None, dense: Tensor, out: Tensor
) -> Tensor:
    if not (out.numel() and len(indices)):
        return out.zero_()
    if values is None:
        values = dense.new_ones(len(indices))
    shape = (len(indptr) - 1, dense.shape[0])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse (CSR tensor support|invariant checks)", UserWarning)
        matrix = torch.sparse_csr_tensor(indptr.to(indices.dtype), indices, values, shape, check_invariants=False)
    return torch.mm(matrix, dense, out=out)


@torch.no_grad()
def _neighbor_dot_by_torch(
    indptr: Tensor, indices: Tensor, values: Tensor | None, rows: Tensor, columns: Tensor, dense: Tensor
) -> Tensor:
    out = dense.new_zeros(len(rows))
    begins = indptr.index_select(0, columns).long()
    lengths = indptr.index_select(0, columns + 1) - begins
    listed = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])  # the rows j, one behind the other
    shifts = begins - listed[:-1]  # from there to the sparse matrix
    bases = rows.long() * dense.shape[1]
    flat = dense.reshape(-1)
    for first, last, begin, end in _chunks(listed):
        pair = torch.repeat_interleave(lengths[first:last], output_size=end - begin)
        position = shifts[first:last].index_select(0, pair)
        position += torch.arange(begin, end, device=dense.device)
        place = bases[first:last].index_select(0, pair)
        place += indices.index_select(0, position)
        product = flat.index_select(0, place)
        if values is not None:
            product *= values.index_select(0, position)
        out[first:last] = _segment_sum(product, listed[first : last + 1] - begin)
    return out


def _segment_sum(data: Tensor, offsets: Tensor) -> Tensor:
    return torch.segment_reduce(data, "sum", offsets=offsets, unsafe=True)


def _chunks(indptr: Tensor) -> Iterator[tuple[int, int, int, int]]:
    """Ranges ``(first, last)`` of segments and ``(begin, end)`` of their positions: ``CHUNK`` and one segment at most.

    Ranges without positions are left out: their sums are zeros.
    """
    starts = torch.arange(int(indptr[0]), int(indptr[-1]), CHUNK, dtype=indptr.dtype, device=indptr.device)
    cuts = torch.searchsorted(indptr, starts, right=True) - 1  # the segment that holds each start
    cuts = torch.cat([cuts.unique(), cuts.new_tensor([len(indptr) - 1])])
    bounds = indptr[cuts].tolist()
    segments = cuts.tolist()
    for i in range(len(segments) - 1):
        yield segments[i], segments[i + 1], bounds[i], bounds[i + 1]


# By Triton. Its language is a global of this module as soon as the kernels are asked for.


class _Kernels(NamedTuple):
    segment_dot: Any
    sparse_dense: Any
    neighbor_dot: Any


@cache
def _triton_kernels() -> _Kernels | None:
    """The kernels, or ``None`` where triton cannot be imported."""
    global tl
    try:
        import triton  # type: ignore[import-not-found, unused-ignore]
        import triton.language as tl
    except ImportError:
        return None
    return _Kernels(*map(triton.jit, (_segment_dot_kernel, _sparse_dense_kernel, _neighbor_dot_kernel)))


def on_triton(tensor: Tensor) -> bool:
    """Whether Triton kernels can work on a tensor."""
    return tensor.is_cuda and _triton_kernels() is not None


def _launch_segment_dot(x: Tensor, x_index: Tensor, y: Tensor, y_index: Tensor, indptr: Tensor) -> Tensor:
    kernels = _triton_kernels()
    assert kernels is not None
    segments = len(indptr) - 1
    out = x.new_empty(segments)
    if segments:
        arrays = [array.contiguous() for array in (x, x_index, y, y_index, indptr)]
        grid = (-(-segments // ROWS),)
        kernels.segment_dot[grid](*arrays, out, segments, ROWS=ROWS, HEAD=HEAD, WIDE=WIDE, num_warps=4)
    return out


def _launch_sparse_dense(indptr: Tensor, indices: Tensor, values: Tensor | None, dense: Tensor, out: Tensor) -> Tensor:
    kernels = _triton_kernels()
    assert kernels is not None
    rows, columns = out.shape
    if rows and columns:
        tile = min(COLUMNS, 1 << (columns - 1).bit_length())
        # programs are started along the first axis first: those that run together share a tile of columns
        kernels.sparse_dense[(rows, -(-columns // tile))](
            *_compressed(indptr, indices, values),
            dense,
            out,
            columns,
            *dense.stride(),
            *out.stride(),
            ENTRIES=ENTRIES,
            COLUMNS=tile,
            num_warps=4,
        )
    return out


def _launch_neighbor_dot(
    indptr: Tensor, indices: Tensor, values: Tensor | None, rows: Tensor, columns: Tensor, dense: Tensor
) -> Tensor:
    kernels = _triton_kernels()
    assert kernels is not None
    out = dense.new_empty(len(rows))
    if len(rows):
        kernels.neighbor_dot[(len(rows),)](
            *_compressed(indptr, indices, values),
            rows.contiguous(),
            columns.contiguous(),
            dense,
            out,
            *dense.stride(),
            WIDTH=WIDTH,
            num_warps=1,
        )
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
    indptr,
    indices,
    values,
    dense,
    out,
    columns,
    dense_row,
    dense_column,
    out_row,
    out_column,
    ENTRIES: tl.constexpr,
    COLUMNS: tl.constexpr,
):
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

"""Sums over the segments of sparse structures, on tensors.

segment_dot:   ``out[i] = sum over p in segment i of  x[x_index[p]] * y[y_index[p]]``
sparse_dense:  ``out = A B`` for a sparse ``A`` and a dense ``B``
neighbor_dot:  ``out[e] = (D A^T)[i_e, j_e]`` for a dense ``D`` and listed pairs ``(i_e, j_e)``

Sparse matrices are in compressed rows. On CUDA, where triton can be imported, Triton kernels do the work: one program
owns each sum, no two add to the same place, and the number of programs depends on shapes alone, so that results are
the same bit for bit in every run, and no call waits for the device or stands in the way of a CUDA graph. Elsewhere
torch does it, in chunks. Sums are formed in the dtype of the tensors, and no gradient flows through them.
"""

import warnings
from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import Tensor

from gelato.kernels.gpu import triton_segments
from gelato.kernels.gpu.triton_segments import on_triton

CHUNK = 1 << 20
"""Positions that torch treats at a time: at most 64 bytes each, and one segment more."""


@torch.no_grad()
def segment_dot(x: Tensor, x_index: Tensor, y: Tensor, y_index: Tensor, indptr: Tensor) -> Tensor:
    """``(s,)`` sums ``out[i] = sum_{p = indptr[i]}^{indptr[i + 1] - 1} x[x_index[p]] * y[y_index[p]]``.

    Args:
        x, y: ``(.,)`` of one floating dtype.
        x_index, y_index: ``(positions,)`` int32.
        indptr: ``(s + 1,)`` int32 or int64, ascending; an empty segment sums to 0.
    """
    if on_triton(x):
        with torch.cuda.device_of(x):
            return triton_segments.segment_dot(x, x_index, y, y_index, indptr)
    out = x.new_zeros(len(indptr) - 1)
    for first, last, begin, end in _chunks(indptr):
        product = x.index_select(0, x_index[begin:end])
        product *= y.index_select(0, y_index[begin:end])
        out[first:last] = _segment_sum(product, indptr[first : last + 1] - begin)
    return out


@torch.no_grad()
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
            return triton_segments.sparse_dense(indptr, indices, values, dense, out)
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
            return triton_segments.neighbor_dot(indptr, indices, values, rows, columns, dense)
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
    for (first, begin), (last, end) in pairwise(zip(cuts.tolist(), indptr[cuts].tolist(), strict=True)):
        yield first, last, begin, end

"""Sums over segments, against plain loops: by torch everywhere, by Triton where it runs."""

import importlib.util
import os
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gelato.kernels.gpu import triton_segments
from gelato.torch_ops import segments
from gelato.torch_ops.segments import neighbor_dot, segment_dot, sparse_dense

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1" and np.lib.NumpyVersion(np.__version__) < "2.4.0"
needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None or (DEVICE == "cpu" and not INTERPRETED),
    reason="needs triton, and a CUDA device or TRITON_INTERPRET=1 with numpy < 2.4",
)
on_cuda = pytest.mark.skipif(DEVICE == "cpu", reason="needs a CUDA device")
every_dtype = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])


def by_triton(test):
    """Runs a test where triton runs; its interpreter makes numpy warn, and fail from 2.4 on."""
    return needs_triton(pytest.mark.filterwarnings("ignore:Conversion of an array with ndim:DeprecationWarning")(test))


lengths = st.lists(st.integers(0, 5) | st.sampled_from([0, 1, 8, 9, 24, 33, 128, 300]), max_size=40)
dtypes = st.sampled_from([torch.float32, torch.float64])
integers = st.sampled_from([torch.int32, torch.int64])
seeds = st.integers(0, 1000)


def whole(shape, dtype, random):
    """Small whole numbers: their sums are exact in any order, so that results must agree bit for bit."""
    return torch.randint(-8, 9, shape, generator=random).to(dtype)


def real(shape, dtype, random):
    return torch.randn(shape, generator=random, dtype=torch.float64).to(dtype)


def below(bound, size, random):
    return torch.randint(bound, (size,), generator=random, dtype=torch.int32)


def indptr_of(lengths, dtype):
    return torch.tensor([0, *lengths], dtype=torch.int64).cumsum(0).to(dtype)


def dot_input(lengths, dtype, indptr_dtype=torch.int32, seed=0, numbers=whole):
    random = torch.Generator().manual_seed(seed)
    x, y = numbers((23,), dtype, random), numbers((31,), dtype, random)
    positions = sum(lengths)
    return x, below(23, positions, random), y, below(31, positions, random), indptr_of(lengths, indptr_dtype)


def sparse_input(lengths, dtype, indptr_dtype=torch.int32, seed=0, numbers=whole, inner=29, weighted=True):
    random = torch.Generator().manual_seed(seed)
    entries = sum(lengths)
    values = numbers((entries,), dtype, random) if weighted else None
    return indptr_of(lengths, indptr_dtype), below(inner, entries, random), values


def dense_input(rows, columns, dtype, seed=0, numbers=whole):
    return numbers((rows, columns), dtype, torch.Generator().manual_seed(seed + 1))


def pairs_input(rows, columns, size, seed=0):
    random = torch.Generator().manual_seed(seed + 2)
    return below(rows, size, random).sort().values, below(columns, size, random)


def slow_segment_dot(x, x_index, y, y_index, indptr):
    x, x_index, y, y_index, indptr = (tensor.tolist() for tensor in (x, x_index, y, y_index, indptr))
    out = []
    for i in range(len(indptr) - 1):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += x[x_index[p]] * y[y_index[p]]
        out.append(total)
    return out


def slow_sparse_dense(indptr, indices, values, dense):
    columns = dense.shape[1]
    indptr, indices, dense = indptr.tolist(), indices.tolist(), dense.tolist()
    values = [1.0] * len(indices) if values is None else values.tolist()
    out = [[0.0] * columns for _ in range(len(indptr) - 1)]
    for i in range(len(out)):
        for p in range(indptr[i], indptr[i + 1]):
            for c in range(columns):
                out[i][c] += values[p] * dense[indices[p]][c]
    return out


def slow_neighbor_dot(indptr, indices, values, rows, columns, dense):
    indptr, indices, dense = indptr.tolist(), indices.tolist(), dense.tolist()
    values = [1.0] * len(indices) if values is None else values.tolist()
    out = []
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        total = 0.0
        for p in range(indptr[j], indptr[j + 1]):
            total += values[p] * dense[i][indices[p]]
        out.append(total)
    return out


@settings(max_examples=150)
@given(lengths, dtypes, integers, seeds)
def test_segment_dot_equals_a_loop_over_positions(lengths, dtype, indptr_dtype, seed):
    arrays = dot_input(lengths, dtype, indptr_dtype, seed)
    got = segment_dot(*arrays)
    assert got.dtype == dtype
    assert got.tolist() == slow_segment_dot(*arrays)


@settings(max_examples=100)
@given(lengths, dtypes, integers, seeds, st.booleans(), st.integers(0, 7))
def test_sparse_dense_equals_a_loop_over_entries(lengths, dtype, indptr_dtype, seed, weighted, columns):
    matrix = sparse_input(lengths, dtype, indptr_dtype, seed, weighted=weighted)
    dense = dense_input(29, columns, dtype, seed)
    expected = slow_sparse_dense(*matrix, dense)
    got = sparse_dense(*matrix, dense)
    assert got.dtype == dtype
    assert got.tolist() == expected
    given_out = torch.full((len(lengths), columns), torch.nan, dtype=dtype)
    assert sparse_dense(*matrix, dense, out=given_out) is given_out
    assert given_out.tolist() == expected


@settings(max_examples=100)
@given(lengths, dtypes, integers, seeds, st.booleans(), st.integers(0, 30))
def test_neighbor_dot_equals_a_loop_over_the_rows_of_the_pairs(lengths, dtype, indptr_dtype, seed, weighted, size):
    matrix = sparse_input([3, *lengths], dtype, indptr_dtype, seed, weighted=weighted)
    dense = dense_input(11, 29, dtype, seed)
    pairs = pairs_input(11, len(lengths) + 1, size, seed)
    got = neighbor_dot(*matrix, *pairs, dense)
    assert got.dtype == dtype
    assert got.tolist() == slow_neighbor_dot(*matrix, *pairs, dense)


HEAVY = [0, 2, 5, 1, 0, 700, 3, 64, 0, 1, 129, 4, 17, 0, 0] * 5
"""Lengths of segments with a heavy tail, and with empty ones at both ends."""


def calls(dtype, numbers, weighted=True, device="cpu", indptr_dtype=torch.int32):
    """Arguments of each primitive for a larger input, of which nothing is a power of two."""
    matrix = sparse_input(HEAVY, dtype, indptr_dtype, numbers=numbers, weighted=weighted)
    dense = dense_input(29, 133, dtype, numbers=numbers)
    pairs = pairs_input(133, len(HEAVY), 100)
    arguments = {
        "segment_dot": dot_input(HEAVY, dtype, indptr_dtype, numbers=numbers),
        "sparse_dense": (*matrix, dense),
        "neighbor_dot": (*matrix, *pairs, dense.T.contiguous()),
    }
    return {
        name: [array if array is None else array.to(device) for array in arrays] for name, arrays in arguments.items()
    }


NAMES = list(calls(torch.float32, whole))
every_name = pytest.mark.parametrize("name", NAMES)


@every_name
@every_dtype
def test_results_are_the_same_in_every_run_and_for_every_size_of_the_chunks(name, dtype, monkeypatch):
    arguments = calls(dtype, real)[name]
    first = getattr(segments, name)(*arguments)
    assert torch.equal(getattr(segments, name)(*arguments), first)
    for size in (1, 100, 701, 5000):
        monkeypatch.setattr(segments, "CHUNK", size)
        assert torch.equal(getattr(segments, name)(*arguments), first)


@every_name
@every_dtype
def test_sums_are_as_precise_as_their_dtype(name, dtype):
    arguments = calls(dtype, real)[name]
    exact = getattr(segments, name)(*[array.double() if array.is_floating_point() else array for array in arguments])
    slow = torch.tensor(globals()[f"slow_{name}"](*arguments), dtype=torch.float64)
    torch.testing.assert_close(exact, slow, rtol=1e-12, atol=1e-11)
    got = getattr(segments, name)(*arguments)
    torch.testing.assert_close(got.double(), exact, rtol=0, atol=2000 * torch.finfo(dtype).eps)


@every_name
def test_no_gradient_flows(name):
    arguments = calls(torch.float64, real)[name]
    arguments = [array.requires_grad_() if array.is_floating_point() else array for array in arguments]
    assert not getattr(segments, name)(*arguments).requires_grad


def test_matrices_may_be_views():
    indptr, indices, values = sparse_input([2, 0, 7, 1], torch.float64)
    dense = dense_input(9, 29, torch.float64)
    expected = slow_sparse_dense(indptr, indices, values, dense.T)
    assert sparse_dense(indptr, indices, values, dense.T).tolist() == expected
    out = torch.zeros(4, 30, dtype=torch.float64)
    sparse_dense(indptr, indices, values, dense.T, out=out[:, 2:20:2])
    assert out[:, 2:20:2].tolist() == expected
    assert not out[:, 1::2].any()
    pairs = pairs_input(9, 4, 12)
    padded = torch.cat([dense, dense], dim=1)[:, :29]
    assert neighbor_dot(indptr, indices, values, *pairs, padded).tolist() == slow_neighbor_dot(
        indptr, indices, values, *pairs, dense
    )


def test_the_warning_of_torch_about_sparse_tensors_stays_inside():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sparse_dense(*sparse_input([1, 2], torch.float32), dense_input(29, 3, torch.float32))


def launch(name, arguments):
    """Call the Triton kernel of a primitive directly, also on the CPU, where its interpreter runs it."""
    if name == "sparse_dense":
        rows, columns = len(arguments[0]) - 1, arguments[3].shape[1]
        arguments = [*arguments, arguments[3].new_full((rows, columns), torch.nan)]
    return getattr(triton_segments, name)(*arguments)


@by_triton
@every_name
@every_dtype
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "unit"])
@pytest.mark.parametrize("indptr_dtype", [torch.int32, torch.int64], ids=["int32", "int64"])
def test_triton_equals_torch(name, dtype, weighted, indptr_dtype):
    expected = getattr(segments, name)(*calls(dtype, whole, weighted, indptr_dtype=indptr_dtype)[name])
    got = launch(name, calls(dtype, whole, weighted, DEVICE, indptr_dtype)[name])
    assert got.dtype == dtype
    assert torch.equal(got.cpu(), expected)


@by_triton
@every_name
@every_dtype
def test_triton_is_as_precise_as_the_dtype_and_the_same_in_every_run(name, dtype):
    expected = getattr(segments, name)(*calls(torch.float64, real)[name])
    arguments = calls(torch.float64, real, device=DEVICE)[name]
    arguments = [array.to(dtype) if array.is_floating_point() else array for array in arguments]
    got = launch(name, arguments)
    torch.testing.assert_close(got.cpu().double(), expected, rtol=0, atol=2000 * torch.finfo(dtype).eps)
    assert torch.equal(launch(name, arguments), got)


@by_triton
@pytest.mark.parametrize("columns", [0, 1, 2, 7, 128, 129])
def test_triton_covers_every_column(columns):
    matrix = [array.to(DEVICE) for array in sparse_input([0, 3, 40], torch.float32)]
    dense = dense_input(29, columns, torch.float32).to(DEVICE)
    assert launch("sparse_dense", [*matrix, dense]).tolist() == slow_sparse_dense(*matrix, dense)


@by_triton
def test_triton_takes_views_and_nothing_at_all():
    indptr, indices, values = (array.to(DEVICE) for array in sparse_input([2, 0, 7, 1], torch.float64))
    dense = dense_input(9, 29, torch.float64).to(DEVICE)
    out = dense.new_zeros(4, 30)
    triton_segments.sparse_dense(indptr, indices, values, dense.T, out[:, 2:20:2])
    assert out[:, 2:20:2].tolist() == slow_sparse_dense(indptr, indices, values, dense.T)
    assert not out[:, 1::2].any()
    none = indices[:0]
    assert triton_segments.neighbor_dot(indptr, indices, values, none, none, dense).shape == (0,)
    assert triton_segments.segment_dot(values, none, values, none, indptr[:1]).shape == (0,)
    assert triton_segments.segment_dot(values[:0], none, values[:0], none, indptr.new_zeros(3)).tolist() == [0, 0]


@on_cuda
@every_name
def test_the_device_gives_what_the_processor_gives(name):
    expected = getattr(segments, name)(*calls(torch.float32, whole)[name])
    got = getattr(segments, name)(*calls(torch.float32, whole, device=DEVICE)[name])
    assert torch.equal(got.cpu(), expected)


@on_cuda
@by_triton
@every_name
def test_a_call_can_be_captured_in_a_cuda_graph(name):
    arguments = calls(torch.float32, real, device=DEVICE)[name]
    expected = getattr(segments, name)(*arguments)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = getattr(segments, name)(*arguments)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(captured, expected)

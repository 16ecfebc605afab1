"""Walks of a fixed number of steps from one row, into a range of columns.

With ``M_1 = first`` and ``M_2 = ... = M_t = inner`` the walk from ``u`` reaches

    ``W_uv = sum over a, b, ... of  first[u, a] w_a inner[a, b] w_b ... inner[., v]``

CN, AA, RA (``t = 2``), autocovariance (``w = 1/d``), truncated Katz (all lengths up to ``t``) and the cosine of
sparse attributes (``first = X``, ``inner = X^T``) are all of this form. All weights of matrices must be positive: a
zero in an accumulator means "never reached".

What a walk reached becomes the score of an explicit entry; all other pairs have the background.

linear:   ``s_uv = scale * W_uv + sign * g_u * g_v``      background ``sign * g_u * g_v``
jaccard:  ``s_uv = W_uv / (g_u + g_v - W_uv)``            background 0
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.sparse.compiled import inlined, part
from gelato.sparse.csr import is_unit

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]

DENSE = 4
"""A row is scanned instead of listed if the entries of its last step times this reach its number of columns."""

LINEAR, JACCARD = 0, 1


class Walk(NamedTuple):
    """The arrays of a walk; ``*_data`` is ``None`` when all weights are 1, which saves reading them."""

    first_indptr: Ints
    first_indices: Ints
    first_data: Floats | None
    inner_indptr: Ints
    inner_indices: Ints
    inner_data: Floats | None
    weight: Floats
    steps: int
    every_length: bool
    columns: int
    tiny: float


class ScoreFormula(NamedTuple):
    """How a walk becomes a score; ``sign`` is -1, 0 or 1."""

    kind: int
    scale: float
    sign: float


class WalkMemory(NamedTuple):
    """Working memory of one thread: ``O(n)``; the accumulators are all zero between rows.

    ``span[b]`` delimits the entries of row ``b`` of ``inner`` that lie at or behind the beginning of the target range.
    It only shrinks from the front, so a thread must visit rows whose ranges ``[low, high)`` never begin further back.
    ``begins`` and ``ends`` hold the entries of one last step; ``touched`` has room for one more node than there are.
    """

    here: Floats
    here_nodes: Ints
    there: Floats
    there_nodes: Ints
    reached: Floats
    touched: Ints
    span: Ints
    begins: Ints
    ends: Ints


def walk_of(
    first: csr_array, inner: csr_array, weight: Floats, steps: int, every_length: bool, dtype: np.dtype[Any]
) -> Walk:
    """Pack the matrices of a walk for the kernels, with weights in ``dtype``; what need not be converted is shared."""
    outer = _arrays(first, dtype)
    arrays = (*outer, *(outer if inner is first else _arrays(inner, dtype)), _locked(weight.astype(dtype)))
    return Walk(*arrays, steps, every_length, inner.shape[1], np.finfo(dtype).tiny)


def _arrays(matrix: csr_array, dtype: np.dtype[Any]) -> tuple[Ints, Ints, Floats | None]:
    data = None if is_unit(matrix.data) else _locked(matrix.data.astype(dtype, copy=False))
    narrow = np.int32 if matrix.nnz < 2**31 else np.int64  # less memory to miss the cache in
    indptr, indices = matrix.indptr.astype(narrow, copy=False), matrix.indices.astype(np.int32, copy=False)
    return _locked(indptr), _locked(indices), data


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view, as the arrays of graphs are: kernels are compiled for one kind of array."""
    view = array.view()
    view.flags.writeable = False
    return view


def walk_memory_bytes(walk: Walk) -> int:
    """Bytes of what ``walk_memory`` returns."""
    size = max(walk.columns, len(walk.inner_indptr) - 1, len(walk.first_indptr) - 1)
    return size * 3 * (walk.weight.itemsize + 4) + 4 * walk.inner_indptr.nbytes


def walk_memory(walk: Walk) -> WalkMemory:
    """Fresh working memory for one thread."""
    size = max(walk.columns, len(walk.inner_indptr) - 1, len(walk.first_indptr) - 1)
    dtype = walk.weight.dtype
    floats = [np.zeros(size, dtype) for _ in range(3)]
    ints = [np.zeros(size + 1, np.int32) for _ in range(3)]
    indptr = walk.inner_indptr
    span = np.column_stack([indptr[:-1], indptr[1:]])  # side by side: one miss of the cache, not two
    return WalkMemory(
        floats[0], ints[0], floats[1], ints[1], floats[2], ints[2], span, np.zeros_like(indptr), np.zeros_like(indptr)
    )


def edge_value(x, data, j, tiny):  # type: ignore[no-untyped-def]
    """What ``x`` carries along entry ``j`` of a matrix (all 1 when ``data`` is ``None``); resolved when compiling.

    Never zero: a product that underflows becomes ``tiny``, since a zero in an accumulator means "never reached".
    """


@overload(edge_value, inline="always")
def _carried_when_compiled(x, data, j, tiny):  # type: ignore[no-untyped-def]
    if isinstance(data, types.NoneType):
        return lambda x, data, j, tiny: x
    return lambda x, data, j, tiny: max(x * data[j], tiny)


@part
def step_and_clear(indptr, indices, data, tiny, here, here_nodes, count, there, there_nodes):  # type: ignore[no-untyped-def]
    """``there = here @ matrix``; empties ``here`` and returns how many nodes were reached."""
    reached = 0
    for i in range(count):
        a = here_nodes[i]
        x = here[a]
        here[a] = 0
        for j in range(indptr[a], indptr[a + 1]):
            b = indices[j]
            # 0 means "not reached yet", which is why no product may underflow to 0 (see ``edge_value``)
            if there[b] == 0:
                there_nodes[reached] = b
                reached += 1
            there[b] += edge_value(x, data, j, tiny)
    return reached


@part
def advance(walk, step, here, here_nodes, count, there, there_nodes):  # type: ignore[no-untyped-def]
    """One step: ``there = here @ matrix``; empties ``here`` and returns how many nodes were reached."""
    tiny = walk.tiny
    if step == 0:
        first = (walk.first_indptr, walk.first_indices, walk.first_data)
        return step_and_clear(*first, tiny, here, here_nodes, count, there, there_nodes)
    inner = (walk.inner_indptr, walk.inner_indices, walk.inner_data)
    return step_and_clear(*inner, tiny, here, here_nodes, count, there, there_nodes)


@part
def apply_node_weights(values, nodes, count, weight, tiny):  # type: ignore[no-untyped-def]
    """Multiply each value by its node's weight and drop nodes of weight zero; returns how many are left."""
    kept = 0
    for i in range(count):
        b = nodes[i]
        # nodes of weight 0 join no walk, such as a neighbour of degree one for Adamic-Adar
        if weight[b] == 0:
            values[b] = 0
        else:
            values[b] = max(values[b] * weight[b], tiny)
            nodes[kept] = b
            kept += 1
    return kept


@inlined
def _forward(indices, j, last, bound):  # type: ignore[no-untyped-def]
    """First position from ``j`` on, before ``last``, whose index is at least ``bound``; mostly ``j`` itself."""
    # ranges begin a little further back from row to row, so that doubling from the last place beats bisection
    step = 1
    while j + step <= last and indices[j + step - 1] < bound:
        j += step
        step *= 2
    while step > 1:
        step //= 2
        if j + step <= last and indices[j + step - 1] < bound:
            j += step
    return j


@part
def find_ranges(nodes, count, low, high, whole, indices, span, begins, ends):  # type: ignore[no-untyped-def]
    """Where the last step from each of ``count`` nodes enters and leaves the target range; returns how many entries.

    ``whole`` says that no column follows ``high``.
    """
    work = 0
    for i in range(count):
        b = nodes[i]
        last = span[b, 1]
        begins[i] = _forward(indices, span[b, 0], last, low)
        # kept for the next row, whose range begins here or behind: a scan passes each entry over once
        span[b, 0] = begins[i]
        ends[i] = last if whole else _forward(indices, begins[i], last, high)
        work += ends[i] - begins[i]
    return work


@part
def last_step(here, here_nodes, count, begins, ends, indices, data, tiny, reached):  # type: ignore[no-untyped-def]
    """The last step from ``count`` nodes; empties ``here``."""
    for i in range(count):
        b = here_nodes[i]
        x = here[b]
        here[b] = 0
        for j in range(begins[i], ends[i]):
            reached[indices[j]] += edge_value(x, data, j, tiny)


@part
def last_step_listing(  # type: ignore[no-untyped-def]
    here, here_nodes, count, begins, ends, indices, data, tiny, reached, touched, listed
):
    """``last_step`` that goes on listing the columns it reaches; returns how many there are."""
    for i in range(count):
        b = here_nodes[i]
        x = here[b]
        here[b] = 0
        for j in range(begins[i], ends[i]):
            v = indices[j]
            touched[listed] = v  # without a branch, which would be mispredicted often; the next may overwrite it
            listed += reached[v] == 0
            reached[v] += edge_value(x, data, j, tiny)
    return listed


@part
def walk_row(u, low, high, walk, space):  # type: ignore[no-untyped-def]
    """Walk from ``u`` and leave ``W_uv`` for ``low <= v < high`` in ``space.reached``.

    Returns the number of columns listed in ``space.touched``, or -1 when the row is dense enough that its reader
    should scan the whole range instead (then nothing is listed). The reader must zero what it reads.
    """
    here, here_nodes = space.here, space.here_nodes
    there, there_nodes = space.there, space.there_nodes
    reached, touched = space.reached, space.touched
    here[u] = 1
    here_nodes[0] = u
    count, listed = np.int64(1), np.int64(0)  # a literal would be compiled for as a type of its own
    # the last step is taken apart below: it alone is cut to the range, and makes most of the work
    for step in range(walk.steps - 1):
        count = advance(walk, step, here, here_nodes, count, there, there_nodes)
        here, there = there, here
        here_nodes, there_nodes = there_nodes, here_nodes
        if walk.every_length:
            for i in range(count):
                b = here_nodes[i]
                if low <= b < high:
                    if reached[b] == 0:
                        touched[listed] = b
                        listed += 1
                    reached[b] += here[b]
        count = apply_node_weights(here, here_nodes, count, walk.weight, walk.tiny)

    # functions of plain arrays that call no others: else numba would count references
    indices, data, tiny, begins, ends = walk.inner_indices, walk.inner_data, walk.tiny, space.begins, space.ends
    whole = high == walk.columns
    work = find_ranges(here_nodes, count, low, high, whole, indices, space.span, begins, ends)
    # a list of columns pays off only while few of them are reached; scanning is sequential and has no branch
    if DENSE * work >= high - low:
        last_step(here, here_nodes, count, begins, ends, indices, data, tiny, reached)
        return -1
    return last_step_listing(here, here_nodes, count, begins, ends, indices, data, tiny, reached, touched, listed)


@inlined
def score_of(reached, g_u, g_v, form):  # type: ignore[no-untyped-def]
    """Score of a pair that the walk reached."""
    if form.kind == JACCARD:
        return reached / (g_u + g_v - reached)
    return form.scale * reached + form.sign * (g_u * g_v)

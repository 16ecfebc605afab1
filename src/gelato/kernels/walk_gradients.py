"""Walks on a fixed pattern, and their gradients.

Two matrices ``F`` (the first step) and ``P`` (every later one) have entries in the same places, which stay while their
values change. ``M = F P^(t-1)`` is needed at the pairs that walks of ``t`` steps reach (the support), and the gradient
of anything computed from it with respect to the values of ``F`` and ``P``. Both go row by row: with ``y_1 = F_u`` and
``y_{k+1} = y_k P``

    ``M_uv = sum_b y_{t-1,b} P_bv``,   ``dP_bv += y_{t-1,b} G_uv``,   ``dy_{t-1,b} = sum_v P_bv G_uv``

and so on back to the first step, so the cost is that of the walks. When ``M`` is symmetric only ``v >= u`` is kept.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gelato.kernels.threads import run_ranges
from gelato.sparse.compiled import kernel, part
from gelato.sparse.csr_loops import find

Floats = NDArray[np.floating[Any]]

# more would let more threads work, but each has a gradient of its own to hold and to add up
CHUNKS = 8
"""Ranges of rows whose gradients are added up apart and then in order, so that threads do not change the result."""

VISIT = 10
"""Cost of visiting an intermediate node, in multiplications."""

_NONE = np.empty(0, np.int32)


class Pattern(NamedTuple):
    """Where the entries of a square matrix are: CSR without values, columns ascending.

    Attributes:
        indptr: ``(n + 1,)`` int64.
        indices: ``(e,)`` int32.
        symmetric: whether ``M_uv`` always equals ``M_vu``.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    symmetric: bool

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1


class Support(NamedTuple):
    """The pairs ``(u, v)`` that walks of ``steps`` steps reach, by rows, columns ascending; ``v >= u`` if symmetric.

    Attributes:
        indptr: ``(n + 1,)`` int64.
        indices: ``(s,)`` int32 columns.
        cuts: ``(chunks + 1,)`` rows at which ranges of equal work begin.
        steps: length ``t`` of the walks.
        work: about how many multiplications a walk over all rows takes.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    cuts: NDArray[np.int64]
    steps: int
    work: int

    @property
    def rows(self) -> NDArray[np.int64]:
        """``(s,)`` row of each pair."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def pairs(self) -> NDArray[np.int64]:
        """``(., 2)`` the pairs of two different nodes."""
        both = np.column_stack([self.rows, self.indices])
        different: NDArray[np.int64] = both[both[:, 0] != both[:, 1]]
        return different

    def unlinked(
        self, links: NDArray[np.int64], labels: NDArray[np.int64] | None = None, sides: NDArray[np.int8] | None = None
    ) -> NDArray[np.int64]:
        """``(q,)`` places of the pairs of two nodes that are no links; of one part, and across sides, if given."""
        rows = self.rows
        wanted = rows != self.indices
        if labels is not None:
            wanted &= labels[rows] == labels[self.indices]
        if sides is not None:
            wanted &= sides[rows] != sides[self.indices]
        place = self.find(links)
        wanted[place[place >= 0]] = False
        return np.flatnonzero(wanted)

    def find(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """``(p,)`` place of each pair in ``indices``, or -1 where no walk reaches it."""
        return np.asarray(find(self.indptr, self.indices, np.array(pairs, np.int64, order="C")))


def walk_support(pattern: Pattern, steps: int, threads: int = 1) -> Support:
    """List the pairs that ``steps`` steps reach, once for all values."""
    size, work = np.zeros(pattern.n, np.int64), np.zeros(pattern.n, np.int64)
    even = np.linspace(0, pattern.n, 8 * threads + 1).astype(np.int64)
    run_ranges(even, lambda begin, end: _list_rows(begin, end, *pattern, steps, size, work, even, _NONE))
    indptr = np.concatenate([[0], np.cumsum(size)])
    indices = np.empty(indptr[-1], np.int32)
    if len(indices):
        run_ranges(even, lambda begin, end: _list_rows(begin, end, *pattern, steps, size, work, indptr, indices))
    return Support(indptr, indices, _chunks_of(work), steps, int(work.sum()))


def _chunks_of(work: NDArray[np.int64]) -> NDArray[np.int64]:
    """``(CHUNKS + 1,)`` rows at which ranges of equal work begin."""
    n = len(work)
    share = np.cumsum(work + 1) / (work.sum() + n)
    cuts = np.searchsorted(share, np.arange(1, CHUNKS) / CHUNKS)
    return np.concatenate([[0], cuts, [n]])


def reached_fraction(pattern: Pattern, steps: int, random: np.random.Generator, rows: int = 256) -> float:
    """About which share of all pairs walks of ``steps`` steps join, from a sample of rows."""
    n = pattern.n
    chosen = np.sort(random.choice(n, min(rows, n), replace=False))
    reached = 0
    for u in chosen.tolist():
        size, work = np.zeros(n, np.int64), np.zeros(n, np.int64)
        _list_rows(u, u + 1, pattern.indptr, pattern.indices, False, steps, size, work, pattern.indptr, _NONE)
        reached += int(size[u])
    return reached / (len(chosen) * n)


def walk_values(pattern: Pattern, first: Floats, inner: Floats, support: Support, threads: int = 1) -> Floats:
    """``(s,)`` entries of ``F P^(t-1)`` on the support, for the ``(e,)`` values of ``F`` and ``P``."""
    out = np.empty(len(support.indices), first.dtype)
    walk = _walk(pattern, first, inner, support)
    run_ranges(_groups(threads), lambda begin, end: _power_chunks(begin, end, *walk, out))
    return out


def walk_gradient(
    pattern: Pattern, first: Floats, inner: Floats, support: Support, gradient: Floats, threads: int = 1
) -> tuple[Floats, Floats]:
    """``(e,)`` gradients for the values of ``F`` and of ``P``, given the ``(s,)`` gradient of ``walk_values``."""
    parts = np.zeros((CHUNKS, 2, len(first)), first.dtype)
    walk = _walk(pattern, first, inner, support)
    run_ranges(_groups(threads), lambda begin, end: _gradient_chunks(begin, end, *walk, gradient, parts))
    # always in the order of the chunks, so that the number of threads changes no bit
    total = parts.sum(axis=0)
    return total[0], total[1]


def _walk(pattern: Pattern, first: Floats, inner: Floats, support: Support) -> tuple[Any, ...]:
    """What the kernels take, with unsigned indices: numba makes signed ones a third slower, as they may be negative."""
    places = (pattern.indptr.view(np.uint64), pattern.indices.view(np.uint32), pattern.symmetric)
    reached = (support.indptr.view(np.uint64), support.indices.view(np.uint32))
    return support.cuts.view(np.uint64), *places, first, inner, support.steps, *reached


def _groups(threads: int) -> NDArray[np.int64]:
    """``(threads + 1,)`` first chunk of each thread."""
    return np.linspace(0, CHUNKS, min(threads, CHUNKS) + 1).astype(np.int64)


@kernel
def _list_rows(begin, end, indptr, indices, symmetric, steps, size, work, s_indptr, s_indices):  # type: ignore[no-untyped-def]
    """Count, or when ``s_indices`` has room list, the columns that walks from each row reach."""
    listing = len(s_indices) > 0
    n = len(indptr) - 1
    nodes, found = np.empty(n, np.int32), np.empty(n, np.int32)
    mark = np.full(n, -1, np.int64)
    first = indptr[:-1].copy()
    stamp = 0
    for u in range(begin, end):
        if listing and s_indptr[u] == s_indptr[u + 1]:
            continue
        nodes[0] = u
        count = 1
        for _ in range(steps - 1):
            reached = 0
            for i in range(count):
                a = nodes[i]
                for j in range(indptr[a], indptr[a + 1]):
                    b = indices[j]
                    if mark[b] != stamp:
                        mark[b] = stamp
                        found[reached] = b
                        reached += 1
            stamp += 1
            count = reached
            nodes[:count] = found[:count]
        reached = 0
        for i in range(count):
            b = nodes[i]
            if symmetric:
                # rows ascend, so that columns before ``u`` are passed over once for all rows
                while first[b] < indptr[b + 1] and indices[first[b]] < u:
                    first[b] += 1
            work[u] += 0 if listing else indptr[b + 1] - first[b] + VISIT
            for j in range(first[b], indptr[b + 1]):
                v = indices[j]
                if mark[v] != stamp:
                    mark[v] = stamp
                    found[reached] = v
                    reached += 1
        stamp += 1
        if listing:
            s_indices[s_indptr[u] : s_indptr[u + 1]] = np.sort(found[:reached])
        else:
            size[u] = reached


_ZERO, _ONE = np.uint64(0), np.uint64(1)


@part
def _workspace(indptr, first, steps):  # type: ignore[no-untyped-def]
    """Working memory of ``_advance``, where each row begins, and a row of zeros."""
    n, levels = len(indptr) - 1, max(steps - 1, 1)
    nodes, counts = np.empty((levels, n), np.uint32), np.zeros(levels, np.uint64)
    value, row = np.empty((levels, n), first.dtype), np.zeros(n, first.dtype)
    return nodes, counts, np.full(n, 2**63, np.uint64), indptr[:-1].copy(), value, row


@part
def _advance(u, indptr, indices, first, inner, steps, nodes, counts, mark, value):  # type: ignore[no-untyped-def]
    """Leave ``y_k = (F P^(k-1))_u`` for ``k < steps`` in ``value`` at the nodes listed in ``nodes``."""
    begin = indptr[u]
    counts[0] = indptr[u + _ONE] - begin
    for i in range(counts[0]):
        a = indices[begin + i]
        nodes[0, i] = a
        value[0, a] = first[begin + i]
    for k in range(1, steps - 1):
        # a number that no other row and step has, so that ``mark`` need not be cleared in between
        stamp = u * np.uint64(steps) + np.uint64(k)
        here, there, before, listed = value[k - 1], value[k], nodes[k - 1], nodes[k]
        reached = _ZERO
        for i in range(counts[k - 1]):
            a = before[i]
            x = here[a]
            for j in range(indptr[a], indptr[np.uint64(a) + _ONE]):
                b = indices[j]
                if mark[b] != stamp:
                    mark[b] = stamp
                    there[b] = 0
                    listed[reached] = b
                    reached += _ONE
                there[b] += x * inner[j]
        counts[k] = reached


@kernel
def _forward(b, u, indptr, indices, start):  # type: ignore[no-untyped-def]
    """Move ``start`` of row ``b`` to its first column from ``u`` on."""
    j, last = start[b], indptr[np.uint64(b) + _ONE]
    while j < last and indices[j] < u:
        j += _ONE
    start[b] = j


@kernel
def _power_chunks(begin, end, cuts, indptr, indices, symmetric, first, inner, steps, s_indptr, s_indices, out):  # type: ignore[no-untyped-def]
    nodes, counts, mark, start, value, row = _workspace(indptr, first, steps)
    for u in range(cuts[begin], cuts[end]):
        if s_indptr[u] == s_indptr[u + _ONE]:  # a row that is left out
            continue
        if steps == 1:
            for j in range(indptr[u], indptr[u + _ONE]):
                row[indices[j]] = first[j]
        else:
            _advance(u, indptr, indices, first, inner, steps, nodes, counts, mark, value)
            here, listed = value[steps - 2], nodes[steps - 2]
            for i in range(counts[steps - 2]):
                b = listed[i]
                x = here[b]
                if symmetric:
                    _forward(b, u, indptr, indices, start)
                for k in range(start[b], indptr[np.uint64(b) + _ONE]):
                    row[indices[k]] += x * inner[k]
        for k in range(s_indptr[u], s_indptr[u + _ONE]):
            v = s_indices[k]
            out[k] = row[v]
            # the list of the support empties the row again, in time of the entries and not of n
            row[v] = 0
        if steps == 1:
            for j in range(indptr[u], indptr[u + _ONE]):
                row[indices[j]] = 0


@kernel
def _gradient_chunks(  # type: ignore[no-untyped-def]
    begin, end, cuts, indptr, indices, symmetric, first, inner, steps, s_indptr, s_indices, above, parts
):
    nodes, counts, mark, start, value, row = _workspace(indptr, first, steps)
    gradient = np.empty_like(value)
    chunk = begin
    for u in range(cuts[begin], cuts[end]):
        while u >= cuts[chunk + 1]:
            chunk += 1
        if s_indptr[u] == s_indptr[u + _ONE]:
            continue
        d_first, d_inner = parts[chunk, 0], parts[chunk, 1]
        for k in range(s_indptr[u], s_indptr[u + _ONE]):
            row[s_indices[k]] = above[k]
        if steps == 1:
            for j in range(indptr[u], indptr[u + _ONE]):
                d_first[j] += row[indices[j]]
        else:
            _advance(u, indptr, indices, first, inner, steps, nodes, counts, mark, value)
            here, back, listed = value[steps - 2], gradient[steps - 2], nodes[steps - 2]
            for i in range(counts[steps - 2]):
                b = listed[i]
                x = here[b]
                if symmetric:
                    _forward(b, u, indptr, indices, start)
                s = x * 0
                for k in range(start[b], indptr[np.uint64(b) + _ONE]):
                    g = row[indices[k]]
                    s += inner[k] * g
                    d_inner[k] += x * g
                back[b] = s
            for level in range(steps - 3, -1, -1):
                # the values of all steps were kept by ``_advance``: nothing is walked a second time
                _retreat(level, indptr, indices, inner, nodes, counts, value, gradient, d_inner)
            for j in range(indptr[u], indptr[u + _ONE]):
                d_first[j] += gradient[0, indices[j]]
        for k in range(s_indptr[u], s_indptr[u + _ONE]):
            row[s_indices[k]] = 0


@part
def _retreat(level, indptr, indices, inner, nodes, counts, value, gradient, d_inner):  # type: ignore[no-untyped-def]
    """One step back: gradients of the values at ``level`` from those of the next, and those of the step between."""
    here, back, ahead, listed = value[level], gradient[level], gradient[level + 1], nodes[level]
    for i in range(counts[level]):
        a = listed[i]
        x = here[a]
        s = x * 0
        for j in range(indptr[a], indptr[np.uint64(a) + _ONE]):
            g = ahead[indices[j]]
            s += inner[j] * g
            d_inner[j] += x * g
        back[a] = s

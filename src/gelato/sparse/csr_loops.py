"""Loops over compressed rows."""

import numpy as np

from gelato.sparse.compiled import kernel, part


@kernel
def fill(keys, n, mirrored, data, indptr, indices, values):  # type: ignore[no-untyped-def]
    """Write the rows; the entries of a row before the diagonal come from the rows above it, in their order."""
    for key in keys:
        indptr[key // n + 1] += 1
        if mirrored:
            indptr[key % n + 1] += 1
    for u in range(n):
        indptr[u + 1] += indptr[u]
    place = indptr[:-1].copy()
    for i in range(len(keys)):
        u, v = keys[i] // n, keys[i] % n
        indices[place[u]] = v
        if data is not None:
            values[place[u]] = data[i]
        place[u] += 1
        if mirrored:
            indices[place[v]] = u
            if data is not None:
                values[place[v]] = data[i]
            place[v] += 1


@part
def find_in_row(indptr, indices, u, v):  # type: ignore[no-untyped-def]
    """The position of column ``v`` in the sorted row ``u``, -1 if it is not there."""
    low, high = np.int64(indptr[u]), np.int64(indptr[u + 1])
    end = high
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low if low < end and indices[low] == v else np.int64(-1)


@kernel
def find(indptr, indices, pairs):  # type: ignore[no-untyped-def]
    """``(p,)`` the position of each pair, -1 if it is not there."""
    place = np.empty(len(pairs), np.int64)
    for i in range(len(pairs)):
        place[i] = find_in_row(indptr, indices, pairs[i, 0], pairs[i, 1])
    return place


@kernel
def count_kept(indptr, kept, before):  # type: ignore[no-untyped-def]
    """Write where the rows begin once only the kept entries are left."""
    for u in range(len(indptr) - 1):
        before[u + 1] = before[u]
        for j in range(indptr[u], indptr[u + 1]):
            before[u + 1] += kept[j]


@kernel
def count_mirrored(indptr, indices, data):  # type: ignore[no-untyped-def]
    """Row by row the mirror of an entry must be the next one of its row that has not been met."""
    place = indptr[:-1].copy()
    for u in range(len(indptr) - 1):
        for j in range(indptr[u], indptr[u + 1]):
            v = indices[j]
            k = place[v]
            if k == indptr[v + 1] or indices[k] != u:
                return False
            if data is not None and data[k] != data[j]:
                return False
            place[v] = k + 1
    return True


@kernel
def transpose(indptr, indices, data, place, rows, values):  # type: ignore[no-untyped-def]
    """Write row and value of each entry at the next place of its column."""
    for u in range(len(indptr) - 1):
        for j in range(indptr[u], indptr[u + 1]):
            v = indices[j]
            rows[place[v]] = u
            if data is not None:
                values[place[v]] = data[j]
            place[v] += 1


@kernel
def shuffle(order, begin, raw):  # type: ignore[no-untyped-def]
    """Some steps of a Fisher-Yates shuffle: ``i`` is swapped with ``i + raw_i mod (m - i)``."""
    m = len(order)
    for k in range(len(raw)):
        i = begin + k
        j = i + np.int64(raw[k]) % (m - i)
        order[i], order[j] = order[j], order[i]

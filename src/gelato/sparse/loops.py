"""Loops over compressed rows."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
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


@njit(nogil=True, cache=True, error_model="numpy")
def ascending(keys):  # type: ignore[no-untyped-def]
    """Whether keys ascend, perhaps with repeats."""
    for i in range(1, len(keys)):  # noqa: SIM110 - compiled
        if keys[i - 1] > keys[i]:
            return False
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def rising(keys):  # type: ignore[no-untyped-def]
    """Whether keys ascend without repeats."""
    for i in range(1, len(keys)):  # noqa: SIM110 - compiled
        if keys[i - 1] >= keys[i]:
            return False
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def ordered(pairs):  # type: ignore[no-untyped-def]
    """Whether the smaller node comes first in all pairs."""
    for i in range(len(pairs)):  # noqa: SIM110 - compiled
        if pairs[i, 0] >= pairs[i, 1]:
            return False
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def compact(keys):  # type: ignore[no-untyped-def]
    """Move the different ones of ascending keys to the front; returns how many there are."""
    kept = min(1, len(keys))
    for i in range(1, len(keys)):
        if keys[i] != keys[kept - 1]:
            keys[kept] = keys[i]
            kept += 1
    return kept


@njit(nogil=True, cache=True, error_model="numpy")
def count_upper(indptr, indices):  # type: ignore[no-untyped-def]
    """Number of entries above the diagonal."""
    count = 0
    for u in range(len(indptr) - 1):
        for j in range(indptr[u], indptr[u + 1]):
            count += indices[j] > u
    return count


@njit(nogil=True, cache=True, error_model="numpy")
def list_entries(indptr, indices, both, pairs):  # type: ignore[no-untyped-def]
    """Write row and column of each entry, or of those above the diagonal."""
    i = 0
    for u in range(len(indptr) - 1):
        for j in range(indptr[u], indptr[u + 1]):
            if both or indices[j] > u:
                pairs[i, 0] = u
                pairs[i, 1] = indices[j]
                i += 1


@njit(nogil=True, cache=True, error_model="numpy")
def find(indptr, indices, pairs):  # type: ignore[no-untyped-def]
    """``(p,)`` the place of each pair in its row, -1 if it is not there."""
    place = np.empty(len(pairs), np.int64)
    for i in range(len(pairs)):
        low, high = np.int64(indptr[pairs[i, 0]]), np.int64(indptr[pairs[i, 0] + 1])
        end, v = high, pairs[i, 1]
        while low < high:
            middle = (low + high) >> 1
            if indices[middle] < v:
                low = middle + 1
            else:
                high = middle
        place[i] = low if low < end and indices[low] == v else -1
    return place


@njit(nogil=True, cache=True, error_model="numpy")
def count_kept(indptr, kept, before):  # type: ignore[no-untyped-def]
    """Write where the rows begin once only the kept entries are left."""
    for u in range(len(indptr) - 1):
        before[u + 1] = before[u]
        for j in range(indptr[u], indptr[u + 1]):
            before[u + 1] += kept[j]


@njit(nogil=True, cache=True, error_model="numpy")
def take(values, kept, out):  # type: ignore[no-untyped-def]
    """Write the kept ones of some values."""
    i = 0
    for j in range(len(values)):
        if kept[j]:
            out[i] = values[j]
            i += 1


@njit(nogil=True, cache=True, error_model="numpy")
def mark_upper(indptr, indices, above):  # type: ignore[no-untyped-def]
    """Write which entries lie above the diagonal."""
    for u in range(len(indptr) - 1):
        for j in range(indptr[u], indptr[u + 1]):
            above[j] = indices[j] > u


@njit(nogil=True, cache=True, error_model="numpy")
def find_loop(indptr, indices):  # type: ignore[no-untyped-def]
    """The first node on the diagonal, or -1."""
    for u in range(len(indptr) - 1):
        for j in range(indptr[u], indptr[u + 1]):
            if indices[j] == u:
                return u
    return -1


@njit(nogil=True, cache=True, error_model="numpy")
def mirrored(indptr, indices, data):  # type: ignore[no-untyped-def]
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


@njit(nogil=True, cache=True, error_model="numpy")
def count_columns(indices, count):  # type: ignore[no-untyped-def]
    """Add the number of entries of each column."""
    for v in indices:
        count[v] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def transpose(indptr, indices, data, low, high, place, rows, values):  # type: ignore[no-untyped-def]
    """Write row and value of each entry of the columns from ``low`` to ``high``, each at the next place of its own."""
    for u in range(len(indptr) - 1):
        for j in range(indptr[u], indptr[u + 1]):
            v = indices[j]
            if low <= v < high:
                rows[place[v]] = u
                if data is not None:
                    values[place[v]] = data[j]
                place[v] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def permute(indptr, indices, data, order, new, new_indptr, new_indices, new_data):  # type: ignore[no-untyped-def]
    """Write the rows in a new order, their columns by new names and sorted."""
    for i in range(len(order)):
        begin, end = indptr[order[i]], indptr[order[i] + 1]
        first = new_indptr[i]
        last = first + (end - begin)
        new_indptr[i + 1] = last
        row = new_indices[first:last]
        for j in range(begin, end):
            row[j - begin] = new[indices[j]]
        if data is None:
            row.sort()
        else:
            place = np.argsort(row)
            row[:] = row[place]
            for j in range(end - begin):
                new_data[first + j] = data[begin + place[j]]


@njit(nogil=True, cache=True, error_model="numpy")
def shuffle(order, begin, raw):  # type: ignore[no-untyped-def]
    """Some steps of a Fisher-Yates shuffle: ``i`` is swapped with ``i + raw_i mod (m - i)``."""
    m = len(order)
    for k in range(len(raw)):
        i = begin + k
        j = i + np.int64(raw[k]) % (m - i)
        order[i], order[j] = order[j], order[i]


@njit(nogil=True, cache=True, error_model="numpy")
def count_up(order):  # type: ignore[no-untyped-def]
    """Write 0, 1, 2, ..."""
    for i in range(len(order)):
        order[i] = i

"""The walks between two nodes one by one: the heaviest of them, how many there are and what they add up to.

A walk ``u = a_0, a_1, ..., a_l = v`` is worth ``first[u, a_1] w(a_1) inner[a_1, a_2] w(a_2) ... inner[a_(l-1), v]``.
Layer ``j`` holds the nodes where walks from ``u`` may stand after ``j`` steps. From the last layer back to ``u``, each
node keeps what the heaviest ways on from it to ``v`` are worth:

    ``x_(l-1)(a) = {M[a, v]}``        ``x_j(a) = the heaviest of {M[a, b] w(b) x : b in layer j + 1, x in x_(j+1)(b)}``

A product with the same factor keeps the order, so the heaviest of all are among these. Values that agree to 12 digits
tie: the same factors in another order may round otherwise. Rows must be sorted.
"""

import numpy as np
from numpy.typing import NDArray

from gelato.kernels.walk import edge_value
from gelato.sparse.compiled import kernel, part
from gelato.sparse.csr_loops import find_in_row


@kernel
def heaviest_walks(u, v, length, limit, roundabout, walk):  # type: ignore[no-untyped-def]
    """The ``limit`` heaviest walks of ``length`` steps from ``u`` to ``v``; ties in the order of their nodes.

    With ``roundabout`` no walk may step straight from ``u`` to ``v`` or from ``v`` to ``u``. Costs about what walking
    ``length - 1`` steps from ``u`` does, and ``limit`` values for each step of it that lies on a walk to ``v``.

    Returns:
        ``(k, length + 1)`` nodes, ``(k,)`` values (heaviest first), number of walks (exact up to 2^53), their sum.
    """
    straight = (u, v, roundabout)
    place = np.full(max(walk.columns, len(walk.inner_indptr) - 1, len(walk.first_indptr) - 1), -1)
    nodes, cuts = _layers(length, straight, walk, place)
    lists = np.zeros((len(nodes), 2), np.int64)  # where the entries of each node begin and end
    sums = np.zeros((len(nodes), 2))  # number and total of all ways on from each node
    layers = (nodes, place, lists, sums)
    entries = (np.empty(64), np.empty(64, np.int64), np.empty(64, np.int64))  # worth, the entry to go on with, node
    size = np.int64(0)  # a plain 0 would compile all below a second time
    first = (walk.first_indptr, walk.first_indices, walk.first_data)
    inner = (walk.inner_indptr, walk.inner_indices, walk.inner_data)
    for step in range(length - 1, -1, -1):
        begin, end = cuts[step], cuts[step + 1]
        how = (step == length - 1, straight, limit, walk)
        if step == 0:
            size, entries = _list_ways(first, begin, end, how, layers, size, entries)
        else:
            size, entries = _list_ways(inner, begin, end, how, layers, size, entries)
        if step < length - 1:
            for i in range(end, cuts[step + 2]):
                place[nodes[i]] = -1
        for i in range(begin, end):
            # nodes from which no walk arrives keep no place, so that earlier layers do not step to them
            if lists[i, 1] > lists[i, 0]:
                place[nodes[i]] = i
    value, onward, node = entries
    begin, end = lists[0, 0], lists[0, 1]
    walks = np.empty((end - begin, length + 1), np.int64)
    for k in range(end - begin):
        entry = begin + k
        for step in range(length):
            walks[k, step] = node[entry]
            entry = onward[entry]
        walks[k, length] = v
    return walks, value[begin:end].copy(), sums[0, 0], sums[0, 1]


@kernel
def total_through(ends, between, steps, every_length, walk):  # type: ignore[no-untyped-def]
    """What the walks from ``ends[0]`` to ``ends[1]`` add up to that visit all of ``between`` and no other node.

    Walks of ``steps`` steps on a graph (of every length up to it, if so), none of which steps straight between the
    ends. Counts on from state to state ``(node, which of between were visited)``.
    """
    k = len(between)
    nodes = np.concatenate((between, ends))
    first_value, step_value = np.zeros(k + 2), np.zeros((k + 2, k + 2))
    for j in range(k + 1):  # not straight to the other end
        first_value[j] = _entry(walk.first_indptr, walk.first_indices, walk.first_data, walk, nodes, k, j)
    for i in range(k + 2):
        for j in range(k + 2):
            if not (i >= k and j >= k and i != j):
                step_value[i, j] = _entry(walk.inner_indptr, walk.inner_indices, walk.inner_data, walk, nodes, i, j)
    here = np.zeros((k + 2, 1 << k))
    here[k, 0] = 1.0
    total = 0.0
    for step in range(1, steps + 1):
        there = np.zeros_like(here)
        for i in range(k + 2):
            for seen in range(1 << k):
                if here[i, seen] != 0:
                    leaving = here[i, seen] * (walk.weight[nodes[i]] if step > 1 else 1.0)
                    for j in range(k + 2):
                        value = first_value[j] if step == 1 else step_value[i, j]  # all walks begin at ends[0]
                        there[j, seen | (1 << j) if j < k else seen] += leaving * value
        here = there
        if every_length or step == steps:
            total += here[k + 1, (1 << k) - 1]
    return total


@part
def _entry(indptr, indices, data, walk, nodes, i, j):  # type: ignore[no-untyped-def]
    """The entry of a matrix at ``(nodes[i], nodes[j])``, 0 where there is none."""
    place = find_in_row(indptr, indices, nodes[i], nodes[j])
    return edge_value(np.float64(1.0), data, place, walk.tiny) if place >= 0 else 0.0


@part
def _barred(a, b, straight):  # type: ignore[no-untyped-def]
    """Whether the step from ``a`` to ``b`` is the one that a roundabout walk must not take."""
    u, v, roundabout = straight
    return roundabout and ((a == u and b == v) or (a == v and b == u))


@part
def _layers(length, straight, walk, place):  # type: ignore[no-untyped-def]
    """The nodes of layers ``0 .. length - 1``, one after another, and ``(length + 1,)`` where each layer begins."""
    nodes, cuts = np.empty(64, np.int64), np.zeros(length + 1, np.int64)
    nodes[0] = straight[0]
    size = np.int64(1)
    cuts[1] = 1
    for step in range(length - 1):
        indptr, indices = walk.inner_indptr, walk.inner_indices
        if step == 0:
            indptr, indices = walk.first_indptr, walk.first_indices
        for i in range(cuts[step], cuts[step + 1]):
            a = nodes[i]
            for j in range(indptr[a], indptr[a + 1]):
                b = indices[j]
                if place[b] < 0 and walk.weight[b] != 0 and not _barred(a, b, straight):
                    place[b] = 0
                    nodes = _with_room(nodes, size)
                    nodes[size] = b
                    size += 1
        cuts[step + 2] = size
        for i in range(cuts[step + 1], size):
            place[nodes[i]] = -1
    return nodes[:size], cuts


@part
def _list_ways(matrix, begin, end, how, layers, size, entries):  # type: ignore[no-untyped-def]
    """List the heaviest ways on from nodes ``begin .. end - 1``: from the last layer to ``v``, else by the next one."""
    indptr, indices, data = matrix
    nodes, place, lists, sums = layers
    last, straight, limit, walk = how
    for i in range(begin, end):
        a = nodes[i]
        lists[i] = size
        if last:
            j = find_in_row(indptr, indices, a, straight[1])
            if j >= 0 and not _barred(a, straight[1], straight):
                value = edge_value(np.float64(1.0), data, j, walk.tiny)
                entries = _with_entry(entries, size, value, np.int64(-1), a)
                size += 1
                lists[i, 1] = size
                sums[i, 0], sums[i, 1] = 1.0, value
            continue
        found = 0
        for j in range(indptr[a], indptr[a + 1]):
            p = place[indices[j]]
            if p >= 0 and not _barred(a, indices[j], straight):
                found += lists[p, 1] - lists[p, 0]
        if found == 0:
            continue
        worth, entry = np.empty(min(limit, found)), np.empty(min(limit, found), np.int64)  # the heaviest, in order
        found = 0
        for j in range(indptr[a], indptr[a + 1]):
            b = indices[j]
            p = place[b]
            if p >= 0 and not _barred(a, b, straight):
                factor = edge_value(np.float64(walk.weight[b]), data, j, walk.tiny)
                sums[i, 0] = min(sums[i, 0] + sums[p, 0], 1e300)  # finite for walks of any length
                sums[i, 1] += factor * sums[p, 1]
                for e in range(lists[p, 0], lists[p, 1]):
                    found = _insert(factor * entries[0][e], e, worth, entry, found)
        for k in range(found):
            entries = _with_entry(entries, size, worth[k], entry[k], a)
            size += 1
        lists[i, 1] = size
    return size, entries


@part
def _insert(value, entry, values, entries, size):  # type: ignore[no-untyped-def]
    """Put an entry in its place among the first ``size``, behind those that tie with it; returns how many there are."""
    level = _level(value)
    if size == len(values):
        if level <= _level(values[size - 1]):
            return size
        size -= 1
    place = size
    while place > 0 and level > _level(values[place - 1]):
        values[place], entries[place] = values[place - 1], entries[place - 1]
        place -= 1
    values[place], entries[place] = value, entry
    return size + 1


@part
def _level(value):  # type: ignore[no-untyped-def]
    """``weight_levels`` of one value."""
    return (np.float64(value).view(np.int64) + (1 << 11)) >> 12


def weight_levels(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """``(k,)`` integers in the order of positive ``values``, the same for values that agree to 40 bits."""
    levels: NDArray[np.int64] = (values.view(np.int64) + (1 << 11)) >> 12
    return levels


@part
def _with_entry(entries, size, value, onward, node):  # type: ignore[no-untyped-def]
    """The entries with one more, in arrays of twice the length when all places are taken."""
    values, onwards, nodes = entries
    values, onwards, nodes = _with_room(values, size), _with_room(onwards, size), _with_room(nodes, size)
    values[size], onwards[size], nodes[size] = value, onward, node
    return values, onwards, nodes


@part
def _with_room(array, size):  # type: ignore[no-untyped-def]
    """The array, or a copy of twice its length when all its ``size`` entries are taken."""
    if size < len(array):
        return array
    larger = np.empty(2 * size, array.dtype)
    for i in range(size):  # a slice would be assigned after checks that take longer to compile than all of this
        larger[i] = array[i]
    return larger

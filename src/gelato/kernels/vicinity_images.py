"""Persistence images of the vicinity graphs of pairs.

The vicinity graph of ``(u, v)`` has the nodes within ``k`` links of both, and ``u`` and ``v`` themselves, always
without the link between ``u`` and ``v``: neither balls, nor lengths of links, nor paths depend on whether it is there.
A node ``x`` has the value ``d(u, x) + d(x, v)``, by the shortest paths inside, over the largest such value, and both
ends have 0; what cannot be reached is left out.
"""

import numpy as np

from gelato.kernels.extended_persistence import add_to_image, persistence_points
from gelato.kernels.ricci_curvature import is_cut, link_length
from gelato.sparse.compiled import kernel, part
from gelato.sparse.csr_loops import find_in_row

OF_ENTRY, OF_LINK, OF_TABLE = 2.0, 300.0, 100.0
"""Steps, about, for each entry of a row that is read, link inside, and entry of a table of transport."""


@kernel
def vicinity_images(indptr, indices, lengths, pairs, hops, spread, images):  # type: ignore[no-untyped-def]
    """Add to ``(p, 25)`` ``images`` those of ``(p, 2)`` pairs of nodes; nothing where no path inside joins the ends."""
    n = len(indptr) - 1
    net, near = np.zeros(n, np.int64), np.zeros(n, np.int64)
    mark, place = np.full((2, n), np.int64(-1)), np.full(n, np.int64(-1))
    balls = np.empty((2, n), np.int64)
    for p in range(len(pairs)):
        u, v = np.int64(pairs[p, 0]), np.int64(pairs[p, 1])
        linked = find_in_row(indptr, indices, u, v) >= 0
        cut = (u, v) if linked else (np.int64(-1), np.int64(-1))
        count = _list_vicinity(indptr, indices, u, v, hops, cut, p, mark, balls)[0]
        nodes = balls[0]
        if count > 2:
            for i in range(count):
                place[nodes[i]] = i
            first, second, length = _links_inside(
                indptr, indices, lengths, nodes[:count], place, cut, linked, net, near
            )
            for i in range(count):
                place[nodes[i]] = -1
            value = _values(count, first, second, length)
            if value[1] == 0:  # else v is out of reach
                _add_image(value, first, second, spread, images[p])


@kernel
def vicinity_work(indptr, indices, pairs, hops, most, work):  # type: ignore[no-untyped-def]
    """Write about how many steps the images of ``(p, 2)`` pairs take; returns their sum, and ends when it passes most.

    A step is about a nanosecond. What is counted: entries of rows that are read, links inside, and the tables of the
    links whose lengths are computed anew.
    """
    n = len(indptr) - 1
    mark, place = np.full((2, n), np.int64(-1)), np.full(n, np.int64(-1))
    balls = np.empty((2, n), np.int64)
    total = 0.0
    for p in range(len(pairs)):
        u, v = np.int64(pairs[p, 0]), np.int64(pairs[p, 1])
        linked = find_in_row(indptr, indices, u, v) >= 0
        cut = (u, v) if linked else (np.int64(-1), np.int64(-1))
        count, entries = _list_vicinity(indptr, indices, u, v, hops, cut, p, mark, balls)
        nodes = balls[0]
        for i in range(count):
            place[nodes[i]] = i
        links, table = 0.0, 0.0
        for i in range(count):
            x = nodes[i]
            entries += indptr[x + 1] - indptr[x]
            for k in range(indptr[x], indptr[x + 1]):
                y = indices[k]
                if place[y] > i and not is_cut(x, y, cut):
                    links += 1
                    if linked and (_is_next_to(indptr, indices, x, cut) or _is_next_to(indptr, indices, y, cut)):
                        table += float(indptr[x + 1] - indptr[x]) * (indptr[y + 1] - indptr[y])
        for i in range(count):
            place[nodes[i]] = -1
        work[p] = OF_ENTRY * entries + OF_LINK * links + OF_TABLE * table
        total += work[p]
        if total > most:
            break
    return total


@part
def _list_vicinity(indptr, indices, u, v, hops, cut, stamp, mark, balls):  # type: ignore[no-untyped-def]
    """List ``u``, ``v`` and all others of both balls in ``balls[0]``; returns how many, and the entries looked at."""
    entries = _list_ball(indptr, indices, u, hops, cut, stamp, mark[0], balls[0])[1]
    size, others = _list_ball(indptr, indices, v, hops, cut, stamp, mark[1], balls[1])
    nodes = balls[0]
    nodes[0], nodes[1] = u, v
    count = np.int64(2)
    for i in range(size):
        x = balls[1, i]
        if x != u and x != v and mark[0, x] == stamp:
            nodes[count] = x
            count += 1
    return count, entries + others


@part
def _list_ball(indptr, indices, root, hops, cut, stamp, mark, nodes):  # type: ignore[no-untyped-def]
    """List, and mark with a stamp, the nodes within some links of ``root``; returns how many, and the entries read."""
    nodes[0] = root
    mark[root] = stamp
    begin, end, entries = np.int64(0), np.int64(1), np.int64(0)
    for _ in range(hops):
        size = end
        for i in range(begin, end):
            x = nodes[i]
            entries += indptr[x + 1] - indptr[x]
            for k in range(indptr[x], indptr[x + 1]):
                y = indices[k]
                if mark[y] != stamp and not is_cut(x, y, cut):
                    mark[y] = stamp
                    nodes[size] = y
                    size += 1
        begin, end = end, size
    return end, entries


@part
def _links_inside(indptr, indices, lengths, nodes, place, cut, linked, net, near):  # type: ignore[no-untyped-def]
    """Both ends, as places in ``nodes``, and lengths of the links between ``nodes``, without the link ``cut``."""
    first, second = np.empty(16, np.int64), np.empty(16, np.int64)
    length = np.empty(16)
    size = np.int64(0)
    for i in range(len(nodes)):
        x = nodes[i]
        for k in range(indptr[x], indptr[x + 1]):
            j = place[indices[k]]
            if j > i and not is_cut(x, indices[k], cut):
                if size == len(first):
                    first, second, length = _doubled(first), _doubled(second), _doubled(length)
                first[size], second[size] = i, j
                length[size] = lengths[k]
                y = indices[k]
                if linked and (_is_next_to(indptr, indices, x, cut) or _is_next_to(indptr, indices, y, cut)):
                    length[size] = link_length(indptr, indices, x, y, cut, net, near)
                size += 1
    return first[:size], second[:size], length[:size]


@part
def _is_next_to(indptr, indices, x, cut):  # type: ignore[no-untyped-def]
    """Whether a node is an end of a link or linked to one; lengths of links between others do not depend on it."""
    u, v = cut
    return x in cut or find_in_row(indptr, indices, x, u) >= 0 or find_in_row(indptr, indices, x, v) >= 0


@part
def _doubled(array):  # type: ignore[no-untyped-def]
    """A copy with room for as much again."""
    larger = np.empty(2 * len(array), array.dtype)
    for i in range(len(array)):
        larger[i] = array[i]
    return larger


@part
def _values(count, first, second, length):  # type: ignore[no-untyped-def]
    """``(count,)`` values of nodes, ``u`` and ``v`` first; infinite where one of these two is out of reach."""
    distance = np.full((2, count), np.inf)
    distance[0, 0] = distance[1, 1] = 0.0
    shorter = True
    while shorter:
        shorter = False
        for i in range(len(first)):
            a, b = first[i], second[i]
            for end in range(2):
                if distance[end, a] + length[i] < distance[end, b]:
                    distance[end, b] = distance[end, a] + length[i]
                    shorter = True
                elif distance[end, b] + length[i] < distance[end, a]:
                    distance[end, a] = distance[end, b] + length[i]
                    shorter = True
    value = distance[0] + distance[1]
    if value[1] < np.inf:
        value[0] = value[1] = 0.0
    largest = 0.0
    for i in range(count):
        if value[i] < np.inf:
            largest = max(largest, value[i])
    return value / largest


@part
def _add_image(value, first, second, spread, image):  # type: ignore[no-untyped-def]
    """Add the image of the component that the ends are in."""
    kept, size = np.empty(len(value), np.int64), np.int64(0)
    inside = np.empty(len(value))
    for i in range(len(value)):
        if value[i] < np.inf:
            kept[i], inside[size] = size, value[i]
            size += 1
    a, b = np.empty(len(first), np.int64), np.empty(len(first), np.int64)
    links = np.int64(0)
    for i in range(len(first)):
        if value[first[i]] < np.inf:
            a[links], b[links] = kept[first[i]], kept[second[i]]
            links += 1
    points = persistence_points(inside[:size], a[:links], b[:links])[0]
    add_to_image(points, spread, image)

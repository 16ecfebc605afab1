"""Ollivier-Ricci curvature of links, by exact transport between the neighbourhoods of both ends.

Around ``a`` lies the measure ``m_a``: half of it on ``a``, the rest evenly on its neighbours. The curvature of a link
is ``k_ab = 1 - W_1(m_a, m_b)``, with ``W_1`` the least mean number of links that ``m_a`` moves along to become ``m_b``
(Ollivier 2009; Lin, Lu and Yau 2011), and its length is ``1 + k_ab``, above 0. Masses are multiples of
``1 / (2 d_a d_b)`` and distances at most 3, so all sums are whole numbers and exact.
"""

import numpy as np

from gelato.sparse.compiled import kernel, part
from gelato.sparse.csr_loops import find_in_row

FARTHEST = 3
"""Links between a neighbour of one end and one of the other, at most: by way of the link itself."""


@kernel
def link_lengths(indptr, indices, begin, end, lengths):  # type: ignore[no-untyped-def]
    """Write ``1 + k_ab`` at both entries of links from nodes ``begin .. end - 1`` to later ones; rows are sorted."""
    n = len(indptr) - 1
    net, near = np.zeros(n, np.int64), np.zeros(n, np.int64)
    none = (np.int64(-1), np.int64(-1))
    for a in range(begin, end):
        for place in range(indptr[a], indptr[a + 1]):
            b = indices[place]
            if b > a:
                lengths[place] = link_length(indptr, indices, a, b, none, net, near)
                lengths[find_in_row(indptr, indices, b, a)] = lengths[place]


@part
def is_cut(a, b, cut):  # type: ignore[no-untyped-def]
    """Whether a link is the one that counts as absent."""
    return (a == cut[0] and b == cut[1]) or (a == cut[1] and b == cut[0])


@part
def link_length(indptr, indices, a, b, cut, net, near):  # type: ignore[no-untyped-def]
    """``1 + k_ab`` on the graph without the link ``cut``, which is there, or ``(-1, -1)``; ``net, near`` are 0s."""
    first, second = np.int64(0), np.int64(0)  # degrees
    for i in range(indptr[a], indptr[a + 1]):
        first += 0 if is_cut(a, indices[i], cut) else 1
    for i in range(indptr[b], indptr[b + 1]):
        second += 0 if is_cut(b, indices[i], cut) else 1
    net[a] += first * second
    net[b] -= first * second
    for i in range(indptr[a], indptr[a + 1]):
        if not is_cut(a, indices[i], cut):
            net[indices[i]] += second
    for i in range(indptr[b], indptr[b + 1]):
        if not is_cut(b, indices[i], cut):
            net[indices[i]] -= first
    rows, supply = np.empty(first + 1, np.int64), np.empty(first + 1, np.int64)
    columns, demand = np.empty(second + 1, np.int64), np.empty(second + 1, np.int64)
    s, t = np.int64(0), np.int64(0)
    for i in range(indptr[a] - 1, indptr[a + 1]):  # a itself, then its neighbours: what must leave
        x = a if i < indptr[a] else indices[i]
        if net[x] > 0 and not is_cut(a, x, cut):
            rows[s], supply[s] = x, net[x]
            s += 1
    for i in range(indptr[b] - 1, indptr[b + 1]):
        y = b if i < indptr[b] else indices[i]
        if net[y] < 0 and not is_cut(b, y, cut):
            columns[t], demand[t] = y, -net[y]
            t += 1
    net[a] = 0
    net[b] = 0
    for i in range(indptr[a], indptr[a + 1]):
        net[indices[i]] = 0
    for i in range(indptr[b], indptr[b + 1]):
        net[indices[i]] = 0
    cost = np.empty((s, t), np.int8)
    for i in range(s):
        x = rows[i]
        for k in range(indptr[x], indptr[x + 1]):
            if not is_cut(x, indices[k], cut):
                near[indices[k]] = 1
        for j in range(t):
            cost[i, j] = _steps_to(indptr, indices, columns[j], cut, near)
        for k in range(indptr[x], indptr[x + 1]):
            near[indices[k]] = 0
    return 2.0 - least_cost(cost, supply[:s], demand[:t]) / (2.0 * first * second)


@part
def _steps_to(indptr, indices, y, cut, near):  # type: ignore[no-untyped-def]
    """Links to ``y`` from another node, whose neighbours are marked in ``near``."""
    if near[y] != 0:
        return 1
    for k in range(indptr[y], indptr[y + 1]):
        if near[indices[k]] != 0 and not is_cut(y, indices[k], cut):
            return 2
    return FARTHEST


@kernel
def least_cost(cost, supply, demand):  # type: ignore[no-untyped-def]
    """The least cost of moving ``(s,)`` supplies to ``(t,)`` demands of the same sum; both are used up.

    ``cost`` are ``(s, t)`` small whole numbers, and the sum is below ``2^31``. Potentials keep ``cost_ij + p_i - q_j``
    at 0 or above, and at 0 where something flows; each round moves as much as it can along paths of length 0, after
    these were made so (the primal-dual method).
    """
    s, t = cost.shape
    flow = np.zeros((s, t), np.int32)
    potential = np.zeros(s + t, np.int64)
    total = np.int64(0)
    left = supply.sum()
    while left > 0:
        _raise_potentials(cost, flow, supply, demand, potential)
        left -= _move_along_paths(cost, flow, supply, demand, potential)
    for i in range(s):
        for j in range(t):
            total += flow[i, j] * cost[i, j]
    return total


@part
def _raise_potentials(cost, flow, supply, demand, potential):  # type: ignore[no-untyped-def]
    """Add to each potential the distance from what is left of the supplies, at most that of the nearest open demand."""
    s, t = cost.shape
    unknown = np.int64(2**60)
    distance = np.full(s + t, unknown, np.int64)
    done = np.zeros(s + t, np.bool_)
    for i in range(s):
        if supply[i] > 0:
            distance[i] = 0
    nearest = unknown
    while nearest == unknown:
        x = np.int64(-1)
        for y in range(s + t):
            if not done[y] and distance[y] < unknown and (x < 0 or distance[y] < distance[x]):
                x = np.int64(y)
        done[x] = True
        if x < s:
            for j in range(t):
                by = distance[x] + cost[x, j] + potential[x] - potential[s + j]
                distance[s + j] = min(distance[s + j], by)
        elif demand[x - s] > 0:
            nearest = distance[x]
        else:
            for i in range(s):
                if flow[i, x - s] > 0:
                    distance[i] = min(distance[i], distance[x])
    for y in range(s + t):
        potential[y] += min(distance[y], nearest)


@part
def _move_along_paths(cost, flow, supply, demand, potential):  # type: ignore[no-untyped-def]
    """Move mass along paths without reduced cost, by searches that try no arc twice; returns how much."""
    s, t = cost.shape
    visited, arc, path = np.zeros(s + t, np.bool_), np.zeros(s + t, np.int64), np.empty(s + t, np.int64)
    moved = np.int64(0)
    for root in range(s):
        while supply[root] > 0 and not visited[root]:
            path[0] = root
            visited[root] = True
            depth = 0
            while depth >= 0 and (path[depth] < s or demand[path[depth] - s] == 0):
                x = path[depth]
                y = np.int64(-1)
                while y < 0 and arc[x] < (t if x < s else s):
                    if x < s:
                        j = arc[x]
                        if not visited[s + j] and cost[x, j] + potential[x] == potential[s + j]:
                            y = s + j
                    elif flow[arc[x], x - s] > 0 and not visited[arc[x]]:
                        y = arc[x]
                    arc[x] += y < 0
                depth += 1 if y >= 0 else -1
                if y >= 0:
                    path[depth] = y
                    visited[y] = True
            if depth < 0:
                break
            amount = min(supply[root], demand[path[depth] - s])
            for k in range(2, depth, 2):
                amount = min(amount, flow[path[k], path[k - 1] - s])
            for k in range(0, depth, 2):
                flow[path[k], path[k + 1] - s] += amount
                if k > 0:
                    flow[path[k], path[k - 1] - s] -= amount
            supply[root] -= amount
            demand[path[depth] - s] -= amount
            moved += amount
            for k in range(depth + 1):
                visited[path[k]] = False
    return moved

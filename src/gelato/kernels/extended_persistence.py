"""Extended persistence of a graph whose nodes have values, and images of its points.

Sublevel sets ``{f <= x}`` grow to the whole graph, from which superlevel sets ``{f >= x}`` are then taken away. A link
comes with the larger value of its ends on the way up, and with the smaller one on the way down. Points ``(b, d)`` with
``b <= d`` are those of

* dimension 0, ordinary: a component, from its least value to that of the link that joins it to an older one;
* dimension 0, extended: a component of the whole graph, from its least to its largest value;
* dimension 1, extended: an independent loop, from the value that it has on the way down to that on the way up.

Relative points, which are those of dimension 0 of ``-f``, lie below the diagonal and have no place in an image.
"""

import math

import numpy as np

from gelato.sparse.compiled import kernel, part

SIDE = 5
"""Pixels of an image in either direction."""

UNIT = 2.0**40
"""Pixels are sums of whole multiples of one over this, so that they do not depend on the order of points."""


@kernel
def persistence_points(values, first, second):  # type: ignore[no-untyped-def]
    """``(k, 2)`` births and deaths, ordinary ones first, then those of components and of loops; and where these begin.

    ``values`` are those of the nodes, ``first, second`` the ends of the links, each of which is listed once.
    """
    n, m = len(values), len(first)
    points = np.empty((n + m, 2))
    up, down = np.empty(m), np.empty(m)
    for i in range(m):
        up[i] = max(values[first[i]], values[second[i]])
        down[i] = -min(values[first[i]], values[second[i]])
    parent = np.arange(n)
    least, largest = values.copy(), values.copy()  # of components, by their roots
    count = np.int64(0)
    for i in np.argsort(up):
        a, b = _root(parent, first[i]), _root(parent, second[i])
        if a != b:
            if least[a] > least[b]:
                a, b = b, a
            points[count, 0], points[count, 1] = least[b], up[i]
            count += 1
            parent[b] = a
            largest[a] = max(largest[a], largest[b])
    components = count
    for x in range(n):
        if parent[x] == x:
            points[count, 0], points[count, 1] = least[x], largest[x]
            count += 1
    loops = count
    count = _add_loops(values, first, second, up, down, points, count)
    return points[:count], components, loops


@part
def _root(parent, x):  # type: ignore[no-untyped-def]
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@part
def _add_loops(values, first, second, up, down, points, count):  # type: ignore[no-untyped-def]
    """Points of loops: on the way down a link that closes one takes the place of its latest link on the way up.

    The forest that is kept has the least values on the way up of all that span the superlevel set. So the link that a
    new one drives out begins, on the way up, the class that the new one ends.
    """
    n = len(values)
    parent, above = np.full(n, -1), np.empty(n)  # the forest, and the value on the way up of the link to the parent
    mark = np.full(n, -1)
    for i in np.argsort(down):
        a, b = first[i], second[i]
        x = a
        while x >= 0:
            mark[x] = i
            x = parent[x]
        meeting = b
        while meeting >= 0 and mark[meeting] != i:
            meeting = parent[meeting]
        if meeting >= 0:
            latest, worst = np.int64(-1), up[i]
            below = a
            for end in (a, b):
                x = end
                while x != meeting:
                    if above[x] > worst:
                        latest, worst, below = x, above[x], end
                    x = parent[x]
            points[count, 0], points[count, 1] = -down[i], worst
            count += 1
            if latest < 0:
                continue
            parent[latest] = -1
            a, b = below, a + b - below
        _make_root(parent, above, a)
        parent[a] = b
        above[a] = up[i]
    return count


@part
def _make_root(parent, above, x):  # type: ignore[no-untyped-def]
    """Turn the links from ``x`` up to its root round."""
    before, carried = np.int64(-1), 0.0
    while x >= 0:
        onward, value = parent[x], above[x]
        parent[x], above[x] = before, carried
        before, carried = x, value
        x = onward


@part
def add_to_image(points, spread, image):  # type: ignore[no-untyped-def]
    """Add an image to ``(25,)`` pixels: normal densities at ``(b, d - b)``, each weighing ``d - b``, over ``[0, 1]^2``.

    ``spread`` is the standard deviation of a density; a pixel is its mass there (Adams et al., JMLR 2017).
    """
    total = np.zeros(SIDE * SIDE, np.int64)
    births, lasts = np.empty(SIDE), np.empty(SIDE)
    for k in range(len(points)):
        birth, last = points[k, 0], points[k, 1] - points[k, 0]
        if last > 0:
            _masses(birth, spread, births)
            _masses(last, spread, lasts)
            for i in range(SIDE):
                for j in range(SIDE):
                    total[i * SIDE + j] += np.int64(np.rint(UNIT * last * births[i] * lasts[j]))
    for i in range(SIDE * SIDE):
        image[i] += total[i] / UNIT


@part
def _masses(center, spread, out):  # type: ignore[no-untyped-def]
    """Mass of a normal distribution in each fifth of ``[0, 1]``."""
    scale = 1 / (spread * math.sqrt(2.0))
    before = math.erf(-center * scale)
    for i in range(SIDE):
        after = math.erf(((i + 1) / SIDE - center) * scale)
        out[i] = (after - before) / 2
        before = after

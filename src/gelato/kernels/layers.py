"""The layers of a small network over many rows, forth and back, for training on the CPU.

A hidden layer is ``r = relu(x W^T + b)``, then BatchNorm over all rows, then dropout:

    ``y = keep * (scale * r + shift)``,   ``u = keep * dy``,   ``dz = (r > 0) * (c_1 u + c_2 + c_3 (r - mean))``

with a ``scale``, ``shift``, ``c_1``, ``c_2`` and ``c_3`` for each column, and ``keep`` one bit an entry. Dropout
leaves about half of the entries of ``y`` and ReLU about half of those of ``dz``, so no product is formed densely: a row
of one is a sum, kept in registers, of those rows of a table whose bits are set.

Kernels work on the rows ``begin`` to ``end``, or on those of the chunks ``begin`` to ``end``, which begin at ``cuts``.
Sums over all rows are left for each chunk apart, those of single entries in double precision. Matrices are in single
precision and have ``width`` columns, a multiple of ``PANEL``: those beyond the last unit are zero.
"""

import numpy as np
from numba import njit

from gelato.kernels.lanes import LANES, add_times, kept, load, lowest, positive, store, zeros

PANEL = 64
"""Columns of a product that stay in registers, rows of a tile, and bits of a word."""

PAD = 16
"""Numbers between the rows of a tile, lest columns of it fall in the same lines of the cache."""

ZERO, ONE = np.float32(0), np.uint64(1)
_GOLDEN, _MIX, _STIR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_BY_30, _BY_27, _BY_31 = np.uint64(30), np.uint64(27), np.uint64(31)

_FAST = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}
_FAST_SUM = {**_FAST, "fastmath": {"contract", "nsz", "reassoc"}}


@njit(**_FAST)
def _add_rows(word, factors, first, step, table, start, stride, out, place):  # type: ignore[no-untyped-def]
    """Add ``factors[first + i step]`` times row ``i`` of a table to ``PANEL`` columns, for each bit ``i`` of a word."""
    a, b, c, d = load(out, place), load(out, place + 16), load(out, place + 32), load(out, place + 48)
    while word != 0:
        i = lowest(word)
        word &= word - ONE
        factor = factors[first + i * step]
        row = start + i * stride
        a = add_times(a, factor, load(table, row))
        b = add_times(b, factor, load(table, row + 16))
        c = add_times(c, factor, load(table, row + 32))
        d = add_times(d, factor, load(table, row + 48))
    store(out, place, a)
    store(out, place + 16, b)
    store(out, place + 32, c)
    store(out, place + 48, d)


@njit(**_FAST)
def multiply(begin, end, starts, indices, values, table, out, added):  # type: ignore[no-untyped-def]
    """Rows ``begin`` to ``end`` of a sparse matrix times a dense table, into or (``added``) onto those of ``out``.

    Entries of row ``i`` lie from ``starts[k, i]`` to ``starts[k + 1, i]`` for each block ``k`` of rows of the table:
    one block is looked at after the other, so that it stays in the cache.
    """
    width = table.shape[1]
    flat, result = table.reshape(-1), out.reshape(-1)
    for block in range(len(starts) - 1):
        for row in range(begin, end):
            low, high = starts[block, row], starts[block + 1, row]
            for column in range(0, width, PANEL):
                place = row * width + column
                if block > 0 or added:
                    a, b = load(result, place), load(result, place + 16)
                    c, d = load(result, place + 32), load(result, place + 48)
                else:
                    a, b, c, d = zeros(), zeros(), zeros(), zeros()
                for i in range(low, high):
                    value = values[i]
                    there = np.int64(indices[i]) * width + column
                    a = add_times(a, value, load(flat, there))
                    b = add_times(b, value, load(flat, there + 16))
                    c = add_times(c, value, load(flat, there + 32))
                    d = add_times(d, value, load(flat, there + 48))
                store(result, place, a)
                store(result, place + 16, b)
                store(result, place + 32, c)
                store(result, place + 48, d)


@njit(**_FAST)
def spread(begin, end, weight, summed, left, right):  # type: ignore[no-untyped-def]
    """Columns ``begin`` to ``end`` of both halves of a ``(h, 2 f)`` weight ``[V W]``, as rows of two tables.

    ``left (f, width)`` takes ``V^T`` or (``summed``) ``(V + W)^T``, and ``right (f, width)`` takes ``W^T``.
    """
    units, f = len(weight), weight.shape[1] // 2
    for first in range(0, units, LANES):
        for c in range(begin, end):
            for unit in range(first, min(first + LANES, units)):
                value = weight[unit, f + c]
                right[c, unit] = value
                left[c, unit] = weight[unit, c] + value if summed else weight[unit, c]


@njit(**_FAST)
def collect(begin, end, weight, summed, left, right):  # type: ignore[no-untyped-def]
    """The way back through ``spread``: columns of the ``(h, 2 f)`` gradient of the weight from those of the tables."""
    units, f = len(weight), weight.shape[1] // 2
    for first in range(0, units, LANES):
        for c in range(begin, end):
            for unit in range(first, min(first + LANES, units)):
                value = left[c, unit]
                weight[unit, c] = value
                weight[unit, f + c] = right[c, unit] + value if summed else right[c, unit]


@njit(**_FAST)
def _mixed(word):  # type: ignore[no-untyped-def]
    """The finalizer of splitmix64."""
    word = (word ^ (word >> _BY_30)) * _MIX
    word = (word ^ (word >> _BY_27)) * _STIR
    return word ^ (word >> _BY_31)


@njit(**_FAST)
def draw(begin, end, seed, layer, kept, words):  # type: ignore[no-untyped-def]
    """Bits of rows ``begin`` to ``end``, each set with chance ``kept / 2^16``; a function of seed, layer and place.

    The digits of the chance are folded in from the last: a random word is joined to the bits for a one, met for a zero.
    """
    key = _mixed(np.uint64(seed) + np.uint64(layer + 1) * _GOLDEN)
    low = 0
    while low < 16 and (kept >> low) & 1 == 0:
        low += 1
    columns = words.shape[1]
    for row in range(begin, end):
        for column in range(columns):
            word = ~np.uint64(0) if low == 16 else np.uint64(0)
            for digit in range(low, 16):
                random = _mixed(key + np.uint64((row * columns + column) * 16 + digit) * _GOLDEN)
                word = word | random if (kept >> digit) & 1 else word & random
            words[row, column] = word


@njit(**_FAST)
def _unpack(words, row, keep):  # type: ignore[no-untyped-def]
    """``keep (width,)``: one where a bit of a row of words is set, else zero."""
    for j in range(0, len(keep), LANES):
        store(keep, j, kept(words[row, j // PANEL] >> np.uint64(j % PANEL)))


@njit(**_FAST)
def _relu(value):  # type: ignore[no-untyped-def]
    return ZERO if value <= 0 else value


@njit(**_FAST)
def _activate(first, last, bias, z, sums, chunk):  # type: ignore[no-untyped-def]
    """``r = relu(z + bias)`` in place; ``sums[chunk] (2, width)`` receive the sums of ``r`` and of ``r^2``."""
    m = first
    while m + 4 <= last:  # the sums are read and written once for four rows
        for j in range(len(bias)):
            a, b = _relu(z[m, j] + bias[j]), _relu(z[m + 1, j] + bias[j])
            c, d = _relu(z[m + 2, j] + bias[j]), _relu(z[m + 3, j] + bias[j])
            z[m, j], z[m + 1, j], z[m + 2, j], z[m + 3, j] = a, b, c, d
            p, q, s, t = np.float64(a), np.float64(b), np.float64(c), np.float64(d)
            sums[chunk, 0, j] += (p + q) + (s + t)
            sums[chunk, 1, j] += (p * p + q * q) + (s * s + t * t)
        m += 4
    for i in range(m, last):
        for j in range(len(bias)):
            a = _relu(z[i, j] + bias[j])
            z[i, j] = a
            p = np.float64(a)
            sums[chunk, 0, j] += p
            sums[chunk, 1, j] += p * p


@njit(**_FAST)
def first_layer(begin, end, cuts, starts, indices, values, table, added, bias, r, sums):  # type: ignore[no-untyped-def]
    """``r = relu(A table + bias)`` for the rows of some chunks, or ``relu(r + A table + bias)``, and its sums."""
    for chunk in range(begin, end):
        sums[chunk] = 0
        for first in range(cuts[chunk], cuts[chunk + 1], PANEL):
            last = min(first + PANEL, cuts[chunk + 1])
            multiply(first, last, starts, indices, values, table, r, added)
            _activate(first, last, bias, r, sums, chunk)


@njit(**_FAST)
def second_layer(begin, end, cuts, below, words, scale, shift, table, bias, r, sums):  # type: ignore[no-untyped-def]
    """``r = relu(y W^T + bias)``, ``y = keep * (scale * below + shift)``, for the rows of some chunks, and its sums."""
    width = r.shape[1]
    y, flat, result = np.empty((PANEL, width), np.float32), table.reshape(-1), r.reshape(-1)
    factors = y.reshape(-1)
    for chunk in range(begin, end):
        sums[chunk] = 0
        for first in range(cuts[chunk], cuts[chunk + 1], PANEL):
            last = min(first + PANEL, cuts[chunk + 1])
            for m in range(first, last):
                for j in range(width):
                    y[m - first, j] = below[m, j] * scale[j] + shift[j]
                    r[m, j] = 0
            for column in range(0, width, PANEL):
                for q in range(words.shape[1]):
                    start = q * PANEL * width + column
                    for m in range(first, last):
                        here = (m - first) * width + q * PANEL
                        _add_rows(words[m, q], factors, here, 1, flat, start, width, result, m * width + column)
            _activate(first, last, bias, r, sums, chunk)


@njit(**_FAST_SUM)
def last_layer(begin, end, cuts, r, words, scale, shift, constant, odds):  # type: ignore[no-untyped-def]
    """``odds = constant + sum over j of  keep * (scale * r + shift)`` for the rows of some chunks."""
    width = r.shape[1]
    keep = np.empty(width, np.float32)
    for m in range(cuts[begin], cuts[end]):
        _unpack(words, m, keep)
        total = ZERO
        for j in range(width):
            total += keep[j] * (r[m, j] * scale[j] + shift[j])
        odds[m] = total + constant


@njit(**_FAST)
def last_sums(begin, end, cuts, r, words, above, sums):  # type: ignore[no-untyped-def]
    """``sums (chunks, 2, width)``: of ``keep * above`` and of ``keep * above * r``, for ``above (M,)``."""
    width = r.shape[1]
    keep = np.empty(width, np.float32)
    for chunk in range(begin, end):
        sums[chunk] = 0
        for m in range(cuts[chunk], cuts[chunk + 1]):
            _unpack(words, m, keep)
            for j in range(width):
                u = np.float64(keep[j] * above[m])
                sums[chunk, 0, j] += u
                sums[chunk, 1, j] += u * r[m, j]


@njit(**_FAST)
def second_back(  # type: ignore[no-untyped-def]
    begin, end, cuts, above, r, words, back, weight, below, below_words, scale, shift, u, d_weight, d_bias, sums
):
    """The gradient through the second layer, for the rows of some chunks.

    With ``dz = (r > 0) * (c_1 keep above + c_2 + c_3 (r - mean))`` and ``back (4, width)`` of ``c_1``, ``c_2``, ``c_3``
    and the mean: ``d_weight = dz^T y``, ``d_bias`` the sum of ``dz``, ``u = keep * (dz W)`` by the bits of the layer
    below, and ``sums`` those of ``u`` and of ``u * below``.
    """
    width = r.shape[1]
    stride = width + PAD
    dz, y = np.empty((PANEL, stride), np.float32), np.empty((PANEL, stride), np.float32)
    keep = np.empty(width, np.float32)
    passed, columns = np.empty((PANEL, width // PANEL), np.uint64), np.empty(width, np.uint64)
    table, result, factors, inputs = weight.reshape(-1), u.reshape(-1), dz.reshape(-1), y.reshape(-1)
    flat, gradient = r.reshape(-1), d_weight.reshape(-1)
    for chunk in range(begin, end):
        sums[chunk], d_weight[chunk], d_bias[chunk] = 0, 0, 0
        for first in range(cuts[chunk], cuts[chunk + 1], PANEL):
            last = min(first + PANEL, cuts[chunk + 1])
            passed[last - first :] = 0
            for m in range(first, last):
                i = m - first
                _unpack(words, m, keep)
                for j in range(width):
                    value = back[0, j] * (keep[j] * above[m]) + back[1, j] + back[2, j] * (r[m, j] - back[3, j])
                    value = value if r[m, j] > 0 else ZERO
                    dz[i, j] = value
                    d_bias[chunk, j] += value
                for q in range(words.shape[1]):
                    word = np.uint64(0)
                    for j in range(0, PANEL, LANES):
                        word |= positive(load(flat, m * width + q * PANEL + j)) << np.uint64(j)
                    passed[i, q] = word
                _unpack(below_words, m, keep)
                for j in range(width):
                    y[i, j] = keep[j] * (below[m, j] * scale[j] + shift[j])
                    u[m, j] = 0
            _turn(passed, columns)
            for column in range(0, width, PANEL):
                for q in range(words.shape[1]):
                    start = q * PANEL * width + column
                    for m in range(first, last):
                        here = (m - first) * stride + q * PANEL
                        word = passed[m - first, q]
                        _add_rows(word, factors, here, 1, table, start, width, result, m * width + column)
                for j in range(width):
                    place = (chunk * width + j) * width + column
                    _add_rows(columns[j], factors, j, stride, inputs, column, stride, gradient, place)
            for m in range(first, last):
                _unpack(below_words, m, keep)
                for j in range(width):
                    value = keep[j] * u[m, j]
                    u[m, j] = value
                    exact = np.float64(value)
                    sums[chunk, 0, j] += exact
                    sums[chunk, 1, j] += exact * below[m, j]


@njit(**_FAST)
def _turn(words, columns):  # type: ignore[no-untyped-def]
    """Transpose bits: bit ``i`` of ``columns[PANEL q + j]`` is bit ``j`` of ``words[i, q]``."""
    for base in range(0, len(columns), PANEL):
        for i in range(PANEL):
            columns[base + i] = words[i, base // PANEL]
        size, mask = PANEL // 2, ~np.uint64(0) >> np.uint64(PANEL // 2)
        while size:  # swap two quarters of each square, then of each of its quarters
            by = np.uint64(size)
            for start in range(base, base + PANEL, 2 * size):
                for i in range(start, start + size):
                    changed = ((columns[i] >> by) ^ columns[i + size]) & mask
                    columns[i] ^= changed << by
                    columns[i + size] ^= changed
            size //= 2
            mask ^= mask << np.uint64(size)


@njit(**_FAST)
def first_back(begin, end, cuts, u, r, back, d_bias):  # type: ignore[no-untyped-def]
    """``dz = (r > 0) * (c_1 u + c_2 + c_3 (r - mean))`` in place of ``u``, for some chunks, and the sums of ``dz``."""
    for chunk in range(begin, end):
        d_bias[chunk] = 0
        for m in range(cuts[chunk], cuts[chunk + 1]):
            for j in range(u.shape[1]):
                value = back[0, j] * u[m, j] + back[1, j] + back[2, j] * (r[m, j] - back[3, j])
                value = value if r[m, j] > 0 else ZERO
                u[m, j] = value
                d_bias[chunk, j] += value


@njit(**_FAST)
def norm(sums, rows, factor, weight, bias, eps, momentum, running_mean, running_variance, means, forth):  # type: ignore[no-untyped-def]
    """BatchNorm and the ``factor`` of dropout as one ``scale`` and ``shift``, from the sums of ``r`` and of ``r^2``.

    Args:
        sums: ``(chunks, 2, width)`` over ``rows`` rows in all.
        weight, bias: ``(width,)``, of BatchNorm.
        running_mean, running_variance: ``(h,)``, moved on by ``momentum``.
        means: ``(2, width)``, takes the mean and the inverse deviation of each column.
        forth: ``(2, width)``, takes ``scale`` and ``shift``.
    """
    for j in range(len(weight)):
        total, square = sums[:, 0, j].sum(), sums[:, 1, j].sum()
        mean = total / rows
        variance = max(square / rows - mean * mean, 0.0)
        inverse = 1 / np.sqrt(variance + eps)
        means[0, j], means[1, j] = mean, inverse
        forth[0, j] = factor * inverse * weight[j]
        forth[1, j] = factor * (bias[j] - mean * inverse * weight[j])
        if j < len(running_mean):
            running_mean[j] += momentum * (mean - running_mean[j])
            running_variance[j] += momentum * (variance * rows / (rows - 1) - running_variance[j])


@njit(**_FAST)
def norm_back(sums, rows, factor, weight, bias, outer, means, back, gradients):  # type: ignore[no-untyped-def]
    """The way back through dropout and BatchNorm, from the sums of ``u / outer`` and of ``u * r / outer``.

    Args:
        outer: ``(width,)``, factors of ``u`` and of ``y`` that the sums leave out.
        back: ``(4, width)``, takes ``c_1 outer``, ``c_2``, ``c_3`` and the mean.
        gradients: ``(3, width)``, takes those of ``weight``, ``bias`` and ``outer``.
    """
    for j in range(len(weight)):
        total, product = sums[:, 0, j].sum(), sums[:, 1, j].sum()
        mean, inverse = means[0, j], means[1, j]
        d_bias, d_weight = factor * total, factor * inverse * (product - mean * total)
        gradients[0, j], gradients[1, j] = outer[j] * d_weight, outer[j] * d_bias
        gradients[2, j] = weight[j] * d_weight + bias[j] * d_bias
        step = outer[j] * weight[j] * inverse
        back[0, j] = factor * step
        back[1, j] = -step * d_bias / rows
        back[2, j] = -step * inverse * d_weight / rows
        back[3, j] = mean

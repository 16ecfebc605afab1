"""Loops of a network's layers on the CPU: dropout, and products of a sparse matrix in single precision.

Dropout is a function of a seed, a layer and a place, so that it can be computed again instead of being kept.
"""

import numpy as np
from numba import njit

CHANCES = 1 << 16
"""The probability that an entry is kept is a multiple of ``1 / CHANCES``."""

BITS = 64

ONE = np.uint64(1)
_GOLDEN, _MIX, _STIR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_BY_30, _BY_27, _BY_31 = np.uint64(30), np.uint64(27), np.uint64(31)


@njit(nogil=True, cache=True, error_model="numpy")
def _mixed(word):  # type: ignore[no-untyped-def]
    """The finalizer of splitmix64."""
    word = (word ^ (word >> _BY_30)) * _MIX
    word = (word ^ (word >> _BY_27)) * _STIR
    return word ^ (word >> _BY_31)


@njit(nogil=True, cache=True, error_model="numpy")
def draw(first, seed, layer, kept, out):  # type: ignore[no-untyped-def]
    """Set the entries of ``out (rows, columns)`` to ``CHANCES / kept`` with chance ``kept / CHANCES``, else to 0.

    Row 0 is row ``first`` of the layer. 64 columns are drawn at once, as a word of bits: the digits of the chance are
    folded in from the last, a random word is joined to the bits for a one, met for a zero.
    """
    key = _mixed(np.uint64(seed) + np.uint64(layer + 1) * _GOLDEN)
    factor = np.float32(CHANCES / kept)
    low = 0
    while low < 16 and (kept >> low) & 1 == 0:
        low += 1
    rows, columns = out.shape
    words = (columns + BITS - 1) // BITS
    for row in range(rows):
        for j in range(words):
            word = ~np.uint64(0) if low == 16 else np.uint64(0)
            for digit in range(low, 16):
                random = _mixed(key + np.uint64(((first + row) * words + j) * 16 + digit) * _GOLDEN)
                word = word | random if (kept >> digit) & 1 else word & random
            for bit in range(min(BITS, columns - j * BITS)):
                out[row, j * BITS + bit] = np.float32((word >> np.uint64(bit)) & ONE) * factor


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def multiply(begin, end, indptr, indices, values, table, out):  # type: ignore[no-untyped-def]
    """Rows ``begin`` to ``end`` of a sparse matrix times a dense ``(k, width)`` table, into those of ``out``."""
    width = table.shape[1]
    for row in range(begin, end):
        for column in range(width):
            out[row, column] = 0
        place, last = indptr[row], indptr[row + 1]
        while place + 4 <= last:  # a row of the result is read and written once for four entries
            a, b, c, d = indices[place], indices[place + 1], indices[place + 2], indices[place + 3]
            p, q, r, s = values[place], values[place + 1], values[place + 2], values[place + 3]
            for column in range(width):
                out[row, column] += (p * table[a, column] + q * table[b, column]) + (
                    r * table[c, column] + s * table[d, column]
                )
            place += 4
        for i in range(place, last):
            a, p = indices[i], values[i]
            for column in range(width):
                out[row, column] += p * table[a, column]

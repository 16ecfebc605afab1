"""How the numeric columns of a table are scaled: not at all, standardised, or by their ranks.

Columns of 0 and 1 stay as they are. A column with more than half zeros keeps them: it is only divided, so that a wide
table of counts stays sparse. A constant column becomes 0.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.attribute_scaling import RANK, STANDARD, Scaling
from gelato.registry import Registry
from gelato.sparse.row_bands import Matrix, bands, transposed

SMALLEST = 1e-307
"""The smallest number that is divided by."""


@dataclass(frozen=True)
class ColumnStatistics:
    """Summary statistics of ``w`` columns; missing values (``nan``) are ignored.

    Attributes:
        known: ``(w,)`` how many values there are.
        zeros: ``(w,)`` how many of them are 0.
        low, high: ``(w,)`` the smallest and the largest of them, 0 without any.
        mean, deviation: ``(w,)`` their mean and their standard deviation, 0 without any.
        binary: ``(w,)`` whether all of them are 0 or 1.
    """

    known: NDArray[np.int64]
    zeros: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    binary: NDArray[np.bool_]

    @property
    def constant(self) -> NDArray[np.bool_]:
        """``(w,)`` which columns have one value throughout, other than 0 and 1."""
        return np.asarray((self.low == self.high) & ~self.binary)

    @property
    def only_ones(self) -> NDArray[np.bool_]:
        """``(w,)`` which columns have no value other than 1."""
        return np.asarray((self.low == 1) & (self.high == 1))

    @property
    def mostly_zero(self) -> NDArray[np.bool_]:
        """``(w,)`` which columns have more than half zeros."""
        return 2 * self.zeros > self.known


def column_statistics(matrix: Matrix) -> ColumnStatistics:
    """The statistics of all columns, from some rows at a time; sums are added up in the order of the rows."""
    n, w = matrix.shape
    known, zeros = np.full(w, n), np.full(w, n)
    low, high, binary = np.full(w, np.inf), np.full(w, -np.inf), np.ones(w, bool)
    for band in bands(matrix):
        column, data = _values(band)
        known -= np.bincount(band.indices[np.isnan(band.data)], minlength=w)
        zeros -= np.bincount(band.indices[band.data != 0], minlength=w)
        np.minimum.at(low, column, data)
        np.maximum.at(high, column, data)
        binary[column[data != 1]] = False
    low, high = np.where(zeros > 0, np.minimum(low, 0.0), low), np.where(zeros > 0, np.maximum(high, 0.0), high)
    low, high = np.where(known > 0, low, 0.0), np.where(known > 0, high, 0.0)
    unit = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]  # in units of a power of two no square overflows
    count, mean = np.maximum(known, 1), np.zeros(w)
    for column, data in map(_values, bands(matrix)):
        np.add.at(mean, column, np.ldexp(data, -unit[column]))
    mean /= count
    square = np.zeros(w)
    for column, data in map(_values, bands(matrix)):
        np.add.at(square, column, (np.ldexp(data, -unit[column]) - mean[column]) ** 2)
    square += zeros * mean**2
    mean, deviation = np.where(low == high, low, np.ldexp(mean, unit)), np.ldexp(np.sqrt(square / count), unit)
    return ColumnStatistics(known, zeros, low, high, mean, deviation, binary)


def _values(band: csr_array) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Columns and values of the numbers that are neither missing nor 0."""
    there = ~np.isnan(band.data) & (band.data != 0)
    return band.indices[there], band.data[there]


def _standard(matrix: Matrix, about: ColumnStatistics) -> Scaling | None:
    """``(x - mean) / deviation``; ``x / deviation`` where more than half are zeros."""
    scaled = ~about.binary
    center = np.where(scaled & ~about.mostly_zero, about.mean, 0.0)
    scale = np.where(scaled & ~about.constant, np.maximum(about.deviation, SMALLEST), 1.0)
    return replace(Scaling.none(len(scaled)), kind=(STANDARD * scaled).astype(np.uint8), center=center, scale=scale)


def _rank(matrix: Matrix, about: ColumnStatistics) -> Scaling | None:
    """Average ranks from -1 to 1; where more than half are zeros, shares of the positive or negative values alone."""
    scaled = ~about.binary
    by_column = transposed(matrix) if isinstance(matrix, csr_array) else matrix.T
    knots, ranks, sizes = [np.zeros(0)], [np.zeros(0)], np.zeros(len(scaled), np.int64)
    for column in np.flatnonzero(scaled):
        held = by_column[[column]]
        values, counts = np.unique(held.toarray() if isinstance(held, csr_array) else held, return_counts=True)
        knots.append(values)
        ranks.append(_signed_shares(values, counts) if about.mostly_zero[column] else _ranks(counts))
        sizes[column] = len(values)
    fields = {"starts": np.cumsum([0, *sizes]), "knots": np.concatenate(knots), "ranks": np.concatenate(ranks)}
    return replace(Scaling.none(len(scaled)), kind=(RANK * scaled).astype(np.uint8), **fields)


def _ranks(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Average ranks, scaled to -1..1, of ascending values that occur ``counts`` times."""
    n = counts.sum()
    average = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray((2 * average - (n + 1)) / max(n - 1, 1))


def _signed_shares(values: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Average ranks by distance from 0, as shares of the values on that side, negative below 0."""
    shares = np.zeros(len(values))
    for side, turn in ((values > 0, 1), (values < 0, -1)):
        number = counts[side][::turn]
        shares[side] = turn * ((np.cumsum(number) - (number - 1) / 2) / max(number.sum(), 1))[::turn]
    return shares


SCALES: Registry[Callable[[Matrix, ColumnStatistics], Scaling | None]] = Registry(
    "scale", {"none": lambda matrix, about: None, "standard": _standard, "rank": _rank}
)
"""From ``(n, f)`` numbers and their statistics to how they are scaled."""

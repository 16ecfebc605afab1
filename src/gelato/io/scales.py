"""How the numeric columns of a table are scaled: not at all, standardised, or by their ranks.

Columns of 0 and 1 stay as they are. A column with more than half zeros keeps them: it is only divided, so that a wide
table of counts stays sparse. A constant column becomes 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from gelato.io.compact import Matrix
from gelato.registry import Registry
from gelato.scaling import RANK, STANDARD, Scaling

BLOCK = 1 << 20
"""About how many numbers of a dense matrix are looked at together."""
SMALLEST = 1e-307
"""The smallest number that is divided by."""


@dataclass(frozen=True)
class Statistics:
    """What is to be known of ``w`` columns; missing values (``nan``) are left aside.

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
    def mostly_zero(self) -> NDArray[np.bool_]:
        """``(w,)`` which columns have more than half zeros."""
        return 2 * self.zeros > self.known


def statistics(matrix: Matrix) -> Statistics:
    """The statistics of all columns, a dense matrix in blocks."""
    if isinstance(matrix, csr_array):
        return _statistics(csc_array(matrix))
    n, width = matrix.shape
    step = max(1, BLOCK // max(1, n))
    parts = [_statistics(csc_array(matrix[:, start : start + step])) for start in range(0, max(1, width), step)]
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return Statistics(*(np.concatenate(column) for column in columns))


def _statistics(matrix: csc_array) -> Statistics:
    n, w = matrix.shape
    column, data = np.repeat(np.arange(w), np.diff(matrix.indptr)), matrix.data
    missing = np.isnan(data)
    known = n - np.bincount(column[missing], minlength=w)
    column, data = column[~missing & (data != 0)], data[~missing & (data != 0)]
    zeros = known - np.bincount(column, minlength=w)
    low, high = np.where(zeros > 0, 0.0, np.inf), np.where(zeros > 0, 0.0, -np.inf)
    np.minimum.at(low, column, data)
    np.maximum.at(high, column, data)
    low, high = np.where(known > 0, low, 0.0), np.where(known > 0, high, 0.0)
    unit = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]  # in units of a power of two no square overflows
    small, count = np.ldexp(data, -unit[column]), np.maximum(known, 1)
    mean = np.bincount(column, small, minlength=w) / count
    square = np.bincount(column, (small - mean[column]) ** 2, minlength=w) + zeros * mean**2
    return Statistics(
        known,
        zeros,
        low,
        high,
        np.where(low == high, low, np.ldexp(mean, unit)),
        np.ldexp(np.sqrt(square / count), unit),
        np.bincount(column, data != 1, minlength=w) == 0,
    )


def _none(matrix: Matrix, about: Statistics) -> Scaling | None:
    return None


def _standard(matrix: Matrix, about: Statistics) -> Scaling | None:
    """``(x - mean) / deviation``; ``x / deviation`` where more than half are zeros."""
    scaled = ~about.binary
    plain = Scaling.none(len(scaled))
    center = np.where(scaled & ~about.mostly_zero, about.mean, 0.0)
    scale = np.where(scaled & ~about.constant, np.maximum(about.deviation, SMALLEST), 1.0)
    return Scaling((STANDARD * scaled).astype(np.uint8), center, scale, plain.starts, plain.knots, plain.ranks)


def _rank(matrix: Matrix, about: Statistics) -> Scaling | None:
    """Average ranks from -1 to 1; where more than half are zeros, shares of the positive or negative values alone."""
    scaled = ~about.binary
    by_column = csc_array(matrix) if isinstance(matrix, csr_array) else matrix
    knots, ranks, sizes = [np.zeros(0)], [np.zeros(0)], np.zeros(len(scaled), np.int64)
    for column in np.flatnonzero(scaled):
        held = by_column[:, [column]]
        values, counts = np.unique(held.toarray() if isinstance(held, csc_array) else held, return_counts=True)
        knots.append(values)
        ranks.append(_signed_shares(values, counts) if about.mostly_zero[column] else _ranks(counts))
        sizes[column] = len(values)
    plain = Scaling.none(len(scaled))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    kind = (RANK * scaled).astype(np.uint8)
    return Scaling(kind, plain.center, plain.scale, starts, np.concatenate(knots), np.concatenate(ranks))


def _ranks(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Average ranks of ascending values that occur so often, from -1 to 1."""
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


SCALES: Registry[Callable[[Matrix, Statistics], Scaling | None]] = Registry(
    "scale", {"none": _none, "standard": _standard, "rank": _rank}
)
"""From ``(n, f)`` numbers and their statistics to how they are scaled."""

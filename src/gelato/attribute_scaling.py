"""Scalings of attribute columns, kept as data: they can be undone, and repeated on other nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.sparse.row_bands import Matrix, bands, sparse_from_bands

Floats = NDArray[np.float64]

AS_IS, STANDARD, RANK = 0, 1, 2
"""Kinds of columns: not scaled, shifted and divided, mapped from value to rank."""
BLOCK = 1 << 18
"""About how many numbers are scaled at a time."""
DIGITS = 14
"""Raw values with at most this many significant digits are recovered exactly."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """What was done to each of ``f`` columns: ``(x - center) / scale``, or the rank that belongs to a raw value.

    Ranks are given at ``knots``, the values that the column had; between them they are interpolated, and beyond the
    first and the last they stay the same.

    Attributes:
        kind: ``(f,)`` ``AS_IS``, ``STANDARD`` or ``RANK``.
        center: ``(f,)`` what was subtracted, 0 where the kind is not ``STANDARD``.
        scale: ``(f,)`` what was divided by, positive, 1 where the kind is not ``STANDARD``.
        starts: ``(f + 1,)`` where the knots of each column begin, and the last ones end.
        knots: ``(k,)`` raw values, ascending in each column.
        ranks: ``(k,)`` the scaled values that they became, ascending too.
    """

    kind: NDArray[np.uint8]
    center: Floats
    scale: Floats
    starts: NDArray[np.int64]
    knots: Floats
    ranks: Floats

    def __post_init__(self) -> None:
        f, k = len(self.kind), len(self.knots)
        whole = [array.ndim == 1 and np.isfinite(array).all() for array in self.arrays().values()]
        sizes = {len(self.center), len(self.scale), len(self.starts) - 1} == {f} and len(self.ranks) == k
        inside = sizes and self.starts[0] == 0 and self.starts[-1] == k and (np.diff(self.starts) >= 0).all()
        ranked = np.diff(self.starts) > 0 if sizes else np.zeros(0, dtype=bool)
        if not (all(whole) and inside and (self.scale > 0).all() and (ranked == (self.kind == RANK)).all()):
            raise InputError("the scaling of the attributes is damaged; read the attribute table again")

    def __len__(self) -> int:
        return len(self.kind)

    def equals(self, other: "Scaling | None") -> bool:
        """Whether another scaling has the same parameters for the same columns."""
        return other is not None and all(map(np.array_equal, self.arrays().values(), other.arrays().values()))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The scaling as plain arrays, for a file."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The scaling that ``arrays`` returned."""
        types: dict[str, Any] = {"kind": np.uint8, "starts": np.int64}
        return cls(**{each.name: arrays[each.name].astype(types.get(each.name, np.float64)) for each in fields(cls)})

    @classmethod
    def none(cls, columns: int) -> Self:
        """The scaling that leaves all columns as they are."""
        zeros, empty = np.zeros(columns), np.zeros(0)
        return cls(zeros.astype(np.uint8), zeros, np.ones(columns), np.zeros(columns + 1, np.int64), empty, empty)

    def rearranged(self, there: NDArray[np.int64], width: int) -> "Scaling":
        """The scaling of ``width`` columns; column ``i`` becomes column ``there[i]``, or is dropped if that is -1."""
        source = np.full(width, -1, np.int64)
        source[there[there >= 0]] = np.flatnonzero(there >= 0)
        held = source >= 0
        sizes = np.where(held, np.diff(self.starts)[source], 0) if len(self) else np.zeros(width, np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        picked = np.repeat(self.starts[source] - starts[:-1], sizes) + np.arange(starts[-1])
        result = Scaling.none(width)
        kind, center, scale = result.kind, result.center, result.scale
        kind[held], center[held], scale[held] = (array[source[held]] for array in (self.kind, self.center, self.scale))
        return Scaling(kind, center, scale, starts, self.knots[picked], self.ranks[picked])

    def of_column(self, column: int) -> "Scaling":
        """The scaling of one column."""
        return self.rearranged(np.where(np.arange(len(self)) == column, 0, -1), 1)

    def apply(self, raw: Matrix) -> Matrix:
        """``(n, f)`` the scaled values of raw ones; sparse attributes stay sparse."""
        return self._mapped(raw, back=False)

    def undo(self, scaled: Matrix) -> Matrix:
        """``(n, f)`` the raw values: exactly those of up to ``DIGITS`` digits that were scaled, others by rounding."""
        return self._mapped(scaled, back=True)

    def _mapped(self, x: Matrix, *, back: bool) -> Matrix:
        if x.shape[1] != len(self):
            raise InputError(f"the scaling has {len(self):,} columns, but the attributes have {x.shape[1]:,}")
        if not isinstance(x, csr_array):
            return self._dense(np.array(x, np.float64), np.arange(len(self)), back=back)
        return sparse_from_bands((self._sparse(band, back=back) for band in bands(x)), len(self))

    def _sparse(self, x: csr_array, *, back: bool) -> csr_array:
        """Some rows of sparse attributes."""
        zero = self._dense(np.zeros((1, len(self))), np.arange(len(self)), back=back)[0]
        moving = np.flatnonzero(zero != 0)  # columns in which a zero does not stay one
        still: csr_array = csr_array(x, copy=True).astype(np.float64)
        if not len(moving):
            self._entries(still, back=back)
            return still
        still.data[(zero != 0)[still.indices]] = 0
        still.eliminate_zeros()
        self._entries(still, back=back)
        full = csr_array(self._dense(x[:, moving].toarray().astype(np.float64), moving, back=back))
        both = csr_array(still + csr_array((full.data, moving[full.indices], full.indptr), shape=x.shape))
        both.sort_indices()
        return both

    def _dense(self, values: Floats, columns: NDArray[np.int64], *, back: bool) -> Floats:
        """Change ``(n, c)`` values of some columns in place."""
        kind = self.kind[columns]
        some = np.flatnonzero(kind == STANDARD)
        place: Any = slice(None) if len(some) == len(columns) else some
        center, scale = self.center[columns[some]], self.scale[columns[some]]
        step = max(1, BLOCK // max(1, len(some)))
        for start in range(0, len(values) if len(some) else 0, step):
            rows = slice(start, start + step)
            values[rows, place] = (_raw if back else _standard)(values[rows, place], center, scale)
        for i in np.flatnonzero(kind == RANK):
            values[:, i] = self._ranked(columns[i], values[:, i], back=back)
        return values

    def _entries(self, x: csr_array, *, back: bool) -> None:
        """Change the stored entries of a sparse matrix in place."""
        column = x.indices
        some = np.flatnonzero(self.kind[column] == STANDARD)
        if len(some):
            center, scale = self.center[column[some]], self.scale[column[some]]
            x.data[some] = (_raw if back else _standard)(x.data[some], center, scale)
        ranked = np.flatnonzero(self.kind[column] == RANK)
        order = ranked[np.argsort(column[ranked], kind="stable")]
        first = np.flatnonzero(np.diff(column[order], prepend=-1))
        for entries in np.split(order, first[1:]) if len(order) else []:
            x.data[entries] = self._ranked(int(column[entries[0]]), x.data[entries], back=back)

    def _ranked(self, column: int, values: Floats, *, back: bool) -> Floats:
        part = slice(self.starts[column], self.starts[column + 1])
        knots, ranks = self.knots[part], self.ranks[part]
        return np.interp(values, ranks, knots) if back else np.interp(values, knots, ranks)


def to_scaling(x: Matrix, held: Scaling | None, wanted: Scaling | None) -> Matrix:
    """Attributes that were scaled in one way (``None``: not at all) as another scaling would give them."""
    if held is wanted or (held is not None and held.equals(wanted)):
        return x
    raw = x if held is None else held.undo(x)
    return raw if wanted is None else wanted.apply(raw)


def _standard(x: Floats, center: Floats, scale: Floats) -> Floats:
    return (x / 2 - center / 2) / (scale / 2)  # halves, since a difference may be larger than all numbers


def _raw(y: Floats, center: Floats, scale: Floats) -> Floats:
    """The raw value; of those that rounding cannot tell apart, the one with few digits."""
    x = (y * (scale / 2) + center / 2) * 2
    size = np.maximum(np.abs(x), np.abs(center))
    exponent = np.floor(np.log10(size, out=np.zeros_like(size), where=size > 0))
    digits = np.clip(DIGITS - 1 - exponent, -DIGITS, 22)  # powers of ten up to the 22nd are exact
    step = 10.0 ** np.abs(digits)
    with np.errstate(over="ignore", invalid="ignore"):
        short = np.where(digits >= 0, np.rint(x * step) / step, np.rint(x / step) * step)
        return np.where(_standard(short, center, scale) == y, short, x)

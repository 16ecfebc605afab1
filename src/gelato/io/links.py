"""The links in the rows of a table, by the values of its node cells."""

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.io.cells import WITHOUT_WEIGHTS, clock, number_of
from gelato.io.schema import EdgeSchema, Layout
from gelato.io.table import Table
from gelato.scratch import Growing, limit, room

AT_ONCE = 1 << 20
"""Links that are looked at together, and kept in memory under a cap."""

PER_VALUE = 64
"""Bytes for each link that has a weight or a time, which are sorted in memory when the graph is made."""


@dataclass(frozen=True)
class LeftOut:
    """Rows and cells that gave no link: predicted only, of negative or zero weight, empty, or without one."""

    predicted: int = 0
    negative: int = 0
    blank: int = 0
    unfilled: int = 0


@dataclass(frozen=True, eq=False)
class Links:
    """Links in the order of their rows.

    Attributes:
        ends: ``(e, 2)`` positions in ``values``; the first is that of the source.
        values: the different node cells, in the order in which the rows first name them.
        weights, times: ``(e,)`` or ``None``.
        rows: ``(e,)`` number of the row of each link.
        left_out: how many rows and cells gave no link.
    """

    ends: NDArray[np.int64]
    values: list[Any]
    weights: NDArray[np.float64] | None
    times: NDArray[np.float64] | None
    rows: NDArray[np.int64]
    left_out: LeftOut


def read_links(table: Table, schema: EdgeSchema, layout: Layout) -> Links:
    """All links of a table; rows of links that were only predicted are left out."""
    w, t, flag = layout.weight, layout.time, layout.flag
    index: dict[Any, int] = {}
    ends, rows, weights, times = grown = Growing("q"), Growing("q"), Growing("d"), Growing("d")
    time_of = None
    predicted = blank = unfilled = 0
    signed: list[tuple[int, Any]] = []
    weight = time = 0.0
    capped, settled = limit() is not None, 0
    for number, cells in table.rows(layout.used):
        if capped and len(rows.last) >= AT_ONCE:
            settled += len(rows.last)
            for each in grown:
                each.settle()
            if room() < (0 if w is t is None else PER_VALUE * settled):
                raise _too_large(table.place(number), settled, len(index))
        if flag is not None and str(cells[flag]).casefold() == "true":
            predicted += 1
            continue
        if any(column is not None and cells[column] == "" for column in (w, t)):
            if not schema.drop_unfilled:
                raise _unfilled(table.place(number), "weight" if w is not None and cells[w] == "" else "time")
            unfilled += 1
            continue
        if w is not None:
            weight = number_of(cells[w], table.place(number))
            if weight <= 0:
                signed.append((number, cells[w]))
                if schema.negative != "absolute" or weight == 0:
                    continue
                weight = -weight
        if t is not None:
            time_of = time_of or clock(cells[t])
            time = time_of(cells[t], table.place(number))
        pairs, empty = _pairs(cells, layout)
        if empty and not layout.blanks:
            raise _blank(table, number, layout.targets[0])
        blank += empty
        for source, target in pairs:
            ends.last.append(index.setdefault(source, len(index)))
            ends.last.append(index.setdefault(target, len(index)))
            rows.last.append(number)
            if w is not None:
                weights.last.append(weight)
            if t is not None:
                times.last.append(time)
    if signed and schema.negative == "refuse":
        raise _refused(table, signed)
    return Links(
        ends.whole().reshape(-1, 2),
        _whole(list(index)),
        None if w is None else weights.whole(),
        None if t is None else times.whole(),
        rows.whole(),
        LeftOut(predicted, len(signed), blank, unfilled),
    )


def _pairs(cells: Sequence[Any], layout: Layout) -> tuple[list[tuple[Any, Any]], int]:
    """The links of one row, and how many of its node cells are empty."""
    named = [cells[column] for column in layout.targets if cells[column] != ""]
    empty = len(layout.targets) - len(named)
    if layout.source is None:
        return list(combinations(named, 2)), empty
    source = cells[layout.source]
    if source == "":
        return [], empty + 1
    return [(source, target) for target in named], empty


def _whole(values: list[Any]) -> list[Any]:
    """Nodes of a column of floats by integers, if all are whole numbers: 1 instead of 1.0."""
    if all(isinstance(value, float) for value in values):
        if any(math.isinf(value) for value in values):
            raise InputError("a node is called inf; give every node a name or an integer")
        if all(value.is_integer() for value in values):
            return [int(value) for value in values]
    return values


def _blank(table: Table, number: int, target: int) -> InputError:
    name = table.called(target) if table.header is not None else str(target + 1)
    named = target if table.header is None else name
    return InputError(
        f"{table.place(number)}: a node has no name; fill the cell or drop the row, name other columns with source and "
        "target (--source, --target), or leave out empty cells by giving the target as a list, "
        f"target=[{named!r}] (--target {shlex.quote(f'{name},')})"
    )


def _too_large(place: str, links: int, nodes: int) -> InputError:
    return InputError(
        f"{place}: the {links:,} links so far, between {nodes:,} nodes, already take more memory than --memory allows; "
        "give more, or store the graph as .npz without names and weights"
    )


def _unfilled(place: str, role: str) -> InputError:
    return InputError(
        f"{place}: the {role} is empty; fill it, leave out such rows with missing='drop' (--missing drop), or ignore "
        f"the column with {role}=False (--{role} none)"
    )


def _refused(table: Table, signed: Sequence[tuple[int, Any]]) -> InputError:
    number, cell = signed[0]
    count = "1 row has" if len(signed) == 1 else f"{len(signed):,} rows have"
    return InputError(
        f"{table.place(number)}: weight {cell!r} is not a positive number; {count} such a weight: leave them out with "
        "negative='drop' (--negative drop), use absolute values with negative='absolute' "
        f"(--negative absolute), or ignore weights with {WITHOUT_WEIGHTS}"
    )

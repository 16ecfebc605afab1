"""The schema of an edge table: whether it has a header, and which columns hold what."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gelato.errors import InputError
from gelato.io.table import Table

Column = str | int | None
"""A column by name or by position counted from 0; ``None`` for the usual one."""

END_COLUMNS = (
    *(("source", "target"), ("src", "dst"), ("src", "dest"), ("from", "to"), ("fromnode", "tonode")),
    *(("u", "v"), ("i", "j"), ("node1", "node2"), ("id1", "id2"), ("user1", "user2"), ("head", "tail")),
    *(("subject", "object"), ("start", "end"), ("citing", "cited"), ("sourcenode", "targetnode")),
)
"""Names of the two node columns, in lower case, without punctuation or a trailing ``id``."""
WEIGHT_COLUMNS = ("weight",)
TIME_COLUMNS = ("time", "timestamp")
PREDICTED_COLUMNS = ("predicted",)


@dataclass(frozen=True)
class EdgeSchema:
    """Which columns of an edge table hold what, and what separates them in a text file; see ``read_graph``."""

    source: Column = None
    target: Column = None
    weight: Column | Literal[False] = None
    time: Column | Literal[False] = None
    header: bool | None = None
    delimiter: str | None = None
    predicted: Column | Literal[False] = None

    def is_header(self, first: Sequence[str], second: Sequence[str] | None) -> bool:
        """Whether the first row is a header.

        It is one if a column is given by name; if it holds two well-known names of node columns, or a well-known name
        of another column after the first two; or if its first two cells are not integers but those below them are.
        """
        asked = (self.source, self.target, self.weight, self.time, self.predicted)
        if any(isinstance(column, str) for column in asked):
            return True
        known = {*WEIGHT_COLUMNS, *TIME_COLUMNS, *PREDICTED_COLUMNS}
        if _node_columns(first) or any(_plain(cell) in known for cell in first[2:]):
            return True
        return second is not None and not any(map(_is_integer, first[:2])) and all(map(_is_integer, second[:2]))

    def columns(self, table: Table) -> tuple[int, int, int | None, int | None]:
        """Positions of source, target, weight and time."""
        if table.width < 2:
            raise InputError(
                f"{table.label}: there is 1 column, and links need two; if the columns are separated differently, "
                "set delimiter="
            )
        u, v = (_node_columns(table.header) if table.header else None) or (0, 1)
        u = u if self.source is None else table.position(self.source, "source")
        v = v if self.target is None else table.position(self.target, "target")
        if u == v:
            raise InputError(f"{table.label}: source and target are both column {u}; name both columns")
        return u, v, _find(table, self.weight, "weight", (u, v)), _find(table, self.time, "time", (u, v))

    def flag(self, table: Table) -> int | None:
        """Position of the column that marks links that were only predicted."""
        u, v, _, _ = self.columns(table)
        return _find(table, self.predicted, "predicted", (u, v))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold()).removesuffix("id")


def _node_columns(header: Sequence[str]) -> tuple[int, int] | None:
    plain = [_plain(name) for name in header]
    return next(((plain.index(u), plain.index(v)) for u, v in END_COLUMNS if u in plain and v in plain), None)


def _is_integer(cell: str) -> bool:
    return cell.removeprefix("-").isdecimal()


def _find(table: Table, asked: Column | Literal[False], role: str, taken: tuple[int, int]) -> int | None:
    if asked is False:
        return None
    if asked is not None:
        return table.position(asked, role)
    known = {"weight": WEIGHT_COLUMNS, "time": TIME_COLUMNS, "predicted": PREDICTED_COLUMNS}[role]
    names = [_plain(name) for name in table.header or ()]
    return next((i for i, name in enumerate(names) if name in known and i not in taken), None)

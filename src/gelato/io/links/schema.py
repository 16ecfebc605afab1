"""The schema of an edge table: whether it has a header, and which columns hold what."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from gelato.errors import InputError
from gelato.io.tables.column import is_number
from gelato.io.tables.table import ShellColumn, Table

Column = str | int | None
"""A column by name or by position counted from 0; ``None`` for the usual one."""
Several = Column | Sequence[str | int]
"""One column, or a list of them."""
Negative = Literal["refuse", "drop", "absolute"]
"""What becomes of rows whose weight is negative or zero."""

END_COLUMNS = (
    *(("source", "target"), ("src", "dst"), ("src", "dest"), ("from", "to"), ("fromnode", "tonode")),
    *(("u", "v"), ("i", "j"), ("node1", "node2"), ("id1", "id2"), ("user1", "user2"), ("head", "tail")),
    *(("subject", "object"), ("start", "end"), ("citing", "cited"), ("sourcenode", "targetnode")),
)
"""Names of the two node columns, in lower case, without punctuation or a trailing ``id``."""
FIRST_COLUMNS = (
    *(("origin", "destination"), ("origin", "dest"), ("orig", "dest"), ("source", "destination"), ("source", "sink")),
    *(("follower", "followed"), ("follower", "followee"), ("follower", "following"), ("user", "follower")),
    *(("sender", "receiver"), ("sender", "recipient"), ("caller", "callee"), ("parent", "child"), ("row", "col")),
    *(("giver", "receiver"), ("buyer", "seller"), ("rater", "ratee"), ("truster", "trustee"), ("trustor", "trustee")),
    *(("voter", "votee"), ("person", "friend"), ("user", "friend"), ("package", "dependency")),
    *(("importer", "imported"), ("importer", "exporter"), ("exporter", "importer"), ("author", "coauthor")),
    *(("paper", "cites"), ("paper", "cited"), ("paper", "reference"), ("citingpaper", "citedpaper"), ("row", "column")),
    *(("predator", "prey"), ("lender", "borrower"), ("payer", "payee"), ("employee", "manager"), ("boss", "worker")),
    *(("mentor", "mentee"), ("teacher", "student"), ("winner", "loser"), ("husband", "wife"), ("donor", "recipient")),
    *(("departure", "arrival"), ("begin", "end"), ("first", "second"), ("ego", "alter"), ("left", "right")),
    *(("node", "neighbor"), ("node", "neighbour"), ("page", "link"), ("hyponym", "hypernym"), ("me", "other")),
)
"""Further names of two columns of one kind of node; as the first two columns they are those of the nodes."""
SHORT_COLUMNS = (("a", "b"), ("x", "y"), ("s", "t"), ("p", "q"), ("m", "n"))
"""Names of two columns of one kind of node that may as well be nodes: they do not make a row a header."""
KNOWN_COLUMNS = {"weight": ("weight",), "time": ("time", "timestamp"), "predicted": ("predicted",)}
"""Names of the columns that may follow those of the nodes, in lower case and by their roles."""
USUAL_WORDS = frozenset(chain(*END_COLUMNS, *FIRST_COLUMNS, *KNOWN_COLUMNS.values())) | {
    *(
        "item",
        "film",
        "movie",
        "product",
        "book",
        "artist",
        "drug",
        "gene",
        "rating",
        "count",
        "value",
        "score",
        "date",
    ),
}
"""Names of columns that tell a comment which names them all from a sentence."""


@dataclass(frozen=True)
class ColumnRoles:
    """Positions of the columns of an edge table.

    Attributes:
        source: column of the first node, or ``None`` where all nodes of a row are linked with one another.
        targets: columns of the nodes that the source is linked to, or of those linked with one another.
        blanks: whether an empty cell gives no link instead of an error.
        weight, time, flag: columns of weights, times, and marks of links that were only predicted.
    """

    source: int | None
    targets: tuple[int, ...]
    blanks: bool
    weight: int | None
    time: int | None
    flag: int | None

    @property
    def used(self) -> list[int]:
        """Positions of all columns that are read, those of the nodes first."""
        columns = (self.source, *self.targets, self.weight, self.time, self.flag)
        return [column for column in columns if column is not None]


@dataclass(frozen=True)
class EdgeSchema:
    """Which columns of an edge table hold what, and what separates them in a text file; see ``read_graph``."""

    source: Column = None
    target: Several = None
    weight: Column | Literal[False] = None
    time: Column | Literal[False] = None
    header: bool | None = None
    delimiter: str | None = None
    predicted: Column | Literal[False] = None
    negative: Negative = "refuse"
    bipartite: bool | None = None
    among: Several = None
    drop_unfilled: bool = False

    def __post_init__(self) -> None:
        if self.negative not in ("refuse", "drop", "absolute"):
            raise InputError(f"negative (--negative) must be refuse, drop or absolute, got {self.negative!r}")
        for name in ("header", "bipartite"):
            if getattr(self, name) not in (None, True, False):
                raise InputError(f"{name} must be True, False or None, got {getattr(self, name)!r}")
        if self.among is not None and not (self.source is None and self.target is None):
            raise InputError("among (--among) links the nodes of a row with one another; leave out source and target")
        if self.among is not None and self.bipartite:
            raise InputError("among (--among) links nodes of one kind; leave out bipartite (--bipartite)")

    def is_header(self, first: Sequence[str], second: Sequence[str] | None) -> bool:
        """Whether the first row is a header.

        It is one if a column is given by name; if it holds two well-known names of node columns, or a well-known name
        of another column after the first two; if its first two cells are not integers but those below them are; or if
        none of its cells is a number, but one below them after the first two is.
        """
        asked = (self.source, self.weight, self.time, self.predicted, *_listed(self.target), *_listed(self.among))
        names = [column for column in asked if isinstance(column, str)]
        if not all(isinstance(name, ShellColumn) and name.isdecimal() for name in names):
            return True
        known = set(chain(*KNOWN_COLUMNS.values()))
        if _node_columns(first) or any(plain_name(cell) in known for cell in first[2:]):
            return True
        if not second:  # no row, or words of a comment
            return second is not None and all(plain_name(cell) in USUAL_WORDS for cell in first)
        if not any(map(_is_integer, first[:2])) and all(map(_is_integer, second[:2])):
            return True
        return not any(map(is_number, first)) and any(map(is_number, second[2:]))

    def layout(self, table: Table) -> ColumnRoles:
        """Positions of the columns."""
        if table.width < 2:
            raise InputError(
                f"{table.label}: there is only 1 column, but links need two; if the columns are separated differently, "
                "give the delimiter, as in delimiter=';' (--delimiter ';')"
            )
        source: int | None
        if self.among is not None:
            source, targets, blanks = None, _positions(table, self.among, "among"), True
            if len(targets) < 2:
                raise InputError(f"{table.label}: among (--among) needs at least two columns, such as --among A,B")
        else:
            u, v = (_node_columns(table.header) if table.header else None) or (0, 1)
            source = u if self.source is None else table.position(self.source, "source")
            targets = (v,) if self.target is None else _positions(table, self.target, "target")
            blanks = len(targets) > 1 or _is_list(table, self.target)
        twice = [column for column in targets if column == source or targets.count(column) > 1]
        if twice:
            options = "--among" if source is None else "--source and --target"
            raise InputError(
                f"{table.label}: {table.column_name(twice[0])!r} is given twice; name each column once ({options})"
            )
        roles = [_find(table, getattr(self, role), role, (source, *targets)) for role in KNOWN_COLUMNS]
        return ColumnRoles(source, targets, blanks, *roles)


def plain_name(name: str) -> str:
    """A name of a column in lower case, without punctuation or a trailing ``id``."""
    return re.sub(r"[\W_]", "", name.casefold()).removesuffix("id")


def _listed(asked: Several) -> list[str | int]:
    """The columns of a list, or those in a text from the shell that separates them by commas."""
    if asked is None:
        return []
    if isinstance(asked, ShellColumn):
        return [ShellColumn(part.strip()) for part in asked.split(",") if part.strip()]
    return [asked] if isinstance(asked, str | int) else list(asked)


def _is_list(table: Table, asked: Several) -> bool:
    """Whether several columns could have been given, even if there is only one."""
    if isinstance(asked, ShellColumn):
        return "," in asked and asked not in (table.header or ())
    return asked is not None and not isinstance(asked, str | int)


def _positions(table: Table, asked: Several, role: str) -> tuple[int, ...]:
    if isinstance(asked, ShellColumn) and asked in (table.header or ()):
        return (table.position(asked, role),)
    listed = _listed(asked)
    if not listed:
        raise InputError(f"{table.label}: {role} (--{role}) names no column; give at least one")
    return tuple(table.position(column, role) for column in listed)


def _node_columns(header: Sequence[str]) -> tuple[int, int] | None:
    plain = [plain_name(name) for name in header]
    if len(plain) > 1 and ((plain[0], plain[1]) in FIRST_COLUMNS or (plain[1], plain[0]) in FIRST_COLUMNS):
        return 0, 1
    return next(((plain.index(u), plain.index(v)) for u, v in END_COLUMNS if u in plain and v in plain), None)


def _is_integer(cell: str) -> bool:
    return cell.removeprefix("-").isdecimal()


def _find(table: Table, asked: Column | Literal[False], role: str, taken: Sequence[int | None]) -> int | None:
    if asked is False:
        return None
    if asked is not None:
        return table.position(asked, role)
    names = [plain_name(name) for name in table.header or ()]
    return next((i for i, name in enumerate(names) if name in KNOWN_COLUMNS[role] and i not in taken), None)

"""How an attribute table is to be read, and what became of its columns, in one line."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gelato.errors import InputError
from gelato.formatting import counted
from gelato.io.attributes.scales import SCALES

KINDS = ("number", "category", "list", "text", "drop")
"""What a column can be said to be; ``drop`` leaves it out."""
POLICIES = ("drop", "zero", "mean", "category", "refuse")
"""What can be asked for; by default numbers get the mean, and other columns count as without a value."""
NAMES_SHOWN = 5
"""How many names a message lists at most."""
SCALED = {"none": "", "standard": ", standardised", "rank": ", as ranks"}
"""How the scale of numbers is put."""


@dataclass(frozen=True)
class AttributeOptions:
    """The options of ``read_attributes`` that do not depend on the format of the table.

    Attributes:
        kinds: what some columns are, by name; all others are guessed.
        missing: what becomes of missing cells; by default it depends on the kind of the column.
        scale: how columns of numbers are scaled.
        key: the column that names the nodes, by name or by position.
        nodes: the nodes of the links, if known.
        like: names of the attributes of a model that is to be applied; columns are of the kinds they had there.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    missing: str | None = None
    scale: str = "standard"
    key: str | int | None = None
    nodes: Collection[Any] | None = None
    like: Collection[str] | None = None

    def __post_init__(self) -> None:
        if self.missing is not None and self.missing not in POLICIES:
            raise InputError(f"missing (--missing) must be one of {', '.join(POLICIES)}, got {self.missing!r}")
        if self.scale not in SCALES:
            raise InputError(f"scale (--scale) must be one of {', '.join(SCALES)}, got {self.scale!r}")
        for column, kind in self.kinds.items():
            if kind not in KINDS:
                raise InputError(
                    f"the kind of column {column!r} must be one of {', '.join(KINDS)}, got {kind!r} (--kind, kinds=)"
                )

    def of_columns(self, names: Sequence[str]) -> "AttributeOptions":
        """The same options for a table with these columns of attributes, whose kinds are those of ``like``."""
        for name in self.kinds:
            if name not in names:
                raise InputError(
                    f"a kind is given for a column {name!r} that is not one of the attributes"
                    f" (--kind, kinds=); known: {shortened_list(names, 20)}"
                )
        if self.like is None:
            return self
        starts = {
            mark: {name[:i] for name in self.like for i, each in enumerate(name) if each == mark} for mark in ":="
        }
        held = {"text": starts[":"], "list": starts["="], "number": set(self.like)}  # a category is a list of one
        kinds = {name: kind for kind, known in held.items() for name in names if name in known}
        return replace(self, kinds=kinds | dict(self.kinds))


@dataclass(frozen=True)
class MissingCells:
    """The missing cells of a column, and what they became, such as ``the mean``, or nothing worth saying."""

    column: str
    count: int
    became: str = ""

    def __str__(self) -> str:
        became = f" ({self.became})" if self.became else ""
        return f"{counted(self.count, 'cell')} of {self.column}{became}"


@dataclass(frozen=True)
class ReadingNotes:
    """What became of the columns of an attribute table.

    Attributes:
        key: the column that names the nodes.
        numbers: columns of numbers, other than those of 0 and 1.
        scale: how these are scaled: ``none``, ``standard`` or ``rank``.
        flags: columns of 0 and 1.
        categories: columns of categories, which become one 0/1 attribute for each value.
        lists: columns of lists, which become one 0/1 attribute for each item.
        texts: columns of text, which become word counts.
        written: columns of numbers that are not written as in Python, each with how they are.
        left_out: columns that carry nothing, each with the reason.
        missing: the missing cells of each column that has any.
        repeats: how many rows were dropped since an earlier row is the same.
    """

    key: str = ""
    numbers: tuple[str, ...] = ()
    scale: str = "none"
    flags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    written: tuple[tuple[str, str], ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    missing: tuple[MissingCells, ...] = ()
    repeats: int = 0

    def __str__(self) -> str:
        parts = [f"nodes named by {self.key}"] if self.key else []
        for columns, what, how in (
            (self.numbers, "numeric column", SCALED[self.scale]),
            (self.flags, "column", " of 0 and 1"),
            (self.categories, "categorical column", ""),
        ):
            if columns:
                parts.append(f"{counted(len(columns), what)}{how} ({shortened_list(columns)})")
        if self.texts:
            parts.append(f"text in {shortened_list(self.texts)}")
        if self.lists:
            parts.append(f"lists in {shortened_list(self.lists)} (--kind {self.lists[0]}=category keeps the text)")
        for how in dict.fromkeys(how for _, how in self.written):
            names = [name for name, each in self.written if each == how]
            parts.append(f"{how}: {shortened_list(names)} (--kind {names[0]}=category keeps the text)")
        if self.left_out:
            parts.append(f"left out: {shortened_list([f'{column} ({why})' for column, why in self.left_out])}")
        if self.missing:
            parts.append(f"missing: {shortened_list([str(cells) for cells in self.missing])}")
        if self.repeats:
            parts.append(f"dropped {counted(self.repeats, 'repeated row')}")
        return "; ".join(parts)


def shortened_list(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    """The first names of a list, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")

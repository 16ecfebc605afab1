"""What became of the columns of an attribute table, in one line."""

from collections.abc import Sequence
from dataclasses import dataclass

NAMES_SHOWN = 5
"""How many names a message lists at most."""
SCALED = {"none": "", "standard": ", standardised", "rank": ", as ranks"}
"""How the scale of numbers is put."""


@dataclass(frozen=True)
class MissingCells:
    """The missing cells of a column, and what they became: ``mean``, ``0``, ``a category``, or nothing worth saying."""

    column: str
    count: int
    became: str = ""

    def __str__(self) -> str:
        became = f" ({self.became})" if self.became else ""
        return f"{self.count:,} {'cell' if self.count == 1 else 'cells'} of {self.column}{became}"


@dataclass(frozen=True)
class Notes:
    """What became of the columns of an attribute table.

    Attributes:
        key: the column that names the nodes.
        numbers: columns of numbers, other than those of 0 and 1.
        scale: how these are scaled: ``none``, ``standard`` or ``rank``.
        flags: columns of 0 and 1.
        categories: columns of categories, which become one 0/1 attribute for each value.
        texts: columns of text, which become word counts.
        left_out: columns that carry nothing, each with the reason.
        missing: the missing cells of each column that has any.
    """

    key: str = ""
    numbers: tuple[str, ...] = ()
    scale: str = "none"
    flags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    missing: tuple[MissingCells, ...] = ()

    def __str__(self) -> str:
        parts = [f"nodes named by {self.key}"] if self.key else []
        if self.numbers:
            parts.append(f"{_count(self.numbers, 'numeric column')}{SCALED[self.scale]} ({some(self.numbers)})")
        if self.flags:
            parts.append(f"{_count(self.flags, 'column')} of 0 and 1 ({some(self.flags)})")
        if self.categories:
            parts.append(f"{_count(self.categories, 'categorical column')} ({some(self.categories)})")
        if self.texts:
            parts.append(f"text in {some(self.texts)}")
        if self.left_out:
            parts.append(f"left out: {some([f'{column} ({why})' for column, why in self.left_out])}")
        if self.missing:
            parts.append(f"missing: {some([str(cells) for cells in self.missing])}")
        return "; ".join(parts)


def some(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    """The first names of a list, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def _count(names: Sequence[str], one: str, more: str | None = None) -> str:
    return f"{len(names):,} {one if len(names) == 1 else more or one + 's'}"

"""How an attribute table is to be read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gelato.errors import InputError
from gelato.io.missing import check_policy
from gelato.io.notes import some
from gelato.io.scales import SCALES

KINDS = ("number", "category", "text", "drop")
"""What a column can be said to be; ``drop`` leaves it out."""


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
        check_policy(self.missing)
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
                    f" (--kind, kinds=); known: {some(names, 20)}"
                )
        if self.like is None:
            return self
        columns = set(self.like)
        starts = {
            mark: {name[:i] for name in columns for i, letter in enumerate(name) if letter == mark} for mark in "=:"
        }
        kinds = {name: "text" for name in names if name in starts[":"]}
        kinds |= {name: "category" for name in names if name in starts["="]}
        kinds |= {name: "number" for name in names if name in columns}
        return replace(self, kinds=kinds | dict(self.kinds))

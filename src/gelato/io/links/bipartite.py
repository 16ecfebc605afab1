"""Two kinds of nodes: whether the two node columns of a table name different things, and what their nodes are called.

User 1 and film 1 are different nodes, paper 1 that cites and paper 1 that is cited are the same. The names of the
columns tell: where they differ and are not a known pair of directions, the columns are kept apart.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.formatting import counted
from gelato.io.links.reading import Links, by_appearance
from gelato.io.links.schema import END_COLUMNS, FIRST_COLUMNS, SHORT_COLUMNS, ColumnRoles, EdgeSchema, plain_name
from gelato.io.tables.table import Table

SHARED_TEXT = 0.5
"""Share of the values of the smaller column that, found in the other column too, shows that both hold one kind."""
OVERLAP = 0.5
"""Share of all values up to which those in both columns may be a coincidence."""
FEWEST_LOOPS, CHANCE = 3, 3.0
"""Self-loops from which on columns may be two kinds, and the ratio to what is expected by chance that still fits it."""
FEW_NAMES, FEW_SHARED = 20, 0.1
"""Names from which on, and the share up to which, those in both columns are worth telling."""
GENERIC = ("name", "title", "key", "code", "number", "no", "nr", "label", "id", "ids")
"""Last words of column names that do not say what the nodes are."""

_DIRECTIONS = {frozenset(pair) for pair in (*END_COLUMNS, *FIRST_COLUMNS, *SHORT_COLUMNS)}
_ENDINGS = (frozenset("ab"), frozenset("xy"))


@dataclass(frozen=True, eq=False)
class NodeIndex:
    """The nodes of some links.

    Attributes:
        pairs: ``(e, 2)`` positions of the nodes.
        names: what they are called, in the order in which the links first name them.
        plain: the cells they come from, without the prefix of their side.
        sides: ``(n,)`` 0 for those of the source column, 1 for others; ``None`` for one kind of node.
        prefixes: what precedes the names of each side, ``""`` where nothing does.
    """

    pairs: NDArray[np.int64]
    names: list[Any]
    plain: list[Any]
    sides: NDArray[np.int8] | None = None
    prefixes: tuple[str, str] = ("", "")


def decide_sides(
    table: Table, schema: EdgeSchema, layout: ColumnRoles, links: Links, directed: bool
) -> tuple[bool, str]:
    """Whether source and target are two kinds of nodes, and the reason in words."""
    if directed and schema.bipartite:
        raise InputError(
            f"{table.label}: links between two kinds of nodes cannot be directed; "
            "leave out directed (--directed) or bipartite (--bipartite)"
        )
    if schema.bipartite is not None:
        return schema.bipartite, "as asked"
    if layout.source is None:
        return False, "the nodes of a row are linked with one another"
    if directed:
        return False, "the links are directed"
    if table.two_sided is not None:
        return table.two_sided, f"the matrix is {'not ' if table.two_sided else ''}square"
    source, *targets = (table.column_name(column) for column in (layout.source, *layout.targets))
    if table.header is None or all(same_kind(source, target) for target in targets):
        if not targets[1:]:
            _ask_if_overlapping(table, links)
        return False, f"{_few_shared(links)}--bipartite keeps the columns apart"
    named = np.zeros((2, len(links.values)), bool)
    named[[[0, 1]], links.ends] = True
    text = any(not str(value).removeprefix("-").isdecimal() for value in links.values)
    if text and named.all(axis=0).sum() > SHARED_TEXT * named.sum(axis=1).min():
        return False, "the columns share most of their values"
    return True, "the columns have different names; --no-bipartite joins them"


def _ask_if_overlapping(table: Table, links: Links) -> None:
    """Refuse links whose columns look like two countings from 1 on: which kind is meant must be said.

    Most values stand in one column only, and self-loops and links in both directions are as frequent as by chance; in
    one kind of node they would hardly occur, or often.
    """
    count = len(links.values)
    ends = np.unique(links.ends, axis=0)
    out, into = np.bincount(ends[:, 0], minlength=count), np.bincount(ends[:, 1], minlength=count)
    both, either = np.count_nonzero((out > 0) & (into > 0)), np.count_nonzero((out > 0) | (into > 0))
    loops, expected = int((ends[:, 0] == ends[:, 1]).sum()), float(out @ into) / max(len(ends), 1)
    if both > OVERLAP * either or loops < FEWEST_LOOPS or not expected / CHANCE <= loops <= CHANCE * expected:
        return
    keys = ends[ends[:, 0] != ends[:, 1]] @ np.array([count, 1])
    repeats = int(np.isin(keys, keys % count * count + keys // count).sum()) // 2
    if expected**2 / 2 / CHANCE - FEWEST_LOOPS <= repeats <= CHANCE * expected**2 / 2 + FEWEST_LOOPS:
        raise InputError(
            f"{table.label}: the two columns may be two kinds of nodes that are numbered alike: {both:,} of"
            f" {either:,} values stand in both, and {loops:,} self-loops and {repeats:,} repeated links would be"
            " dropped; keep the columns apart with bipartite=True (--bipartite), or say that they are one kind with"
            " bipartite=False (--no-bipartite)"
        )


def _few_shared(links: Links) -> str:
    """That some names are those of two columns that otherwise differ, if so; each of them became one node."""
    named = np.zeros((2, len(links.values)), bool)
    named[[[0, 1]], links.ends] = True
    both, least = int(named.all(axis=0).sum()), int(named.sum(axis=1).min())
    if least < FEW_NAMES or not 0 < both <= FEW_SHARED * least:
        return ""
    return f"{counted(both, 'name')} of both columns {'is' if both == 1 else 'are'} taken for the same; "


def same_kind(first: str, second: str) -> bool:
    """Whether two column names stand for nodes of one kind, such as source and target or airport_1 and airport_2."""
    a, b = plain_name(first), plain_name(second)
    if a == b or frozenset((a, b)) in _DIRECTIONS or _without_digits(first) == _without_digits(second):
        return True
    if len(a) > 1 and a[:-1] == b[:-1] and frozenset((a[-1], b[-1])) in _ENDINGS:
        return True
    words, others = _words(first), _words(second)
    if words and others and words[-1] == others[-1]:  # the noun is the same: origin airport, destination airport
        return True
    differing = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    return len(words) == len(others) and len(differing) == 1 and frozenset(differing[0]) in _DIRECTIONS


def two_kinds(table: Table, layout: ColumnRoles, links: Links) -> NodeIndex:
    """Nodes of two kinds: named as written where no value stands in both columns, else ``user:1`` and ``film:1``."""
    count = len(links.values)
    pairs, key = by_appearance(links.ends + np.array([0, count]), 2 * count)
    sides = (key >= count).astype(np.int8)
    plain = [links.values[code] for code in (key % count).tolist()]
    if len(set(plain)) == len(plain):
        return NodeIndex(pairs, plain, plain, sides)
    prefixes = _prefixes(table, layout)
    names = [prefixes[side] + str(value) for side, value in zip(sides.tolist(), plain, strict=True)]
    return NodeIndex(pairs, names, plain, sides, prefixes)


def _prefixes(table: Table, layout: ColumnRoles) -> tuple[str, str]:
    if table.header is not None and layout.source is not None:
        source = _without_id(table.header[layout.source])
        target = _without_id(table.header[layout.targets[0]]) if len(layout.targets) == 1 else "target"
        if source and target and source != target:
            return f"{source}:", f"{target}:"
    return "left:", "right:"


def _without_digits(name: str) -> str:
    return re.sub(r"[\W_\d]", "", name.casefold())


def _without_id(name: str) -> str:
    return re.sub(r"(?:[\s_.\-]+[iI][dD]|(?<=[a-z])I[dD])$", "", name)


def _words(name: str) -> Sequence[str]:
    """The words of a column name in lower case, without numbers and without last words that say nothing."""
    words = [word.casefold() for word in re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])", name)]
    while words and words[-1] in GENERIC:
        words.pop()
    return words

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
from gelato.io.links import AT_ONCE, Links
from gelato.io.schema import END_COLUMNS, FIRST_COLUMNS, SHORT_COLUMNS, EdgeSchema, Layout, plain_name
from gelato.io.table import Table
from gelato.scratch import empty, fitting

PER_NAME = 400
"""Bytes for the names of a node while they are made and compared."""
SHARED_TEXT = 0.5
"""Share of the values of the smaller column that, found in the other column too, shows that both hold one kind."""
GENERIC = ("name", "title", "key", "code", "number", "no", "nr", "label", "id", "ids")
"""Last words of column names that do not say what the nodes are."""

_DIRECTIONS = {frozenset(pair) for pair in (*END_COLUMNS, *FIRST_COLUMNS, *SHORT_COLUMNS)}
_ENDINGS = (frozenset("ab"), frozenset("xy"))


@dataclass(frozen=True)
class Verdict:
    """Whether a table has two kinds of nodes, and the reason in words."""

    two: bool
    reason: str


@dataclass(frozen=True, eq=False)
class Nodes:
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


def verdict(table: Table, schema: EdgeSchema, layout: Layout, links: Links, directed: bool) -> Verdict:
    """Whether source and target are two kinds of nodes."""
    if directed and schema.bipartite:
        raise InputError(
            f"{table.label}: links between two kinds of nodes cannot be directed; "
            "leave out directed (--directed) or bipartite (--bipartite)"
        )
    if schema.bipartite is not None:
        return Verdict(schema.bipartite, "as asked")
    if layout.source is None:
        return Verdict(False, "the nodes of a row are linked with one another")
    if directed:
        return Verdict(False, "the links are directed")
    if table.two_sided is not None:
        return Verdict(table.two_sided, f"the matrix is {'not ' if table.two_sided else ''}square")
    if table.header is None:
        return Verdict(False, "--bipartite keeps the columns apart")
    source, *targets = (table.header[column] for column in (layout.source, *layout.targets))
    if all(same_kind(source, target) for target in targets):
        return Verdict(False, "--bipartite keeps the columns apart")
    named = np.zeros((2, len(links.values)), bool)
    for side in (0, 1):
        named[side, links.ends[:, side]] = True
    text = any(not str(value).removeprefix("-").isdecimal() for value in links.values)
    if text and named.all(axis=0).sum() > SHARED_TEXT * named.sum(axis=1).min():
        return Verdict(False, "the columns share most of their values")
    return Verdict(True, "the columns have different names; --no-bipartite joins them")


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


def one_kind(links: Links) -> Nodes:
    """Nodes whose names are the values of both columns."""
    return Nodes(links.ends, links.values, links.values)


def two_kinds(table: Table, layout: Layout, links: Links) -> Nodes:
    """Nodes of two kinds: named as written where no value stands in both columns, else ``user:1`` and ``film:1``."""
    count = len(links.values)
    offset, steps = np.array([0, count]), range(0, len(links.ends), AT_ONCE)
    first = np.full(2 * count, 2 * len(links.ends))  # of a value in a column: its first cell, if any
    for begin in reversed(steps):
        keys = (links.ends[begin : begin + AT_ONCE] + offset).ravel()
        first[keys[::-1]] = np.arange(2 * begin + len(keys) - 1, 2 * begin - 1, -1)
    key = np.argsort(first, kind="stable")[: int((first < 2 * len(links.ends)).sum())]
    fitting(1, PER_NAME * len(key))
    place = np.empty(2 * count, dtype=np.int64)
    place[key] = np.arange(len(key))
    pairs = empty(links.ends.shape, np.int64)
    for begin in steps:
        pairs[begin : begin + AT_ONCE] = place[links.ends[begin : begin + AT_ONCE] + offset]
    sides = (key >= count).astype(np.int8)
    plain = [links.values[code] for code in (key % count).tolist()]
    if len(set(plain)) == len(plain):
        return Nodes(pairs, plain, plain, sides)
    prefixes = _prefixes(table, layout)
    names = [prefixes[side] + str(value) for side, value in zip(sides.tolist(), plain, strict=True)]
    return Nodes(pairs, names, plain, sides, prefixes)


def _prefixes(table: Table, layout: Layout) -> tuple[str, str]:
    if table.header is None or layout.source is None:
        return "left:", "right:"
    source = _without_id(table.header[layout.source])
    target = _without_id(table.header[layout.targets[0]]) if len(layout.targets) == 1 else "target"
    return (f"{source}:", f"{target}:") if source and target and source != target else ("left:", "right:")


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

"""The attributes that two nodes share, rarest first: two people who both like jazz, two papers with one keyword."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.attribute_scaling import AS_IS
from gelato.explain.contract import printable
from gelato.graph import Graph

COMMON = 0.5
"""Attributes of a larger share of the nodes are not told, as they say little, nor are measures, such as an age."""

RARE = 0.05
"""An attribute of at most this share of the nodes is called rare."""

NAMED = 3
"""Attributes named in a reason at most."""

LISTED = 10
"""Attributes named in a whole explanation at most."""


NUMBERED = "attribute "
"""What attributes without a name are called, by their column, where the word does not stand in front of them."""


@dataclass(frozen=True)
class SharedAttribute:
    """An attribute that both nodes have: its name, how many nodes have it, and whether these are few."""

    name: str
    holders: int
    rare: bool


class SharedAttributes:
    """Tells which attributes two nodes of a graph share.

    Attributes:
        some: whether nodes can share any: a graph may have none, or measures only.
    """

    def __init__(self, graph: Graph) -> None:
        self._names, self._n = graph.attribute_names, graph.n
        X = csr_array(graph.attributes if graph.attributes is not None else (graph.n, 0))
        held = X.data != 0
        self._columns, self._starts = X.indices[held], np.append(0, np.cumsum(held))[X.indptr]
        self._holders = np.bincount(self._columns, minlength=X.shape[1])
        self._marks = self._holders <= COMMON * graph.n
        if graph.scaling is not None:
            self._marks &= graph.scaling.kind == AS_IS
        self.some = bool((self._holders[self._marks] > 1).any())

    def of(self, u: int, v: int) -> tuple[SharedAttribute, ...]:
        """What two nodes share, rarest first; ties in the order of the columns."""
        both = np.intersect1d(self._held_by(u), self._held_by(v))
        both = both[self._marks[both]]
        both = both[np.argsort(self._holders[both], kind="stable")]
        return tuple(map(self._attribute, both.tolist()))

    def _held_by(self, node: int) -> NDArray[np.int32]:
        columns: NDArray[np.int32] = self._columns[self._starts[node] : self._starts[node + 1]]
        return columns

    def _attribute(self, column: int) -> SharedAttribute:
        name = f"{NUMBERED}{column}" if self._names is None else str(self._names[column])
        holders = int(self._holders[column])
        return SharedAttribute(name, holders, holders <= RARE * self._n)


def sharing_words(shared: Sequence[SharedAttribute]) -> str:
    """The rare attributes that two nodes share in one phrase, or else the others; empty where they share none.

    >>> sharing_words([SharedAttribute("numpy", 30, True), SharedAttribute("doc", 900, False)])
    'share 1 rare attribute: numpy'
    """
    rare = [each for each in shared if each.rare]
    told = rare or shared
    if not told:
        return ""
    names = [_short(each) for each in told]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    kind = f"{'rare ' if rare else ''}attribute{'s' if len(names) > 1 else ''}"
    return f"share {len(names)} {kind}: {', '.join(names[:NAMED])}{more}"


def sharing_line(shared: Sequence[SharedAttribute]) -> str:
    """The attributes that two nodes share, each with how many nodes have it."""
    names = [f"{_short(each)} ({each.holders:,})" for each in shared[:LISTED]]
    more = f" and {len(shared) - LISTED:,} more" if len(shared) > LISTED else ""
    count = "1 attribute" if len(shared) == 1 else f"{len(shared):,} attributes, rarest first"
    return f"they share {count} (how many nodes have it): {', '.join(names)}{more}"


def _short(each: SharedAttribute) -> str:
    return printable(each.name.removeprefix(NUMBERED))

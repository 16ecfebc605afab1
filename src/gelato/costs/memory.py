"""Memory that reading and ranking a graph takes, from the numbers of its nodes, links and attributes.

What is counted grows with nodes, links, hidden links and attributes; arrays that are mapped from a file do not count,
since the system takes their pages back (docs/scale.md).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

BASE = 270 << 20
"""Bytes of the program itself, and of arrays that are looked at some entries at a time."""

PER_LINK, PER_SPLIT, PER_HIDDEN, PER_NAME = 36, 34, 90, 150
"""Bytes for each link, each link of a graph that is split, each hidden link, each name of a node or an attribute."""

PER_WEIGHT = 24
"""Bytes for each link that has a weight or a time, which are sorted when the graph is made."""

PER_NODE, PER_THREAD = 32, 52
"""Bytes for each node, and for each node in each thread."""

MethodMemory = Callable[[int, int, int | None], int]
"""Bytes that a method needs, from the numbers of nodes, of attributes and of sparse entries (``None``: dense)."""


def no_memory(nodes: int, attributes: int, entries: int | None) -> int:
    """The rule of methods that need nothing besides what walks along links take."""
    return 0


@dataclass(frozen=True)
class Sizes:
    """The sizes of a graph.

    Attributes:
        nodes, links, attributes: how many.
        names: how many names, of nodes and attributes.
        weighted: how many links have a weight or a time.
        entries: how many numbers sparse attributes hold, ``None`` if they are dense.
        held: bytes of the attributes in memory.
    """

    nodes: int
    links: int
    attributes: int = 0
    names: int = 0
    weighted: int = 0
    entries: int | None = None
    held: int = 0

    def needed(self, hidden: float, threads: int, methods: Iterable[MethodMemory] = ()) -> int:
        """Bytes needed to read the graph and to rank it by some methods.

        Args:
            hidden: share of the links that are hidden to test the methods.
            threads: how many threads rank.
            methods: what each method needs; they run one after the other, so the largest counts.
        """
        spaces = [space(self.nodes, self.attributes, self.entries) for space in methods] if self.attributes else []
        link = PER_LINK + (PER_SPLIT + PER_HIDDEN * hidden if hidden else 0)
        nodes = (PER_NODE + PER_THREAD * threads) * self.nodes + PER_NAME * self.names
        return BASE + nodes + int(link * self.links) + PER_WEIGHT * self.weighted + self.held + max(spaces, default=0)

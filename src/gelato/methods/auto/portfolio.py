"""The portfolio of ``auto``: which methods are compared, the simplest first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gelato.graph import Graph
from gelato.methods.table import METHODS


@dataclass(frozen=True)
class Member:
    """A method with some options.

    Attributes:
        method: its name in ``METHODS``; left out while there is none.
        options: its settings, where they are not the usual ones.
        attributes: whether it is of use only on graphs with attributes.
        share: the largest share of the budget that it may take.
        rankings: rankings by the reference method that it takes as long as, at least. Where these do not fit into the
            budget, it is skipped without a forecast of its own, which takes a while.
        times: how many times longer it takes than all members before it, where it has no forecast of its own.
    """

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    attributes: bool = False
    share: float = 1.0
    rankings: float = 0.0
    times: float = 1.0

    @property
    def name(self) -> str:
        """What it is called in tables and files.

        >>> Member("ac", {"steps": 2}).name
        'ac steps=2'
        """
        return " ".join([self.method, *(f"{key}={value}" for key, value in self.options.items())])

    def left_out(self, graph: Graph) -> str | None:
        """Why there is no point in running it on a graph, or no way to; ``None`` if there is."""
        if self.attributes and not graph.f:
            return "the graph has no attributes"
        method = METHODS[self.method]
        missing = method.missing()
        if missing is not None:
            return str(missing)
        problem = method.unfit(graph) or method.blind(graph, self.options)
        return None if problem is None else problem.partition(";")[0]


PORTFOLIO = (
    Member("cn"),
    Member("aa"),
    Member("ra"),
    Member("ac"),
    Member("ac", {"self_loops": "all"}),
    Member("ac", {"steps": 2}),
    Member("katz"),
    Member("ac", {"steps": 5}, share=0.1),
    Member("cosine", attributes=True),
    Member("spectral"),
    Member("gelato", attributes=True, rankings=200.0),
    Member("boosted", times=2.0),
)
"""In the order of their simplicity, in which they also run."""


def members() -> list[Member]:
    """Those of the portfolio whose method there is."""
    return [member for member in PORTFOLIO if member.method in METHODS]

"""The portfolio of ``auto``: which methods are compared, the simplest first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gelato.graph import Graph
from gelato.methods.table import METHODS


@dataclass(frozen=True)
class PortfolioMember:
    """A method with some options.

    Attributes:
        method: its name in ``METHODS``.
        options: its settings, where they are not the usual ones.
        attributes: whether it is of use only on graphs with attributes.
        share: the largest share of the budget that it may take.
        beside: the same after a method of an earlier turn, which it rarely ranks better than.
        turn: methods of a lower one run first.
        trials: what the trials of a winner take, as a multiple of its fit.
        instead: a member that it takes the place of, where that is skipped.
        rankings: rankings by the reference method that it takes as long as, at least. Where these do not fit into the
            budget, it is skipped without a forecast of its own, which takes a while.
    """

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    attributes: bool = False
    share: float = 1.0
    beside: float = 1.0
    turn: int = 0
    trials: float = 5.0
    instead: str = ""
    rankings: float = 0.0

    @property
    def name(self) -> str:
        """What it is called in tables and files.

        >>> PortfolioMember("ac", {"steps": 2}).name
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
    PortfolioMember("cn"),
    PortfolioMember("aa"),
    PortfolioMember("ra"),
    PortfolioMember("ac"),
    PortfolioMember("ac", {"self_loops": "all"}),
    PortfolioMember("ac", {"steps": 2}),
    PortfolioMember("katz"),
    PortfolioMember("ac", {"steps": 5}, share=0.1),
    PortfolioMember("cosine", attributes=True),
    PortfolioMember("spectral", beside=0.1, turn=2, trials=1.5),
    PortfolioMember("gelato", attributes=True, beside=0.1, turn=2, rankings=200.0),
    PortfolioMember("boosted", turn=1, trials=0.1),
    PortfolioMember("boosted", {"networks": 0}, turn=1, trials=0.1, instead="boosted"),
)
"""In the order of their simplicity."""

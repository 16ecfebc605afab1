"""Which methods a model is compared with, when nobody says."""

from gelato.graph import Graph
from gelato.methods import METHODS, REFERENCE

MOST_WORK = 5e9
"""Steps that a method may take on all pairs: some seconds."""


def compared_methods(graph: Graph) -> tuple[str, ...]:
    """Methods worth comparing with on this graph: none that is unfit for it or blind on it, none that takes minutes."""
    fitting = [
        name
        for name, method in METHODS.items()
        if method.compared
        and method.unfit(graph) is None
        and method.blind(graph, {}) is None
        and (method.work is None or method.work(graph) <= MOST_WORK)
    ]
    return tuple(sorted(fitting, key=lambda name: name != REFERENCE))

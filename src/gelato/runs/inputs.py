"""Which graphs a model that has learned from attributes, or from single nodes, can be applied to."""

from gelato.errors import InputError
from gelato.graph import Graph


def check_inputs(graph: Graph, inputs: int, by_node: bool = False) -> None:
    """Refuse a graph with another number of attributes than ``inputs``.

    If ``by_node``, the model was trained without attributes and has learned one row for each of ``inputs`` nodes, so
    graphs with attributes or with another number of nodes are refused instead.
    """
    if by_node and (graph.f or graph.n != inputs):
        raise InputError(
            f"the model was trained without attributes: it learned one embedding for each of {inputs:,} nodes, and "
            f"cannot be applied to other nodes ({graph.n:,}, {graph.f:,} attributes); train a model for them"
        )
    if not by_node and graph.f != inputs:
        raise InputError(
            f"the model learned from {inputs:,} attributes, but the graph has {graph.f:,}; give it the same "
            "attributes, or train a model for it"
        )

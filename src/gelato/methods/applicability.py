"""Which graphs a method does not fit: those without attributes for it, or with sides that its walks never join.

Walks of an even length never join the two sides of a bipartite graph.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gelato.graph import Graph


ACROSS = "pair across the two sides of this bipartite graph"
FITTING = "use ac or katz with an odd number of steps, 3 or more"


def attributes_for(name: str) -> Callable[["Graph"], str | None]:
    """Why a method that needs attributes does not fit a graph, if it does not.

    Example:
        >>> from gelato.graph import Graph
        >>> attributes_for("cosine")(Graph.from_edges([(0, 1)]))
        'cosine needs node attributes; give an attribute table (--attributes FILE)'
    """

    def unfit(graph: "Graph") -> str | None:
        if graph.attributes is None or graph.f == 0:
            return f"{name} needs node attributes; give an attribute table (--attributes FILE)"
        from gelato.graph import has_values

        if not has_values(graph):
            return f"{name} needs attributes, but those of all nodes are zero; give others (--attributes FILE)"
        return None

    return unfit


def needs_common_neighbors(graph: "Graph", options: Mapping[str, Any]) -> str | None:
    """Of methods that score pairs by common neighbours: nodes of different sides have none."""
    if graph.sides is None:
        return None
    return f"gives every {ACROSS} the same score, since such nodes share no neighbour; {FITTING}"


def needs_three_steps(graph: "Graph", options: Mapping[str, Any]) -> str | None:
    """Of Katz: the shortest walk between unlinked nodes of different sides has three steps."""
    if graph.sides is None or options.get("steps", 3) >= 3:
        return None
    return f"gives every unlinked {ACROSS} the same score, since no walk that short joins one; {FITTING}"


def needs_odd_steps(graph: "Graph", options: Mapping[str, Any]) -> str | None:
    """Of autocovariance, whose walks have one length; self-loops make them wait a step."""
    steps = options.get("steps", 3)
    if graph.sides is None or (steps >= 3 and (steps % 2 == 1 or options.get("self_loops") == "all")):
        return None
    return (
        f"scores every unlinked {ACROSS} by the degrees of its nodes alone, since no walk of"
        f" {steps} step{'s' if steps > 1 else ''} joins one; {FITTING}"
    )

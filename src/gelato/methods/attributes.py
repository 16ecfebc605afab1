"""The rule of methods that score by attributes alone."""

from collections.abc import Callable

from gelato.graph import Graph, has_values


def attributes_for(name: str) -> Callable[[Graph], str | None]:
    """Why a method that needs attributes does not fit a graph, if it does not.

    Example:
        >>> attributes_for("cosine")(Graph.from_edges([(0, 1)]))
        'cosine needs node attributes; give an attribute table (--attributes FILE)'
    """

    def unfit(graph: Graph) -> str | None:
        if graph.attributes is None or graph.f == 0:
            return f"{name} needs node attributes; give an attribute table (--attributes FILE)"
        if not has_values(graph):
            return f"{name} needs attributes, but those of all nodes are zero; give others (--attributes FILE)"
        return None

    return unfit

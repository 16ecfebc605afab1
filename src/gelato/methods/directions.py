"""The rule of methods that score ``(u, v)`` and ``(v, u)`` alike."""

from gelato.graph import Graph


def needs_undirected(name: str, graph: Graph) -> str | None:
    """Why a method that ignores direction does not fit a graph; ``None`` if it does.

    Example:
        >>> needs_undirected("gae", Graph.from_edges([(0, 1)], directed=True)).split(";")[0]
        'gae scores (u, v) and (v, u) alike, so it cannot tell the direction of links'
    """
    if not graph.directed:
        return None
    return (
        f"{name} scores (u, v) and (v, u) alike, so it cannot tell the direction of links; use a method for directed"
        " graphs, such as ac or gelato, or read the links without --directed (directed=True)"
    )

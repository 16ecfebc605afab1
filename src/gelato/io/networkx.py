"""Graphs from and to NetworkX."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.arguments import real_numbers
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.attributes import dense_rows
from gelato.io.cells import weight_of
from gelato.io.edges import edge_columns
from gelato.io.optional import optional
from gelato.io.predicted import RankedLinks, checked, first_of_each


def from_networkx(
    graph: Any,
    *,
    attributes: str | None = None,
    weight: str | None = "weight",
    time: str | None = None,
    predicted: str | None = "predicted",
    bipartite: str | None = "bipartite",
) -> Graph:
    """The graph of any NetworkX graph; parallel links are dropped as repeats.

    Links that ``to_networkx`` added as predictions are left out.

    Args:
        graph: nodes may be anything hashable, and become the names.
        attributes: key of the numbers of each node, a vector or one number, or ``None``.
        weight: key of the weights; a link without one weighs 1. ``None`` for no weights.
        time: key of the times, one number per link, or ``None``.
        predicted: key that is ``True`` for links that were only predicted; ``None`` treats them like other links.
        bipartite: key of the side of each node, 0 or 1, as NetworkX has it; the graph is bipartite if all nodes have
            one. ``None`` for one kind of node.

    >>> import networkx
    >>> from_networkx(networkx.path_graph(["a", "b", "c"]))
    Graph(3 nodes, 2 links, 0 attributes)
    """
    names = list(graph.nodes)
    index = {name: i for i, name in enumerate(names)}
    pairs, weights, times = [], [], []
    for u, v, data in graph.edges(data=True):
        if predicted is not None and data.get(predicted) is True:
            continue
        place = f"link ({u!r}, {v!r})"
        pairs.append((index[u], index[v]))
        weights.append(1.0 if weight is None else weight_of(data.get(weight, 1.0), place, "weight=None"))
        if time is not None:
            times.append(_vector(data, time, place, size=1)[0])
    return Graph.from_edges(
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        len(names),
        weights=weights,
        times=None if time is None else times,
        directed=graph.is_directed(),
        names=np.fromiter(names, dtype=object, count=len(names)),
        attributes=None if attributes is None else _vectors(graph, names, attributes),
        sides=_sides(graph, bipartite),
    )


def _sides(graph: Any, key: str | None) -> list[int] | None:
    """The side of each node, where all of them have one."""
    if key is None or graph.is_directed() or graph.number_of_nodes() == 0:
        return None
    sides = [data.get(key) for _, data in graph.nodes(data=True)]
    return sides if all(type(side) is int and side in (0, 1) for side in sides) else None


def to_networkx(
    graph: Graph,
    *,
    attributes: str = "x",
    weight: str = "weight",
    time: str = "time",
    predicted: RankedLinks | None = None,
) -> Any:
    """The ``Graph`` or ``DiGraph`` of NetworkX; its nodes are the names, labels are under ``y``, sides ``bipartite``.

    Args:
        graph: what to convert.
        attributes: key of the attributes of each node.
        weight: key of the weights, which are set if any differs from 1.
        time: key of the times, if there are any.
        predicted: links to add, with ``predicted=True``, ``score`` and ``rank`` (from 1). The links of the graph
            then have ``predicted=False``, and a ``score`` and ``rank`` if they are also among the predicted ones.
    """
    networkx = optional("networkx", purpose="to_networkx", extra="networkx")
    result = networkx.DiGraph() if graph.directed else networkx.Graph()
    names = list(range(graph.n)) if graph.names is None else graph.names.tolist()
    result.add_nodes_from(names)
    if graph.attributes is not None:
        for name, row in zip(names, dense_rows(graph), strict=True):
            result.nodes[name][attributes] = np.array(row)
    if graph.labels is not None:
        for name, label in zip(names, graph.labels.tolist(), strict=True):
            result.nodes[name]["y"] = label
    if graph.sides is not None:
        for name, side in zip(names, graph.sides.tolist(), strict=True):
            result.nodes[name]["bipartite"] = side
    header, columns = edge_columns(graph)
    keys = [{"weight": weight, "time": time}[name] for name in header[2:]]
    for u, v, *data in zip(*(column.tolist() for column in columns), strict=True):
        result.add_edge(names[u], names[v], **dict(zip(keys, data, strict=True)))
    if predicted is not None:
        _add_predicted(result, graph, names, predicted)
    return result


def _add_predicted(result: Any, graph: Graph, names: list[Any], links: RankedLinks) -> None:
    pairs, score = checked(graph, links)
    for _, _, data in result.edges(data=True):
        data["predicted"] = False
    for i in first_of_each(graph, pairs).tolist():
        u, v = (names[node] for node in pairs[i].tolist())
        if not result.has_edge(u, v):
            result.add_edge(u, v, predicted=True)
        result.edges[u, v].update(score=float(score[i]), rank=i + 1)


def _vectors(graph: Any, names: list[Any], key: str) -> NDArray[np.float64]:
    rows: list[NDArray[np.float64]] = []
    for name in names:
        rows.append(_vector(graph.nodes[name], key, f"node {name!r}", size=len(rows[0]) if rows else None))
    return np.array(rows)


def _vector(data: Any, key: str, place: str, size: int | None) -> NDArray[np.float64]:
    """The numbers under a key, ``size`` of them."""
    if key not in data:
        raise InputError(f"{place} has no {key!r}; give it one, like the others")
    try:
        vector = real_numbers(data[key], key).ravel()
    except (TypeError, ValueError):  # InputError is a ValueError
        raise InputError(f"{place}: {key!r} is {data[key]!r}, which is not a list of numbers; correct it") from None
    if size is not None and len(vector) != size:
        raise InputError(f"{place}: {key!r} has {len(vector)} numbers, but others have {size}; make them equal")
    if not np.isfinite(vector).all():
        raise InputError(f"{place}: {key!r} is {data[key]!r}, which is not finite; fill missing values")
    return vector

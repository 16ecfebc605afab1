"""Graphs from and to NetworkX."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from gelato.errors import optional
from gelato.graph import Graph
from gelato.io.attributes.table import dense_rows
from gelato.io.convert.node_data import attribute_fields, vector
from gelato.io.links.edges import edge_columns
from gelato.io.tables.cells import weight_of
from gelato.io.tables.column import number
from gelato.io.write.predicted import RankedLinks, checked_links, first_of_each

WEIGHTS = ("weight", "weights", "value", "strength", "count")
"""Usual keys of the weights of links."""
OWN = frozenset({"x", "y", "bipartite", "weight", "time", "predicted", "score", "rank"})
"""Keys that ``to_networkx`` writes, of which no warning is needed."""


def from_networkx(
    graph: Any,
    *,
    attributes: str | Sequence[str] | None = None,
    weight: str | None = "weight",
    time: str | None = None,
    predicted: str | None = "predicted",
    bipartite: str | None = "bipartite",
) -> Graph:
    """The graph of any NetworkX graph; parallel links are dropped as repeats.

    Links that ``to_networkx`` added as predictions are left out. A warning names the data of nodes and links that the
    graph leaves out.

    Args:
        graph: nodes may be anything hashable, and become the names.
        attributes: key of what each node has, or several keys: numbers (a vector or one number), or text, which becomes
            categories or word counts as in ``read_attributes``; ``None`` for no attributes.
        weight: key of the weights; a link without one weighs 1. If no link has the usual one, another in ``WEIGHTS``
            is taken that all links have, as positive numbers. ``None`` for no weights.
        time: key of the times, one number per link, or ``None``.
        predicted: key that is ``True`` for links that were only predicted; ``None`` treats them like other links.
        bipartite: key of the side of each node, 0 or 1, as NetworkX has it; the graph is bipartite if all nodes have
            one. ``None`` for one kind of node.

    >>> import networkx
    >>> from_networkx(networkx.path_graph(["a", "b", "c"]))
    Graph(3 nodes, 2 links, 0 attributes)
    >>> from_networkx(networkx.les_miserables_graph()).weighted
    True
    """
    links = [data for *_, data in graph.edges(data=True) if predicted is None or data.get(predicted) is not True]
    ignored = set(WEIGHTS) if weight is None else set[str]()
    weight = _weight_key(links, weight, time)
    keys = [attributes] if isinstance(attributes, str) else list(attributes or ())
    nodes = [data for _, data in graph.nodes(data=True)]
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
            times.append(vector(data, time, place, size=1)[0])
    built = Graph.from_edges(
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        len(names),
        weights=weights,
        times=None if time is None else times,
        directed=graph.is_directed(),
        names=names,
        sides=_sides(graph, bipartite),
        **attribute_fields(graph, keys),
    )
    _warn_of_others(nodes, {*keys, bipartite, *OWN}, links, {weight, time, predicted, *OWN, *ignored})
    return built


def _weight_key(links: Sequence[Mapping[str, Any]], weight: str | None, time: str | None) -> str | None:
    """The key of the weights: the one asked for or, where no link has the usual one, another that all links have."""
    if weight != WEIGHTS[0] or any(weight in data for data in links):
        return weight
    fitting = (key for key in WEIGHTS if key != time and all(number(data.get(key)) > 0 for data in links))
    return next(fitting, weight)


def _warn_of_others(
    nodes: Sequence[Mapping[str, Any]],
    of_nodes: Collection[Any],
    links: Sequence[Mapping[str, Any]],
    of_links: Collection[Any],
) -> None:
    """Warn of data of nodes and links under other keys than these."""
    others = [
        (sorted({str(key) for data in held for key in data if key not in known}), what, how)
        for held, known, what, how in (
            (nodes, of_nodes, "of nodes", "attributes=[{}] takes them"),
            (links, of_links, "of links", "weight= and time= take one each"),
        )
    ]
    left = [
        f"{', '.join(keys)} {what} ({how.format(', '.join(map(repr, keys)))})" for keys, what, how in others if keys
    ]
    if left:
        warnings.warn(f"from_networkx leaves out {' and '.join(left)}", stacklevel=3)


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
    rows = None if graph.attributes is None else map(np.array, dense_rows(graph))
    labels, sides = (None if column is None else column.tolist() for column in (graph.labels, graph.sides))
    for key, values in ((attributes, rows), ("y", labels), ("bipartite", sides)):
        if values is not None:
            networkx.set_node_attributes(result, dict(zip(names, values, strict=True)), key)
    header, columns = edge_columns(graph)
    keys = [{"weight": weight, "time": time}[name] for name in header[2:]]
    for u, v, *data in zip(*(column.tolist() for column in columns), strict=True):
        result.add_edge(names[u], names[v], **dict(zip(keys, data, strict=True)))
    if predicted is not None:
        _add_predicted(result, graph, names, predicted)
    return result


def _add_predicted(result: Any, graph: Graph, names: list[Any], links: RankedLinks) -> None:
    pairs, score = checked_links(graph, links)
    for _, _, data in result.edges(data=True):
        data["predicted"] = False
    for i in first_of_each(graph, pairs).tolist():
        u, v = (names[node] for node in pairs[i].tolist())
        if not result.has_edge(u, v):
            result.add_edge(u, v, predicted=True)
        result.edges[u, v].update(score=float(score[i]), rank=i + 1)

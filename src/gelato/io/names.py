"""Names of nodes and attributes in the form that tables can hold."""

from collections import Counter

from gelato.errors import InputError
from gelato.graph import Graph


def written_names(graph: Graph, label: str) -> list[str] | list[int]:
    """Names of the nodes in the form that a table can hold: integers if all are, else text."""
    if graph.names is None:
        return list(range(graph.n))
    names = graph.names.tolist()
    if all(type(name) is int and abs(name) < 2**63 for name in names):
        return names  # type: ignore[no-any-return]
    written = [str(name) for name in names]
    for name in written:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(f"{label}: the name {name!r} cannot be written as UTF-8; rename the node") from None
    if "" in written:
        raise InputError(f"{label}: node {written.index('')} has an empty name; tables need a name for every node")
    if len(set(written)) < len(written):
        twice = Counter(written).most_common(1)[0][0]
        raise InputError(f"{label}: two nodes are both written as {twice!r}; give them names that differ as text")
    return written


def written_columns(graph: Graph, label: str) -> list[str]:
    """Names of the attributes, ``x0``, ``x1``, ... where the graph has none; all different, none is ``node``."""
    if graph.attribute_names is None:
        return [f"x{i}" for i in range(graph.f)]
    columns = [str(name) for name in graph.attribute_names.tolist()]
    seen = {"node"}
    for column in columns:
        if column in seen or column == "":
            raise InputError(
                f"{label}: {column!r} cannot name a column; attribute names must be text, unique, not 'node'"
            )
        seen.add(column)
    return columns

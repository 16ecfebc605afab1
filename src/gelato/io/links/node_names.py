"""Names of nodes and attributes in the form that tables can hold."""

from collections import Counter, defaultdict

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


def text_index(graph: Graph) -> dict[str, list[int]]:
    """The nodes that each text may stand for.

    A text is a name as a table would write it or, where no node has it and the graph has two kinds of nodes, a name
    without the prefix of its kind, such as 1 for user:1.
    """
    index, short = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for node in range(graph.n):
        index[str(graph.name_of(node))].append(node)
    for text, nodes in index.items() if graph.sides is not None else ():
        prefix, colon, plain = text.partition(":")
        if colon and prefix and plain and plain not in index:
            short[plain].extend(nodes)
    return {**index, **short}


def index_in(index: dict[str, list[int]], text: str, graph: Graph) -> int:
    """The node that a text stands for, looked up in the result of ``text_index``; an ambiguous text is refused."""
    nodes = index.get(text, [])
    if len(nodes) == 1:
        return nodes[0]
    if not nodes:
        raise InputError(graph.unknown(text))
    names = [graph.name_of(node) for node in nodes]
    if all(str(name) == text for name in names):
        raise InputError(f"two nodes of the graph are both written as {text!r}; give them other names")
    raise InputError(f"node {text!r} may be {' or '.join(map(repr, names[:3]))}; give one of these names")


def written_columns(graph: Graph, label: str) -> list[str]:
    """Names of the attributes, ``x0``, ``x1``, ... where the graph has none; all different, none is ``node``."""
    if graph.attribute_names is None:
        return [f"x{i}" for i in range(graph.f)]
    columns = [str(name) for name in graph.attribute_names.tolist()]
    seen = {"node", ""}
    for column in columns:
        if column in seen:
            rule = "attribute names must be text, unique, not 'node'"
            raise InputError(f"{label}: {column!r} cannot name a column; {rule}")
        seen.add(column)
    return columns

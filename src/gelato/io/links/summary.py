"""What was read, in words: one line on the links and one on the attributes."""

from collections.abc import Sequence

from gelato.errors import InputError
from gelato.formatting import counted
from gelato.graph import Graph
from gelato.io.attributes.joining import JoinedTables
from gelato.io.attributes.options import shortened_list
from gelato.io.links.bipartite import NodeIndex
from gelato.io.links.reading import SkippedLinks
from gelato.io.links.schema import ColumnRoles, plain_name
from gelato.io.tables.column import is_number
from gelato.io.tables.table import Table

SAMPLE = 100
"""How many rows are looked at to tell whether an unused column holds numbers."""


def links_line(
    table: Table, layout: ColumnRoles, graph: Graph, left_out: SkippedLinks, nodes: NodeIndex, reason: str, sized: bool
) -> str:
    """The line on the links.

    Nodes are of one kind or of two for a ``reason``; negative weights may be ``sized``, and count by their size.
    """
    parts = [f"{counted(graph.m, 'link')} between {counted(graph.n, 'node')}", _roles(table, layout)]
    unused = [column for column in range(table.width) if column not in layout.used]
    if unused:
        weigh = None if layout.weight is not None else _weight_candidate(table, unused)
        shown = shortened_list([table.column_name(column) for column in unused])
        parts.append(f"not used: {shown}" + (f" (--weight {weigh} uses it as link weights)" if weigh else ""))
    dropped = [
        (graph.dropped.loops, "self-loop", ""),
        (graph.dropped.repeats, "repeated link", ""),
        (left_out.predicted, "predicted link", " (--predicted none keeps them)"),
    ]
    gone = [counted(count, what) + how for count, what, how in dropped if count]
    if gone:
        parts.append("dropped " + " and ".join(gone))
    if left_out.negative:
        fate = "counted with the absolute value of the weight" if sized else "left out"
        parts.append(f"{_they_are(left_out.negative, 'row', 'with a negative or zero weight')} {fate}")
    if left_out.unfilled:
        parts.append(f"{_they_are(left_out.unfilled, 'row', 'without a weight or a time')} left out")
    if left_out.blank:
        parts.append(f"{counted(left_out.blank, 'empty cell')} gave no link")
    parts += [*table.notes, _kinds(nodes, reason)]
    return f"{table.label}: " + "; ".join(part for part in parts if part)


def attributes_line(summary: str, joined: JoinedTables, missing: str | None) -> str:
    """The line on the attributes: what the table says of itself, and how its nodes match those of the links."""
    parts = [summary]
    if joined.without:
        verb = "gets" if joined.without == 1 else "get"
        values = "zeros" if missing in (None, "zero") else "the same values as missing cells"
        parts.append(f"{counted(joined.without, 'node')} without a row {verb} {values}")
    if joined.alone:
        parts.append(f"{_they_are(joined.alone, 'node', 'without links')} kept (--isolated drop leaves them out)")
    if joined.dropped:
        parts.append(f"{_they_are(joined.dropped, 'node', 'without links')} left out")
    return "; ".join(parts)


def _weight_candidate(table: Table, unused: Sequence[int]) -> str | None:
    """The one of the columns that nothing is read from that could hold weights, if there is just one."""
    named = [column for column in unused if table.header is None or plain_name(table.header[column]) != ""]
    try:
        top = table.top(unused, SAMPLE)
    except InputError:  # of a column that no text can hold, or of a row that is refused when the links are read
        return None
    cells = dict(zip(unused, top, strict=True))
    numeric = [column for column in named if all(map(is_number, cells[column]))]
    if len(numeric) != 1:
        return None
    return table.header[numeric[0]] if table.header is not None else str(numeric[0] + 1)


def _roles(table: Table, layout: ColumnRoles) -> str:
    targets = ", ".join(table.column_name(column) for column in layout.targets)
    source = [] if layout.source is None else [f"source = {table.column_name(layout.source)}"]
    others = {"weight": layout.weight, "time": layout.time, "predicted": layout.flag}
    roles = [f"{role} = {table.column_name(column)}" for role, column in others.items() if column is not None]
    return ", ".join([*source, f"target = {targets}" if source else f"among {targets}", *roles])


def _kinds(nodes: NodeIndex, reason: str) -> str:
    if nodes.sides is None:
        return f"one kind of node ({reason})"
    right = int(nodes.sides.sum())
    example = f", called {nodes.prefixes[0]}... and {nodes.prefixes[1]}..." if nodes.prefixes != ("", "") else ""
    return f"two kinds of nodes, {len(nodes.sides) - right:,} and {right:,}{example} ({reason})"


def _they_are(count: int, what: str, which: str) -> str:
    return f"{counted(count, what)} {which} {'is' if count == 1 else 'are'}"

"""What was read, in words: one line on the links and one on the attributes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.bipartite import Nodes, Verdict
from gelato.io.joining import Joined
from gelato.io.links import LeftOut
from gelato.io.notes import some
from gelato.io.schema import Layout, is_number, plain_name
from gelato.io.table import Table

SAMPLE = 100
"""How many rows are looked at to tell whether an unused column holds numbers."""


@dataclass(frozen=True)
class Reading:
    """What was read from an edge table and from an attribute table, as sentences."""

    links: str | None
    attributes: str | None = None

    def lines(self) -> list[str]:
        """One line on the links, and one on the attributes if there are any."""
        return [line for line in (self.links, self.attributes) if line is not None]


def links_line(
    table: Table,
    layout: Layout,
    unused: Sequence[int],
    weigh: str | None,
    graph: Graph,
    left_out: LeftOut,
    verdict: Verdict,
    nodes: Nodes,
    sized: bool,
) -> str:
    """The line on the links.

    Args:
        table, layout: what was read.
        unused: the columns that nothing is read from.
        weigh: the one of them that could hold weights, if there is just one.
        graph: what it was read into.
        left_out: what gave no link.
        verdict, nodes: whether there are two kinds of nodes, why, and which.
        sized: whether negative weights count by their size.
    """
    parts = [f"{_many(graph.m, 'link')} between {_many(graph.n, 'node')}", _roles(table, layout)]
    if unused:
        shown = some([table.called(column) for column in unused])
        parts.append(f"not used: {shown}" + (f" (--weight {weigh} uses it as link weights)" if weigh else ""))
    dropped = [
        (graph.dropped.loops, "self-loop", ""),
        (graph.dropped.repeats, "repeated link", ""),
        (left_out.predicted, "predicted link", " (--predicted none keeps them)"),
    ]
    gone = [_many(count, what) + how for count, what, how in dropped if count]
    if gone:
        parts.append("dropped " + " and ".join(gone))
    if left_out.negative:
        fate = "counted with the absolute value of the weight" if sized else "left out"
        parts.append(
            f"{_many(left_out.negative, 'row')} with a negative or zero weight {_are(left_out.negative)} {fate}"
        )
    if left_out.unfilled:
        parts.append(f"{_many(left_out.unfilled, 'row')} without a weight or a time {_are(left_out.unfilled)} left out")
    if left_out.blank:
        parts.append(f"{_many(left_out.blank, 'empty cell')} gave no link")
    parts += [*table.notes, _kinds(verdict, nodes)]
    return f"{table.label}: " + "; ".join(part for part in parts if part)


def attributes_line(summary: str, joined: Joined, missing: str | None) -> str:
    """The line on the attributes: what the table says of itself, and how its nodes match those of the links."""
    parts = [summary]
    if joined.without:
        verb = "gets" if joined.without == 1 else "get"
        values = "zeros" if missing in (None, "zero") else "the same values as missing cells"
        parts.append(f"{_many(joined.without, 'node')} without a row {verb} {values}")
    if joined.alone:
        parts.append(
            f"{_many(joined.alone, 'node')} without links {_are(joined.alone)} kept (--isolated drop leaves them out)"
        )
    if joined.dropped:
        parts.append(f"{_many(joined.dropped, 'node')} without links {_are(joined.dropped)} left out")
    return "; ".join(parts)


def unused_columns(table: Table, layout: Layout) -> tuple[list[int], str | None]:
    """Columns that nothing is read from, and the one of them that could hold weights, if there is just one."""
    unused = [column for column in range(table.width) if column not in layout.used]
    if not unused or layout.weight is not None or not table.again:
        return unused, None
    numeric = {column for column in unused if table.header is None or plain_name(table.header[column]) != ""}
    try:
        for _, cells in islice(table.rows(unused), SAMPLE):
            numeric = {column for column in numeric if is_number(cells[column])}
    except InputError:  # of a column that no text can hold, or of a row that is refused when the links are read
        return unused, None
    if len(numeric) != 1:
        return unused, None
    column = numeric.pop()
    return unused, table.header[column] if table.header is not None else str(column + 1)


def _roles(table: Table, layout: Layout) -> str:
    targets = ", ".join(table.called(column) for column in layout.targets)
    if layout.source is None:
        roles = [f"among {targets}"]
    else:
        roles = [f"source = {table.called(layout.source)}", f"target = {targets}"]
    for role, column in (("weight", layout.weight), ("time", layout.time), ("predicted", layout.flag)):
        if column is not None:
            roles.append(f"{role} = {table.called(column)}")
    return ", ".join(roles)


def _kinds(verdict: Verdict, nodes: Nodes) -> str:
    if nodes.sides is None:
        return f"one kind of node ({verdict.reason})"
    right = int(nodes.sides.sum())
    example = ""
    if nodes.prefixes != ("", ""):
        example = f", called {nodes.prefixes[0]}... and {nodes.prefixes[1]}..."
    return f"two kinds of nodes, {len(nodes.sides) - right:,} and {right:,}{example} ({verdict.reason})"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"

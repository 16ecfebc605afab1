"""Whether the first row of a text table of links, all of words, names the columns: decided from all rows."""

from collections.abc import Callable, Collection

import numpy as np

from gelato.errors import InputError
from gelato.io.links.schema import EdgeSchema
from gelato.io.tables.column import is_number
from gelato.io.tables.column_identity import identify_columns
from gelato.io.tables.csv import TextTable
from gelato.io.tables.table import Table

Words = Callable[[], tuple[Collection[str], Collection[str]]]
"""Returns the names of the columns of the attribute tables, and the nodes that they describe, if known."""

LOOKED_AT = 500
"""Rows that are looked at before all of them are."""
FEW = 0.1
"""Share of the rows that may hold two nodes of no other row, if such a first row is to be a header."""


def settle_header(table: Table, schema: EdgeSchema, words: Words) -> None:
    """Take the first row for names of columns where it looks like it, and note on the table what is not certain.

    It does if its words occur in no other row (looking at the first ones only for columns other than those of nodes),
    and either one of them is a column of the attribute tables or hardly any other row is like that. It never does if
    these tables describe one of its nodes.
    """
    if schema.header is not None or table.header is not None or not isinstance(table, TextTable):
        return
    first = [cells[0] for cells in table.top(range(table.width), 1)]
    if table.width < 2 or not all(first) or any(map(is_number, first)):
        return
    layout = schema.layout(table)
    try:
        head = table.top(range(table.width), LOOKED_AT)
    except InputError:  # of a row that is refused when the links are read
        return
    if len(head[0]) < 2:
        return
    nodes = [*([] if layout.source is None else [layout.source]), *layout.targets]
    if any(first[column] in head[other][1:] for column in nodes for other in nodes):
        return
    names, keys = words()
    if any(first[column] in keys for column in nodes):
        return
    codes, count, _ = identify_columns(table.columns(nodes))
    alone = (np.bincount(codes[codes >= 0], minlength=count + 1)[codes] == 1).all(axis=1)
    others = [i for i in range(table.width) if i not in nodes and first[i] in head[i][1:]]
    if not alone[0] or others:
        return
    sure = any(cell in names for cell in first)
    shown = ", ".join(" ".join(cell.split()) for cell in first)
    place = f"{table.unit} {table.numbers[0]}"
    if sure or np.count_nonzero(alone[1:]) <= FEW * (len(alone) - 1):
        table.take_header()
        said = "" if sure else f"{place} ({shown}) is taken for column names (--no-header reads it as a link)"
    else:
        said = f"{place} ({shown}) is read as a link (--header reads it as column names)"
    table.notes += (said,) if said else ()

"""The header of an attribute table: when there is one, and what it and the column below it tell about links."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from gelato.errors import InputError
from gelato.io.attributes.key_column import NODE_COLUMNS, node_column
from gelato.io.tables.column import is_number
from gelato.io.tables.files import open_table
from gelato.io.tables.table import HeaderRule


def header_rule(nodes: Collection[str]) -> HeaderRule:
    """The rule that recognises the header of an attribute table; a row of one of the ``nodes`` is none."""

    def is_header(first: Sequence[str], second: Sequence[str] | None) -> bool:
        if first[0] in nodes:
            return False
        usual = first[0] == "" or first[0].lower() in NODE_COLUMNS
        return usual or (second != () and not any(map(is_number, first[1:])))

    return is_header


def known_words(paths: Sequence[str | Path]) -> tuple[set[str], set[str]]:
    """The names of the columns of some attribute tables, and the cells of the columns that seem to name their nodes."""
    names, keys = set[str](), set[str]()
    for path in map(Path, paths):
        if path.is_file():  # what comes through a pipe can be read only once
            with suppress(InputError):  # of a table that is refused when it is read
                table = open_table(path, header_rule(()))
                names |= set(table.header or ())
                keys |= set(table.columns([node_column(table.header or [""])])[0].cells())
    return names, keys

"""How objects show themselves in a notebook: small tables of HTML, with every text escaped."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def facts_html(title: str, facts: Mapping[str, Any]) -> str:
    """A title, and a table of names and values; what is ``None`` is left out.

    >>> facts_html("Graph", {"nodes": 3, "names": None})
    '<table><caption>Graph</caption><tr><th>nodes</th><td>3</td></tr></table>'
    """
    known = {name: value for name, value in facts.items() if value is not None}
    rows = "".join(f"<tr><th>{_cell(name)}</th><td>{_cell(value)}</td></tr>" for name, value in known.items())
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def rows_html(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A title, and a table with named columns."""
    head = "".join(f"<th>{_cell(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else escape(f"{value:.4g}" if isinstance(value, float) else str(value))

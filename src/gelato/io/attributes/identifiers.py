"""Columns that only tell nodes apart, such as ids and links to pages: they describe nothing that two nodes share.

Integers, or text of single words, whose values all differ; never numbers with a fraction or a decimal point. Where the
name of the column says so any number of rows will do, and a few repeats; otherwise at least ``ENOUGH_ROWS`` are needed.
If most columns of numbers are like that, they are measurements. A column of text that repeats the names of the nodes
tells nothing new, and links to pages are left out also where some repeat, if there are many different ones.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gelato.io.tables.cells import CellKinds
from gelato.sparse.row_bands import Matrix, column_sizes

ID_WORDS = frozenset({"id", "ids", "index", "key", "uuid", "guid", "url", "uri", "link"})
"""Last words of the names of columns that hold ids."""
ENOUGH_ROWS = 10
"""Rows from which on values that all differ are taken for ids."""
NEARLY_ALL = 0.9
"""Share of different values from which on a column that is called an id is one."""
MANY_COLUMNS = 4
"""Columns of numbers from which on it matters how many of them look like ids."""
MANY_LINKS = 50
"""Different links to pages from which on they are no categories."""
HEAD = 64
"""Rows that most columns need to show that they are no ids."""
_WEB = re.compile(r"(https?|ftp)://|www\.", re.IGNORECASE)


def is_called_id(name: str) -> bool:
    """Whether the name of a column says that it holds ids: ``id``, ``movieId``, ``user_id``, ``page-url``, ..."""
    words = re.findall(r"[A-Z]*[a-z0-9]+|[A-Z]+", name)
    return bool(words) and (words[-1].lower() in ID_WORDS or words[-1].lower().endswith("id"))


def identifier_reason(name: str, column: CellKinds, keys: Sequence[Any] = ()) -> str | None:
    """Why a column of a guessed kind only tells nodes apart, or ``None`` if it does not."""
    counts = column.present
    cells = [column.different[i] for i in np.flatnonzero(counts).tolist()]
    count = int(counts.sum())
    if column.kind == "number":
        different = len(np.unique(column.values[~np.isnan(column.values)]))
        return _why(name, count, different) if all(map(_is_integer, cells)) else None
    texts = {str(cell) for cell in cells}
    if column.kind in ("category", "text") and count == len(keys) and _repeats(column, keys):
        return f"the names of the nodes; --kind {name}=text keeps them"
    if column.kind != "category" or any(len(text.split()) > 1 for text in texts):
        return None
    why = _why(name, count, len(texts))
    if why is None and len(texts) >= MANY_LINKS and all(map(_WEB.match, texts)):
        return f"{len(texts):,} different links; --kind {name}=category keeps them"
    return why


def integer_columns(names: Sequence[str], matrix: Matrix) -> list[int]:
    """The columns of whole numbers in a matrix that look like ids; missing numbers are ``nan``."""
    n = matrix.shape[0]
    named = np.array([is_called_id(name) for name in names], dtype=bool)
    likely = named | (n >= ENOUGH_ROWS)
    if isinstance(matrix, csr_array):  # two zeros are not different
        likely &= column_sizes(matrix) >= np.where(named, NEARLY_ALL * n - 1, n - 1)
    some = np.flatnonzero(likely)
    head = matrix[:HEAD][:, some]
    head = np.sort(head.toarray() if isinstance(head, csr_array) else head, axis=0)
    whole = ~((head != np.floor(head)) & ~np.isnan(head)).any(axis=0)
    differ = (head[1:] != head[:-1]).all(axis=0)
    columns = []
    for column in some[whole & (differ | named[some])].tolist():
        held = matrix[:, [column]]
        values = (held.toarray() if isinstance(held, csr_array) else held).ravel()
        values = values[~np.isnan(values)]
        if (values == np.floor(values)).all() and _why(names[column], len(values), len(np.unique(values))) is not None:
            columns.append(column)
    return columns


def without_measurements(reasons: dict[str, str], numbers: int) -> dict[str, str]:
    """The same columns without those not called ids, where these are most of a table's columns of numbers."""
    unnamed = [name for name in reasons if not is_called_id(name)]
    if numbers < MANY_COLUMNS or 2 * len(unnamed) <= numbers:
        return reasons
    return {name: why for name, why in reasons.items() if is_called_id(name)}


def _repeats(column: CellKinds, keys: Sequence[Any]) -> bool:
    """Whether all cells are the names of their nodes, whatever the case of their letters."""
    plain = [str(cell).strip().casefold() for cell in column.different]
    return all(
        plain[code] == str(key).strip().casefold() for code, key in zip(column.codes.tolist(), keys, strict=True)
    )


def _is_integer(cell: Any) -> bool:
    """Whether a cell is written as an integer."""
    if isinstance(cell, str):
        return re.fullmatch(r"[+-]?\d+", cell) is not None
    return isinstance(cell, int | np.integer) and not isinstance(cell, bool)


def _why(name: str, count: int, different: int) -> str | None:
    """Why a column with ``count`` values, ``different`` of them distinct, is an identifier, or ``None``."""
    if count and different == count and (count >= ENOUGH_ROWS or is_called_id(name)):
        return "all values differ"
    if is_called_id(name) and different >= NEARLY_ALL * count and count >= ENOUGH_ROWS:
        return "nearly all values differ"
    return None

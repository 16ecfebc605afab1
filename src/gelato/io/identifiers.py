"""Columns that only tell nodes apart, such as ids and links to pages: they describe nothing that two nodes share.

Integers, or text of single words, whose values all differ; never numbers with a fraction or a decimal point. Where the
name of the column says so any number of rows will do, and a few repeats; otherwise at least ``ENOUGH_ROWS`` are needed.
If most columns of numbers are like that, they are measurements.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.io.cell_kinds import CellKinds
from gelato.io.compact import Matrix
from gelato.sparse.bands import column_sizes

ID_WORDS = frozenset({"id", "ids", "index", "key", "uuid", "guid", "url", "uri", "link"})
"""Last words of the names of columns that hold ids."""
ENOUGH_ROWS = 10
"""Rows from which on values that all differ are taken for ids."""
NEARLY_ALL = 0.9
"""Share of different values from which on a column that is called an id is one."""
MANY_COLUMNS = 4
"""Columns of numbers from which on it matters how many of them look like ids."""
HEAD = 64
"""Rows that most columns need to show that they are no ids."""


def called_id(name: str) -> bool:
    """Whether the name of a column says that it holds ids: ``id``, ``movieId``, ``user_id``, ``page-url``, ..."""
    words = re.findall(r"[A-Z]*[a-z0-9]+|[A-Z]+", name)
    return bool(words) and (words[-1].lower() in ID_WORDS or words[-1].lower().endswith("id"))


def why_identifier(name: str, column: CellKinds) -> str | None:
    """Why a column of a guessed kind only tells nodes apart, or ``None`` if it does not."""
    present = np.ones(len(column.cells), dtype=bool)
    present[column.missing] = False
    cells = [cell for cell, there in zip(column.cells, present, strict=True) if there]
    if column.kind == "number":
        return _why(name, column.values[present]) if are_integers(cells) else None
    texts = [str(cell) for cell in cells]
    if column.kind != "category" or any(len(text.split()) > 1 for text in texts):
        return None
    return _why(name, np.array(texts, dtype=object))


def integer_columns(names: Sequence[str], matrix: Matrix) -> dict[int, str]:
    """The columns of whole numbers in a matrix that look like ids, and why; missing numbers are ``nan``."""
    n = matrix.shape[0]
    named = np.array([called_id(name) for name in names], dtype=bool)
    likely = named | (n >= ENOUGH_ROWS)
    if isinstance(matrix, csr_array):  # two zeros are not different
        likely &= column_sizes(matrix) >= np.where(named, NEARLY_ALL * n - 1, n - 1)
    some = np.flatnonzero(likely)
    head = matrix[:HEAD][:, some]
    head = np.sort(head.toarray() if isinstance(head, csr_array) else head, axis=0)
    whole = ~((head != np.floor(head)) & ~np.isnan(head)).any(axis=0)
    differ = (head[1:] != head[:-1]).all(axis=0)
    reasons = {}
    for column in some[whole & (differ | named[some])].tolist():
        held = matrix[:, [column]]
        values = (held.toarray() if isinstance(held, csr_array) else held).ravel()
        values = values[~np.isnan(values)]
        if (values == np.floor(values)).all() and (why := _why(names[column], values)) is not None:
            reasons[column] = why
    return reasons


def without_measurements(reasons: dict[str, str], numbers: int) -> dict[str, str]:
    """The same columns without those not called ids, where these are most of a table's columns of numbers."""
    unnamed = [name for name in reasons if not called_id(name)]
    if numbers < MANY_COLUMNS or 2 * len(unnamed) <= numbers:
        return reasons
    return {name: why for name, why in reasons.items() if called_id(name)}


def are_integers(cells: Sequence[Any]) -> bool:
    """Whether all cells are written as integers."""
    return all(
        re.fullmatch(r"[+-]?\d+", cell) is not None
        if isinstance(cell, str)
        else isinstance(cell, int | np.integer) and not isinstance(cell, bool)
        for cell in cells
    )


def _why(name: str, values: NDArray[Any]) -> str | None:
    count, different = len(values), len(set(values.tolist()))
    if count and different == count and (count >= ENOUGH_ROWS or called_id(name)):
        return "all values differ"
    if called_id(name) and different >= NEARLY_ALL * count and count >= ENOUGH_ROWS:
        return "nearly all values differ"
    return None

"""From columns of cells to a matrix: numbers as they are, categories one-hot, text as a bag of words.

A column whose cells are all numbers is a ``number``. Any other is a ``category``, unless it has cells of more than one
word and more than half of its values differ: then it is ``text``. A column that is mostly numbers, or in which a cell
marks a missing value, is refused: guessing would turn one bad cell into hundreds of attributes.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse

from gelato.errors import InputError
from gelato.io.compact import Matrix, compact
from gelato.registry import Registry

Cells = Sequence[Any]
Locator = Callable[[int], str]
"""Where the ``i``-th cell of a column stands, as messages put it."""

MISSING = frozenset({"na", "n/a", "nan", "null", "#n/a"})
"""Lower-case cells that stand for a missing value in a column whose kind is guessed."""


def encode(
    names: Sequence[str],
    texts: Mapping[str, Cells],
    numbers: Matrix,
    kinds: Mapping[str, str],
    place: Callable[[str, int], str],
) -> tuple[Matrix, list[str]]:
    """The ``(n, f)`` matrix of some columns of ``n`` cells, and the names of its ``f`` attributes.

    Args:
        names: all columns, in their order.
        texts: cells of the columns that are to be encoded here, ``""`` where one is empty.
        numbers: ``(n, p)`` the other columns, which are finite numbers, in their order.
        kinds: ``number``, ``category`` or ``text`` for the columns whose kind is not to be guessed.
        place: where a cell stands, from its column and its row.
    """
    for name, kind in kinds.items():
        if name not in names:
            raise InputError(f"kinds names a column {name!r} that is not in the table; known: {', '.join(names)}")
        KINDS[kind]  # refuses an unknown kind
    coded = {
        name: _encode_column(name, texts[name], kinds.get(name), partial(place, name))
        for name in names
        if name in texts
    }
    if not coded:
        return numbers, list(names)
    labels = [coded[name][1] if name in coded else [name] for name in names]
    first = np.cumsum([0, *map(len, labels)])
    spans = {name: np.arange(first[i], first[i + 1]) for i, name in enumerate(names)}
    there = np.concatenate([spans[name] for name in (*(name for name in names if name not in coded), *coded)])
    wide = csr_array(hstack([csr_array(numbers), *(csr_array(block) for block, _ in coded.values())], format="csr"))
    wide = csr_array((wide.data, there[wide.indices], wide.indptr), shape=wide.shape)
    wide.sort_indices()
    counted = any(issparse(block) for block, _ in coded.values())
    return wide if counted else compact(wide), [label for column in labels for label in column]


def _encode_column(name: str, cells: Cells, kind: str | None, place: Locator) -> tuple[Any, list[str]]:
    if "" in cells:
        raise InputError(f"{place(cells.index(''))} is empty; fill it, or drop the row or the column")
    return KINDS[kind or _guess(cells, place)](name, cells, place)


def _guess(cells: Cells, place: Locator) -> str:
    if _floats(cells) is not None:
        return "number"
    texts = [str(cell) for cell in cells]
    for row, text in enumerate(texts):
        if text.strip().casefold() in MISSING:
            raise InputError(f"{place(row)} is {text!r}, a missing value; fill it, or drop the row or the column")
    odd = [row for row, cell in enumerate(cells) if _floats([cell]) is None]
    if len(odd) <= len(cells) / 2:
        raise InputError(
            f"{place(odd[0])} is {texts[odd[0]]!r}, but most of the column is numbers; "
            "correct it, or set the kind of the column with kinds="
        )
    several_words = any(len(text.split()) > 1 for text in texts)
    return "text" if several_words and len(set(texts)) > len(texts) / 2 else "category"


def _number(name: str, cells: Cells, place: Locator) -> tuple[NDArray[np.float64], list[str]]:
    values = _floats(cells)
    if values is None:
        row = next(row for row, cell in enumerate(cells) if _floats([cell]) is None)
        raise InputError(f"{place(row)} is {cells[row]!r}, not a number; correct it or choose another kind")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"{place(row)} is {cells[row]!r}, not a finite number; fill it, or drop the row or the column")
    return values[:, None], [name]


def _category(name: str, cells: Cells, place: Locator) -> tuple[csr_array, list[str]]:
    return _counted(name, "=", [[str(cell)] for cell in cells])


def _text(name: str, cells: Cells, place: Locator) -> tuple[csr_array, list[str]]:
    return _counted(name, ":", [re.findall(r"[^\W_]+", str(cell).lower()) for cell in cells])


def _counted(name: str, joint: str, terms: list[list[str]]) -> tuple[csr_array, list[str]]:
    """How often each term occurs in each row, with the terms in alphabetical order."""
    vocabulary = sorted({term for row in terms for term in row})
    position = {term: i for i, term in enumerate(vocabulary)}
    counts = [Counter(row) for row in terms]
    starts = np.cumsum([0, *map(len, counts)])
    data = np.fromiter((count for row in counts for count in row.values()), dtype=np.float64, count=starts[-1])
    indices = np.fromiter((position[term] for row in counts for term in row), dtype=np.int64, count=starts[-1])
    matrix = csr_array((data, indices, starts), shape=(len(terms), len(vocabulary)))
    return matrix, [f"{name}{joint}{term}" for term in vocabulary]


def _floats(cells: Cells) -> NDArray[np.float64] | None:
    try:
        return np.array(list(map(float, cells)))
    except (TypeError, ValueError, OverflowError):
        return None


KINDS: Registry[Callable[[str, Cells, Locator], tuple[Any, list[str]]]] = Registry(
    "kind of column", {"number": _number, "category": _category, "text": _text}
)

"""Names that are close to one that is not known, found fast among millions."""

import difflib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gelato.formatting import enumeration

CANDIDATES = 200
"""The most names that are compared letter by letter."""
LONGEST = 60
"""Names longer than this are compared only up to case and outer spaces."""
CHUNK = 100_000
"""How many names are compared at a time."""
SHOWN = 3
"""How many close names are given at most."""


def close_names(wanted: object, names: Iterable[str]) -> list[str]:
    """Up to three names that are close to one that is not among them, the closest first.

    Names that differ only by case or by spaces around them come first. Others must be of about the same length; of too
    many, those that share the most letters at both ends are compared, so that a million names take less than a second.

    >>> close_names("Anne", ["ann", "anna", "bob", "ANNE"])
    ['ANNE', 'ann', 'anna']
    """
    text = str(wanted).strip().casefold()
    spread = max(1, len(text) // 4)
    texts = names if isinstance(names, list) else list(names)
    if len(text) > LONGEST or not text:
        return [name for name in texts if len(name) == len(text) and name.casefold() == text][:SHOWN]
    near = _narrowed(text, [name for name in texts if abs(len(name) - len(text)) <= spread])
    equal = [name for name in near if name.strip().casefold() == text]
    folded = {name.casefold(): name for name in reversed(near) if name not in equal}
    matches = difflib.get_close_matches(text, folded, SHOWN, 0.7)
    return [*equal, *(folded[match] for match in matches)][:SHOWN]


def question(close: Sequence[str]) -> str:
    """The names as a question, such as ``did you mean 'ann' or 'anna'?``, or ``""`` without any."""
    return f"did you mean {enumeration([repr(name) for name in close], 'or')}?" if close else ""


def _narrowed(text: str, names: Sequence[str]) -> Sequence[str]:
    """At most ``CANDIDATES`` names: of too many, those that share the most letters at the start and at the end."""
    if len(names) <= CANDIDATES:
        return names
    chunks = [names[first : first + CHUNK] for first in range(0, len(names), CHUNK)]
    turned = ([name[::-1] for name in some] for some in chunks)
    shared = [_common(text, some) + _common(text[::-1], back) for some, back in zip(chunks, turned, strict=True)]
    best = np.argpartition(-np.concatenate(shared), CANDIDATES)[:CANDIDATES]
    return [names[i] for i in np.sort(best).tolist()]


def _common(text: str, names: Sequence[str]) -> NDArray[np.int64]:
    """``(r,)`` how many letters each name shares with a text from its start on, whatever their case."""
    letters = np.array([*names, " " * len(text)], dtype=f"U{len(text)}")[:-1].view(np.uint32).reshape(len(names), -1)
    low, high = (np.array([case], dtype=f"U{len(text)}").view(np.uint32) for case in (text, text.upper()[: len(text)]))
    equal = (letters == low) | (letters == high)
    return np.asarray(np.where(equal.all(axis=1), len(text), equal.argmin(axis=1)), dtype=np.int64)

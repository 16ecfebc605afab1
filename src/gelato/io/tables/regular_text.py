"""Whether pyarrow reads a text as ``text_lines`` does, perhaps without its blank lines and comments."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.io.tables.dialect import SPACES, Dialect

WHITE = b"\t\x0b\x0c\x1c\x1d\x1e\x1f "
"""ASCII characters that are white space, other than line ends."""
WIDE_WHITE = tuple(
    chr(code) for code in (0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
)
"""The white space of other alphabets."""
_WIDE_HEADS = b"\xc2\xe1\xe2\xe3"  # what their UTF-8 begins with
_QUOTE, _END, _RETURN, _SPACE = b'"\n\r '

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class TextBody:
    """Text that pyarrow can read.

    Attributes:
        content, delimiter: the text, and what separates the cells.
        quoted, spanning: whether cells may stand in quotes, and whether those may hold line ends.
        trimmed: whether white space around cells is still to be removed.
        longest: bytes of the longest row.
        numbers: ``(n,)`` the line of each row.
        failure: why there are no more rows, or ``None``.
    """

    content: bytes
    delimiter: str
    quoted: bool
    spanning: bool
    trimmed: bool
    longest: int
    numbers: Sequence[int] | NDArray[np.int64]
    failure: InputError | None = None


def regular_text(content: bytes, first: int, dialect: Dialect) -> TextBody | None:
    """The rows of a text that begins in line ``first``; ``None`` if they are not regular."""
    quoted = b'"' in content
    delimiter = dialect.delimiter
    if not delimiter.isascii() or (quoted and delimiter == SPACES) or delimiter in "\0":
        return None
    wide = False
    if not content.isascii():
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return None
        wide = any(mark in text for mark in WIDE_WHITE)
    if b"\r" in content:
        if quoted and _among_quotes(content, np.flatnonzero(_bytes(content) == _RETURN)).any():
            return None
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    letters = _bytes(content)
    ends = np.flatnonzero(letters == _END)
    low = letters <= _SPACE  # line ends, white space, and characters that nobody types
    white = int(np.count_nonzero(low)) > len(ends) + (
        content.count(delimiter.encode()) if ord(delimiter) <= _SPACE else 0
    )
    spanning = False
    if quoted:
        inside = _among_quotes(content, ends)
        if wide or not _well_quoted(letters, delimiter) or (white and _is_loose(letters, content, delimiter)):
            return None
        spanning = bool(inside.any())
    begins = np.concatenate([[0], ends + 1])
    begins = begins[begins < len(letters)]
    lines = np.arange(first, first + len(begins))
    if spanning:
        rows = ~np.concatenate([[False], inside])[: len(begins)]
        begins, lines = begins[rows], lines[rows]
    longest = int(np.diff(begins, append=len(letters)).max(initial=0))
    if quoted and longest > csv.field_size_limit():  # such a cell is refused, as the csv module takes it for a mistake
        return None
    heads = letters[begins]
    odd = np.flatnonzero(np.isin(heads, list(WHITE + _WIDE_HEADS + (b"#%" if dialect.comments else b""))))
    bounds = np.append(begins, len(letters))
    skipped = _skipped(letters, bounds, odd, dialect.comments)
    if quoted and len(skipped):
        return None
    kept = np.ones(len(begins), np.bool_)
    kept[skipped] = False
    if len(skipped):
        content = letters[np.repeat(kept, np.diff(bounds))].tobytes()
    kept &= heads != _END
    numbers: Sequence[int] | NDArray[np.int64] = lines[kept]
    if kept.all() and not spanning:
        numbers = range(first, first + len(begins))
    if delimiter == SPACES and (white or wide or (low[1:] & low[:-1]).any() or low[0] or content.endswith(b" ")):
        words = (" ".join(line.split()) for line in content.decode().split("\n"))
        content, white, wide = "\n".join(words).encode(), False, False
    return TextBody(content, delimiter, quoted, spanning, (white or wide) and not quoted, longest, numbers)


def _bytes(content: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(content, np.uint8)


def _among_quotes(content: bytes, places: Positions) -> NDArray[np.bool_]:
    """Which places have an odd number of quotes before them."""
    quotes = np.flatnonzero(_bytes(content) == _QUOTE)
    return np.asarray(np.searchsorted(quotes, places) % 2 == 1)


def _well_quoted(letters: NDArray[np.uint8], delimiter: str) -> bool:
    """Whether quotes stand around whole cells, or are doubled within them."""
    quotes = np.flatnonzero(letters == _QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    beside = np.concatenate([opening[opening > 0] - 1, closing[closing < len(letters) - 1] + 1])
    return bool(np.isin(letters[beside], [ord(delimiter), _END, _QUOTE]).all())


def _is_loose(letters: NDArray[np.uint8], content: bytes, delimiter: str) -> bool:
    """Whether there is white space around a cell that is not quoted."""
    marks = np.zeros(256, np.uint8)
    marks[list(WHITE)] = 1
    marks[[ord(delimiter), _END]] = 2
    kinds = np.concatenate([[2], marks[letters], [2]]).astype(np.uint8)
    white = np.flatnonzero(kinds == 1)
    outer = white[(kinds[white - 1] == 2) | (kinds[white + 1] == 2)] - 1
    return not bool(_among_quotes(content, outer).all())


def _skipped(letters: NDArray[np.uint8], bounds: Positions, odd: Positions, comments: bool) -> Positions:
    """The lines that are comments, or white space without being empty."""
    skipped = []
    for line, begin, end in zip(odd.tolist(), bounds[odd].tolist(), bounds[odd + 1].tolist(), strict=True):
        text = letters[begin:end].tobytes()
        if (comments and text[0] in b"#%") or text.decode().isspace():
            skipped.append(line)
    return np.array(skipped, np.intp)

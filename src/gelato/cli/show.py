"""What people see: tables on stdout, progress on stderr."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gelato.ranking.rank import Progress
    from gelato.runs.predictor import StoredPredictor
    from gelato.training.loop import Epoch


_held: list[str] = []
"""Remarks that wait until work begins, so that a mistake in the options is told in one line."""


def hold(remarks: Iterable[str]) -> None:
    """Keep remarks back until something is printed or work begins; those held before are forgotten."""
    _held[:] = remarks


def release() -> None:
    """Print the remarks that were held, on stderr."""
    while _held:
        print(one_line(_held.pop(0)), file=sys.stderr)


def show(part: object) -> None:
    """Print a table or a text to stdout, as wide as it needs when stdout is no terminal."""
    from rich.console import Console

    release()
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    console.print(_Harmless(part))


class _Harmless:
    """A table or a text without control characters in its words; those of its layout and colours stay."""

    def __init__(self, part: object) -> None:
        self.part = part

    def __rich_console__(self, console: Any, options: Any) -> "Iterator[Any]":
        from rich.segment import Segment

        part = console.render_str(self.part) if isinstance(self.part, str) else self.part
        for segment in console.render(part, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


CONTROLS = {code: 0x2400 + code for code in range(32) if code not in (0x09, 0x0A)} | {0x7F: 0x2421}
"""Each control character and the symbol that shows it."""

HIDDEN = [
    *range(0x80, 0xA0),
    *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),
    *range(0xD800, 0xE000),
]
"""Control characters of the second kind, those that change the direction of text, and bytes that are no text."""

_SHOWN = CONTROLS | dict.fromkeys(HIDDEN, 0xFFFD)


def printable(text: str) -> str:
    """The same text with visible signs for characters that command a terminal or reorder text; tabs and lines stay.

    >>> printable("red\x1b[31m \u202egnp.exe")
    'red␛[31m �gnp.exe'
    """
    return text.translate(_SHOWN)


def one_line(text: str) -> str:
    """A printable text on one line."""
    return printable(re.sub(r"\s*[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]\s*", " ", text).strip())


def say(text: str) -> None:
    """Print a remark on stderr, after those that were held."""
    release()
    print("\n".join(map(one_line, text.split("\n"))), file=sys.stderr)


def say_unless(quiet: bool) -> "Callable[[str], None]":
    """What prints a remark on stderr, or nothing."""
    return lambda text: None if quiet else say(text)


def _title(text: str) -> str:
    """The title of a bar, in which square brackets are no colours."""
    from rich.markup import escape

    return escape(one_line(text))


@contextmanager
def progress_bar(title: str, quiet: bool, unit: str = "pairs") -> "Iterator[Progress | None]":
    """A bar on stderr that appears with the first report; nothing when quiet or not on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = None

        def report(done: int, total: int | None) -> None:
            nonlocal task
            if task is None:
                release()
                task = bar.add_task(f"{_title(title)}, {total or 0:,} {unit}", total=total)
            bar.update(task, completed=done, total=total)

        yield report


@contextmanager
def fitting_progress(title: str, predictor: "StoredPredictor", quiet: bool) -> "Iterator[dict[str, Any]]":
    """What ``fit`` tells its progress to: by epochs with loss and validation, or by steps where there are none."""
    epochs = predictor.get_params().get("epochs")
    if epochs is None:
        with progress_bar(f"{predictor.method} on {title}", quiet, unit="steps") as progress:
            yield {"progress": progress}
        return
    release()
    if quiet or not sys.stderr.isatty():
        yield {}
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn("{task.fields[status]}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{predictor.method} on {_title(title)}, {epochs} epochs", total=epochs, status="preparing")
        best = 0.0

        def report(epoch: "Epoch") -> None:
            nonlocal best
            best = max(best, epoch.precision)
            status = f"loss {epoch.loss:.5g}, validation {epoch.precision:.2%} (best {best:.2%})"
            bar.update(task, completed=epoch.epoch, status=status)

        yield {"report": report}

"""What people see: tables on stdout, progress on stderr: bars on a terminal, else now and then a line."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gelato.runs.processes import launched

if TYPE_CHECKING:
    from gelato.ranking.rank import Progress
    from gelato.runs.predictor import StoredPredictor
    from gelato.training.loop import Epoch

SHORT, EVERY = 2.0, 10.0
"""Seconds: stages that are shorter have no log lines, and between two lines is so much time at least."""


_held: list[str] = []
"""Remarks that wait until work begins, so that a mistake in the options is told in one line."""


def hold(remarks: Iterable[str]) -> None:
    """Keep remarks back until something is printed or work begins; those held before are forgotten."""
    _held[:] = remarks


def release() -> None:
    """Print the remarks that were held, on stderr; of several processes, only the first has any."""
    if not launched().first:
        hold(())
    while _held:
        print(one_line(_held.pop(0)), file=sys.stderr)


def show(part: object) -> None:
    """Print a table or a text to stdout; when stdout is no terminal, tables are wide and texts are not wrapped."""
    from rich.console import Console

    release()
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(_Harmless(part))
    elif isinstance(part, str):
        print(printable(part))
    else:
        Console(highlight=False, width=160).print(_Harmless(part))


class _Harmless:
    """A table or a text without control characters in its words; those of its layout and colours stay."""

    def __init__(self, part: object) -> None:
        self.part = part

    def __rich_console__(self, console: Any, options: Any) -> "Iterator[Any]":
        from rich.segment import Segment
        from rich.text import Text

        part = Text(self.part) if isinstance(self.part, str) else self.part
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
    if launched().first:
        print("\n".join(map(one_line, text.split("\n"))), file=sys.stderr, flush=True)


def say_unless(quiet: bool) -> "Callable[[str], None]":
    """What prints a remark on stderr, or nothing."""
    return lambda text: None if quiet else say(text)


def _animated() -> bool:
    """Whether stderr is a terminal that can draw a bar again and again."""
    return launched().first and sys.stderr.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def _title(text: str) -> str:
    """The title of a bar, in which square brackets are no colours."""
    from rich.markup import escape

    return escape(one_line(text))


@contextmanager
def interruptible(quiet: bool, kept: Callable[[], str | None], otherwise: str) -> Iterator[None]:
    """After Ctrl-C, say what is kept; where that is nothing, say so and what would keep it."""
    try:
        yield
    except KeyboardInterrupt:
        say_unless(quiet)(kept() or f"nothing was saved: {otherwise}")
        raise


class LogLines:
    """Lines about a stage for logs: none if it is short, else one now and then, and one at its end."""

    def __init__(self, title: str) -> None:
        self._title, self._begin, self._last = title, time.monotonic(), -1.0

    def say(self, words: str) -> None:
        """Say how far the stage is, unless a line was printed just now."""
        now = time.monotonic()
        if now - self._begin >= SHORT and (self._last < 0 or now - self._last >= EVERY):
            self._last = now
            say(f"{self._title}: {words}")

    def end(self) -> None:
        """Say that the stage is done, if it was long enough to be mentioned."""
        if self._last >= 0:
            say(f"{self._title}: done in {time.monotonic() - self._begin:.0f} s")
            self._last = -1.0


@contextmanager
def progress_bar(title: str, quiet: bool, unit: str = "pairs") -> "Iterator[Progress | None]":
    """A bar on stderr that appears with the first report; lines where nothing can be animated; nothing when quiet."""
    if quiet:
        yield None
        return
    if not _animated():
        lines = LogLines(title)
        yield lambda done, total: lines.say(f"{done:,} {_of(total)}{unit}")
        lines.end()
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


def _of(total: int | None) -> str:
    return "" if total is None else f"of {total:,} "


@contextmanager
def fitting_progress(title: str, predictor: "StoredPredictor", quiet: bool) -> "Iterator[dict[str, Any]]":
    """What ``fit`` tells its progress to: by epochs with loss and validation, or by steps where there are none."""
    epochs = predictor.get_params().get("epochs")
    whose = f"{predictor.method} on {title}"
    if epochs is None:
        with progress_bar(whose, quiet, unit="steps") as progress:
            yield {"progress": progress}
        return
    if quiet:
        yield {}
    elif _animated():
        release()
        with _epoch_bar(whose, epochs) as watch:
            yield watch
    else:
        with _epoch_lines(whose, epochs) as watch:
            yield watch


@contextmanager
def _epoch_lines(whose: str, epochs: int) -> Iterator[dict[str, Any]]:
    """Lines about the choice of settings, then about epochs."""
    choosing, training = LogLines(f"choosing settings of {whose}"), LogLines(f"training {whose}")

    def choose(done: int, total: int | None) -> None:
        if done == total:
            choosing.end()
        else:
            choosing.say(f"{done} {_of(total)}trials")

    def report(epoch: "Epoch") -> None:
        training.say(f"epoch {epoch.epoch} of {epochs}, {_status(epoch)}")

    yield {"report": report, "progress": choose}
    training.end()


@contextmanager
def _epoch_bar(whose: str, epochs: int) -> Iterator[dict[str, Any]]:
    """A bar of the choice of settings, which becomes one of epochs."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn("{task.fields[status]}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        whose = _title(whose)
        title = f"{whose}, {epochs} epochs"
        task = bar.add_task(title, total=epochs, status="preparing")
        best = 0.0

        def choose(done: int, total: int | None) -> None:
            if done == total:
                bar.reset(task, description=title, total=epochs, status="preparing")
            else:
                words = f"{whose}: choosing settings, {done} of {total}"
                bar.update(task, description=words, completed=done, total=total, status="")

        def report(epoch: "Epoch") -> None:
            nonlocal best
            from gelato.figures import percent

            best = max(best, epoch.precision)
            bar.update(task, completed=epoch.epoch, status=f"{_status(epoch)} (best {percent(best)}%)")

        yield {"report": report, "progress": choose}


def _status(epoch: "Epoch") -> str:
    from gelato.figures import percent

    return f"loss {epoch.loss:.5g}, validation {percent(epoch.precision)}%"

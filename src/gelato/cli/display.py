"""What people see: tables on stdout, progress on stderr: bars on a terminal, else now and then a line."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gelato.formatting import duration, percent

if TYPE_CHECKING:
    from gelato.prediction.comparison_state import ComparisonState, Watch
    from gelato.prediction.predictor import LinkPredictor
    from gelato.ranking.rank import Progress
    from gelato.training.loop import Epoch

SHORT, EVERY = 2.0, 10.0
"""Seconds: stages shorter than SHORT have no log lines, and EVERY is the least time between two lines."""

COMPILING = "compiling, once: the first run after an installation takes some seconds more"
"""Shown on a terminal if compiled loops are not in the cache yet."""

_held: list[str] = []
"""Remarks that wait until work begins, so that a mistake in the options is reported in one line."""


def hold_remarks(remarks: Iterable[str]) -> None:
    """Keep remarks back until something is printed or work begins; those held before are forgotten."""
    _held[:] = remarks


def print_held() -> None:
    """Print the remarks that were held, on stderr."""
    while _held:
        print(one_line(_held.pop(0)), file=sys.stderr)


def print_result(part: object) -> None:
    """Print a table or a text to stdout; when stdout is no terminal, tables are wide and texts are not wrapped."""
    from rich.console import Console

    print_held()
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(_Harmless(part))
    elif isinstance(part, str):
        print(printable(part))
    else:
        Console(highlight=False, width=160).print(_Harmless(part))


def print_outcome(as_json: bool, outcome: object, table: Callable[[Any], object]) -> None:
    """Print an outcome as JSON, or the table that the module ``gelato.tables``, loaded only then, makes of it."""
    if as_json:
        print(json.dumps(outcome))
        return
    from gelato import tables

    print_result(table(tables))


class _Harmless:
    """A table or a text without control characters in its words; those of its layout and colours stay."""

    def __init__(self, part: object) -> None:
        self.part = part

    def __rich_console__(self, console: Any, options: Any) -> "Iterator[Any]":
        from rich.segment import Segment
        from rich.text import Text

        for segment in console.render(Text(self.part) if isinstance(self.part, str) else self.part, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Characters that change the direction of text."""

_SHOWN = {code: 0x2400 + code for code in range(32) if code not in (0x09, 0x0A)} | {0x7F: 0x2421}
_SHOWN |= dict.fromkeys((*range(0x80, 0xA0), *DIRECTIONS, *range(0xD800, 0xE000)), 0xFFFD)
"""Signs for control characters, those of the second kind, those of direction, and bytes that are no text."""


def printable(text: str) -> str:
    """The same text with visible signs for characters that command a terminal or reorder text; tabs and lines stay.

    >>> printable("red\x1b[31m \u202egnp.exe")
    'red␛[31m �gnp.exe'
    """
    return text.translate(_SHOWN)


def one_line(text: str) -> str:
    """A printable text on one line."""
    return printable(re.sub(r"\s*[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]\s*", " ", text).strip())


def remark(text: str) -> None:
    """Print a remark on stderr, after those that were held."""
    print_held()
    print("\n".join(map(one_line, text.split("\n"))), file=sys.stderr, flush=True)


def remark_unless(quiet: bool) -> Callable[[str], None]:
    """A function that prints a remark on stderr, or does nothing if ``quiet``."""
    return lambda text: None if quiet else remark(text)


def _animated() -> bool:
    """Whether stderr is a terminal that can draw a bar again and again."""
    return sys.stderr.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


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
        remark_unless(quiet)(kept() or f"nothing was saved: {otherwise}")
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
            remark(f"{self._title}: {words}")

    def end(self) -> None:
        """Say that the stage is done, if it was long enough to be mentioned."""
        if self._last >= 0:
            remark(f"{self._title}: done in {time.monotonic() - self._begin:.0f} s")
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
    with _bar("{task.percentage:3.0f}%") as bar:
        task = None

        def report(done: int, total: int | None) -> None:
            nonlocal task
            if task is None:
                print_held()
                task = bar.add_task(f"{_title(title)}, {total or 0:,} {unit}", total=total)
            bar.update(task, completed=done, total=total)

        yield report


def _bar(status: str, width: int = 40) -> Any:
    """A bar with its title, the status, and the time that remains; it disappears at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=width), TextColumn(status), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _of(total: int | None) -> str:
    return "" if total is None else f"of {total:,} "


@contextmanager
def comparison_line(title: str, quiet: bool) -> "Iterator[Watch]":
    """One line that says which method runs, which one leads, and how much of the budget is left."""
    if quiet:
        yield lambda state: None
        return
    if not _animated():
        lines = LogLines(title)
        yield lambda state: lines.say(f"{_compared(state)}, {duration(max(0.0, state.left))} left")
        lines.end()
        return
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, TextColumn
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"{max(0.0, task.fields['ends'] - time.monotonic()):.0f} s left")

    print_held()
    columns = (TextColumn("{task.description}"), TimeLeft())
    with Progress(*columns, console=Console(stderr=True), transient=True) as line:
        task = line.add_task("", total=None, ends=0.0)

        def show(state: "ComparisonState") -> None:
            ends = time.monotonic() + state.left
            line.update(task, description=_title(f"{title}: {_compared(state)}"), ends=ends)

        yield show


def _compared(state: "ComparisonState") -> str:
    """Such as 'running boosted, best so far ac (2.30%)'."""
    best = "" if state.leader is None else f", best so far {state.leader} ({percent(state.ap)}%)"
    return f"running {state.running}{best}"


@contextmanager
def fitting_progress(title: str, predictor: "LinkPredictor", quiet: bool) -> "Iterator[dict[str, Any]]":
    """Arguments of ``fit`` that show its progress: by epoch, or by step for methods without epochs."""
    epochs = predictor.get_params().get("epochs")
    whose = f"{predictor.method} on {title}"
    if epochs is None:
        with progress_bar(whose, quiet, unit="steps") as progress:
            yield {"progress": progress}
    elif quiet:
        yield {}
    else:
        with (_epoch_bar if _animated() else _epoch_lines)(whose, epochs) as watch:
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

    yield {"callbacks": [report], "progress": choose}
    training.end()


@contextmanager
def _epoch_bar(whose: str, epochs: int) -> Iterator[dict[str, Any]]:
    """A bar of the choice of settings, which becomes one of epochs."""
    print_held()
    with _bar("{task.fields[status]}", 20) as bar:
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
            best = max(best, epoch.precision)
            bar.update(task, completed=epoch.epoch, status=f"{_status(epoch)} (best {percent(best)}%)")

        yield {"callbacks": [report], "progress": choose}


def _status(epoch: "Epoch") -> str:
    return f"loss {epoch.loss:.5g}, validation {percent(epoch.precision)}%"

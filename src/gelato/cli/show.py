"""What people see: tables on stdout, progress on stderr."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
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
        print(_held.pop(0), file=sys.stderr)


def show(part: object) -> None:
    """Print a table or a text to stdout, as wide as it needs when stdout is no terminal."""
    from rich.console import Console

    release()

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a dash where stdout is ASCII
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    console.print(part)


def say_unless(quiet: bool) -> "Callable[[str], None]":
    """What prints a remark on stderr, or nothing."""

    def say(text: str) -> None:
        release()
        if not quiet:
            print(text, file=sys.stderr)

    return say


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
                task = bar.add_task(f"{title}, {total or 0:,} {unit}", total=total)
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
        task = bar.add_task(f"{predictor.method} on {title}, {epochs} epochs", total=epochs, status="preparing")
        best = 0.0

        def report(epoch: "Epoch") -> None:
            nonlocal best
            best = max(best, epoch.precision)
            status = f"loss {epoch.loss:.5g}, validation {epoch.precision:.2%} (best {best:.2%})"
            bar.update(task, completed=epoch.epoch, status=status)

        yield {"report": report}

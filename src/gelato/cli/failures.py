"""How a command fails: one line on stderr, and an exit code."""

import errno
import os
import re
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from gelato import PROGRAM
from gelato.cli.display import one_line
from gelato.errors import GelatoError, InputError

REPAIRABLE, INTERNAL, STOPPED = 2, 70, 130
"""Exit codes: what the user can repair, a fault of this package, and Ctrl-C."""

DEBUG = "GELATO_DEBUG"
"""The variable that, set to anything, lets an unexpected error through with its traceback."""

THREAD_VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
MEMORY_HINT = "use fewer --threads, a smaller --top, another --method such as cn, or a machine with more memory"
LONGEST_WORD, LONGEST_LINE = 400, 1600
"""Letters of a word, and of a message, that are printed: of longer ones the middle is left out."""


def report_errors(error: BaseException) -> tuple[int, str] | None:
    """Exit code and message for an error; ``None`` if its traceback is to be shown."""
    if isinstance(error, GelatoError):
        return REPAIRABLE, str(error)
    if isinstance(error, click.ClickException):
        return REPAIRABLE, _usage(error)
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return STOPPED, "stopped"
    if _is_memory(error):
        return REPAIRABLE, _memory(error)
    if isinstance(error, OSError):
        place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return REPAIRABLE, f"{place}{error.strerror or error}"
    return None if os.environ.get(DEBUG) else (INTERNAL, _unexpected(error))


def one_error_line(text: str) -> str:
    """What is printed for a failure: one line, without very long words."""
    words = re.sub(rf"\S{{{LONGEST_WORD},}}", lambda word: f"{word[0][:40]}...", text)
    line = one_line(words)
    if len(line) > LONGEST_LINE:
        line = f"{line[: LONGEST_LINE // 2]} ... {line[-LONGEST_LINE // 2 :]}"  # the repair stands last
    return f"{PROGRAM}: {line}"


def check_environment() -> None:
    """Refuse variables that libraries would answer with a traceback or a page of warnings when they are loaded."""
    for name in THREAD_VARIABLES:
        value = os.environ.get(name, "").strip()
        if value and not re.fullmatch("0*[1-9][0-9]{0,5}", value):
            raise InputError(f"{name} must be a whole number from 1 to 999999, got {value!r}; correct or unset it")


class ErrorReportingGroup(click.Group):
    """Commands, with near matches for one that is mistyped."""

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        """The command that the arguments name."""
        if args and not args[0].startswith("-") and self.get_command(context, args[0]) is None:
            from gelato.name_lookup import close_names, question

            commands = self.list_commands(context)
            hint = question(close_names(args[0], commands)) or f"known: {', '.join(commands)}"
            raise click.UsageError(f"No such command {args[0]!r}; {hint}", context)
        return super().resolve_command(context, args)


def _usage(error: click.ClickException) -> str:
    """A message of click, with where to look instead of the usage."""
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    return message if context is None else f"{message}; see '{context.command_path} --help'"


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(
        sign in text for sign in ("allocate memory", "out of memory", "bad_alloc", "can't start new thread")
    )


def _memory(error: BaseException) -> str:
    """A message with the size that was asked for, if the error has it, what is available, and what to try."""
    from gelato.formatting import binary_size
    from gelato.memory.usage import available_memory

    text = str(error)
    needed = re.search(r"allocate ([0-9.]+ [KMGTPE]iB)", text)
    count = re.search(r"allocate ([0-9]+) bytes", text)
    size = needed[1] if needed else binary_size(int(count[1])) if count else None
    shape = re.search(r"for an array with shape (\([0-9, ]*\))", text)
    what = f" for {size}" if size else ""
    what += f" (an array of shape {shape[1]})" if shape else ""
    left = available_memory()
    room = "" if left is None else f", {binary_size(left)} is available"
    return f"not enough memory{what}{room}{_place(error)}; {MEMORY_HINT}"


def _place(error: BaseException) -> str:
    """The innermost module of this package in the traceback, in brackets; empty if there is none."""
    inner = [(path, frame) for path, frame in _own_frames(error) if path.parent.name != "cli"]
    return f" (in {inner[-1][0]}, {inner[-1][1].name})" if inner else ""


def _own_frames(error: BaseException) -> list[tuple[Path, traceback.FrameSummary]]:
    """The frames of the traceback in this package, each after its path below the package's folder."""
    root, frames = Path(__file__).parent.parent, traceback.extract_tb(error.__traceback__)
    return [(Path(f.filename).relative_to(root.parent), f) for f in frames if root in Path(f.filename).parents]


def _unexpected(error: BaseException) -> str:
    frames = _own_frames(error)
    place = f" at {frames[-1][0]}:{frames[-1][1].lineno}" if frames else ""
    return (
        f"unexpected {type(error).__name__}{place}: {str(error)[:300]}; this is a bug in {PROGRAM}: please report it "
        f"with your command ({DEBUG}=1 shows the traceback)"
    )


def ready_streams() -> None:
    """Let stderr go nowhere where it is closed; a closed stdout is refused, since results would be lost.

    Closed streams leave their numbers to the next files that are opened, so these are taken first.
    """
    closed = sys.stdout is None
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open as long as the process is
    if closed:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
        raise InputError("standard output is closed, so results would be lost; redirect it to a file or to /dev/null")

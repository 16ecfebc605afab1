"""The command ``gelato``: parse, call, print. Results go to stdout, everything else to stderr."""

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Any

import click

from gelato import PROGRAM, __version__
from gelato.cli import failures
from gelato.cli.display import COMPILING, hold_remarks, print_held, remark
from gelato.cli.estimation import estimate
from gelato.cli.evaluation import evaluate
from gelato.cli.explanation import explain, report
from gelato.cli.listings import completion, datasets, demo, methods
from gelato.cli.prediction import predict
from gelato.cli.sharding import merge
from gelato.cli.training import fit, reproduce, tune
from gelato.sparse.compiling import before_compiling


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns 0 on success, 1 when nobody reads its output, 2 on what the user can repair, 70 on a fault of this package,
    and 130 after Ctrl-C. A request to end (SIGTERM) is treated like Ctrl-C, and ends with 143.
    """
    hold_remarks(())
    begin = time.perf_counter()  # of a budget
    try:
        failures.ready_streams()
        failures.check_environment()
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # letters that stdout cannot show, such as a dash in ASCII
        with ended_like_ctrl_c():
            args = sys.argv[1:] if argv is None else list(argv)
            shown = sys.stderr.isatty() and not {"--quiet", "-q"} & set(args)
            before_compiling((lambda: remark(COMPILING)) if shown else None)
            code = cli.main(args=args, prog_name=PROGRAM, standalone_mode=False, obj=begin)
        print_held()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of stdout has gone, as in: gelato ... | head
        _empty_stdout()
        return 1
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return failures.REPAIRABLE
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit) or (failure := failures.report_errors(error)) is None:
            raise
        if isinstance(error, OSError):  # as of a full disk
            _empty_stdout()
        with suppress(OSError, ValueError):  # nobody reads stderr either
            print(failures.one_error_line(failure[1]), file=sys.stderr)
            sys.stderr.flush()
        return TERMINATED if isinstance(error.__cause__ or error, Terminated) else failure[0]
    return code if isinstance(code, int) else 0


AGAIN = 0.01
"""Seconds after which a signal that was dropped is sent once more."""

TERMINATED = 143
"""The exit code after SIGTERM, as shells have it."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, which commands treat like Ctrl-C."""


@contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM interrupt the block as Ctrl-C does, so that what is done is kept; only the main thread can."""

    def stop(number: int, frame: object) -> None:
        raise Terminated

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:
        yield
        return
    with raised_again():
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)


@contextmanager
def raised_again() -> Iterator[None]:
    """Raise an interruption once more that came where Python drops exceptions: in a destructor or a weakref callback.

    An alarm does so a moment later, when that call has ended, where the system has alarms.
    """
    before = sys.unraisablehook

    def dropped(what: Any) -> None:
        kind = what.exc_type
        if not (issubclass(kind, KeyboardInterrupt) and hasattr(signal, "setitimer")):
            before(what)
            return

        def again(number: int, frame: object) -> None:
            raise kind

        signal.signal(signal.SIGALRM, again)
        signal.setitimer(signal.ITIMER_REAL, AGAIN)

    sys.unraisablehook = dropped
    try:
        yield
    finally:
        sys.unraisablehook = before
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def _empty_stdout() -> None:
    """Let what cannot be written go nowhere, or it would fail again when Python exits."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


COMMANDS = [
    *(predict, explain, report, evaluate, merge, estimate, fit, tune, reproduce),
    *(datasets, methods, demo, completion),
]


@click.group(
    cls=failures.ErrorReportingGroup, commands=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name=PROGRAM)
def cli() -> None:
    """Find missing links in sparse, attributed graphs, and evaluate link predictors against every pair."""

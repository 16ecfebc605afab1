"""The command ``gelato``: parse, call, print. Results go to stdout, everything else to stderr."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from io import TextIOWrapper
from pathlib import Path

import click

from gelato import PROGRAM, __version__
from gelato.cli.completion import completion
from gelato.cli.evaluation import datasets, demo, estimate, evaluate, methods
from gelato.cli.failures import REPAIRABLE, Group, check_environment, explained, line, ready_streams, tells
from gelato.cli.prediction import explain, predict
from gelato.cli.reporting import report
from gelato.cli.reproducing import reproduce
from gelato.cli.sharding import Invocation, merge
from gelato.cli.show import hold, release
from gelato.cli.training import fit, tune
from gelato.errors import InputError
from gelato.runs.processes import ProcessLost, launched


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns 0 on success, 1 when nobody reads its output, 2 on what the user can repair, 70 on a fault of this package,
    and 130 after Ctrl-C. A request to end (SIGTERM) is treated like Ctrl-C, and ends with 143.
    """
    with ExitStack() as stack:
        return _run(argv, stack)


def _run(argv: Sequence[str] | None, stack: ExitStack) -> int:
    hold(())
    try:
        ready_streams()
        check_environment()
        if not launched().first:
            stack.enter_context(redirect_stdout(stack.enter_context(Path(os.devnull).open("w"))))  # noqa: SIM115
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # letters that stdout cannot show, such as a dash in ASCII
        with ended_like_ctrl_c():
            args = sys.argv[1:] if argv is None else list(argv)
            code = cli.main(args=args, prog_name=PROGRAM, standalone_mode=False, obj=Invocation(tuple(args)))
        release()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of stdout has gone, as in: gelato ... | head
        _empty_stdout()
        return 1
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return REPAIRABLE
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit) or (failure := explained(error)) is None:
            raise
        if isinstance(error, OSError):  # as of a full disk
            _empty_stdout()
        with suppress(OSError, ValueError):  # nobody reads stderr either
            if tells(error, failure[0]):
                print(line(failure[1]), file=sys.stderr)
                sys.stderr.flush()
        if argv is None and isinstance(error, ProcessLost):
            os._exit(failure[0])  # at a usual exit, threads of torch that wait for the lost process may abort this one
        return TERMINATED if isinstance(error.__cause__ or error, Terminated) else failure[0]
    return code if isinstance(code, int) else 0


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
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _empty_stdout() -> None:
    """Let what cannot be written go nowhere, or it would fail again when Python exits."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name=PROGRAM)
def cli() -> None:
    """Find missing links in sparse, attributed graphs, and evaluate link predictors against every pair."""
    command = click.get_current_context().invoked_subcommand
    if launched().size > 1 and command not in (None, fit.name):
        raise InputError(f"only '{PROGRAM} {fit.name}' runs in several processes; run {command} without torchrun")


for command in (
    predict,
    explain,
    report,
    evaluate,
    merge,
    estimate,
    fit,
    tune,
    reproduce,
    datasets,
    methods,
    demo,
    completion,
):
    cli.add_command(command)

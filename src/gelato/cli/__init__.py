"""The command ``gelato``: parse, call, print. Results go to stdout, everything else to stderr."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from gelato import PROGRAM, __version__
from gelato.cli.completion import completion
from gelato.cli.evaluation import datasets, demo, estimate, evaluate, methods
from gelato.cli.prediction import explain, predict
from gelato.cli.reporting import report
from gelato.cli.reproducing import reproduce
from gelato.cli.training import fit, tune
from gelato.errors import GelatoError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 on success, 1 when nobody reads it, 2 on what the user can repair, 130 after Ctrl-C.

    A request to end (SIGTERM) is treated like Ctrl-C, and ends with 143.
    """
    try:
        with ended_like_ctrl_c():
            cli.main(args=list(argv) if argv is not None else None, prog_name=PROGRAM, standalone_mode=False)
            sys.stdout.flush()
    except GelatoError as error:
        print(f"gelato: {error}", file=sys.stderr)
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        print("gelato: stopped", file=sys.stderr)
        return 143 if isinstance(error.__cause__ or error, Terminated) else 130
    except BrokenPipeError:  # the reader of stdout has gone, as in: gelato ... | head
        _empty_stdout()
        return 1
    except OSError as error:  # as of a full disk
        _empty_stdout()
        print(f"gelato: {error}", file=sys.stderr)
        return 2
    return 0


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


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name=PROGRAM)
def cli() -> None:
    """Find the missing links of sparse, attributed graphs, and measure link predictors against every pair."""


for command in (
    predict,
    explain,
    report,
    evaluate,
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

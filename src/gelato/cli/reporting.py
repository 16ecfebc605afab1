"""The command report."""

import json
import shlex
import sys
from functools import partial
from pathlib import Path

import click

from gelato import PROGRAM
from gelato.cli.options import REHEARSING, RUNNING, options
from gelato.cli.outputs import outputs, page
from gelato.cli.places import places
from gelato.cli.show import interruptible, progress_bar, say_unless
from gelato.cli.training import FIRST
from gelato.cli.values import Count


@click.command(epilog="Example: gelato report links.run --out report.html")
@click.argument("run", type=click.Path())
@click.option(
    "--out",
    default="report.html",
    show_default=True,
    type=click.Path(),
    metavar="FILE",
    help="The page to write; its charts are saved next to it.",
)
@click.option("--top", type=Count(1), default=100, show_default=True, help="How many links to suggest.")
@click.option(
    "--parts",
    type=Count(2),
    default=10,
    show_default=True,
    help="Number of METIS parts, for one of the tests.",
)
@options(REHEARSING)
@options(places("'auto', 'cpu' or a GPU, if training is still needed."))
@options(RUNNING)
@outputs(out=page)
def report(
    run: str,
    out: str,
    top: int,
    parts: int,
    hide: float,
    repeats: int,
    seed: int,
    device: str | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a report on RUN, a folder that 'gelato predict' or 'gelato fit' wrote.

    The report compares the model with the heuristics in three kinds of tests. It shows curves, score densities, the
    training, and the suggested links, each with an explanation. It is a single web page that works offline; its charts
    are also saved as svg and png files.
    """
    from gelato.methods import open_run
    from gelato.report.from_run import report_of
    from gelato.report.page import write_report
    from gelato.runs.folder import kept_words

    opened = open_run(run, device)
    command = shlex.join([PROGRAM, *sys.argv[1:]])
    with interruptible(quiet, partial(kept_words, opened.folder), FIRST):
        told = report_of(
            opened,
            title=opened.folder.resolve().name.removesuffix(".run"),
            top=top,
            parts=parts,
            share=hide,
            repeats=repeats,
            seed=seed,
            threads=threads,
            command=command,
            stage=lambda title, unit: progress_bar(title, quiet, unit),
        )
    files = write_report(out, told)
    if as_json:
        measured = None if told.measured is None else told.measured.as_json()
        print(json.dumps({"page": out, "files": list(map(str, files)), "measured": measured}))
    else:
        size = Path(out).stat().st_size / 1e6
        say_unless(quiet)(f"wrote {out} ({size:.1f} MB) and {len(files) - 1} charts next to it; open it in a browser")

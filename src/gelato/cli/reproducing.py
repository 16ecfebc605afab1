"""The command reproduce."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from gelato.cli.options import RUNNING, options
from gelato.cli.outputs import outputs, result_folder
from gelato.cli.places import places
from gelato.cli.show import fitting_progress, interruptible, say_unless, show
from gelato.cli.values import Count


@click.command(epilog="Example: gelato reproduce paper/cora --out results")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option(
    "--out",
    default="results",
    show_default=True,
    type=click.Path(),
    metavar="DIR",
    help="Folder for the results, one file per seed.",
)
@click.option(
    "--seeds",
    type=Count(1),
    metavar="N",
    help="How many seeds to run, starting at 0  [default: as in the file]",
)
@click.option(
    "--data-root", type=click.Path(), metavar="DIR", help="Folder of npz files to use instead of downloading."
)
@options(places())
@options(RUNNING)
@outputs(out=result_folder)
def reproduce(
    names: tuple[str, ...],
    out: str,
    seeds: int | None,
    data_root: str | None,
    device: str | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run experiments and compare the results with the reported ones.

    NAME is a settings file with the tables [run] and [reported], or one that ships with gelato, such as paper/cora.
    Seeds already run with the same settings are not run again; resume by running the same command again.
    """
    from gelato.experiments.experiment import read_experiment
    from gelato.experiments.outcomes import compared, kept_words
    from gelato.experiments.outcomes import reproduce as run
    from gelato.tables import comparison_table

    experiments = [read_experiment(name) for name in names]
    say = say_unless(quiet or as_json)
    rows: list[dict[str, Any]] = []
    for experiment in experiments:
        given: dict[str, Any] = {"seeds": seeds, "data_root": data_root, "device": device, "threads": threads}
        seeds_of = partial(kept_words, experiment, Path(out))
        with interruptible(quiet, seeds_of, "the first seed had not finished; run the same command again"):
            outcomes = run(experiment, Path(out), report=say, watch=partial(fitting_progress, quiet=quiet), **given)
        for each in compared(experiment, outcomes):
            rows.append({"experiment": experiment.name, "remark": experiment.remark, **each.as_json()})
    if as_json:
        print(json.dumps(rows))
    else:
        show(comparison_table(rows))

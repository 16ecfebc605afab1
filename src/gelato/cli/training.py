"""Commands that train: fit and tune; and the predictors that other commands make."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gelato.cli.options import READING, RUNNING, TRAINING, method_option, options, with_split
from gelato.cli.outputs import outputs, run_folder, search_folder
from gelato.cli.show import fitting_progress, interruptible, progress_bar, say_unless, show
from gelato.cli.values import Count

if TYPE_CHECKING:
    from gelato.runs.predictor import StoredPredictor
    from gelato.splits import Split

FIRST = "the first trial or epoch had not finished; run the same command again"
"""Said after Ctrl-C when a run has nothing to resume from."""


@click.command(epilog="Example: gelato fit cora --config paper/cora --out runs/cora")
@options(READING)
@method_option("The method to train  [default: the one in --config, or gelato]", several=False)
@options(TRAINING)
@click.option("--seed", type=Count(0), help="Seed for training  [default: 0, or --config's]")
@click.option("--whole", is_flag=True, help="Use all links in the final model, hiding only one in twenty to select it.")
@click.option(
    "--out",
    required=True,
    type=click.Path(),
    metavar="DIR",
    help="Folder for the run; resume by running the same command again.",
)
@click.option(
    "--log",
    "logs",
    multiple=True,
    type=click.Choice(["tensorboard", "wandb", "mlflow"]),
    help="Also log metrics to this tool. May be repeated.",
)
@options(RUNNING)
@outputs(out=run_folder)
@with_split
def fit(
    name: str,
    split: "Split",
    options: dict[str, Any],
    method: str | None,
    config: str | None,
    device: str | None,
    seed: int | None,
    whole: bool,
    out: str,
    logs: tuple[str, ...],
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train a method on GRAPH, such as Gelato, which learns link weights from node attributes.

    Settings that are not given are chosen on validation links. The model, its settings, the metrics of every epoch and
    a checkpoint are written to DIR; resume a stopped run by running the same command again. Processes started by
    torchrun share the parts of regime=partitioned.
    """
    from gelato.runs.folder import kept_words
    from gelato.runs.processes import joined

    model = predictor_with(method, config, options, random_state=seed, device=device, threads=threads)
    check_fit(model.method, split.train)
    if logs and "epochs" not in model.get_params():
        raise click.UsageError(f"--log is for methods that train; {model.method} has no epochs to log")
    with (
        interruptible(quiet, partial(kept_words, Path(out)), FIRST),
        joined() as together,
        logging(logs if together.first else (), Path(out), model.get_params()) as callbacks,
        fitting_progress(name, model, quiet) as watch,
    ):
        model.fit(split.graph if whole else split, run=out, callbacks=callbacks, **watch)
    outcome = {
        "dataset": name,
        "method": model.method,
        "out": out,
        "settings": model.settings.as_dict() | dict(model.chosen_),
        "epochs": len(model.history_),
        "best_epoch": model.best_epoch_,
        "validation_precision": getattr(model, "precision_", None),
        "selected_by": getattr(model, "selected_by", None),
        "skipped_steps": getattr(model, "skipped_", 0),
        **model.facts(),
        "remarks": model.sentences(),
        "seconds": sum(epoch.seconds for epoch in model.history_),
    }
    if as_json:
        print(json.dumps(outcome))
    else:
        from gelato.tables import fit_table

        show(fit_table(outcome, model.sentences()))


@click.command(epilog="Example: gelato tune cora --option epochs=30 --out runs/cora-tuned")
@options(READING)
@method_option("The method to tune  [default: the one in --config, or gelato]", several=False)
@options(TRAINING)
@click.option("--seed", type=Count(0), help="Seed for training  [default: 0, or --config's]")
@click.option(
    "--out",
    required=True,
    type=click.Path(),
    metavar="DIR",
    help="Folder for trials and best.toml; resume by running the same command again.",
)
@options(RUNNING)
@outputs(out=search_folder)
@with_split
def tune(
    name: str,
    split: "Split",
    options: dict[str, Any],
    method: str | None,
    config: str | None,
    device: str | None,
    seed: int | None,
    out: str,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Search for the best settings of a method on GRAPH, one setting after another, over the method's grid.

    Each trial is fitted from scratch and judged on validation links only; test links are not used. The best settings
    are written to DIR/best.toml for 'gelato fit --config'. For Gelato, they are never worse on validation links than
    plain autocovariance.
    """
    from gelato.evaluation.tune import kept_words, verdict
    from gelato.evaluation.tune import tune as search
    from gelato.tables import trial_table

    base = predictor_with(method, config, options, random_state=seed, device=device, threads=threads)
    with (
        interruptible(quiet, partial(kept_words, Path(out)), FIRST),
        progress_bar("choosing settings to start from", quiet, unit="trials") as choosing,
    ):
        trials, best = search(split, base, Path(out), report=say_unless(quiet), choosing=choosing)
    remarks = verdict(trials, best)
    if as_json:
        outcome = {"dataset": name, "method": base.method, "best": best.as_json(), "remarks": remarks}
        print(json.dumps(outcome | {"trials": [trial.as_json() for trial in trials]}))
    else:
        show(trial_table(name, trials, best))
        for remark in remarks:
            show(remark)


def predictor_with(
    method: str | None, config: str | None, options: Mapping[str, Any], *, quick: bool = False, **named: Any
) -> "StoredPredictor":
    """A predictor with the settings of a file and, before those, the options and the named ones that are not ``None``.

    ``quick`` is for ``predict``: it has its own default, and takes the method's settings for a training on the spot,
    where no file is given. Of the named ones a method takes those that it has.
    """
    from gelato.evaluation.naming import options_of
    from gelato.methods import DEFAULT, METHODS, PREDICTING, new_predictor
    from gelato.methods.configuration import read_configuration

    read = read_configuration(config) if config else None
    if read is not None and method not in (None, read.method):
        raise click.UsageError(
            f"--config {config} holds settings of {read.method}, not of {method}; give only one of them"
        )
    usual = PREDICTING if quick else DEFAULT
    chosen = method or (usual if read is None else read.method)
    entry = METHODS[chosen]
    settings = dict(entry.quick if quick else {}) if read is None else dict(read.settings)
    given = {key: value for key, value in named.items() if value is not None and key in entry.settings.names()}
    return new_predictor(chosen, **{**settings, **options_of(chosen, options), **given})


def check_fit(method: str, graph: Any) -> None:
    """Refuse a method that does not fit a graph, before anything is built."""
    from gelato.errors import InputError
    from gelato.methods import METHODS

    problem = METHODS[method].unfit(graph)
    if problem is not None:
        raise InputError(problem)


@contextmanager
def logging(names: tuple[str, ...], folder: Path, settings: dict[str, Any]) -> Iterator[list[Callable[..., None]]]:
    """Callbacks by name, closed in the end."""
    if not names:
        yield []
        return
    from gelato.training.callbacks import CALLBACKS

    callbacks = [CALLBACKS[name](folder / name, settings) for name in names]
    try:
        yield list(callbacks)
    finally:
        for callback in callbacks:
            callback.close()

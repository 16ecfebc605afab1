"""Commands that train: fit and tune; and the trained model that evaluate needs."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gelato.cli.options import READING, RUNNING, TRAINING, options, with_split
from gelato.cli.show import epoch_progress, show
from gelato.errors import MissingDependency

if TYPE_CHECKING:
    from gelato.methods.gelato.model import Gelato
    from gelato.scores import Scores
    from gelato.splits import Split


QUICK = {"epochs": 100, "patience": 10}
"""Training on the spot, unless --config or --option say otherwise."""


@click.command(epilog="Example: gelato fit cora --config paper/cora --out runs/cora")
@options(READING, TRAINING)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Seed of the training  [default: 0, or --config's]")
@click.option("--whole", is_flag=True, help="Use all links in the end, hiding only a twentieth to select the model.")
@click.option(
    "--out",
    required=True,
    type=click.Path(),
    metavar="DIR",
    help="Folder for the run; the same command goes on in it.",
)
@click.option(
    "--log", "logs", multiple=True, type=click.Choice(["tensorboard", "wandb", "mlflow"]), help="Also log metrics here."
)
@options(RUNNING)
@with_split
def fit(
    name: str,
    split: "Split",
    options: dict[str, Any],
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
    """Train Gelato on GRAPH: learn the weights of its links from the attributes of its nodes.

    Settings that are not given are chosen on validation links. DIR gets the model, its settings, the metrics of every
    epoch and a checkpoint; a run that was stopped goes on when the same command is given again.
    """
    model = new_model(config, options, random_state=seed, device=device, threads=threads)
    with (
        logging(logs, Path(out), model.as_dict()) as callbacks,
        epoch_progress(f"{name}", model.epochs, quiet) as report,
    ):
        try:
            model.fit(split.graph if whole else split, run=out, report=report, callbacks=callbacks)
        except KeyboardInterrupt:
            if not quiet:
                print(f"epochs that are done are kept in {out}; the same command goes on from there", file=sys.stderr)
            raise
    told = {
        "dataset": name,
        "out": out,
        "settings": model.as_dict() | model.chosen_,
        "epochs": len(model.history_),
        "best_epoch": model.best_epoch_,
        "validation_precision": model.precision_,
        "skipped_steps": model.skipped_,
        "plain_autocovariance": model.fallback_,
        "seconds": sum(epoch.seconds for epoch in model.history_),
    }
    if as_json:
        print(json.dumps(told))
    else:
        from gelato.tables import fit_table

        show(fit_table(told))


@click.command(epilog="Example: gelato tune cora --option epochs=30 --out runs/cora-tuned")
@options(READING, TRAINING)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Seed of the trainings  [default: 0, or --config's]")
@click.option(
    "--out",
    required=True,
    type=click.Path(),
    metavar="DIR",
    help="Folder for trials and best.toml; the same command goes on.",
)
@options(RUNNING)
@with_split
def tune(
    name: str,
    split: "Split",
    options: dict[str, Any],
    config: str | None,
    device: str | None,
    seed: int | None,
    out: str,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Search eta, alpha, beta, the length of the walk and the self-loops for GRAPH, one after the other.

    Every trial is a training, judged on validation links only; test links are not looked at. The best settings, which
    are never worse there than plain autocovariance, go to DIR/best.toml for 'gelato fit --config'.
    """
    from gelato.evaluation.tune import tune as search
    from gelato.tables import trial_table

    base = new_model(config, options, random_state=seed, device=device, threads=threads)
    say = None if quiet else lambda text: print(text, file=sys.stderr)
    try:
        trials, best = search(split, base, Path(out), report=say)
    except KeyboardInterrupt:
        if not quiet:
            print(f"trials that are done are kept in {out}; the same command goes on from there", file=sys.stderr)
        raise
    if as_json:
        print(json.dumps({"dataset": name, "best": best.as_json(), "trials": [trial.as_json() for trial in trials]}))
    else:
        show(trial_table(name, trials, best))


def new_model(
    config: str | None, options: dict[str, Any], *, defaults: dict[str, Any] | None = None, **named: Any
) -> "Gelato":
    """A model with the settings of a file and, before those, the options and the named ones that are not ``None``.

    ``defaults`` hold where no file is given.
    """
    from gelato.methods.gelato.settings import Settings, read_settings

    known = Settings().as_dict()
    for key in options:
        if key not in known:
            raise click.UsageError(f"unknown setting {key!r}; known: {', '.join(known)}")
    given = {name: value for name, value in named.items() if value is not None}
    settings = {**(read_settings(config) if config else defaults or {}), **options, **given}
    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingDependency("training", "torch", "train") from None
    from gelato.methods.gelato.model import Gelato

    model = Gelato(**settings)
    model.check()
    return model


def ready_model(
    name: str,
    split: "Split",
    given: dict[str, Any],
    *,
    model: str | None,
    config: str | None,
    device: str | None,
    threads: int | None,
    quiet: bool,
) -> tuple["Scores", dict[str, Any]]:
    """Scores of a saved model, or of one trained on the spot, and what tells it apart."""
    from gelato.methods.gelato.model import Gelato

    if model is not None:
        if given or config or device:
            raise click.UsageError("a model is what it is: --option, --config and --device do not go with --model")
        found = Gelato.load(model, split.train)
        found.check_split(split)
    else:
        found = new_model(config, given, device=device, threads=threads)
        with epoch_progress(f"gelato on {name}", found.epochs, quiet) as report:
            found.fit(split, report=report)
    return found.scores(), {"weights": found.digest()}


@contextmanager
def logging(names: tuple[str, ...], folder: Path, settings: dict[str, Any]) -> Iterator[list[Callable[..., None]]]:
    """Callbacks by name, closed in the end."""
    from gelato.training.callbacks import CALLBACKS

    callbacks = [CALLBACKS[name](folder / name, settings) for name in names]
    try:
        yield list(callbacks)
    finally:
        for callback in callbacks:
            callback.close()

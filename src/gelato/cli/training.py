"""The commands fit, tune and reproduce, and the predictors that other commands make."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gelato.cli.display import fitting_progress, interruptible, print_outcome, print_result, progress_bar, remark_unless
from gelato.cli.engine_options import engine_options
from gelato.cli.option_types import Count
from gelato.cli.options import DATA_ROOT, READING, RUNNING, TRAINING, TRAINING_SEED, method_option, options, path_option
from gelato.cli.outputs import outputs, result_folder, run_folder, search_folder
from gelato.cli.reading import with_split

if TYPE_CHECKING:
    from gelato.prediction.predictor import LinkPredictor
    from gelato.splits import Split

FIRST = "the first trial or epoch had not finished; run the same command again"
"""Shown after Ctrl-C if a run has nothing to resume from."""


def with_new_model(command: Callable[..., None]) -> Callable[..., None]:
    """Turn GRAPH into a name and a Split, and the method, its settings and the seed into a model to be fitted."""

    @with_split
    @wraps(command)
    def run(options: dict[str, Any], method: str | None, config: str | None, **rest: Any) -> None:
        named = {"random_state": rest.pop("seed"), "device": rest.pop("device"), "threads": rest.pop("threads")}
        command(model=predictor_with(method, config, options, **named), **rest)

    return run


@click.command(epilog="Example: gelato fit cora --config paper/cora --out runs/cora")
@options(READING)
@method_option("The method to train  [default: the one in --config, or gelato]", several=False)
@options(TRAINING)
@TRAINING_SEED
@click.option("--whole", is_flag=True, help="Use all links in the final model, hiding only one in twenty to select it.")
@path_option(
    "--out", required=True, metavar="DIR", help="Folder for the run; resume by running the same command again."
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
@with_new_model
def fit(
    name: str,
    split: "Split",
    model: "LinkPredictor",
    whole: bool,
    out: str,
    logs: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Train a method on GRAPH, such as Gelato, which learns link weights from node attributes.

    Settings that are not given are chosen on validation links. The model, its settings, the metrics of every epoch and
    a checkpoint are written to DIR; resume a stopped run by running the same command again.
    """
    from gelato.methods.factory import describe_checkpoint

    check_fit(model.method, split.train)
    if logs and "epochs" not in model.get_params():
        raise click.UsageError(f"--log is for methods that train; {model.method} has no epochs to log")
    with (
        interruptible(quiet, partial(describe_checkpoint, Path(out)), FIRST),
        logging(logs, Path(out), model.get_params()) as callbacks,
        fitting_progress(name, model, quiet) as watch,
    ):
        watched = {**watch, "callbacks": [*watch.get("callbacks", ()), *callbacks]}
        model.fit(split.graph if whole else split, run=out, **watched)
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
    print_outcome(as_json, outcome, lambda tables: tables.fit_table(outcome, model.sentences()))


@click.command(epilog="Example: gelato tune cora --option epochs=30 --out runs/cora-tuned")
@options(READING)
@method_option("The method to tune  [default: the one in --config, or gelato]", several=False)
@options(TRAINING)
@TRAINING_SEED
@path_option(
    "--out",
    required=True,
    metavar="DIR",
    help="Folder for trials and best.toml; resume by running the same command again.",
)
@options(RUNNING)
@outputs(out=search_folder)
@with_new_model
def tune(name: str, split: "Split", model: "LinkPredictor", out: str, as_json: bool, quiet: bool) -> None:
    """Search for the best settings of a method on GRAPH, one setting after another, over the method's grid.

    Each trial is fitted from scratch and judged on validation links only; test links are not used. The best settings
    are written to DIR/best.toml for 'gelato fit --config'. For Gelato, they are never worse on validation links than
    plain autocovariance.
    """
    from gelato.evaluation.search import tune as run
    from gelato.evaluation.search_folder import resume_sentence

    with (
        interruptible(quiet, partial(resume_sentence, Path(out)), FIRST),
        progress_bar("choosing settings to start from", quiet, unit="trials") as choosing,
    ):
        found = run(split, model, out, report=remark_unless(quiet), progress=choosing)
    remarks = found.remarks()
    told = {"best": found.best.as_json(), "remarks": remarks, "trials": [trial.as_json() for trial in found.trials]}
    outcome = {"dataset": name, "method": model.method, **told}
    print_outcome(as_json, outcome, lambda tables: tables.trial_table(name, found.trials, found.best))
    for remark in [] if as_json else remarks:
        print_result(remark)


@click.command(epilog="Example: gelato reproduce paper/cora --out results")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@path_option(
    "--out", default="results", show_default=True, metavar="DIR", help="Folder for the results, one file per seed."
)
@click.option(
    "--seeds", type=Count(1), metavar="N", help="How many seeds to run, starting at 0  [default: as in the file]"
)
@DATA_ROOT
@options(engine_options())
@options(RUNNING)
@outputs(out=result_folder)
def reproduce(names: tuple[str, ...], out: str, as_json: bool, quiet: bool, **running: Any) -> None:
    """Run experiments and compare the results with the reported ones.

    NAME is a settings file with the tables [run] and [reported], or one that ships with gelato, such as paper/cora.
    Seeds already run with the same settings are not run again; resume by running the same command again.
    """
    from gelato.experiments.experiment import read_experiment
    from gelato.experiments.seed_results import compare_outcomes, resume_sentence
    from gelato.experiments.seed_results import reproduce as run

    say = remark_unless(quiet or as_json)
    rows: list[dict[str, Any]] = []
    for experiment in [read_experiment(name) for name in names]:
        seeds_of = partial(resume_sentence, experiment, Path(out))
        with interruptible(quiet, seeds_of, "the first seed had not finished; run the same command again"):
            outcomes = run(experiment, Path(out), report=say, watch=partial(fitting_progress, quiet=quiet), **running)
        for each in compare_outcomes(experiment, outcomes):
            rows.append({"experiment": experiment.name, "remark": experiment.remark, **each.as_json()})
    print_outcome(as_json, rows, lambda tables: tables.comparison_table(rows))


def predictor_with(
    method: str | None, config: str | None, options: Mapping[str, Any], *, quick: bool = False, **named: Any
) -> "LinkPredictor":
    """A predictor with the settings of a file and, before those, the options and the named ones that are not ``None``.

    ``quick`` is for ``predict``: it has its own default, and takes the method's settings for a training on the spot,
    where no file is given. Of the named ones a method takes those that it has.
    """
    from gelato.evaluation.method_options import options_of
    from gelato.methods import DEFAULT, METHODS, PREDICTING, make
    from gelato.methods.config_files import read_config

    read = read_config(config) if config else None
    if read is not None and method not in (None, read.method):
        raise click.UsageError(
            f"--config {config} holds settings of {read.method}, not of {method}; give only one of them"
        )
    usual = PREDICTING if quick else DEFAULT
    chosen = method or (usual if read is None else read.method)
    entry = METHODS[chosen]
    settings = dict(entry.quick if quick else {}) if read is None else dict(read.settings)
    given = {key: value for key, value in named.items() if value is not None and key in entry.settings.names()}
    return make(chosen, **{**settings, **options_of(chosen, options), **given})


def check_fit(method: str, graph: Any) -> None:
    """Refuse a method that does not fit a graph, before anything is built."""
    from gelato.errors import InputError
    from gelato.methods import METHODS

    problem = METHODS[method].unfit(graph)
    if problem is not None:
        raise InputError(problem)


@contextmanager
def logging(names: tuple[str, ...], folder: Path, settings: dict[str, Any]) -> Iterator[list[Callable[..., None]]]:
    """The callbacks of some logging tools, by name; they are closed at the end."""
    if names:
        from gelato.training.callbacks import CALLBACKS
    with ExitStack() as stack:
        yield [stack.enter_context(closing(CALLBACKS[name](folder / name, settings))) for name in names]

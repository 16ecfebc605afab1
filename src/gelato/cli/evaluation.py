"""The command evaluate."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gelato.cli.display import fitting_progress, interruptible, print_outcome, print_result, progress_bar, remark_unless
from gelato.cli.engine_options import engine_options
from gelato.cli.options import CAPPED, READING, RUNNING, TESTING, method_option, options, path_option
from gelato.cli.outputs import outputs, shard_file
from gelato.cli.reading import with_split
from gelato.cli.sharding import SHARDING, check_fitted, check_shard, merging, sharding
from gelato.cli.training import predictor_with

if TYPE_CHECKING:
    from gelato.prediction.predictor import LinkPredictor
    from gelato.splits import Split

KEEPING = "train with 'gelato fit --out DIR', which can be resumed, then evaluate with --model DIR"
"""Shown if a training within ``evaluate`` is stopped."""


@click.command(epilog="Example: gelato evaluate cora --method cn,aa,ac")
@options(READING, TESTING, CAPPED, RUNNING)
@method_option("One or more methods (see 'gelato methods'), or 'all' for all that need no training.")
@path_option(
    "--model",
    "models",
    metavar="DIR",
    multiple=True,
    help="A model that 'gelato fit' saved for the same split, used instead of training its method. May be repeated.",
)
@path_option("--config", metavar="FILE", help="Settings file, used for the method it names.")
@options(engine_options())
@click.option("--no-resume", is_flag=True, help="Start from scratch, and save nothing for a later run.")
@SHARDING
@path_option("--out", metavar="FILE", help="Where --shard writes its shard.")
@outputs(out=shard_file)
@with_split
def evaluate(
    name: str,
    split: "Split",
    options: dict[str, Any],
    method: str | None,
    models: tuple[str, ...],
    config: str | None,
    device: str | None,
    no_resume: bool,
    shard: tuple[int, int] | None,
    out: str | None,
    as_json: bool,
    quiet: bool,
    **test: Any,
) -> None:
    """Rank the hidden links of GRAPH against all its non-links, exactly.

    GRAPH is a dataset ('gelato datasets'), an npz file, or an edge list (csv, tsv, txt, parquet). Methods that need
    training are trained first, on the training links of the split.
    """
    from gelato.datasets.locations import cache_folder
    from gelato.evaluation.evaluate import evaluate_scores as run
    from gelato.evaluation.footprint import check_methods
    from gelato.evaluation.method_options import remarks_of
    from gelato.ranking.shards import ShardDone

    resume = None if no_resume else cache_folder() / "resume"
    sharded = check_shard(shard, out)
    todo = _predictors(split, options, method, models, config, device=device, threads=test["threads"])
    predictors = [predictor for _, _, predictor in todo]
    check_methods(predictors)
    seconds: Iterator[float] = (_fit(predictor, split, name, quiet) for predictor in predictors)
    if (sharded or merging() is not None) and test["regime"] == "biased":
        raise click.UsageError("--shard is for ranking against all pairs or inside parts; a sample needs one process")
    if sharded or merging() is not None:
        check_fitted(predictors)
        seconds = iter(list(seconds))  # fitting is no part of a shard
    if sharded:
        resume = None
    elif out is not None:
        raise click.UsageError("--out is where --shard writes its shard; for results in a file, redirect --json")
    else:
        for remark in remarks_of([(chosen, its_options) for chosen, its_options, _ in todo], split.train):
            remark_unless(quiet or as_json)(remark)
    tested = []
    with sharding(shard, out, quiet):
        for (chosen, its_options, predictor), spent in zip(todo, seconds, strict=True):
            more: dict[str, Any] = {"remarks": predictor.sentences()}
            if compared := predictor.facts().get("comparison"):
                more["comparison"] = compared
            named: dict[str, Any] = {"dataset": name, "options": its_options, "resume": resume, **test}
            try:
                with progress_bar(f"{chosen} on {name}", quiet) as progress, suppress(ShardDone):
                    result = run(split, predictor.scores(), chosen, progress=progress, **named)
                    tested.append((replace(result, seconds=result.seconds + spent), more))
            except KeyboardInterrupt as error:
                for note in getattr(error, "__notes__", ()):
                    remark_unless(quiet)(note)
                raise
    if sharded:
        return
    rows = [{**result.as_json(), **more} for result, more in tested]
    print_outcome(as_json, rows, lambda tables: tables.evaluation_table([result for result, _ in tested]))
    if as_json:
        return
    from gelato.tables import members_table

    for result, more in tested:
        if "comparison" in more:
            print_result(members_table(result.method, more["comparison"]))
    for result, more in tested:
        for remark in more["remarks"]:
            remark_unless(quiet)(f"{result.method}: {remark}")


def _fit(predictor: "LinkPredictor", split: "Split", name: str, quiet: bool) -> float:
    """Fit a predictor that is not fitted yet; returns the seconds that count, which are not those of a training."""
    from gelato.methods import METHODS

    if predictor.fitted:
        return 0.0
    begin = time.perf_counter()
    with interruptible(quiet, lambda: None, KEEPING), fitting_progress(name, predictor, quiet) as watch:
        predictor.fit(split, **watch)
    return 0.0 if METHODS[predictor.method].trains else time.perf_counter() - begin


def _predictors(
    split: "Split", options: dict[str, Any], method: str | None, models: Sequence[str], config: str | None, **where: Any
) -> "list[tuple[str, dict[str, Any], LinkPredictor]]":
    """Names, options and predictors to test: saved models, and methods that are fitted later, one by one."""
    from gelato.evaluation.method_options import methods_of
    from gelato.methods.config_files import read_config
    from gelato.methods.factory import load_model, method_of

    if method is None and not models and config is None:
        raise click.UsageError("give --method, such as --method ac, or --model; see 'gelato methods'")
    saved = [(method_of(Path(folder)), folder) for folder in models]
    kept = dict(saved)
    read = read_config(config) if config else None
    names = ([] if method is None else [method]) + ([read.method] if read is not None and method is None else [])
    wanted = methods_of(",".join(names), options, split.train) if names else []
    if read is not None and read.method not in [chosen for chosen, _ in wanted]:
        raise click.UsageError(f"--config {config} holds settings of {read.method}, which is not among {method}")
    todo: list[tuple[str, dict[str, Any], LinkPredictor]] = []
    for chosen, its_options in wanted:
        if chosen not in kept:
            file = config if read is not None and read.method == chosen else None
            predictor = predictor_with(chosen, file, its_options, **where)
            todo.append((chosen, its_options, predictor))
        elif its_options or (read is not None and read.method == chosen):
            raise click.UsageError(f"--model {kept[chosen]} is already trained: leave out --option and --config for it")
    for chosen, folder in saved:
        model = load_model(Path(folder), split.train).set_params(threads=where["threads"])
        model.check_split(split)
        todo.append((chosen, {"model": folder}, model))
    return todo

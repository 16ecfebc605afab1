"""Commands that measure: evaluate, estimate, datasets, methods, demo."""

import json
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gelato.cli.options import CAPPED, COMPARING, READING, RUNNING, TESTING, method_option, options, with_split
from gelato.cli.outputs import outputs, part_file
from gelato.cli.places import places
from gelato.cli.sharding import SHARDING, check_shard, check_shared, say_share, sharing
from gelato.cli.show import fitting_progress, interruptible, progress_bar, say_unless, show
from gelato.cli.training import predictor_with
from gelato.cli.values import Count, Number

if TYPE_CHECKING:
    from gelato.runs.predictor import StoredPredictor
    from gelato.splits import Split

KEEPING = "train with 'gelato fit --out DIR', which can be resumed, then evaluate with --model DIR"
"""Said when a training on the spot is stopped."""


@click.command(epilog="Example: gelato evaluate cora --method cn,aa,ac")
@options(READING, TESTING, CAPPED, RUNNING)
@method_option("One or more methods (see 'gelato methods'), or 'all' for all that need no training.")
@click.option(
    "--model",
    "models",
    type=click.Path(),
    metavar="DIR",
    multiple=True,
    help="A model that 'gelato fit' saved for the same split, used instead of training its method. May be repeated.",
)
@click.option("--config", type=click.Path(), metavar="FILE", help="Settings file, used for the method it names.")
@options(places())
@click.option("--no-resume", is_flag=True, help="Start from scratch, and save nothing for a later run.")
@SHARDING
@click.option("--out", type=click.Path(), metavar="FILE", help="Where --shard writes its share.")
@outputs(out=part_file)
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
    from gelato.datasets.folder import cache_folder
    from gelato.evaluation.evaluate import evaluate as run
    from gelato.evaluation.footprint import check_methods
    from gelato.evaluation.naming import remarks_of

    resume = None if no_resume else cache_folder() / "resume"
    shared = check_shard(shard, out)
    todo = _predictors(split, options, method, models, config, device, test["threads"])
    check_methods([predictor for _, _, predictor in todo])
    if shared:
        _share(todo, split, name, shard, out, quiet, test)
        return
    if out is not None:
        raise click.UsageError("--out is where --shard writes its share; for results in a file, redirect --json")
    for remark in remarks_of([(chosen, its_options) for chosen, its_options, _ in todo], split.train):
        say_unless(quiet or as_json)(remark)
    results, remarks, comparisons = [], [], []
    for chosen, its_options, predictor in todo:
        spent = _fit(predictor, split, name, quiet)
        remarks.append(predictor.sentences())
        comparisons.append(predictor.facts().get("comparison"))
        try:
            with progress_bar(f"{chosen} on {name}", quiet) as progress, sharing(None, None):
                result = run(
                    split,
                    chosen,
                    dataset=name,
                    options=its_options,
                    scores=predictor.scores(),
                    progress=progress,
                    resume=resume,
                    **test,
                )
        except KeyboardInterrupt as error:
            for note in getattr(error, "__notes__", ()):
                say_unless(quiet)(note)
            raise
        results.append(replace(result, seconds=result.seconds + spent))
    if as_json:
        rows = [{**result.as_json(), "remarks": about} for result, about in zip(results, remarks, strict=True)]
        rows = [row | ({"comparison": told} if told else {}) for row, told in zip(rows, comparisons, strict=True)]
        print(json.dumps(rows[0] if len(rows) == 1 else rows))
    else:
        from gelato.tables import evaluation_table, members_table

        show(evaluation_table(results))
        for result, compared in zip(results, comparisons, strict=True):
            if compared:
                show(members_table(result.method, compared))
        for result, about in zip(results, remarks, strict=True):
            for remark in about:
                say_unless(quiet)(f"{result.method}: {remark}")


def _share(
    todo: "list[tuple[str, dict[str, Any], StoredPredictor]]",
    split: "Split",
    name: str,
    shard: tuple[int, int] | None,
    out: str | None,
    quiet: bool,
    test: dict[str, Any],
) -> None:
    """Rank a share of the pairs of every method, and write it."""
    from gelato.evaluation.evaluate import evaluate as run
    from gelato.ranking.shares import ShareDone

    if test["regime"] == "biased":
        raise click.UsageError("--shard is for ranking against all pairs or inside parts; a sample needs one process")
    check_shared([predictor for _, _, predictor in todo])
    for _, _, predictor in todo:
        _fit(predictor, split, name, quiet)
    with sharing(shard, out) as share:
        assert share is not None
        for chosen, its_options, predictor in todo:
            with progress_bar(f"{chosen} on {name}", quiet) as progress, suppress(ShareDone):
                run(split, chosen, options=its_options, scores=predictor.scores(), progress=progress, **test)
    say_share(share, quiet)


def _fit(predictor: "StoredPredictor", split: "Split", name: str, quiet: bool) -> float:
    """Fit a predictor that is not fitted yet; returns the seconds that count, which are not those of a training."""
    from gelato.methods import METHODS

    if predictor.fitted:
        return 0.0
    begin = time.perf_counter()
    with interruptible(quiet, lambda: None, KEEPING), fitting_progress(name, predictor, quiet) as watch:
        predictor.fit(split, **watch)
    return 0.0 if METHODS[predictor.method].trains else time.perf_counter() - begin


def _predictors(
    split: "Split",
    options: dict[str, Any],
    method: str | None,
    models: tuple[str, ...],
    config: str | None,
    device: str | None,
    threads: int | None,
) -> "list[tuple[str, dict[str, Any], StoredPredictor]]":
    """What is to be tested: saved models, and methods that are fitted when their turn comes."""
    from gelato.evaluation.naming import methods_of
    from gelato.methods.configuration import read_configuration
    from gelato.methods.making import load_model, method_of

    if method is None and not models and config is None:
        raise click.UsageError("give --method, such as --method ac, or --model; see 'gelato methods'")
    saved = [(method_of(Path(folder)), folder) for folder in models]
    of_saved = dict(saved)
    read = read_configuration(config) if config else None
    names = ([] if method is None else [method]) + ([read.method] if read is not None and method is None else [])
    wanted = methods_of(",".join(names), options, split.train) if names else []
    if read is not None and read.method not in [chosen for chosen, _ in wanted]:
        raise click.UsageError(f"--config {config} holds settings of {read.method}, which is not among {method}")
    todo: list[tuple[str, dict[str, Any], StoredPredictor]] = []
    for chosen, its_options in wanted:
        if chosen not in of_saved:
            file = config if read is not None and read.method == chosen else None
            predictor = predictor_with(chosen, file, its_options, device=device, threads=threads)
            todo.append((chosen, its_options, predictor))
        elif its_options or (read is not None and read.method == chosen):
            raise click.UsageError(
                f"--model {of_saved[chosen]} is already trained: leave out --option and --config for it"
            )
    for chosen, folder in saved:
        model = load_model(Path(folder), split.train).set_params(threads=threads)
        model.check_split(split)
        todo.append((chosen, {"model": folder}, model))
    return todo


@click.command(epilog="Example: gelato estimate edges.csv --attributes nodes.csv --step predict")
@options(READING, TESTING, RUNNING)
@click.option(
    "--step",
    type=click.Choice(["evaluate", "predict", "explain", "report"]),
    default="evaluate",
    show_default=True,
    help="The command to estimate; methods that train are timed for one epoch first.",
)
@method_option("One or more methods (see 'gelato methods'), or 'all' for all that need no training.")
@options(COMPARING)
@click.option(
    "--top", type=Count(1), default=100, show_default=True, help="Number of suggestions, for predict and report."
)
@click.option(
    "--repeats", type=Count(0), default=5, show_default=True, help="Number of trials, for predict and report."
)
@click.option("--config", type=click.Path(), metavar="FILE", help="Settings to train with, for predict.")
@options(places("Where to train, for predict."))
@with_split
def estimate(
    name: str,
    split: "Split",
    options: dict[str, Any],
    step: str,
    method: str | None,
    budget: float | None,
    top: int,
    repeats: int,
    config: str | None,
    device: str | None,
    as_json: bool,
    quiet: bool,
    **test: Any,
) -> None:
    """Estimate how much time and memory a command with the same arguments will take.

    GRAPH may also be the folder of a run, for explain and report.
    """
    if step == "evaluate":
        if config or budget is not None:
            raise click.UsageError("--config and --budget are for --step predict; use --option for evaluate")
        _estimate_evaluation(name, split, options, method, device, as_json, test)
        return
    from gelato.evaluation.forecast import forecast

    if method is not None and ("," in method or method == "all"):
        raise click.UsageError(f"--step {step} takes one method, got {method}")
    options |= {} if budget is None else {"budget": budget}
    model = predictor_with(method, config, options, quick=True, device=device, threads=test["threads"])
    expected = forecast(split.graph, model, step, top_k=top, repeats=repeats, started=time.process_time())
    if as_json:
        print(json.dumps({"dataset": name, "method": model.method, **expected.as_json()}))
    else:
        from gelato.tables import forecast_table

        show(forecast_table(name, expected))


def _estimate_evaluation(
    name: str,
    split: "Split",
    options: dict[str, Any],
    method: str | None,
    device: str | None,
    as_json: bool,
    test: dict[str, Any],
) -> None:
    from gelato.evaluation.estimate import estimate_method
    from gelato.evaluation.naming import methods_of
    from gelato.methods import METHODS

    if method is None:
        raise click.UsageError("--step evaluate needs --method, such as --method ac; see 'gelato methods'")
    results = []
    for chosen, its_options in methods_of(method, options, split.train):
        if device is not None and "device" in METHODS[chosen].settings.names():
            its_options = {**its_options, "device": device}
        results.append((chosen, estimate_method(split, chosen, options=its_options, **test)))
    if as_json:
        rows = [{"dataset": name, "method": chosen, **result.as_json()} for chosen, result in results]
        print(json.dumps(rows[0] if len(rows) == 1 else rows))
    else:
        from gelato.tables import estimate_table

        show(estimate_table(name, results))


@click.command(epilog="Example: gelato datasets --json")
@click.option(
    "--data-root",
    type=click.Path(),
    metavar="DIR",
    help="Folder of npz files to use instead of downloading.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def datasets(data_root: str | None, as_json: bool) -> None:
    """List the known datasets, their sizes, and where they are stored."""
    from gelato.datasets import listing

    rows = listing(data_root)
    if as_json:
        print(json.dumps(rows))
    else:
        from gelato.tables import dataset_table

        show(dataset_table(rows))


@click.command(epilog="Example: gelato methods")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def methods(as_json: bool) -> None:
    """List all methods that --method accepts, with their options."""
    from gelato.evaluation.naming import described_methods

    rows = described_methods()
    if as_json:
        print(json.dumps(rows))
    else:
        from gelato.tables import method_table

        show(method_table(rows))


@click.command(epilog="Example: gelato demo")
@click.option("--budget", type=Number(min=0), metavar="MINUTES", help="Time limit for comparing methods  [default: 3]")
@click.option("--threads", type=Count(1), metavar="N", help="Number of threads  [default: all cores]")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def demo(budget: float | None, threads: int | None, quiet: bool) -> None:
    """Evaluate every heuristic, Gelato and auto on the built-in sample graph, and show the ten best missing links."""
    from gelato.demo import demonstrate

    with progress_bar("demo", quiet, unit="methods") as progress:
        parts = demonstrate(budget=budget, threads=threads, progress=progress)
    for part in parts:
        show(part)

"""Commands that measure: evaluate, estimate, datasets, methods, demo."""

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from gelato.cli.options import READING, RUNNING, TESTING, method_option, options, with_split
from gelato.cli.show import progress_bar, show
from gelato.cli.training import QUICK, new_model, ready_model

if TYPE_CHECKING:
    from gelato.splits import Split


@click.command(epilog="Example: gelato evaluate cora --method cn,aa,ac")
@options(READING, TESTING, RUNNING)
@method_option("gelato")
@click.option(
    "--model",
    type=click.Path(),
    metavar="DIR",
    help="For gelato: a model that 'gelato fit' wrote, for the same split.",
)
@click.option(
    "--config",
    type=click.Path(),
    metavar="FILE",
    help="For gelato without --model: settings to train it with, on the spot.",
)
@click.option("--device", metavar="DEVICE", help="For gelato without --model: where to train it  [default: auto]")
@click.option("--no-resume", is_flag=True, help="Start anew, and keep nothing for a later run.")
@with_split
def evaluate(
    name: str,
    split: "Split",
    options: dict[str, Any],
    method: str,
    model: str | None,
    config: str | None,
    device: str | None,
    no_resume: bool,
    as_json: bool,
    quiet: bool,
    **test: Any,
) -> None:
    """Rank the hidden links of GRAPH against all its non-links, exactly.

    GRAPH is a dataset ('gelato datasets'), an npz file, or an edge list (csv, tsv, txt, parquet).
    """
    from gelato.datasets.folder import cache_folder
    from gelato.evaluation.evaluate import evaluate as run
    from gelato.evaluation.evaluate import methods_of

    resume = None if no_resume else cache_folder() / "resume"
    wanted = [name.strip() for name in method.split(",")]
    ready: dict[str, Any] = {}
    if "gelato" in wanted:
        wanted.remove("gelato")
        if options and wanted:
            raise click.UsageError("options are of one method: evaluate gelato and others in two commands")
        ready["scores"], its_options = ready_model(
            name, split, options, model=model, config=config, device=device, threads=test["threads"], quiet=quiet
        )
        todo: list[tuple[str, dict[str, Any]]] = [("gelato", its_options)]
    elif model or config or device:
        raise click.UsageError("--model, --config and --device are for --method gelato")
    else:
        todo = []
    todo = (methods_of(",".join(wanted), options, split.train) if wanted else []) + todo
    results = []
    try:
        for chosen, its_options in todo:
            with progress_bar(f"{chosen} on {name}", quiet) as progress:
                given = ready if chosen == "gelato" else {}
                results.append(
                    run(
                        split,
                        chosen,
                        dataset=name,
                        options=its_options,
                        progress=progress,
                        resume=resume,
                        **given,
                        **test,
                    )
                )
    except KeyboardInterrupt:
        if resume is not None and not quiet:
            print("what was counted is kept; the same command goes on from there", file=sys.stderr)
        raise
    if as_json:
        found = [result.as_json() for result in results]
        print(json.dumps(found[0] if len(found) == 1 else found))
    else:
        from gelato.tables import evaluation_table

        show(evaluation_table(results))


@click.command(epilog="Example: gelato estimate edges.csv --attributes nodes.csv --step predict")
@options(READING, TESTING, RUNNING)
@click.option(
    "--step",
    type=click.Choice(["evaluate", "predict", "explain", "report"]),
    default="evaluate",
    show_default=True,
    help="Of which command; evaluate takes --method, the others time an epoch of training first.",
)
@method_option(required=False)
@click.option("--top", type=click.IntRange(1), default=100, show_default=True, help="Of predict and report.")
@click.option("--repeats", type=click.IntRange(0), default=5, show_default=True, help="Of predict and report.")
@click.option("--config", type=click.Path(), metavar="FILE", help="Of predict: settings to train with.")
@click.option("--device", metavar="DEVICE", help="Of predict: where to train.")
@with_split
def estimate(
    name: str,
    split: "Split",
    options: dict[str, Any],
    step: str,
    method: str | None,
    top: int,
    repeats: int,
    config: str | None,
    device: str | None,
    as_json: bool,
    quiet: bool,
    **test: Any,
) -> None:
    """Predict the time and memory of a command with the same arguments, before it runs.

    GRAPH may also be the folder of a run, for explain and report.
    """
    if step == "evaluate":
        _estimate_evaluation(name, split, options, method, as_json, test)
        return
    if method is not None:
        raise click.UsageError(f"--method is for --step evaluate, not for {step}")
    from gelato.evaluation.forecast import forecast

    model = new_model(config, options, defaults=QUICK, device=device, threads=test["threads"])
    found = forecast(split.graph, model, step, top_k=top, repeats=repeats, started=time.process_time())
    if as_json:
        print(json.dumps({"dataset": name, **found.as_json()}))
    else:
        from gelato.tables import forecast_table

        show(forecast_table(name, found))


def _estimate_evaluation(
    name: str, split: "Split", options: dict[str, Any], method: str | None, as_json: bool, test: dict[str, Any]
) -> None:
    from gelato.evaluation.evaluate import methods_of
    from gelato.ranking.estimate import estimate_method

    if method is None:
        raise click.UsageError("--step evaluate needs --method, such as --method ac; see 'gelato methods'")
    results = [
        (chosen, estimate_method(split, chosen, options=its_options, **test))
        for chosen, its_options in methods_of(method, options, split.train)
    ]
    if as_json:
        found = [{"dataset": name, "method": chosen, **result.as_json()} for chosen, result in results]
        print(json.dumps(found[0] if len(found) == 1 else found))
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
    """List the known datasets, their sizes, and where they lie."""
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
    """List the methods that 'gelato evaluate' knows, with their options."""
    from gelato.evaluation.evaluate import described_methods

    about = "Autocovariance of the graph with learned weights; trained on the spot, or --model DIR."
    known = [*described_methods(), ("gelato", "those of 'gelato fit'", about)]
    if as_json:
        print(json.dumps([dict(zip(("name", "options", "about"), each, strict=True)) for each in known]))
    else:
        from gelato.tables import method_table

        show(method_table(known))


@click.command(epilog="Example: gelato demo")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads  [default: all cores]")
@click.option("--quiet", is_flag=True, help="No progress.")
def demo(threads: int | None, quiet: bool) -> None:
    """Train Gelato, evaluate it and every heuristic on the embedded graph, and show its ten best missing links."""
    from gelato.demo import demonstrate

    with progress_bar("demo", quiet, unit="methods") as progress:
        parts = demonstrate(threads=threads, progress=progress)
    for part in parts:
        show(part)

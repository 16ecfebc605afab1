"""Commands that measure: evaluate, estimate, datasets, methods, demo."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from gelato.cli.options import READING, RUNNING, TESTING, method_option, options, with_split
from gelato.cli.show import progress_bar, show
from gelato.cli.training import ready_model

if TYPE_CHECKING:
    from gelato.splits import Split


@click.command(epilog="Example: gelato evaluate cora --method cn,aa,ac")
@options(READING, TESTING, RUNNING)
@method_option("gelato")
@click.option("--model", metavar="DIR", help="For gelato: a model that 'gelato fit' wrote, for the same split.")
@click.option("--config", metavar="FILE", help="For gelato without --model: settings to train it with, on the spot.")
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
    from gelato.ranking.evaluate import evaluate as run
    from gelato.ranking.evaluate import methods_of

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


@click.command(epilog="Example: gelato estimate pubmed --method ac")
@options(READING, TESTING, RUNNING)
@method_option()
@with_split
def estimate(
    name: str, split: "Split", options: dict[str, Any], method: str, as_json: bool, quiet: bool, **test: Any
) -> None:
    """Predict the time and memory of 'gelato evaluate' with the same arguments, from a sample of rows."""
    from gelato.ranking.estimate import estimate_method
    from gelato.ranking.evaluate import methods_of

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
@click.option("--data-root", metavar="DIR", help="Folder of npz files to use instead of downloading.")
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
def methods() -> None:
    """List the methods that 'gelato evaluate' knows, with their options."""
    from gelato.ranking.evaluate import described_methods
    from gelato.tables import method_table

    about = "Autocovariance of the graph with learned weights; trained on the spot, or --model DIR."
    trained = ("gelato", "those of 'gelato fit'", about)
    show(method_table([*described_methods(), trained]))


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

"""The commands explain and report."""

import json
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gelato import PROGRAM
from gelato.cli.display import interruptible, print_held, printable, progress_bar, remark_unless
from gelato.cli.engine_options import engine_options
from gelato.cli.option_types import Count
from gelato.cli.options import GRAPH, HIDING_LINKS, RUNNING, method_option, options, path_option, shown_option
from gelato.cli.outputs import outputs, page
from gelato.cli.outputs import picture as svg_file
from gelato.cli.reading import with_graph
from gelato.cli.training import FIRST, check_fit

if TYPE_CHECKING:
    from gelato.graph import Graph
    from gelato.prediction.predictor import LinkPredictor


@click.command(epilog="Example: gelato explain links.run ann bob --picture why.svg")
@options(GRAPH)
@click.argument("u")
@click.argument("v")
@path_option("--model", metavar="DIR", help="A trained model; not needed if GRAPH is the folder of a run.")
@method_option("A method (see 'gelato methods') to explain without a model  [default: ac]", several=False)
@shown_option("--walks", type=Count(1), default=5, help="How many walks, or neighbours, to list.")
@path_option("--picture", metavar="FILE", help="Write a picture of the explanation to this svg file.")
@click.option("--device", metavar="DEVICE", help="Device for applying the model to GRAPH  [default: as in training]")
@options(RUNNING)
@outputs(picture=svg_file)
def explain(
    graph: str,
    u: str,
    v: str,
    model: str | None,
    method: str | None,
    walks: int,
    picture: str | None,
    device: str | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Explain the score of the nodes U and V of GRAPH exactly: walk by walk, or neighbour by neighbour.

    GRAPH is the folder of a run ('gelato predict', 'gelato fit --out'), or a graph together with --model. Without a
    model, the walks are those of autocovariance (ac) on the original graph.
    """
    from gelato.datasets.loading import is_stored
    from gelato.io.files import written_aside
    from gelato.methods import REFERENCE, make, open_model
    from gelato.prediction.node_names import nodes_by_name

    if model and method:
        raise click.UsageError("--model and --method cannot be combined: give only one of them")

    def opened(name: str, graph: "Graph", model: str | None, quiet: bool, as_json: bool) -> "LinkPredictor":
        nodes_by_name([u, v], graph)  # refused before any work
        if model is not None:
            return open_model(model, graph, device)
        check_fit(method or REFERENCE, graph)
        predictor = make(method or REFERENCE).fit(graph)
        if method is None:
            remark_unless(quiet or as_json)(f"no model given: these are the walks of {REFERENCE} on the original graph")
        return predictor

    if is_stored(Path(graph)) and model is None and method is None:
        predictor = open_model(graph, None, device)
    else:
        predictor = with_graph(opened)(graph=graph, model=model, quiet=quiet, as_json=as_json, **reading)
    predictor.set_params(threads=threads)
    explanation = predictor.explain(*nodes_by_name([u, v], predictor.graph_).tolist(), index=True, limit=walks)
    if picture is not None:
        with written_aside(Path(picture)) as part:
            part.write_text(explanation.svg(), encoding="utf-8")
    if as_json:
        print(json.dumps(explanation.as_json()))
    else:
        print_held()
        print(printable("\n".join(explanation.lines())))


@click.command(epilog="Example: gelato report links.run --out report.html")
@click.argument("run", type=click.Path())
@path_option(
    "--out",
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="The page to write; its charts are saved next to it.",
)
@shown_option("--top", type=Count(1), default=100, help="How many links to suggest.")
@shown_option("--parts", type=Count(2), default=10, help="Number of METIS parts, for one of the tests.")
@options(HIDING_LINKS)
@options(engine_options("'auto', 'cpu' or a GPU, if training is still needed."))
@options(RUNNING)
@outputs(out=page)
def report(run: str, out: str, hide: float, device: str | None, as_json: bool, quiet: bool, **testing: Any) -> None:
    """Write a report on RUN, a folder that 'gelato predict' or 'gelato fit' wrote.

    The report compares the model with the heuristics in three kinds of tests. It shows curves, score densities, the
    training, and the suggested links, each with an explanation. It is a single web page that works offline; its charts
    are also saved as svg and png files.
    """
    from gelato.methods import open_run
    from gelato.methods.factory import describe_checkpoint
    from gelato.report.from_run import report_of
    from gelato.report.page import write_report

    opened = open_run(run, device)
    with interruptible(quiet, partial(describe_checkpoint, opened.folder), FIRST):
        contents = report_of(
            opened,
            title=opened.folder.resolve().name.removesuffix(".run"),
            share=hide,
            command=shlex.join([PROGRAM, *sys.argv[1:]]),
            stage=lambda title, unit: progress_bar(title, quiet, unit),
            **testing,
        )
    file, *charts = write_report(out, contents)
    if as_json:
        measured = None if contents.measured is None else contents.measured.as_json()
        print(json.dumps({"page": out, "files": list(map(str, (file, *charts))), "measured": measured}))
    else:
        size = Path(out).stat().st_size / 1e6
        remark_unless(quiet)(f"wrote {out} ({size:.1f} MB) and {len(charts)} charts next to it; open it in a browser")

"""Commands that answer: predict and explain."""

import json
import shlex
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gelato import PROGRAM
from gelato.cli.options import (
    CAPPED,
    COMPARING,
    GRAPH,
    REHEARSING,
    RUNNING,
    TRAINING,
    ManyNodes,
    method_option,
    named_options,
    options,
    with_graph,
)
from gelato.cli.outputs import file_of_links, outputs, run_folder
from gelato.cli.outputs import picture as svg_file
from gelato.cli.sharding import SHARDING, TRAINED, check_shard, say_share, sharing
from gelato.cli.show import fitting_progress, interruptible, printable, progress_bar, release, say_unless, show
from gelato.cli.training import FIRST, check_fit, predictor_with
from gelato.cli.values import Count, Number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gelato.graph import Graph
    from gelato.prediction.predictor import LinkPredictor

KEEPING = "give --run DIR or --out FILE to save the training"
"""Said after Ctrl-C where nothing is kept."""

SHOWN = 20
"""Suggestions shown on the screen."""

CHOOSING = [
    click.option("--top", type=Count(1), default=100, show_default=True, help="How many links to suggest."),
    click.option(
        "--per-node",
        type=Count(1),
        metavar="K",
        help="Suggest the K best partners of each node instead.",
    ),
    click.option("--for", "nodes", multiple=True, metavar="NODE...", help="Suggest only links of these nodes."),
    click.option(
        "--between",
        nargs=2,
        type=click.Path(),
        metavar="A B",
        help="Suggest only links between two sets, each a file with one node per row or an attribute like kind=film.",
    ),
    click.option(
        "--exclude", type=click.Path(), metavar="FILE", help="File of pairs that are never suggested, one pair per row."
    ),
    click.option("--min-score", type=Number(), metavar="S", help="Leave out links with a lower score."),
]
"""Which links are wanted."""


@click.command(
    cls=ManyNodes, epilog="Example: gelato predict edges.csv --attributes nodes.csv --top 1000 --out links.csv"
)
@options(GRAPH, CHOOSING)
@click.option(
    "--out", type=click.Path(), metavar="FILE", help="Write the links to this csv, tsv, parquet or json file."
)
@click.option(
    "--safe-csv", is_flag=True, help="Put ' before text in --out that a spreadsheet would take for a formula."
)
@method_option("A method (see 'gelato methods')  [default: the one in --config, or the best]", several=False)
@options(COMPARING)
@click.option(
    "--model",
    type=click.Path(),
    metavar="DIR",
    help="An already trained model, applied without further training.",
)
@click.option(
    "--run",
    type=click.Path(),
    metavar="DIR",
    help="Folder for the training, so that it can be resumed  [default: next to --out]",
)
@options(REHEARSING)
@click.option("--reasons/--no-reasons", default=True, help="Give a reason for each link  [default: reasons]")
@options(TRAINING)
@SHARDING
@options(CAPPED, RUNNING)
@outputs(out=file_of_links, run=run_folder)
@with_graph
def predict(
    name: str,
    graph: "Graph",
    top: int,
    per_node: int | None,
    nodes: tuple[str, ...],
    between: tuple[str, str] | None,
    exclude: str | None,
    min_score: float | None,
    out: str | None,
    safe_csv: bool,
    model: str | None,
    run: str | None,
    hide: float,
    repeats: int,
    reasons: bool,
    seed: int,
    shard: tuple[int, int] | None,
    as_json: bool,
    quiet: bool,
    **training: Any,
) -> None:
    """Suggest the missing links of GRAPH, with reasons and the precision to expect.

    GRAPH is an edge list (csv, tsv, txt, parquet), an npz file or a dataset. Nodes in the attribute table without
    links are new nodes: they get suggestions based on their attributes. All pairs that are not linked are ranked
    exactly. Without --method, --config and --model, several methods are compared on hidden links, and the best one
    makes the suggestions. The folder of the run can be given to 'gelato explain' and 'gelato report'.
    """
    from gelato.evaluation.footprint import check_graph
    from gelato.io import read_pairs
    from gelato.methods import METHODS
    from gelato.prediction.selection import nodes_called, nodes_in
    from gelato.prediction.suggest import check_hiding, suggest
    from gelato.ranking.shares import ShareDone

    if nodes and between:
        raise click.UsageError("--for and --between cannot be combined: give only one of them")
    check_graph(graph, hide if repeats else 0, training["method"])
    if repeats:
        check_hiding(graph, hide, repeats)
    say = say_unless(quiet or as_json)
    chosen: dict[str, Any] = {"per_node": per_node is not None, "min_score": min_score}
    if nodes:
        chosen["nodes"] = _names(nodes_called(nodes, graph), graph)
    if between:
        chosen["between"] = tuple(_names(nodes_in(told, graph), graph) for told in between)
    if exclude is not None:
        chosen["exclude"] = [_names(pair, graph) for pair in read_pairs(exclude, graph)]
    if run and model:
        raise click.UsageError("--run is the folder of a new training: it cannot be combined with --model")
    if check_shard(shard, out):
        if model is None and (training["method"] is None or METHODS[training["method"]].trains):
            raise click.UsageError(f"--shard needs --model, or a --method that needs no training; {TRAINED}")
        predictor = predictor_of(name, graph, model=model, run=None, seed=seed, quiet=quiet, **training)
        with sharing(shard, out) as share, progress_bar("ranking a share of all pairs", quiet) as progress:
            assert share is not None
            with suppress(ShareDone):
                predictor.predict_top(per_node or top, **chosen, progress=progress)
        say_share(share, quiet)
        return
    folder = Path(run) if run else Path(out).with_suffix(".run") if out else None
    folder = Path(model) if model else folder
    with interruptible(quiet, partial(_kept, folder), KEEPING if folder is None else FIRST):
        predictor = predictor_of(name, graph, model=model, run=folder, seed=seed, quiet=quiet, **training)
        for remark in (*predictor.remarks_, *predictor.sentences()):
            say(remark)
        with sharing(None, None):
            found = suggest(
                predictor,
                per_node or top,
                **chosen,
                share=hide,
                repeats=repeats,
                seed=seed,
                run=folder,
                reasons=reasons,
                stage=lambda title, unit: progress_bar(title, quiet, unit),
            )
    if out is not None:
        found.write(out, safe=safe_csv)
    if as_json:
        told = {"dataset": name, "out": out, "run": folder and str(folder), "precision": found.words()}
        told |= {**predictor.facts(), "remarks": [*predictor.remarks_, *predictor.sentences()]}
        print(json.dumps(told | {"count": len(found)} | ({} if out else {"links": found.rows()})))
        return
    from gelato.tables import suggestion_table

    show(suggestion_table(name, found, SHOWN))
    for sentence in found.words():
        show(sentence)
    if out is not None:
        say(f"wrote {len(found):,} links to {out}")
    if folder is not None and not model and len(found):
        first, second = (graph.name_of(node) for node in found.pairs[0])
        why = shlex.join([PROGRAM, "explain", str(folder), str(first), str(second)])
        more = shlex.join([PROGRAM, "report", str(folder), "--out", "report.html"])
        if predictor.explains:
            say(f"why: {why}")
        say(f"more: {more}")


@click.command(epilog="Example: gelato explain links.run ann bob --picture why.svg")
@options(GRAPH)
@click.argument("u")
@click.argument("v")
@click.option(
    "--model",
    type=click.Path(),
    metavar="DIR",
    help="A trained model; not needed if GRAPH is the folder of a run.",
)
@method_option("A method (see 'gelato methods') to explain without a model  [default: ac]", several=False)
@click.option("--walks", type=Count(1), default=5, show_default=True, help="How many walks, or neighbours, to list.")
@click.option(
    "--picture", type=click.Path(), metavar="FILE", help="Write a picture of the explanation to this svg file."
)
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
    from gelato.methods import REFERENCE, new_predictor, open_model
    from gelato.prediction.selection import nodes_called

    if model and method:
        raise click.UsageError("--model and --method cannot be combined: give only one of them")
    predictor: list[LinkPredictor] = []

    def opened(name: str, graph: "Graph", model: str | None, quiet: bool, as_json: bool) -> None:
        nodes_called([u, v], graph)  # refused before any work
        if model is not None:
            predictor.append(open_model(model, graph, device))
            return
        check_fit(method or REFERENCE, graph)
        predictor.append(new_predictor(method or REFERENCE).fit(graph))
        if method is None:
            say_unless(quiet or as_json)(f"no model given: these are the walks of {REFERENCE} on the original graph")

    if is_stored(Path(graph)) and model is None and method is None:
        predictor.append(open_model(graph, None, device))
    else:
        with_graph(opened)(graph=graph, model=model, quiet=quiet, as_json=as_json, **reading)
    predictor[0].set_params(threads=threads)
    first, second = nodes_called([u, v], predictor[0].graph_).tolist()
    found = predictor[0].explain_pair(first, second, limit=walks)
    if picture is not None:
        with written_aside(Path(picture)) as part:
            part.write_text(found.svg(), encoding="utf-8")
    if as_json:
        print(json.dumps(found.as_json()))
    else:
        release()
        print(printable("\n".join(found.lines())))


def _kept(run: Path | None) -> str | None:
    """What the run of a prediction keeps, in a sentence."""
    from gelato.runs.folder import kept_words

    return None if run is None else kept_words(run)


def _names(nodes: "NDArray[np.int64]", graph: "Graph") -> list[Any]:
    """What a graph calls some of its nodes."""
    return [graph.name_of(node) for node in nodes.tolist()]


def predictor_of(
    name: str,
    graph: "Graph",
    *,
    method: str | None,
    model: str | None,
    run: Path | None,
    config: str | None,
    others: tuple[str, ...],
    budget: float | None,
    device: str | None,
    seed: int,
    threads: int | None,
    quiet: bool,
) -> "LinkPredictor":
    """A model trained before, or one fitted on the spot."""
    settings = named_options(others, budget=budget)
    if model is not None:
        from gelato.methods import open_model

        if settings or config or method:
            raise click.UsageError("--model is already trained: leave out --method, --budget, --option and --config")
        return open_model(model, graph, device).set_params(threads=threads)
    from gelato.evaluation.footprint import check_methods

    fresh = predictor_with(method, config, settings, quick=True, random_state=seed, device=device, threads=threads)
    check_methods([fresh])
    check_fit(fresh.method, graph)
    with fitting_progress(name, fresh, quiet) as watch:
        return fresh.fit(graph, run=run, **watch)

"""The command predict."""

import shlex
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gelato import PROGRAM
from gelato.cli.answers import Answer, FirstAnswers
from gelato.cli.display import comparison_line, fitting_progress, interruptible, progress_bar, remark_unless
from gelato.cli.option_types import Count, Number
from gelato.cli.options import (
    CAPPED,
    COMPARING,
    GRAPH,
    HIDING_LINKS,
    RUNNING,
    TRAINING,
    ManyNodes,
    method_option,
    options,
    path_option,
)
from gelato.cli.outputs import file_of_links, outputs, run_folder
from gelato.cli.reading import named_options, with_graph
from gelato.cli.sharding import SHARDING, TRAINED, check_shard, merging, sharding
from gelato.cli.training import FIRST, check_fit, predictor_with

if TYPE_CHECKING:
    from gelato.graph import Graph
    from gelato.prediction.comparison_state import ComparisonState, Watch
    from gelato.prediction.predictor import LinkPredictor

KEEPING = "give --run DIR or --out FILE to save the training"
"""Shown after Ctrl-C if nothing is saved."""

CHOOSING = [
    click.option("--top", type=Count(1), default=100, show_default=True, help="How many links to suggest."),
    click.option("--per-node", type=Count(1), metavar="K", help="Suggest the K best partners of each node instead."),
    click.option("--for", "nodes", multiple=True, metavar="NODE...", help="Suggest only links of these nodes."),
    path_option(
        "--between",
        nargs=2,
        metavar="A B",
        help="Suggest only links between two sets, each a file with one node per row or an attribute like kind=film.",
    ),
    path_option("--exclude", metavar="FILE", help="File of pairs that are never suggested, one pair per row."),
    click.option("--min-score", type=Number(), metavar="S", help="Leave out links with a lower score."),
    click.option("--min-chance", type=Number(), metavar="P", help="Leave out links with a lower chance, such as 0.5."),
]
"""Options that select which links to suggest."""


@click.command(
    cls=ManyNodes, epilog="Example: gelato predict edges.csv --attributes nodes.csv --top 1000 --out links.csv"
)
@options(GRAPH, CHOOSING)
@path_option("--out", metavar="FILE", help="Write the links to this csv, tsv, parquet or json file.")
@click.option(
    "--safe-csv", is_flag=True, help="Put ' before text in --out that a spreadsheet would take for a formula."
)
@method_option("A method (see 'gelato methods')  [default: the one in --config, or the best]", several=False)
@options(COMPARING)
@path_option("--model", metavar="DIR", help="An already trained model, applied without further training.")
@path_option(
    "--run", metavar="DIR", help="Folder for the training, so that it can be resumed  [default: next to --out]"
)
@options(HIDING_LINKS)
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
    min_chance: float | None,
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
    from gelato.methods.factory import describe_checkpoint
    from gelato.prediction.node_names import nodes_by_name, read_node_set
    from gelato.prediction.suggest import check_hiding, check_min_chance, completed_links
    from gelato.ranking.shards import ShardDone

    if nodes and between:
        raise click.UsageError("--for and --between cannot be combined: give only one of them")
    check_graph(graph, hide if repeats else 0, training["method"], training["threads"])
    check_min_chance(min_chance, repeats)
    if repeats:
        check_hiding(graph, hide, repeats)
    say = remark_unless(quiet or as_json)
    chosen: dict[str, Any] = {"per_node": per_node is not None, "min_score": min_score, "index": True}
    if nodes:
        chosen["nodes"] = nodes_by_name(nodes, graph)
    if between:
        chosen["between"] = tuple(read_node_set(words, graph) for words in between)
    if exclude is not None:
        chosen["exclude"] = read_pairs(exclude, graph)
    if run and model:
        raise click.UsageError("--run is the folder of a new training: it cannot be combined with --model")
    sharded, merged = check_shard(shard, out), merging() is not None
    trains = training["method"] is None or METHODS[training["method"]].trains
    if (sharded or merged) and model is None and trains:
        raise click.UsageError(f"--shard needs --model, or a --method that needs no training; {TRAINED}")
    if sharded:
        predictor = predictor_of(name, graph, model=model, run=None, seed=seed, quiet=quiet, **training)
        ranking = progress_bar("ranking a shard of all pairs", quiet)
        with sharding(shard, out, quiet), ranking as progress, suppress(ShardDone):
            predictor.suggest(per_node or top, **chosen, repeats=0, reasons=False, progress=progress)
        return
    folder = Path(run) if run else Path(out).with_suffix(".run") if out else None
    folder = None if merged else Path(model) if model else folder  # merging writes to --out only
    kept = (lambda: None) if folder is None else partial(describe_checkpoint, folder)
    answer = Answer(name, out, safe_csv, folder, as_json, quiet)
    first = FirstAnswers(graph, per_node or top, chosen, answer.write)
    watch = None if merged or min_chance is not None else first
    try:
        with interruptible(quiet, kept, KEEPING if folder is None else FIRST):
            predictor = predictor_of(
                name, graph, model=model, run=folder, seed=seed, quiet=quiet, watch=watch, **training
            )
            for remark in (*predictor.remarks_, *predictor.sentences()):
                say(remark)

            def stage(title: str, unit: str) -> Any:
                return progress_bar(title, quiet, unit)

            with sharding(None, None, quiet):
                ranked = predictor.suggest(per_node or top, **chosen, repeats=0, reasons=False, stage=stage)
            if watch is not None:
                watch.offer(ranked)
            hiding = {"share": hide, "repeats": repeats, "seed": seed, "run": folder}
            suggestions = completed_links(
                predictor, per_node or top, ranked, hiding, min_chance=min_chance, reasons=reasons, stage=stage
            )
    except KeyboardInterrupt:
        if first.latest is not None:
            answer.show(first.latest, None)
        raise
    answer.write(suggestions)
    answer.show(suggestions, predictor)
    if folder is not None and not as_json and not model and len(suggestions):
        first_two = next(iter(suggestions))[:2]
        why = shlex.join([PROGRAM, "explain", str(folder), *map(str, first_two)])
        more = shlex.join([PROGRAM, "report", str(folder), "--out", "report.html"])
        if predictor.explains:
            say(f"why: {why}")
        say(f"more: {more}")


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
    watch: "Watch | None" = None,
) -> "LinkPredictor":
    """The model in ``model``, or a new one fitted to the graph; ``watch`` sees methods being compared."""
    settings = named_options(others, budget=budget)
    if model is not None:
        from gelato.methods import open_model

        if settings or config or method:
            raise click.UsageError("--model is already trained: leave out --method, --budget, --option and --config")
        return open_model(model, graph, device).set_params(threads=threads)
    from gelato.evaluation.footprint import check_methods
    from gelato.methods import METHODS

    fresh = predictor_with(method, config, settings, quick=True, random_state=seed, device=device, threads=threads)
    check_methods([fresh])
    check_fit(fresh.method, graph)
    if METHODS[fresh.method].compares:
        with comparison_line(f"{fresh.method} on {name}", quiet) as line:

            def see(state: "ComparisonState") -> None:
                line(state)
                if watch is not None:
                    watch(state)

            fresh.began, fresh.watch = click.get_current_context().obj, see
            return fresh.fit(graph, run=run)
    with fitting_progress(name, fresh, quiet) as shown:
        return fresh.fit(graph, run=run, **shown)

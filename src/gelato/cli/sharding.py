"""A command run in shards: --shard, and the command merge.

A shard file says what was run as data: a step, and options of it by name. ``merge`` checks each option by itself, as
the command line would, and only those in ``RECORDED`` are known; nothing that a file says is run as a command line.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gelato.cli.display import remark_unless
from gelato.cli.engine_options import ENGINE
from gelato.cli.option_types import shard_number
from gelato.cli.options import CAPPED, RUNNING, options, path_option
from gelato.errors import InputError

if TYPE_CHECKING:
    from gelato.prediction.predictor import LinkPredictor
    from gelato.ranking.shard_files import ShardedCall
    from gelato.ranking.shards import MergedShards

TRAINED = "train once with 'gelato fit GRAPH --out DIR', then give --model DIR to every shard"

_READING = (
    *("graph", "attributes", "directed", "bipartite", "source", "target", "among", "weight", "time", "predicted"),
    *("negative", "delimiter", "header", "isolated", "key", "kinds", "missing", "scale", "data_root"),
)
_TESTING = ("split_name", "ratios", "steps", "self_loops", "dtype", "regime", "parts", "ratio", "no_resume", "models")
_CHOOSING = ("top", "per_node", "nodes", "between", "exclude", "min_score", "min_chance")
_SUGGESTING = (*_CHOOSING, "safe_csv", "hide", "repeats", "reasons")
_METHOD = ("method", "config", "others", "device", "seed")

RECORDED = {"evaluate": (*_READING, *_TESTING, *_METHOD), "predict": (*_READING, *_SUGGESTING, *_METHOD, "model")}
"""Parameters that a shard file holds, by step.

Paths among them are only read: the graph, its attributes, a split, a configuration, a model, pairs to exclude. What a
command writes to (--out, --run) and how it runs (--threads, --engine, --memory, --json, --quiet) is not recorded.
"""

MERGED = "gelato.merged"
"""Key of ``click.Context.meta`` under which ``merge`` passes its shards to the command it repeats."""

SHARDING = click.option(
    "--shard",
    callback=shard_number,
    metavar="I/N",
    help="Rank only shard I of N, and write it to --out; 'gelato merge' joins all shards.",
)


@contextmanager
def sharding(shard: tuple[int, int] | None, out: str | None, quiet: bool) -> Iterator[None]:
    """Let what is ranked in the block be the shard that was asked for, or be taken from merged shards."""
    from gelato.ranking.engines import running_on

    if shard is not None:
        from gelato.ranking.shards import Shard

        assert out is not None
        own = Shard(*shard, _recorded(click.get_current_context()), Path(out))
        with running_on(own.engine):
            yield
        own.finish()
        remark_unless(quiet)(
            f"wrote shard {own.number} of {own.count} to {own.path}; once all are written, run 'gelato merge FILE...'"
        )
    elif (merged := merging()) is not None:
        with running_on(merged.engine):
            yield
    else:
        yield


def merging() -> "MergedShards | None":
    """The shards that the results of the current command are taken from, where ``merge`` runs it."""
    merged: MergedShards | None = click.get_current_context().meta.get(MERGED)
    return merged


def check_shard(shard: tuple[int, int] | None, out: str | None) -> bool:
    """Whether a shard is asked for; refuse one without a place for its file."""
    if shard is not None and out is None:
        raise click.UsageError("--shard needs --out FILE, where its shard is written")
    engine = click.get_current_context().meta.get(ENGINE)
    if shard is not None and engine == "ray":
        raise click.UsageError("--shard and --engine ray both divide the work; use one of them")
    if shard is not None and engine == "cuda":
        raise click.UsageError("--shard ranks on threads, not on a GPU; add --engine threads")
    return shard is not None


def check_fitted(predictors: "Sequence[LinkPredictor]") -> None:
    """Refuse methods that every shard would train anew, each perhaps with another outcome."""
    from gelato.methods import METHODS

    for predictor in predictors:
        if METHODS[predictor.method].trains and not predictor.fitted:
            raise click.UsageError(f"--shard does not train {predictor.method}; {TRAINED}")


def _recorded(context: click.Context) -> "ShardedCall":
    """The step and the recorded options of the current command."""
    from gelato.ranking.shard_files import ShardedCall

    step = context.command.name or ""
    values = {name: context.params[name] for name in RECORDED[step] if context.params[name] not in (None, ())}
    return ShardedCall(step, {name: list(value) if type(value) is tuple else value for name, value in values.items()})


@click.command(epilog="Example: gelato merge shards/*.npz")
@click.argument("shards", nargs=-1, required=True, type=click.Path())
@path_option("--out", metavar="FILE", help="Write the links of 'predict' to this file.")
@options(CAPPED, RUNNING)
def merge(shards: tuple[str, ...], out: str | None, threads: int | None, as_json: bool, quiet: bool) -> None:
    """Join the SHARDS that 'gelato evaluate' or 'gelato predict' wrote with --shard, as if one process had run it all.

    Run it in the folder where the shards were made: the graph, and the model if there is one, are read again. The
    shards say which files these are. Only --out is written.
    """
    from gelato.ranking.rank import WrongCounts
    from gelato.ranking.shards import MergedShards

    merged = MergedShards.read([Path(shard) for shard in shards])
    step = merged.call.step
    if out is not None and step != "predict":
        raise click.UsageError(f"--out is for the links of 'predict'; these are shards of '{step}'")
    context = click.get_current_context()
    command = context.find_root().command
    assert isinstance(command, click.Group)
    replayed = command.get_command(context, step)
    assert replayed is not None and replayed.callback is not None
    with replayed.make_context(step, ["graph"], parent=context) as own:  # a placeholder, and all defaults
        own.params |= _checked(merged.call, own)
        own.params |= {"shard": None, "out": out, "threads": threads, "as_json": as_json, "quiet": quiet}
        own.meta[MERGED] = merged
        _check_local(own.params["graph"], own.params["data_root"])
        try:
            own.invoke(replayed.callback, **own.params)
        except WrongCounts:
            raise InputError("the counts in the shards are not those of all pairs; make the shards again") from None


def _checked(call: "ShardedCall", context: click.Context) -> dict[str, Any]:
    """The options of a call, each checked as the command line checks it."""
    known = {each.name: each for each in context.command.params if each.name in RECORDED[call.step]}
    checked: dict[str, Any] = {}
    for name, value in call.options.items():
        if name not in known:
            raise InputError(f"the shards hold the option {name[:40]!r}, which {call.step} does not record")
        try:
            checked[name] = known[name].process_value(context, _typed(known[name], value))
        except (click.ClickException, TypeError, ValueError) as error:
            reason = error.format_message() if isinstance(error, click.ClickException) else str(error)
            raise InputError(f"the shards cannot be merged: {reason} (option {name}); make them again") from None
    if "graph" not in checked:
        raise InputError("the shards do not say of which graph they are; make them again")
    return checked


def _typed(parameter: click.Parameter, value: Any) -> Any:
    """A value of an option, if it is of the very type that the option has: click would convert it."""
    several = parameter.multiple or parameter.nargs != 1
    kinds = ((click.types.BoolParamType, (bool,)), (click.IntRange, (int,)), (click.FloatRange, (int, float)))
    kind = next((own for group, own in kinds if isinstance(parameter.type, group)), (str,))
    values = value if several and isinstance(value, list) else [value]
    if isinstance(value, list) != several or any(type(each) not in kind for each in values):
        raise TypeError(f"it must be {'a list of ' * several}{' or '.join(each.__name__ for each in kind)}")
    return tuple(values) if several else value


def _check_local(graph: str, data_root: str | None) -> None:
    """Refuse a dataset that is not on this machine: merging downloads nothing."""
    from gelato.datasets import DATASETS
    from gelato.datasets.locations import dataset_location

    if graph in DATASETS and str(dataset_location(graph, data_root)) == "not downloaded":
        raise InputError(f"the shards are of {graph}, which is not on this machine; merge where they were made")

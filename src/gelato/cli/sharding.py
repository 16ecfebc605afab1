"""A command dealt to several processes: --shard, and the command merge."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gelato.cli.options import RUNNING, options
from gelato.cli.places import ENGINE
from gelato.cli.show import say_unless
from gelato.cli.values import ShareNumber

if TYPE_CHECKING:
    from gelato.ranking.shares import Merged, Share
    from gelato.runs.predictor import StoredPredictor

OWN = ("--shard", "--out", "--threads", "--json", "--quiet")
"""Options that may differ between the shares of a command."""

FLAGS = ("--json", "--quiet")
"""Those of them without a value."""

TRAINED = "train once with 'gelato fit GRAPH --out DIR', then give --model DIR to every share"


@dataclass(frozen=True)
class Invocation:
    """A command line, and the parts that its results are taken from, if it is run by ``merge``."""

    args: tuple[str, ...]
    merged: "Merged | None" = None


SHARDING = click.option(
    "--shard",
    type=ShareNumber(),
    metavar="I/N",
    help="Rank only share I of N, and write it to --out; 'gelato merge' joins all shares.",
)


@contextmanager
def sharing(shard: tuple[int, int] | None, out: str | None) -> "Iterator[Share | None]":
    """Let what is ranked in the block be the share that was asked for, or be taken from merged parts."""
    from gelato.ranking.engines import running_on

    invocation = click.get_current_context().find_object(Invocation)
    if shard is not None:
        from gelato.ranking.shares import Share

        assert out is not None
        args = () if invocation is None else invocation.args
        share = Share(*shard, _common(args), Path(out))
        with running_on(share.engine):
            yield share
        share.finish()
    elif invocation is not None and invocation.merged is not None:
        with running_on(invocation.merged.engine):
            yield None
    else:
        yield None


def check_shard(shard: tuple[int, int] | None, out: str | None) -> bool:
    """Whether a share is asked for; refuse one without a place for its part."""
    if shard is not None and out is None:
        raise click.UsageError("--shard needs --out FILE, where its share is written")
    engine = click.get_current_context().meta.get(ENGINE)
    if shard is not None and engine == "ray":
        raise click.UsageError("--shard and --engine ray both divide the work; use one of them")
    if shard is not None and engine == "cuda":
        raise click.UsageError("--shard ranks on threads, not on a GPU; add --engine threads")
    return shard is not None


def check_shared(predictors: "Sequence[StoredPredictor]") -> None:
    """Refuse methods that every share would train anew, each perhaps with another outcome."""
    from gelato.methods import METHODS

    for predictor in predictors:
        if METHODS[predictor.method].trains and not predictor.fitted:
            raise click.UsageError(f"--shard does not train {predictor.method}; {TRAINED}")


def say_share(share: "Share", quiet: bool) -> None:
    """Say where a share is."""
    say_unless(quiet)(
        f"wrote share {share.number} of {share.count} to {share.path}; once all are written, run 'gelato merge FILE...'"
    )


def _common(args: Sequence[str]) -> tuple[str, ...]:
    """A command line without the options that are a share's own."""
    kept: list[str] = []
    rest = iter(args)
    for arg in rest:
        name, equals, _ = arg.partition("=")
        if name not in OWN:
            kept.append(arg)
        elif name not in FLAGS and not equals:
            next(rest, None)
    return tuple(kept)


@click.command(epilog="Example: gelato merge shares/*.npz")
@click.argument("shares", nargs=-1, required=True, type=click.Path())
@click.option("--out", type=click.Path(), metavar="FILE", help="Write the links of 'predict' to this file.")
@options(RUNNING)
def merge(shares: tuple[str, ...], out: str | None, threads: int | None, as_json: bool, quiet: bool) -> None:
    """Join the SHARES that 'gelato evaluate' or 'gelato predict' wrote with --shard, as if one process had run it all.

    Run it in the folder where the shares were run: the graph is read again.
    """
    from gelato.ranking.shares import Merged

    merged = Merged.read([Path(share) for share in shares])
    if out is not None and merged.command[0] != "predict":
        raise click.UsageError(f"--out is for the links of 'predict'; these are shares of '{merged.command[0]}'")
    own = [*(["--out", out] if out else []), *(["--threads", str(threads)] if threads else [])]
    own += ["--json"] * as_json + ["--quiet"] * quiet
    args = [*merged.command, *own]
    root = click.get_current_context().find_root().command
    root.main(args=args, standalone_mode=False, obj=Invocation(tuple(args), merged))

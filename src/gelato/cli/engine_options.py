"""Where a command works: ``--device`` for models, ``--engine`` and ``--address`` for scans over pairs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click

ENGINE = "gelato.engine"
"""Key of ``click.Context.meta`` for the name of the engine."""

TRAINED = "Where models are trained: 'auto', 'cpu' or a GPU such as 'cuda:0'  [default: auto]"


def _device(context: click.Context, option: click.Parameter, device: str | None) -> str | None:
    """``--engine cuda`` trains on a GPU, unless ``--device`` is given."""
    return "cuda" if device is None and context.meta.get(ENGINE) == "cuda" else device


def _engine(context: click.Context, option: click.Parameter, engine: str | None) -> None:
    """Let the scans of a command run on its engine; ``--device cuda`` scans on the GPU unless ``--engine`` is given."""
    device, address = context.params.get("device"), context.params.pop("address", None)
    if address is not None and engine != "ray":
        raise click.UsageError("--address is for a Ray cluster; add --engine ray", context)
    implied = engine is None and device is not None and device.startswith("cuda")
    engine = "cuda" if implied else "threads" if engine is None and device == "cpu" else engine or "auto"
    if not context.resilient_parsing:
        from gelato.ranking.engines import ENGINES, running_on

        context.meta[ENGINE], make, gpu = engine, ENGINES[engine], None
        if engine == "cuda":
            gpu = device if device is not None and device.startswith("cuda") else "cuda"
            make = partial(make, device=gpu)
        if engine == "ray":
            from gelato.ranking.engines.cluster import leave

            make = partial(make, address=address, device=None if device == "cpu" else "cuda")
            context.call_on_close(leave)
        if not implied:
            make(1)  # refused now where it cannot run; a device that is not there has its own refusal
        context.with_resource(running_on(make, gpu))


def engine_options(help: str = TRAINED) -> list[Callable[..., Any]]:
    """The options ``--device``, ``--engine`` and ``--address``."""
    return [
        click.option("--device", metavar="DEVICE", callback=_device, help=help),
        click.option(
            "--engine",
            metavar="ENGINE",
            expose_value=False,
            callback=_engine,
            help="Where pairs are ranked: 'auto' (a GPU if it is faster), 'threads', 'cuda' or 'ray'  [default: auto]",
        ),
        click.option(
            "--address",
            metavar="HOST:PORT",
            is_eager=True,  # read by --engine, which comes later and takes it
            help="A Ray cluster to join with --engine ray  [default: --threads workers on this machine]",
        ),
    ]

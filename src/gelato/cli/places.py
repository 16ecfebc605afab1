"""Where a command works: ``--device`` for models, ``--engine`` for scans over pairs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click

ENGINE = "gelato.engine"
"""Where a command keeps the name of its engine."""

TRAINED = "Where models are trained: 'auto', 'cpu' or a GPU such as 'cuda:0'  [default: auto]"


def _device(context: click.Context, option: click.Parameter, device: str | None) -> str | None:
    """``--engine cuda`` trains on a GPU, unless told otherwise."""
    return "cuda" if device is None and context.meta.get(ENGINE) == "cuda" else device


def _engine(context: click.Context, option: click.Parameter, engine: str | None) -> None:
    """Let the scans of a command run on its engine; ``--device cuda`` scans there too, unless told otherwise."""
    device = context.params.get("device")
    if engine is None and device is not None and device.startswith("cuda"):
        engine = "cuda"
    if engine is not None:
        from gelato.ranking.engines import ENGINES, running_on

        context.meta[ENGINE] = engine
        chosen, gpu = ENGINES[engine], None
        if engine == "cuda":
            gpu = device if device is not None and device.startswith("cuda") else "cuda"
            chosen = partial(chosen, device=gpu)
        context.with_resource(running_on(chosen, gpu))


def places(help: str = TRAINED) -> list[Callable[..., Any]]:
    """Both options."""
    return [
        click.option("--device", metavar="DEVICE", callback=_device, help=help),
        click.option(
            "--engine",
            metavar="ENGINE",
            expose_value=False,
            callback=_engine,
            help="Where pairs are ranked: 'threads' or 'cuda'  [default: threads, or cuda with --device cuda]",
        ),
    ]

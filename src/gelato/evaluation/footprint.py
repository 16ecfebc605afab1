"""What a command needs of the memory under a cap, told before anything large is read.

Large arrays live in files then, so what counts is per node and per hidden link (docs/scale.md).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gelato.datasets.catalog import DATASETS
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.archives import shapes
from gelato.io.files import DAMAGED
from gelato.io.links import PER_VALUE
from gelato.methods import METHODS
from gelato.runs.predictor import StoredPredictor
from gelato.scratch import check, limit

BASE = 330 << 20
"""Bytes of the program itself, and of arrays that are looked at some entries at a time."""

PER_NODE, PER_HIDDEN, PER_NAME, PER_ROW = 170, 240, 150, 2
"""Bytes for each node, each hidden link, each name of a node, and each row of a table."""

PARQUET = 110 << 20
"""Bytes of the library that reads parquet files, and of the rows that it reads together."""

LINE = 8
"""Bytes of a row of a table, at least about."""


def check_file(spec: str, hidden: float) -> None:
    """Refuse a file whose graph cannot be read under the cap, if there is one, or not be ranked by walks."""
    path = Path(spec)
    if limit() is None or spec in DATASETS or not path.is_file():
        return
    if path.suffix != ".npz":
        check(BASE + PARQUET * (path.suffix == ".parquet") + PER_ROW * (path.stat().st_size // LINE))
        return
    try:
        held = shapes(path)
    except DAMAGED:
        return  # told when it is read
    rows = held.get("edges", (0,))[0]
    kept = rows if "weights" in held or "times" in held else 0
    with np.load(path, allow_pickle=False) as archive:
        nodes = int(archive["num_nodes"]) if held.get("num_nodes") == () else 0
    check(_needed(nodes, rows, hidden) + PER_VALUE * kept)


def check_graph(graph: Graph, hidden: float) -> None:
    """Refuse a graph that cannot be ranked by walks under the cap, if a share of its links is hidden."""
    if limit() is not None:
        check(_needed(graph.n, graph.m, hidden) + PER_NAME * (0 if graph.names is None else graph.n))


def _needed(nodes: int, links: int, hidden: float) -> int:
    return BASE + PER_NODE * nodes + int(PER_HIDDEN * hidden * links)


def check_methods(predictors: Sequence[StoredPredictor]) -> None:
    """Refuse methods that train: what a training takes is not known under a cap."""
    if limit() is None:
        return
    for predictor in predictors:
        if METHODS[predictor.method].trains and not predictor.fitted:
            raise InputError(
                f"--memory is for methods that need no training, and {predictor.method} trains; "
                "leave it out, or train with 'gelato fit' and give --model"
            )

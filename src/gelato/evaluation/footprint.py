"""What a command needs of the memory under a cap, told before anything large is read.

Large arrays live in files then, so what counts is per node and per hidden link, and what some methods need for
attributes (docs/scale.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from scipy.sparse import issparse

from gelato.datasets.catalog import DATASETS
from gelato.errors import InputError
from gelato.evaluation.naming import EVERY, listed
from gelato.graph import Graph
from gelato.io.archives import headers
from gelato.io.files import DAMAGED
from gelato.io.links import PER_VALUE
from gelato.methods import METHODS
from gelato.runs.predictor import StoredPredictor
from gelato.scratch import LARGE, check, limit

BASE = 330 << 20
"""Bytes of the program itself, and of arrays that are looked at some entries at a time."""

PER_NODE, PER_HIDDEN, PER_NAME, PER_ROW = 170, 240, 150, 2
"""Bytes for each node, each hidden link, each name of a node or an attribute, and each row of a table."""

PARQUET = 110 << 20
"""Bytes of the library that reads parquet files, and of the rows that it reads together."""

ATTRIBUTES = ("x", "x_data", "x_indices", "x_indptr")
"""The arrays of attributes in npz files."""

LINE = 8
"""Bytes of a row of a table, at least about."""


@dataclass(frozen=True)
class Sizes:
    """How much of everything a graph has.

    Attributes:
        nodes, links, attributes: how many.
        names: how many names, of nodes and attributes.
        valued: how many links with a weight or a time are to be sorted.
        sparse: whether the attributes are.
        small: bytes of the arrays of attributes that are too small to lie in files.
    """

    nodes: int
    links: int
    attributes: int = 0
    names: int = 0
    valued: int = 0
    sparse: bool = False
    small: int = 0

    def needed(self, hidden: float, method: str | None) -> int:
        """Bytes needed to read the graph and to rank it by some methods, if a share of its links is hidden."""
        methods = () if method is None or not self.attributes else METHODS if method == EVERY else listed(method)
        spaces = [METHODS[name].space(self.nodes, self.attributes, self.sparse) for name in methods]
        graph = PER_NODE * self.nodes + PER_NAME * self.names + PER_VALUE * self.valued + self.small
        return BASE + graph + int(PER_HIDDEN * hidden * self.links) + max(spaces, default=0)


def check_file(spec: str, attributes: str | None, hidden: float, method: str | None) -> None:
    """Refuse files whose graph cannot be read under the cap, if there is one, or not be ranked by some methods."""
    path = Path(spec)
    if limit() is None or spec in DATASETS or not path.is_file():
        return
    library = PARQUET * any(Path(file).suffix == ".parquet" for file in (spec, attributes or ""))
    if path.suffix != ".npz":
        check(BASE + library + PER_ROW * (path.stat().st_size // LINE))
        return
    try:
        sizes = _sizes_in(path)
    except DAMAGED:
        return  # told when it is read
    check(sizes.needed(hidden, method) + library)


def check_graph(graph: Graph, hidden: float, method: str | None) -> None:
    """Refuse a graph that cannot be ranked by some methods under the cap, if a share of its links is hidden."""
    if limit() is None:
        return
    names = sum(len(each) for each in (graph.names, graph.attribute_names) if each is not None)
    check(Sizes(graph.n, graph.m, graph.f, names, sparse=issparse(graph.attributes)).needed(hidden, method))


def _sizes_in(path: Path) -> Sizes:
    """What the headers of an npz file tell."""
    held = headers(path)
    rows = {name: shape[0] if shape else 0 for name, (shape, _) in held.items()}
    with np.load(path, allow_pickle=False) as archive:
        nodes = int(archive["num_nodes"]) if held["num_nodes"][0] == () else 0
        shape = archive["x_shape"].tolist() if rows.get("x_shape") == 2 else held.get("x", ((0, 0),))[0]
    sizes = [prod(held[name][0]) * held[name][1].itemsize for name in ATTRIBUTES if name in held]
    return Sizes(
        nodes,
        rows["edges"],
        int(shape[-1]),
        rows.get("names", 0) + rows.get("x_names", 0),
        rows["edges"] if "weights" in held or "times" in held else 0,
        "x_shape" in held,
        sum(size for size in sizes if size < LARGE),
    )


def check_methods(predictors: Sequence[StoredPredictor]) -> None:
    """Refuse methods that train: what a training takes is not known under a cap."""
    if limit() is None:
        return
    for predictor in predictors:
        entry = METHODS[predictor.method]
        if (entry.trains or entry.compares) and not predictor.fitted:
            raise InputError(
                f"--memory is for methods that need no training, and {predictor.method} trains; choose another, such"
                " as --method ac, leave out --memory, or train with 'gelato fit' and give --model"
            )

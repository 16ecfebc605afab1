"""What a command needs of memory, estimated from the headers of its files, and again from the graph that was read.

Under a cap (``--memory``) a command that needs more is refused; ``costs.memory`` tells what is counted.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from gelato.costs.memory import BASE, Sizes
from gelato.datasets.catalog import DATASETS
from gelato.errors import InputError
from gelato.evaluation.method_options import EVERY, parse_method_list
from gelato.graph import Graph
from gelato.io.files import DAMAGED
from gelato.io.stored_files import open_stored
from gelato.io.untrusted import headers
from gelato.kernels.threads import default_threads
from gelato.memory.cap import check_memory, is_mapped, limit
from gelato.methods import METHODS
from gelato.prediction.predictor import LinkPredictor

PARQUET = 110 << 20
"""Bytes of the library that reads parquet files, and of the rows that it reads together."""

PER_BYTE, PER_LETTER = 0.25, 12
"""Bytes for each byte of a parquet file, at least, and of a text, which is held together with its columns."""


def needed_memory(sizes: Sizes, hidden: float, method: str | None, threads: int | None) -> int:
    """Bytes needed to read a graph of these sizes and to rank it by some methods, if a share of its links is hidden."""
    methods = () if method is None else METHODS if method == EVERY else parse_method_list(method)
    return sizes.needed(hidden, threads or default_threads(), [METHODS[name].space for name in methods])


def check_file(
    spec: str, attributes: Sequence[str] | None, hidden: float, method: str | None, threads: int | None
) -> None:
    """Refuse files whose graph cannot be read under the cap, if there is one, or not be ranked by some methods."""
    path = Path(spec)
    if limit() is None or spec in DATASETS or not path.is_file():
        return
    library = PARQUET * any(Path(file).suffix == ".parquet" for file in (spec, *(attributes or ())))
    if path.suffix != ".npz":
        each = PER_BYTE if path.suffix == ".parquet" else PER_LETTER
        check_memory(BASE + library + int(each * path.stat().st_size))
        return
    try:
        sizes = _sizes_in(path)
    except (*DAMAGED, IndexError):
        return  # refused with the reason when it is read
    check_memory(needed_memory(sizes, hidden, method, threads) + library)


def check_graph(graph: Graph, hidden: float, method: str | None, threads: int | None = None) -> None:
    """Refuse a graph that cannot be ranked by some methods under the cap, if a share of its links is hidden."""
    if limit() is None:
        return
    X = graph.attributes
    arrays = () if X is None else (X.data, X.indices, X.indptr) if isinstance(X, csr_array) else (X,)
    sizes = Sizes(
        graph.n,
        graph.m,
        graph.f,
        sum(len(each) for each in (graph.names, graph.attribute_names) if each is not None),
        entries=X.nnz if isinstance(X, csr_array) else None,
        held=sum(array.nbytes for array in arrays if not is_mapped(array)),
    )
    check_memory(needed_memory(sizes, hidden, method, threads))


def _sizes_in(path: Path) -> Sizes:
    """What the headers of an npz file tell."""
    with open_stored(path) as stream:
        held = headers(stream)
    rows = {name: header.shape[0] if header.shape else 0 for name, header in held.items()}
    with open_stored(path) as stream, np.load(stream, allow_pickle=False) as archive:
        nodes = int(archive["num_nodes"]) if held["num_nodes"].shape == () else 0
        sparse = rows.get("x_shape") == 2
        shape = archive["x_shape"].tolist() if sparse else held["x"].shape if "x" in held else (0,)
    arrays = [held[name] for name in ("x", "x_data", "x_indices", "x_indptr") if name in held]
    return Sizes(
        nodes,
        rows["edges"],
        int(shape[-1]),
        rows.get("names", 0) + rows.get("x_names", 0),
        rows["edges"] if "weights" in held or "times" in held else 0,
        rows.get("x_data", 0) if sparse else None,
        sum(header.size for header in arrays if not header.mapped),
    )


def check_methods(predictors: Sequence[LinkPredictor]) -> None:
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

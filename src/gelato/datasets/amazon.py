"""The npz files of gnn-benchmark: Amazon co-purchases and Microsoft Academic co-authors."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.archives import read_arrays
from gelato.io.files import DAMAGED

ARRAYS = {"labels", *(f"{name}_{part}" for name in ("adj", "attr") for part in ("data", "indices", "indptr", "shape"))}


def read_benchmark(folder: Path, *, file: str) -> Graph:
    """The graph in one npz file of gnn-benchmark, as PyTorch Geometric reads it.

    The links of the file are directed; here they lose their direction, and loops are dropped. Positive attributes
    become 1 (co-author files hold counts). Names of nodes, attributes and classes are pickled
    in these files and never loaded.
    """
    path = folder / file
    try:
        with path.open("rb") as opened:
            arrays = read_arrays(path, opened, ARRAYS)
        links, attributes, labels = _matrix(arrays, "adj"), _matrix(arrays, "attr"), arrays["labels"]
    except DAMAGED as error:
        raise InputError(f"{path} is not a gnn-benchmark file: {error}; delete it to download it again") from error
    attributes.data = (attributes.data > 0).astype(np.float32)
    attributes.eliminate_zeros()
    links.eliminate_zeros()
    source, target = links.nonzero()
    return Graph.from_edges(
        np.column_stack([source, target]), links.shape[0], attributes=attributes, labels=labels.astype(np.int64)
    )


def _matrix(arrays: Mapping[str, NDArray[Any]], name: str) -> csr_array:
    triple = (arrays[f"{name}_data"], arrays[f"{name}_indices"], arrays[f"{name}_indptr"])
    matrix = csr_array(triple, shape=tuple(arrays[f"{name}_shape"]))
    matrix.check_format()
    return matrix

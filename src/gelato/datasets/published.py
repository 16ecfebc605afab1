"""The files of published graphs with attributes: the Planetoid release, and the npz files of gnn-benchmark.

The former has Cora, CiteSeer and PubMed, the latter Amazon co-purchases and Microsoft Academic co-authors.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from gelato.datasets.pickles import read_pickle
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.files import DAMAGED
from gelato.io.stored_files import open_stored, read_text
from gelato.io.untrusted import read_arrays

ARRAYS = {"labels", *(f"{name}_{part}" for name in ("adj", "attr") for part in ("data", "indices", "indptr", "shape"))}


def read_benchmark(folder: Path, *, file: str) -> Graph:
    """The graph in one npz file of gnn-benchmark, as PyTorch Geometric reads it.

    The links of the file are directed; here they lose their direction, and loops are dropped. Positive attributes
    become 1 (co-author files hold counts). Names of nodes, attributes and classes are pickled
    in these files and never loaded.
    """
    path = folder / file
    try:
        with open_stored(path) as opened:
            arrays = read_arrays(path, opened, ARRAYS)
        links, attributes, labels = _stored_rows(arrays, "adj"), _stored_rows(arrays, "attr"), arrays["labels"]
    except DAMAGED as error:
        raise InputError(f"{path} is not a gnn-benchmark file: {error}; delete it to download it again") from error
    attributes.data = (attributes.data > 0).astype(np.float32)
    attributes.eliminate_zeros()
    links.eliminate_zeros()
    source, target = links.nonzero()
    return Graph.from_edges(
        np.column_stack([source, target]), links.shape[0], attributes=attributes, labels=labels.astype(np.int64)
    )


def _stored_rows(arrays: Mapping[str, NDArray[Any]], name: str) -> csr_array:
    triple = (arrays[f"{name}_data"], arrays[f"{name}_indices"], arrays[f"{name}_indptr"])
    matrix = csr_array(triple, shape=tuple(arrays[f"{name}_shape"]))
    matrix.check_format(full_check=True)
    return matrix


def read_planetoid(folder: Path, *, name: str) -> Graph:
    """The graph in the files ``ind.<name>.*`` of a folder, as PyTorch Geometric reads it.

    Rows ``0 .. len(allx) - 1`` of the attributes are ``allx``; row ``i`` of ``tx`` belongs to the node on line ``i``
    of ``test.index``. Nodes in neither of them (15 in CiteSeer) have no attributes and label 0. The lists
    of neighbours hold loops and repeats, which are dropped.
    """
    allx, tx = (_matrix(folder / f"ind.{name}.{part}") for part in ("allx", "tx"))
    ally, ty = (_table(folder / f"ind.{name}.{part}") for part in ("ally", "ty"))
    tested = _indices(folder / f"ind.{name}.test.index")
    known = allx.shape[0]
    if tx.shape != (len(tested), allx.shape[1]) or len(ally) != known or ty.shape != (len(tested), ally.shape[1]):
        raise InputError(
            f"the sizes of the files ind.{name}.* in {folder} disagree: allx {allx.shape}, ally {ally.shape}, "
            f"tx {tx.shape}, ty {ty.shape}, test.index {len(tested)}"
        )
    if tested.min() < known or len(np.unique(tested)) != len(tested):
        raise InputError(f"{folder / f'ind.{name}.test.index'} must list each node from {known} on at most once")
    n = int(tested.max()) + 1
    row = np.full(n, known + len(tested))  # the row of zeros at the end, for nodes that no file describes
    row[:known] = np.arange(known)
    row[tested] = known + np.arange(len(tested))
    nothing = csr_array((1, allx.shape[1]), dtype=np.float32)
    attributes = csr_array(vstack([allx, tx, nothing], format="csr"))[row]
    labels = np.concatenate([ally.argmax(axis=1), ty.argmax(axis=1), [0]])[row]
    return Graph.from_edges(_links(folder / f"ind.{name}.graph"), n, attributes=attributes, labels=labels)


def _matrix(path: Path) -> csr_array:
    value: Any = read_pickle(path)
    if not isinstance(value, csr_array):
        raise InputError(f"{path} must hold a sparse matrix, got {type(value).__name__}")
    return value.astype(np.float32)


def _table(path: Path) -> NDArray[Any]:
    value = read_pickle(path)
    if not isinstance(value, np.ndarray) or value.ndim != 2:
        raise InputError(f"{path} must hold one row of classes per node, got {type(value).__name__}")
    return value


def _indices(path: Path) -> NDArray[np.int64]:
    try:
        return np.array([int(line) for line in read_text(path).split()], dtype=np.int64)
    except ValueError as error:
        raise InputError(f"{path} must hold one node index per line: {error}") from error


def _links(path: Path) -> NDArray[np.int64]:
    neighbours = read_pickle(path)
    if not isinstance(neighbours, dict):
        raise InputError(f"{path} must hold a list of neighbours for each node, got {type(neighbours).__name__}")
    try:
        u = np.repeat(list(neighbours), [len(others) for others in neighbours.values()])
        v = np.array([other for others in neighbours.values() for other in others])
        return np.column_stack([u, v]).astype(np.int64, casting="safe")
    except (TypeError, ValueError) as error:
        raise InputError(f"{path} must hold lists of node indices: {error}") from error

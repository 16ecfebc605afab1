"""Whole graphs in ``.npz`` files, without pickle.

``edges`` ``(m, 2)`` and ``num_nodes`` are always present; attributes are ``x`` if dense, and ``x_data``, ``x_indices``,
``x_indptr`` and ``x_shape`` when sparse; ``y``, ``names``, ``x_names``, ``weights``, ``times``, ``directed`` and
``sides`` stand for labels, names of nodes and attributes, weights and times of the links, direction, and the side of
each node of a bipartite graph, where the graph has them; ``scaling_kind`` and further ones for how the attributes were
scaled.
Names are text or integers; other arrays in the file are ignored.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.attribute_scaling import Scaling
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io.files import DAMAGED, naming_file, written_aside
from gelato.io.stored_files import open_stored
from gelato.io.untrusted import read_arrays
from gelato.sparse.csr import freeze

SPARSE_ARRAYS = ("x_data", "x_indices", "x_indptr", "x_shape")
SCALING = "scaling_"
"""What the names of the arrays of a scaling begin with."""


def read_npz(path: Path, directed: bool = False) -> Graph:
    """The graph in a file; ``directed`` applies to files that do not say."""
    arrays = _arrays(path)
    missing = [name for name in ("edges", "num_nodes") if name not in arrays]
    if 0 < sum(name in arrays for name in SPARSE_ARRAYS) < len(SPARSE_ARRAYS):
        missing += [name for name in SPARSE_ARRAYS if name not in arrays]
    if missing:
        present = ", ".join(arrays) or "nothing"
        raise InputError(f"{path}: there is no array {', '.join(missing)}; it holds {present}")
    nodes = arrays["num_nodes"]
    if nodes.shape != () or nodes.dtype.kind not in "iu":
        raise InputError(f"{path}: num_nodes must be one integer, got {nodes.dtype} of shape {nodes.shape}")
    try:
        return Graph.from_edges(
            arrays["edges"],
            int(nodes),
            weights=arrays.get("weights"),
            times=arrays.get("times"),
            directed=_directed(arrays, directed),
            attributes=_attributes(arrays),
            names=_objects(arrays.get("names")),
            attribute_names=_objects(arrays.get("x_names")),
            labels=arrays.get("y"),
            sides=arrays.get("sides"),
            scaling=_scaling(arrays),
        )
    except (TypeError, ValueError) as error:  # InputError is a ValueError
        raise InputError(f"{path}: {error}") from None


def write_npz(graph: Graph, path: Path) -> None:
    """Write everything the graph holds except the count of dropped links."""
    u, v = graph.edges.T
    small = graph.n <= np.iinfo(np.int32).max
    arrays: dict[str, Any] = {
        "edges": graph.edges.astype(np.int32 if small else np.int64),
        "num_nodes": np.int64(graph.n),
        "names": _plain(graph.names, "names", path),
        "x_names": _plain(graph.attribute_names, "attribute names", path),
        "y": _plain(graph.labels, "labels", path),
        "weights": graph.adjacency[u, v] if graph.weighted else None,
        "times": graph.times,
        "directed": np.bool_(True) if graph.directed else None,
        "sides": graph.sides,
    }
    x = graph.attributes
    if isinstance(x, csr_array):
        arrays |= {"x_data": x.data, "x_indices": x.indices, "x_indptr": x.indptr, "x_shape": np.array(x.shape)}
    else:
        arrays["x"] = x
    if graph.scaling is not None:
        arrays |= {SCALING + name: array for name, array in graph.scaling.arrays().items()}
    with written_aside(path) as goal, goal.open("wb") as stream:
        np.savez_compressed(stream, **{name: array for name, array in arrays.items() if array is not None})


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    with naming_file(path), open_stored(path) as stream:
        try:
            return read_arrays(path, stream)
        except InputError:
            raise
        except DAMAGED as error:
            problem = " is not a complete .npz file; download or write it again"
            if "allow_pickle" in str(error) or "pickled data" in str(error):
                problem = ": it holds pickled Python objects, which are never loaded; save plain arrays"
            raise InputError(f"{path}{problem}") from None


def _directed(arrays: dict[str, NDArray[Any]], otherwise: bool) -> bool:
    """Whether links are directed, as the file says; words are refused, since 'no' would count as true."""
    given = arrays.get("directed", np.bool_(otherwise))
    if given.shape != () or given.dtype.kind not in "biu" or int(given) not in (0, 1):
        raise InputError(f"directed must be one truth value, got {given.dtype} of shape {given.shape}")
    return bool(given)


def _attributes(arrays: dict[str, NDArray[Any]]) -> NDArray[Any] | csr_array | None:
    """The attributes, which are not copied: nobody else has these arrays."""
    for name in ("x", *SPARSE_ARRAYS):
        if name in arrays:
            freeze(arrays[name])
    if "x_data" not in arrays:
        return arrays.get("x")
    try:
        shape = tuple(arrays["x_shape"].tolist())
        indices, indptr = (_index(arrays, name, shape) for name in ("x_indices", "x_indptr"))
        attributes = csr_array((arrays["x_data"], indices, indptr), shape=shape)
        attributes.check_format(full_check=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"{', '.join(SPARSE_ARRAYS)} do not fit together: {error}") from None
    return attributes


def _index(arrays: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """An array of indices, of the type that SciPy would make it by a copy in memory."""
    given, kinds = arrays[name], [arrays[each].dtype for each in ("x_indices", "x_indptr")]
    small = max(shape) <= np.iinfo(np.int32).max and all(np.can_cast(kind, np.int32) for kind in kinds)
    kind = np.int32 if small else np.int64
    if given.dtype == kind or given.dtype.kind not in "iu":
        return given
    index = given.astype(kind)
    freeze(index)
    return index


def _scaling(arrays: dict[str, NDArray[Any]]) -> Scaling | None:
    held = {name.removeprefix(SCALING): array for name, array in arrays.items() if name.startswith(SCALING)}
    try:
        return Scaling.of_arrays(held) if "kind" in held else None
    except KeyError as error:
        raise InputError(f"there is no array {SCALING}{error.args[0]}; write the file again") from None


def _objects(array: NDArray[Any] | None) -> NDArray[Any] | None:
    """The same names as Python's own ``str`` and ``int``, which print without their type."""
    if array is None:
        return None
    if array.ndim != 1:
        raise InputError(f"names must be a list of one name per node or attribute, got shape {array.shape}")
    text = np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array
    return np.fromiter(text.tolist(), dtype=object, count=text.size)


def _plain(array: NDArray[Any] | None, what: str, path: Path) -> NDArray[Any] | None:
    """The same values in an array that needs no pickle."""
    if array is None or array.dtype.kind != "O":
        return array
    values = array.tolist()
    for kind, dtype in ((str, np.str_), (int, np.int64)):
        if all(type(value) is kind for value in values):
            with suppress(OverflowError):
                plain = np.array(values, dtype=dtype)
                if plain.tolist() == values:  # NumPy cuts trailing null characters off
                    return plain
    raise InputError(f"{path}: {what} must be all text or all 64-bit integers to be stored without pickle")

"""Graphs from and to the data objects of PyTorch Geometric, which hold both directions of a link."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError, optional
from gelato.graph import Graph
from gelato.io.convert.scipy import from_both_directions
from gelato.io.links.edges import edge_columns
from gelato.io.write.predicted import RankedLinks, checked_links
from gelato.validation import checked_direction, real_numbers


def from_pyg(data: Any, *, directed: bool = False) -> Graph:
    """The graph of a ``torch_geometric.data.Data``.

    It is read from ``edge_index``, which may hold an undirected link in one direction or in both, and from
    ``edge_weight``, ``edge_time``, ``x``, ``x_names``, ``y``, ``names`` and ``sides`` where they exist.
    """
    if data.edge_index is None:
        raise InputError("the Data object has no edge_index; convert its links to one first")
    pairs = data.edge_index.cpu().numpy().T
    keys = ("edge_weight", "edge_time", "x", "y", "names", "x_names", "sides")
    weights, times, x, y, names, x_names, sides = (data.get(key) for key in keys)
    fields = {
        "attributes": None if x is None else _attributes(x),
        "labels": None if y is None else y.cpu().numpy().ravel(),
        "names": None if names is None else list(names),
        "attribute_names": None if x_names is None else list(x_names),
        "sides": None if sides is None else sides.cpu().numpy(),
    }
    checked_direction(directed)
    weight = np.ones(len(pairs)) if weights is None else real_numbers(weights.cpu().numpy().ravel(), "edge_weight")
    time = None if times is None else real_numbers(times.cpu().numpy().ravel(), "edge_time")
    return from_both_directions(pairs, weight, time, int(data.num_nodes), directed, fields)


def to_pyg(graph: Graph, *, sparse: bool = False, predicted: RankedLinks | None = None) -> Any:
    """The ``torch_geometric.data.Data`` of a graph, with both directions of an undirected link.

    Attributes and weights are of Torch's default dtype; ``x`` is dense unless ``sparse``. Labels that are not
    numbers become their position in the sorted ``y_names``. Predicted links are kept out of ``edge_index``: they are in
    ``predicted_edge_index`` ``(2, k)`` and ``predicted_score`` ``(k,)``, each once, the best first.
    """
    data_module = optional("torch_geometric.data", purpose="to_pyg", extra="pyg")
    torch = optional("torch", purpose="to_pyg", extra="pyg")
    header, (u, v, *rest) = edge_columns(graph)
    if not graph.directed:
        u, v, *rest = np.concatenate([u, v]), np.concatenate([v, u]), *(np.tile(column, 2) for column in rest)
    data = data_module.Data(edge_index=torch.from_numpy(np.stack([u, v])), num_nodes=graph.n)
    for name, column in zip(header[2:], rest, strict=True):
        kind = torch.float64 if name == "time" else torch.get_default_dtype()
        data[f"edge_{name}"] = torch.tensor(column, dtype=kind)
    if graph.attributes is not None:
        data.x = _tensor(graph.attributes, sparse, torch)
    if graph.labels is not None:
        y_names, codes = np.unique(graph.labels, return_inverse=True)
        numeric = graph.labels.dtype.kind in "biuf"
        data.y = torch.tensor(graph.labels if numeric else codes)
        data.y_names = None if numeric else y_names.tolist()
    if graph.names is not None:
        data.names = graph.names.tolist()
    if graph.attribute_names is not None:
        data.x_names = graph.attribute_names.tolist()
    if graph.sides is not None:
        data.sides = torch.tensor(graph.sides)
    if predicted is not None:
        ranked, score = checked_links(graph, predicted)
        data.predicted_edge_index = torch.tensor(ranked.T)
        data.predicted_score = torch.tensor(score, dtype=torch.get_default_dtype())
    return data


def _tensor(attributes: NDArray[Any] | csr_array, sparse: bool, torch: Any) -> Any:
    dtype = torch.get_default_dtype()
    if not sparse:
        return torch.tensor(attributes.toarray() if isinstance(attributes, csr_array) else attributes, dtype=dtype)
    coo = csr_array(attributes).tocoo()
    at, values = np.stack(coo.coords), torch.tensor(coo.data, dtype=dtype)
    return torch.sparse_coo_tensor(at, values, coo.shape, check_invariants=True, is_coalesced=True)


def _attributes(x: Any) -> Any:
    """Attributes of a dense tensor, or of a sparse one of any layout."""
    if "sparse" not in str(x.layout):
        dense = x.detach().cpu().numpy()
        return dense[:, None] if dense.ndim == 1 else dense
    coo = x.detach().cpu().to_sparse_coo().coalesce()
    return csr_array((coo.values().numpy(), tuple(coo.indices().numpy())), shape=tuple(coo.shape))

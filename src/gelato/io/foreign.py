"""Graphs of SciPy and PyTorch Geometric, which hold both directions of a link, as ``(2, p)`` arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gelato.arguments import checked_direction, real_numbers
from gelato.errors import InputError
from gelato.graph import Graph, pair_keys
from gelato.io.edges import edge_columns
from gelato.io.optional import optional
from gelato.io.predicted import RankedLinks, checked


def from_scipy(adjacency: Any, *, directed: bool = False, **fields: Any) -> Graph:
    """The graph of a sparse ``(n, n)`` matrix of weights, symmetric unless ``directed``; the diagonal is dropped.

    ``fields`` are the other attributes of ``Graph``, such as ``attributes`` and ``names``.

    >>> from_scipy(csr_array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), names=["a", "b", "c"])
    Graph(3 nodes, 2 links, 0 attributes)
    """
    checked_direction(directed)
    sparse, shape = issparse(adjacency), np.shape(adjacency)
    if not sparse or len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(f"adjacency must be a square sparse matrix, got {type(adjacency).__name__} {shape}")
    links: csr_array = csr_array(adjacency, copy=True)
    links.data = real_numbers(links.data, "weights")
    links.sum_duplicates()
    links.eliminate_zeros()
    finite = np.isfinite(links.data).all()  # what is not finite is refused below, with its place
    if not directed and finite and (links - links.T).count_nonzero():
        raise InputError("adjacency is not symmetric; pass directed=True, or add its transpose to it")
    u, v = links.nonzero()
    return _from_both(np.column_stack([u, v]), links.data, None, links.shape[0], directed, fields)


def to_scipy(graph: Graph) -> csr_array:
    """The ``(n, n)`` weights of a graph, as a matrix that may be changed.

    >>> to_scipy(Graph.from_edges([[0, 1], [1, 2]])).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    return graph.adjacency.copy()


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
        "names": None if names is None else np.fromiter(names, dtype=object, count=len(names)),
        "attribute_names": None if x_names is None else np.fromiter(x_names, dtype=object, count=len(x_names)),
        "sides": None if sides is None else sides.cpu().numpy(),
    }
    checked_direction(directed)
    weight = np.ones(len(pairs)) if weights is None else real_numbers(weights.cpu().numpy().ravel(), "edge_weight")
    time = None if times is None else real_numbers(times.cpu().numpy().ravel(), "edge_time")
    return _from_both(pairs, weight, time, int(data.num_nodes), directed, fields)


def to_pyg(graph: Graph, *, sparse: bool = False, predicted: RankedLinks | None = None) -> Any:
    """The ``torch_geometric.data.Data`` of a graph, with both directions of an undirected link.

    Attributes and weights are of Torch's default dtype; ``x`` is dense unless ``sparse``. Labels that are not
    numbers become their position in the sorted ``y_names``. Predicted links are kept out of ``edge_index``: they are in
    ``predicted_edge_index`` ``(2, k)`` and ``predicted_score`` ``(k,)``, each once, the best first.
    """
    data_module = optional("torch_geometric.data", purpose="to_pyg", extra="pyg")
    torch = optional("torch", purpose="to_pyg", extra="pyg")
    header, columns = edge_columns(graph)
    u, v, *rest = columns
    if not graph.directed:
        u, v, *rest = np.concatenate([u, v]), np.concatenate([v, u]), *(np.tile(column, 2) for column in rest)
    data = data_module.Data(edge_index=torch.from_numpy(np.stack([u, v])), num_nodes=graph.n)
    for name, column in zip(header[2:], rest, strict=True):
        data[f"edge_{name}"] = torch.tensor(
            column, dtype=torch.float64 if name == "time" else torch.get_default_dtype()
        )
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
        ranked, score = checked(graph, predicted)
        data.predicted_edge_index = torch.tensor(ranked.T)
        data.predicted_score = torch.tensor(score, dtype=torch.get_default_dtype())
    return data


def _from_both(
    pairs: NDArray[np.int64],
    weights: NDArray[np.float64],
    times: NDArray[np.float64] | None,
    n: int,
    directed: bool,
    fields: dict[str, Any],
) -> Graph:
    """The graph of links given in both directions, or in one; the other direction is not counted as a repeat."""
    if not directed and len(weights) == len(pairs):
        there, i = np.unique(pair_keys(pairs, n), return_index=True)
        back, j = np.unique(pair_keys(pairs[:, ::-1], n), return_index=True)
        if np.array_equal(there, back):
            unequal = np.flatnonzero((weights[i] != weights[j]) & ~np.isnan(weights[i]))
            if len(unequal):
                first, second = i[unequal[0]], j[unequal[0]]
                u, v = pairs[first]
                raise InputError(
                    f"link ({u}, {v}) has weight {weights[first]}, and ({v}, {u}) has {weights[second]}; "
                    "make them equal, or pass directed=True"
                )
            half = pairs[:, 0] <= pairs[:, 1]
            pairs, weights, times = pairs[half], weights[half], None if times is None else times[half]
    return Graph.from_edges(pairs, n, weights=weights, times=times, directed=directed, **fields)


def _tensor(attributes: NDArray[Any] | csr_array, sparse: bool, torch: Any) -> Any:
    dtype = torch.get_default_dtype()
    if not sparse:
        return torch.tensor(attributes.toarray() if isinstance(attributes, csr_array) else attributes, dtype=dtype)
    coo = csr_array(attributes).tocoo()
    return torch.sparse_coo_tensor(
        np.stack(coo.coords), torch.tensor(coo.data, dtype=dtype), coo.shape, check_invariants=True, is_coalesced=True
    )


def _attributes(x: Any) -> Any:
    """Attributes of a dense tensor, or of a sparse one of any layout."""
    if "sparse" not in str(x.layout):
        dense = x.detach().cpu().numpy()
        return dense[:, None] if dense.ndim == 1 else dense
    coo = x.detach().cpu().to_sparse_coo().coalesce()
    return csr_array((coo.values().numpy(), tuple(coo.indices().numpy())), shape=tuple(coo.shape))

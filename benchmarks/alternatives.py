"""Other software at its own work: each function takes a graph and returns the call that is timed.

Inputs are converted beforehand, which is not timed. Packages are imported inside, so that missing ones can be skipped.
"""

import os
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, diags_array

from gelato.graph import Graph
from gelato.scores.autocovariance import autocovariance

Call = Callable[[], Any]

NEAREST = 10
"""Partners of each node in the searches."""


def steps_of(graph: Graph) -> tuple[csr_array, csr_array]:
    """The matrices of autocovariance: ``A`` with loops at isolated nodes, and ``Q = D^-1 A``."""
    A = autocovariance(graph).first
    Q = csr_array(diags_array(1 / A.sum(axis=1)) @ A)
    for matrix in (A, Q):
        matrix.indptr, matrix.indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return A, Q


def dense_sorted(graph: Graph) -> Call:
    """The straightforward form: an n x n matrix, all pairs listed and sorted."""
    A, Q = steps_of(graph)

    def call() -> np.ndarray:
        d = A.sum(axis=1)
        R = (A @ Q @ Q).toarray() / d.sum()
        R -= np.outer(d, d) / d.sum() ** 2
        u, v = graph.edges.T
        R[u, v] = np.nan
        pairs = R[np.triu_indices(graph.n, 1)]
        np.sort(pairs[~np.isnan(pairs)])
        return R

    return call


def scipy_square(graph: Graph) -> Call:
    """SciPy's product A A."""
    A = graph.pattern
    return lambda: A @ A


def scipy_cube(graph: Graph) -> Call:
    """SciPy's product A Q Q."""
    A, Q = steps_of(graph)
    return lambda: A @ Q @ Q


def mkl_square(graph: Graph) -> Call:
    """MKL's product A A, on all threads."""
    product = _mkl()
    A = csr_matrix(graph.pattern)
    return lambda: product(A, A)


def mkl_cube(graph: Graph) -> Call:
    """MKL's product A Q Q, on all threads."""
    product = _mkl()
    A, Q = map(csr_matrix, steps_of(graph))
    return lambda: product(product(A, Q), Q)


def _mkl() -> Callable[..., Any]:
    """The product of sparse_dot_mkl, which does not find the library of the package mkl by itself."""
    try:
        library = next(path for path in metadata.files("mkl") or () if path.name.startswith("libmkl_rt."))
        os.environ.setdefault("MKL_RT", str(library.locate()))
    except (metadata.PackageNotFoundError, StopIteration):
        pass  # one of the system, perhaps
    from sparse_dot_mkl import dot_product_mkl

    return dot_product_mkl


def graphblas_square(graph: Graph) -> Call:
    """SuiteSparse:GraphBLAS: counts of common neighbours, links masked out."""
    import graphblas as gb

    A = gb.io.from_scipy_sparse(csr_matrix(graph.pattern))
    return lambda: A.mxm(A, gb.semiring.plus_pair[gb.dtypes.INT32]).new(mask=~A.S)


def graphblas_cube(graph: Graph) -> Call:
    """SuiteSparse:GraphBLAS: A Q Q, links masked out."""
    import graphblas as gb

    A, Q = (gb.io.from_scipy_sparse(csr_matrix(matrix)) for matrix in steps_of(graph))
    return lambda: A.mxm(Q).new().mxm(Q).new(mask=~A.S)


def networkx_aa(graph: Graph) -> Call:
    """networkx: Adamic-Adar of all pairs that are not linked."""
    import networkx as nx

    G = nx.Graph()
    G.add_nodes_from(range(graph.n))
    G.add_edges_from(graph.edges.tolist())
    return lambda: list(nx.adamic_adar_index(G))


def networkit_cn(graph: Graph) -> Call:
    """NetworKit: common neighbours of all pairs that are not linked."""
    import networkit as nk

    G = nk.Graph(graph.n)
    for u, v in graph.edges.tolist():
        G.addEdge(u, v)
    nk.setNumberOfThreads(os.cpu_count() or 1)
    return lambda: nk.linkprediction.CommonNeighborsIndex(G).runAll()


def scikit_network_nearest(graph: Graph) -> Call:
    """scikit-network: for each node those whose neighbourhoods have the largest cosine."""
    from sknetwork.linkpred import NNLinker

    A = csr_matrix(graph.pattern)
    return lambda: NNLinker(n_neighbors=NEAREST).fit_predict(A)


def implicit_nearest(graph: Graph) -> Call:
    """implicit: for each node the nodes with the most common neighbours, itself and its links among them."""
    from implicit.nearest_neighbours import all_pairs_knn

    A = csr_matrix(graph.pattern).copy()  # it asks for arrays that can be written to
    return lambda: all_pairs_knn(A, NEAREST, show_progress=False)


def torch_dense(graph: Graph, device: str = "cpu") -> Call:
    """torch: the products A Q Q of dense matrices in single precision."""
    import torch

    A, Q = (torch.tensor(matrix.toarray(), dtype=torch.float32, device=device) for matrix in steps_of(graph))
    return lambda: _finished(torch, A @ Q @ Q)


def torch_dense_cuda(graph: Graph) -> Call:
    """The same on a GPU."""
    return torch_dense(graph, "cuda")


def cusparse_square(graph: Graph) -> Call:
    """torch on a GPU: the sparse product A A by cuSPARSE, in single precision."""
    import torch

    A = _on_gpu(torch, csr_array(graph.pattern))
    return lambda: _finished(torch, A @ A)


def cusparse_cube(graph: Graph) -> Call:
    """torch on a GPU: the sparse products A Q Q by cuSPARSE, in single precision."""
    import torch

    A, Q = (_on_gpu(torch, matrix) for matrix in steps_of(graph))
    return lambda: _finished(torch, A @ Q @ Q)


def _on_gpu(torch: Any, matrix: csr_array) -> Any:
    arrays = (torch.from_numpy(part.astype(np.int32)) for part in (matrix.indptr, matrix.indices))
    values = torch.from_numpy(matrix.data.astype(np.float32))
    return torch.sparse_csr_tensor(*arrays, values, matrix.shape, device="cuda")


def _finished(torch: Any, result: Any) -> Any:
    """A result once the device has it: launches return earlier."""
    if result.is_cuda:
        torch.cuda.synchronize()
    return result

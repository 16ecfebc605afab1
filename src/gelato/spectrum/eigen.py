"""The leading eigenpairs of the degree-scaled adjacency (singular triplets where the graph is directed)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.costs.estimates import seconds_of
from gelato.errors import InputError
from gelato.ranking.engines import device_in_use
from gelato.ranking.rank import Progress
from gelato.spectrum.adjacency import ScaledAdjacency, SparseProducts
from gelato.spectrum.orthonormal import cholesky_basis, orthonormal_basis

Block = NDArray[Any]
Map = Callable[[Any], Any]

DENSE_SHARE = 0.5
"""From this share of the nodes on, a block of vectors is no cheaper than the whole dense spectrum."""

DENSE_NODES = 400
"""Up to this many nodes, the whole spectrum of the dense ``n x n`` matrix takes a fraction of a second."""

COLUMNS = 64
"""Columns whose signs are fixed at a time."""

MOST_PACE, LEAST_DIAGONAL = 4, 0.1
"""Iterations between two bases at most, and how nearly dependent their columns may become meanwhile."""

WIDTH = 128
"""Vectors of a timed block."""

DENSE_COST, SMALL_COST = 20.0, 12.0
"""Operations of a dense decomposition and of that of a projected matrix, in units of their size cubed."""


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """``M ~ U diag(l) V^T``, by falling ``|l|``; ``V`` is ``U`` on an undirected graph.

    Attributes:
        values: ``(k,)`` eigenvalues of either sign, or singular values where the graph is directed.
        left, right: ``(n, k)`` orthonormal columns ``U`` and ``V``.
        out_scale, in_scale: ``(n,)`` the diagonals of ``D_out^a`` and ``D_in^a``.
        directed: whether ``U`` and ``V`` differ.
    """

    values: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    out_scale: NDArray[np.float64]
    in_scale: NDArray[np.float64]
    directed: bool


def block_size(rank: int) -> int:
    """Vectors iterated for ``rank`` eigenpairs: some more than wanted, as the last ones converge slowly."""
    return rank + min(128, max(8, rank // 2))


def eigenpairs(
    adjacency: ScaledAdjacency,
    rank: int,
    *,
    iterations: int = 10,
    random_state: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Eigenpairs:
    """The ``k`` eigenpairs of largest ``|l|`` of ``M``, or the ``k`` singular triplets if the graph is directed.

    Block power iteration: ``X <- basis(M^T M X)``, from random vectors, in single precision but for the last step;
    then Rayleigh and Ritz, in double precision: the eigenpairs of ``X^T M X``, or the singular triplets of ``M X``.
    A few iterations leave the weaker eigenpairs loose, which hardly changes how pairs rank. Small graphs, and ranks
    near the number of nodes, are solved exactly, as dense matrices. [Halko, Martinsson and Tropp, 2011]

    Args:
        adjacency: ``M``.
        rank: ``k``; fewer are returned where the graph has fewer nodes, or ``M`` has a lower rank.
        iterations: how often ``M^T M`` is applied.
        random_state: seed of the start. Signs are fixed: the largest entry of each column of ``U`` is positive.
        threads: of the sparse products; the others use those of the BLAS. Results differ by no more than rounding.
            With the engine of a GPU, all of it runs there.
        progress: called with the steps done, and their number.
    """
    if rank < 1 or iterations < 1:
        raise InputError(f"rank and iterations must be at least 1, got {rank} and {iterations}")
    report = progress or (lambda done, total: None)
    rank, steps = min(rank, adjacency.n), iterations + 1
    report(0, steps)
    if is_dense(adjacency.n, rank):
        values, left, right = _dense(adjacency)
    elif device_in_use() is not None:
        start = _start(adjacency.n, rank, random_state)
        values, left, right = _device_triplets(adjacency, rank, start, iterations, str(device_in_use()), report)
    else:
        products = SparseProducts(adjacency.matrix, adjacency.directed, np.float64, threads)
        basis = _power_iteration(adjacency, _start(adjacency.n, rank, random_state), iterations, products, report)
        values, left, right = _ritz(products.forward, basis, rank, adjacency.directed)
        del basis  # no longer needed, and large
    values, left, right = _leading(values, left, right, rank)
    report(steps, steps)
    return Eigenpairs(values, left, right, adjacency.out_scale, adjacency.in_scale, adjacency.directed)


def _device_triplets(
    adjacency: ScaledAdjacency, rank: int, start: NDArray[np.float32], iterations: int, device: str, report: Progress
) -> tuple[Block, Block, Block]:
    """Values, left and right vectors by block power iteration from ``(n, b)`` random vectors, in double precision."""
    import torch

    from gelato.torch_ops.sparse_matrix import Compressed

    forth = Compressed.of(adjacency.matrix, device, torch.float64)
    back = Compressed.of(csr_array(adjacency.matrix.T), device, torch.float64) if adjacency.directed else forth
    basis = torch.as_tensor(start, dtype=torch.float64, device=device)
    for done in range(iterations):
        basis = torch.linalg.qr(back.times(forth.times(basis)))[0]
        report(done + 1, iterations + 1)
    found = _ritz(forth.times, basis, rank, adjacency.directed, torch.linalg, lambda block: torch.linalg.qr(block)[0])
    values, left, right = (part.cpu().numpy() for part in found)
    return values, left, right if adjacency.directed else left


def is_dense(n: int, rank: int) -> bool:
    """Whether ``rank`` eigenpairs of ``n`` nodes are computed from the whole dense matrix."""
    return n <= DENSE_NODES or block_size(rank) >= DENSE_SHARE * n


def _dense(adjacency: ScaledAdjacency) -> tuple[Block, Block, Block]:
    matrix = adjacency.matrix.toarray()
    if adjacency.directed:
        left, values, right = np.linalg.svd(matrix)
        return values, left, right.T
    values, left = np.linalg.eigh(matrix)
    return values, left, left


def _power_iteration(
    adjacency: ScaledAdjacency, basis: Block, iterations: int, products: SparseProducts, report: Progress
) -> Block:
    """``(n, b)`` orthonormal basis of nearly the leading right singular vectors, from random vectors."""
    matrix = csr_array(adjacency.matrix / adjacency.size)
    single = SparseProducts(matrix, adjacency.directed, np.float32, products.threads)
    done, pace = 0, 1
    while done < iterations - 1:
        pace = min(pace, iterations - 1 - done)
        following = cholesky_basis(single.squared(basis, pace))
        if following is not None:
            basis, least = following
        elif pace > 1:
            pace = 1
            continue
        else:  # too nearly dependent for single precision
            basis, least = orthonormal_basis(products.squared(basis)).astype(np.float32), 0.0
        done += pace
        pace = _pace(least ** (1 / pace))
        report(done, iterations + 1)
    basis = orthonormal_basis(products.squared(basis))
    report(iterations, iterations + 1)
    return basis


def _start(n: int, rank: int, random_state: int) -> NDArray[np.float32]:
    """``(n, b)`` random vectors."""
    return np.random.default_rng(random_state).standard_normal((n, block_size(rank)), dtype=np.float32)


def _pace(least: float) -> int:
    """How many iterations may pass before the next basis, if one leaves ``least`` on the diagonal of ``R``.

    Columns of successive bases turn into eigenvectors, which no iteration mixes; so fewer bases are needed, and they
    cost most of the time. The span does not depend on it.
    """
    return max(1, min(MOST_PACE, int(np.log(LEAST_DIAGONAL) / np.log(min(max(least, 1e-9), 0.999)))))


def _ritz(
    forward: Map, basis: Any, rank: int, directed: bool, linalg: Any = np.linalg, orthonormal: Map = orthonormal_basis
) -> tuple[Any, Any, Any]:
    """Eigenpairs of ``Q^T M Q``, lifted: ``Q w``; or singular triplets of ``R`` in ``M Q = P R``, ``P`` orthonormal."""
    if directed:
        image = forward(basis)
        frame = orthonormal(image)
        left, values, right = linalg.svd(frame.T @ image, full_matrices=False)
        return values[:rank], frame @ left[:, :rank], basis @ right[:rank].T
    small = basis.T @ forward(basis)
    values, vectors = linalg.eigh((small + small.T) / 2)
    order = (-abs(values)).argsort(stable=True)[:rank]
    left = basis @ vectors[:, order]
    return values[order], left, left


def _leading(values: Block, left: Block, right: Block, rank: int) -> tuple[Block, Block, Block]:
    """The ``rank`` largest by ``|l|``, less those that are 0; the largest entry of each left column is positive."""
    size = np.abs(values)
    order = np.lexsort((-values, -size))[:rank]
    order = order[size[order] > 1e-12 * size.max()]
    parts = (left[:, begin : begin + COLUMNS] for begin in range(0, left.shape[1], COLUMNS))
    largest = [part[np.abs(part).argmax(axis=0), np.arange(part.shape[1])] for part in parts]
    sign = np.sign(np.concatenate(largest))[order]
    first = _signed(left, order, sign)
    return values[order], first, first if left is right else _signed(right, order, sign)


def _signed(vectors: Block, order: NDArray[np.int64], sign: Block) -> Block:
    """Some columns with other signs, without a copy where they are the first ones."""
    chosen = vectors[:, : len(order)] if np.array_equal(order, np.arange(len(order))) else vectors[:, order]
    chosen = np.ascontiguousarray(chosen)
    chosen *= sign
    return chosen


def eigenpairs_seconds(adjacency: ScaledAdjacency, rank: int, iterations: int) -> float:
    """Predicted seconds of ``eigenpairs``."""
    n, rate = adjacency.n, product_rate(np.float64)
    if is_dense(n, min(rank, n)):
        return DENSE_COST * n**3 / rate
    block = block_size(rank)
    narrow = np.ones((n, WIDTH), np.float32)
    products = SparseProducts(adjacency.matrix, adjacency.directed, np.float32)
    step = seconds_of(lambda: products.squared(narrow), runs=2) * block / WIDTH
    bases = 3 + iterations / 4  # the first few one by one, then every fourth
    orthonormal = bases * 2 * n * block**2 / product_rate(np.float32)
    projected = (6 * n * block**2 + SMALL_COST * block**3) / rate
    return (iterations + 3) * step + orthonormal + projected


def product_rate(dtype: type[np.floating]) -> float:
    """Operations a second of a matrix product."""
    square = np.ones((768, 768), dtype)
    return 2 * 768**3 / seconds_of(lambda: square @ square, runs=2)

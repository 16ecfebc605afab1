"""Anything that scores pairs as ``Scores``: a function, an embedding, a matrix, a torch module, a file of scores."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph, Pairs, pair_keys
from gelato.io import read_pairs
from gelato.io.tables.files import open_table
from gelato.kernels.score_bins import TOLERANCE
from gelato.scores import BlockScores, LiftedScores, Scores, WalkScores

Indices = NDArray[np.int64]
PairFunction = Callable[[Indices, Indices], Any]
"""From ``(p,)`` sources and ``(p,)`` targets to ``(p,)`` scores."""

LARGEST_BLOCK = 4_000_000
"""Pairs that a function is asked for at once, at most."""

ROUNDING = 4 * np.finfo(np.float64).eps
"""Error of a sum of products relative to its terms, for each term."""

SYMMETRIC = 1e-9
"""Difference between both directions of a pair, relative to the largest score, that counts as rounding."""

TAKES = (
    "a method by name, a model, Scores, a function of (rows, columns), an n x k embedding, an n x n matrix, a torch"
    " module, or a file with the columns source, target and score"
)


def as_scores(scorer: Any, graph: Graph) -> tuple[Scores, str]:
    """Scores of all pairs of ``graph`` by something that scores pairs, and what to call it.

    An array of ``n`` rows and ``n`` columns is a matrix of scores, one of any other width an embedding.
    """
    if hasattr(scorer, "levels") and hasattr(scorer, "counts"):
        return scorer, type(scorer).__name__
    if isinstance(scorer, str | Path):
        return file_scores(Path(scorer), graph), Path(scorer).name
    if hasattr(scorer, "tocsr"):
        return matrix_scores(csr_array(scorer.tocsr()), graph), "matrix"
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(scorer, torch.nn.Module):
        return module_scores(scorer, graph), type(scorer).__name__
    if torch is not None and isinstance(scorer, torch.Tensor):
        scorer = scorer.detach().cpu().numpy()
    if hasattr(scorer, "to_numpy"):
        scorer = scorer.to_numpy()
    if isinstance(scorer, np.ndarray) and scorer.shape == (graph.n, graph.n):
        return matrix_scores(scorer, graph), "matrix"
    if isinstance(scorer, np.ndarray):
        return embedding_scores(scorer, graph), "embedding"
    if callable(scorer):
        return function_scores(scorer, graph), str(getattr(scorer, "__name__", type(scorer).__name__))
    raise InputError(f"cannot score pairs by {type(scorer).__name__}; give {TAKES}")


def function_scores(function: PairFunction, graph: Graph, **options: Any) -> BlockScores:
    """Scores by a function of pairs, called with ``u < v`` on undirected graphs and never with ``u = v``."""

    def listed(pairs: Pairs) -> NDArray[np.float64]:
        return np.asarray(function(pairs[:, 0], pairs[:, 1]), np.float64)

    def block(rows: Indices, columns: Indices) -> NDArray[np.float64]:
        u, v = (each.ravel() for each in np.broadcast_arrays(rows[:, None], columns[None, :]))
        pairs = np.column_stack([u, v] if graph.directed else [np.minimum(u, v), np.maximum(u, v)])
        apart, score = u != v, np.zeros(len(pairs))
        found = listed(pairs[apart])
        if found.shape != (apart.sum(),):
            raise InputError(
                f"the function must return one score per pair, got {found.shape} for {apart.sum():,} pairs"
            )
        score[apart] = found
        return score.reshape(len(rows), len(columns))

    rows = max(1, min(BlockScores.block_rows, LARGEST_BLOCK // max(1, graph.n)))
    return BlockScores(graph.n, block, directed=graph.directed, listed=listed, block_rows=rows, **options)


def embedding_scores(embedding: NDArray[Any], graph: Graph) -> BlockScores:
    """Inner products of the rows of an ``(n, k)`` embedding, in double precision."""
    z = np.asarray(embedding, np.float64)
    if z.ndim != 2 or len(z) != graph.n:
        raise InputError(f"an embedding needs one row for each of the {graph.n:,} nodes, got shape {z.shape}")
    largest = float(np.einsum("ij,ij->i", z, z).max(initial=0.0))
    floor = z.shape[1] * ROUNDING * largest / TOLERANCE[np.dtype(np.float64)]

    def block(rows: Indices, columns: Indices) -> NDArray[np.float64]:
        product: NDArray[np.float64] = z[rows] @ z[columns].T
        return product

    def listed(pairs: Pairs) -> NDArray[np.float64]:
        return np.asarray(np.einsum("ij,ij->i", z[pairs[:, 0]], z[pairs[:, 1]]))

    return BlockScores(graph.n, block, directed=graph.directed, listed=listed, floor=floor)


def matrix_scores(matrix: NDArray[Any] | csr_array, graph: Graph) -> BlockScores:
    """The entries of an ``(n, n)`` matrix, symmetric unless the graph is directed; its diagonal does not matter."""
    if matrix.shape != (graph.n, graph.n):
        raise InputError(f"a matrix of scores must be {graph.n:,} x {graph.n:,}, got {matrix.shape}")
    if not graph.directed:
        _check_symmetric(matrix)
    if isinstance(matrix, np.ndarray):
        dense = matrix
        return function_scores(lambda rows, columns: dense[rows, columns], graph)
    entries: Any = matrix.astype(np.float64)
    if not graph.directed:
        upper = csr_array(sparse.triu(entries, 1))
        entries = csr_array(upper + upper.T)

    def block(rows: Indices, columns: Indices) -> NDArray[np.float64]:
        whole: NDArray[np.float64] = entries[rows].toarray()
        whole[np.arange(len(rows)), rows] = 0.0
        return whole if len(columns) == graph.n else whole[:, columns]

    return BlockScores(graph.n, block, directed=graph.directed)


def _check_symmetric(matrix: NDArray[Any] | csr_array) -> None:
    """Refuse a matrix whose two triangles differ by more than rounding."""
    package: Any = np if isinstance(matrix, np.ndarray) else sparse
    upper, lower = package.triu(matrix, 1), package.tril(matrix, -1).T
    with np.errstate(invalid="ignore"):  # what is not finite is refused when it is looked up
        largest, difference = abs(upper).max(), abs(upper - lower).max()
    if difference > SYMMETRIC * largest:
        raise InputError(
            f"the matrix of scores is not symmetric, but the graph is undirected (two entries differ by"
            f" {difference:.3g}); give (S + S.T) / 2"
        )


def file_scores(path: Path, graph: Graph) -> LiftedScores:
    """Scores from a csv or parquet file with the columns source, target and score; pairs not listed rank last, tied."""
    pairs, score = read_pairs(path, graph, header=True), _scores_in(path)
    pairs = pairs if graph.directed else np.sort(pairs, axis=1)
    order = np.lexsort((score, pair_keys(pairs, graph.n)))
    pairs, score = pairs[order], score[order]
    again = np.append(False, (pairs[1:] == pairs[:-1]).all(axis=1))
    differs = again & np.append(False, score[1:] != score[:-1])
    if differs.any():
        u, v = (graph.name_of(node) for node in pairs[int(np.flatnonzero(differs)[0])])
        raise InputError(f"{path}: lists ({u}, {v}) with different scores; keep one of the rows")
    none = csr_array((graph.n, graph.n), dtype=np.float64)
    rest = WalkScores(none, none, np.ones(graph.n), 1, np.zeros(graph.n), directed=graph.directed)
    return LiftedScores(rest, pairs[~again], score[~again])


def module_scores(module: Any, graph: Graph) -> BlockScores:
    """Scores by a torch module, in evaluation mode, as PyTorch Geometric's link predictors have them.

    ``z = module.encode(x, edge_index)``, or ``module(x, edge_index)``, embeds the nodes of the training graph, both
    directions of each link given; ``module.decode(z, pairs)`` scores ``(2, p)`` pairs, by default by inner products.
    """
    import torch

    if graph.attributes is None:
        raise InputError(
            "a torch module needs node attributes, and the graph has none; give a function, or an embedding"
        )
    dense = graph.attributes.toarray() if isinstance(graph.attributes, csr_array) else graph.attributes
    links = np.concatenate([graph.edges] if graph.directed else [graph.edges, graph.edges[:, ::-1]])
    device = next(module.parameters(), torch.empty(0)).device

    def called(function: Any, *arrays: Any) -> Any:
        training = module.training
        module.eval()
        try:
            with torch.no_grad():
                return function(*arrays)
        finally:
            module.train(training)

    x = torch.tensor(dense, dtype=torch.get_default_dtype()).to(device)
    z = called(getattr(module, "encode", module), x, torch.tensor(links.T, device=device))
    z = z[0] if isinstance(z, tuple) else z
    if not hasattr(module, "decode"):
        return embedding_scores(z.cpu().numpy(), graph)

    def decode(rows: Indices, columns: Indices) -> NDArray[np.float64]:
        pairs = torch.tensor(np.stack([rows, columns]), device=z.device)
        decoded: NDArray[np.float64] = called(module.decode, z, pairs).reshape(-1).cpu().numpy()
        return decoded

    return function_scores(decode, graph, tolerance=TOLERANCE[np.dtype(np.float32)], threads=1)


def _scores_in(path: Path) -> NDArray[np.float64]:
    """``(e,)`` the column ``score`` of a table."""
    table = open_table(path, lambda first, second: True, header=True)
    cells = table.columns([table.position("score", "score")])[0]
    scores = cells.numbers()
    for row in np.flatnonzero(np.isnan(scores))[:1].tolist():
        raise InputError(f"{table.place(row)}: score {cells[row]!r} is not a finite number; correct it")
    table.check()
    return scores

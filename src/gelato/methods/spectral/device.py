"""The same eigenpairs on a GPU, in double precision from the start."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from gelato.kernels.device.tensors import tensor_on
from gelato.kernels.segments import sparse_dense
from gelato.methods.spectral.adjacency import ScaledAdjacency
from gelato.ranking.rank import Progress

Triplets = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def device_triplets(
    adjacency: ScaledAdjacency, rank: int, start: NDArray[np.float32], iterations: int, device: str, report: Progress
) -> Triplets:
    """Values, left and right vectors by block power iteration from ``(n, b)`` random vectors."""
    forth = _csr(adjacency.matrix, device)
    back = _csr(csr_array(adjacency.matrix.T), device) if adjacency.directed else forth
    basis = torch.as_tensor(start, dtype=torch.float64, device=device)
    for done in range(iterations):
        basis = torch.linalg.qr(sparse_dense(*back, sparse_dense(*forth, basis)))[0]
        report(done + 1, iterations + 1)
    image = sparse_dense(*forth, basis)
    if adjacency.directed:
        frame = torch.linalg.qr(image)[0]
        left, values, right = torch.linalg.svd(frame.T @ image, full_matrices=False)
        return _home(values[:rank], frame @ left[:, :rank], basis @ right[:rank].T)
    small = basis.T @ image
    values, vectors = torch.linalg.eigh((small + small.T) / 2)
    order = torch.argsort(values.abs(), descending=True, stable=True)[:rank]
    values, left, _ = _home(values[order], basis @ vectors[:, order], values[:0])
    return values, left, left


def _csr(matrix: csr_array, device: str) -> tuple[Tensor, Tensor, Tensor]:
    arrays = (matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data.astype(np.float64))
    indptr, indices, values = (tensor_on(array, device) for array in arrays)
    return indptr, indices, values


def _home(values: Tensor, left: Tensor, right: Tensor) -> Triplets:
    found = tuple(part.cpu().numpy() for part in (values, left, right))
    return found[0], found[1], found[2]

"""Averages over a node and its neighbours in a masked graph, and attributes whose rows sum to 1."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.torch_ops.gather import Selection
from gelato.torch_ops.sparse_matrix import SparseMatrix

# The rows of P = D^-1 (A + w I) sum to 1. With Â = D^-1/2 (A + w I) D^-1/2, the step of a masked graph, Â_uu = w / D_u,
# so that P = S Â S^-1 with the diagonal S of sqrt(Â_uu).


def _root_of_loops(view: MaskedGraph) -> NDArray[np.float64]:
    """``(n,)`` diagonal ``sqrt(Â_uu)``."""
    root: NDArray[np.float64] = np.sqrt(view.step.matrix.diagonal())
    return root


def neighbor_means(view: MaskedGraph, H: Tensor) -> Tensor:
    """``(n, h)`` means ``P H`` over each node and its neighbours, ``P = D^-1 (A + w I)`` by the weights of links.

    A self-loop weighs ``w``, as much as the mean link, and ``D`` holds the sums of rows.
    """
    S = torch.as_tensor(_root_of_loops(view), dtype=H.dtype, device=H.device)[:, None]
    means: Tensor = S * (view.step @ (H / S))
    return means


@dataclass(frozen=True, eq=False)
class NeighborShares:
    """The entries of ``P = D^-1 (A + w I)``, in the order of its rows.

    Attributes:
        row, column: take ``(n, h)`` rows for each entry, and add up ``(e, h)`` entries.
        share: ``(e, 1)`` entries; those of a row sum to 1.
    """

    row: Selection
    column: Selection
    share: Tensor

    @classmethod
    def of(cls, view: MaskedGraph) -> Self:
        """Of a masked graph: masked links have no entry."""
        step, S = view.step.matrix.tocoo(), _root_of_loops(view)
        kept = step.data != 0
        row, column = step.row[kept], step.col[kept]
        share = torch.as_tensor(S[row] * step.data[kept] / S[column], dtype=view.dtype, device=view.device)
        rows, columns = (Selection(ends, view.n, view.device) for ends in (row, column))
        return cls(rows, columns, share[:, None])


def normalized_inputs(view: MaskedGraph, weight: Tensor) -> Tensor:
    """``(n, h)`` product of the attributes, each row over the sum of its magnitudes, with ``(f, h)`` weights.

    A row of zeros stays one; without attributes the product is the weight itself.
    """
    X = view.attributes
    if X is None:
        return weight
    if isinstance(X, SparseMatrix):
        sums = torch.as_tensor(abs(X.matrix).sum(axis=1), dtype=view.dtype, device=view.device)
    else:
        sums = X.abs().sum(dim=1)
    return view.inputs(weight) / torch.where(sums > 0, sums, 1)[:, None]

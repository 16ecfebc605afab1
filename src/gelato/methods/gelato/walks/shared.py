"""Walks whose rows are shared among processes: each has the nodes of some parts, and so the pairs inside them.

A pair inside a part is scored by one process, with the same operations as by one process alone; all scores are then
known to all, so that any loss is the same. What the loss adds up over all pairs is a sum of one number for each
process, and so is the gradient of the weights.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Pairs
from gelato.kernels.power import Pattern, Support, chunks_of, listed_support, row_sizes
from gelato.kernels.threads import default_threads
from gelato.methods.gelato.walks.function import applied
from gelato.methods.gelato.walks.listed import Listed
from gelato.methods.gelato.walks.support import SupportWalks
from gelato.methods.gelato.walks.topology import Matrices
from gelato.runs.processes import World, world


class SharedWalks:
    """``M = A (D^-1 A)^(t-1)`` on the rows of this process; places are those that one process alone would use.

    Args:
        pattern: of the whole graph, which every process holds.
        steps: length of the walks.
        labels: ``(n,)`` part of each node; parts are dealt to processes by the work of their rows.
        device: of the tensors; the walks are computed on the CPU.
        dtype: of the walks.
        threads: of each process.
        complete: list all pairs, reached or not.
    """

    replayable = False

    def __init__(
        self,
        pattern: Pattern,
        steps: int,
        labels: NDArray[np.int64],
        *,
        device: torch.device,
        dtype: torch.dtype,
        threads: int | None = None,
        complete: bool = False,
    ) -> None:
        self.complete, self._labels, self._device, self._world, n = complete, labels, device, world(), pattern.n
        threads = default_threads() if threads is None else threads
        size, work = _sizes(pattern, steps, threads, self._world)
        owner = dealt(np.bincount(labels, work + 1.0).astype(np.float64), self._world.size)[labels]
        mine = owner == self._world.rank
        if complete:
            size = n - np.arange(n)
            support = _all_columns(size * mine, work * mine, steps)
        else:
            support = listed_support(pattern, steps, size * mine, work * mine, threads)
        self._own = SupportWalks(pattern, steps, device=device, dtype=dtype, threads=threads, support=support)
        begin = np.concatenate([[0], np.cumsum(size)])
        self._begin, self._shift = torch.from_numpy(begin), torch.from_numpy(begin[:-1] - support.indptr[:-1])
        self._mine = torch.from_numpy(mine)

    def __call__(self, matrices: Matrices, a: Tensor, b: Tensor, listed: Listed) -> tuple[Tensor, Tensor]:
        """``(p,)`` ``a M_uv - b d_u d_v`` of listed pairs, and the sum of ``M^2`` over all ``n^2`` entries."""
        u = listed.u.cpu()
        where = self._mine[u].nonzero().view(-1)
        u, v, place = u[where], listed.v.cpu()[where], listed.place.cpu()[where]
        own = Listed(u, v, torch.where(place >= 0, place - self._shift[u], -1))
        given = matrices.first, matrices.inner, matrices.degree, a, b
        first, inner, degree, a, b = applied(_Enter, self._world, *given)
        score, square = self._own(matrices._replace(first=first, inner=inner, degree=degree), a, b, own)
        return applied(_Leave, self._world, score, square, where.to(self._device), len(listed.u))

    def find(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """``(p,)`` places of renamed pairs, -1 for those that are not reached."""
        place = torch.from_numpy(self._own.find(pairs))
        known = torch.where(place >= 0, place + self._shift[pairs[:, 0]] + 1, 0)
        return (self._world.summed(known) - 1).numpy()

    def reached(self) -> Pairs:
        """``(s, 2)`` every reached pair of two different nodes inside one part."""
        u, v = (torch.from_numpy(part).long() for part in (self._own.rows, self._own.columns))
        label = torch.from_numpy(self._labels)
        inside = (label[u] == label[v]) & (u != v)
        return np.column_stack([self._world.joint(end[inside]).numpy() for end in (u, v)])

    def unlinked(self, links: Pairs, labels: NDArray[np.int64] | None, sides: NDArray[np.int8] | None = None) -> Tensor:
        """``(q,)`` places of the reached pairs that are no links, inside one part and across the sides, if any."""
        own = self._own.unlinked(links, labels, sides).cpu()
        return self._world.joint(self._known(own)).sort().values.to(self._device)

    def listed(self, place: Tensor) -> Listed:
        """The pairs at some places; those of other processes without their second nodes, which are -1."""
        u, mine, own = self._split(place.cpu())
        v = torch.full_like(u, -1)
        v[mine] = torch.from_numpy(self._own.columns)[own].long()
        return Listed(u.to(self._device), v.to(self._device), place)

    def best(
        self, matrices: Matrices, a: Tensor, b: Tensor, excluded: Tensor, k: int, sides: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Scores ``a M_uv - b d_u d_v`` of the ``k`` best reached pairs but the ``excluded``, and their places."""
        score, own = self._own.best(matrices, a, b, self._split(excluded.cpu())[2], k, sides)
        score, place = (self._world.joint(part.cpu()) for part in (score, self._known(own.cpu())))
        best = score.topk(min(k, len(score)))
        return best.values.to(self._device), place[best.indices].to(self._device)

    def _known(self, own: Tensor) -> Tensor:
        """Places as all know them from those of the rows of this process."""
        return own + self._shift[torch.from_numpy(self._own.rows)[own].long()]

    def _split(self, place: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rows of some places, which of them are those of this process, and the places it knows these by."""
        u = torch.searchsorted(self._begin, place, right=True) - 1
        mine = self._mine[u]
        return u, mine, (place - self._shift[u])[mine]


def dealt(size: NDArray[np.float64], ranks: int) -> NDArray[np.int64]:
    """``(parts,)`` the process of each part: the largest first, each to the process that has the least."""
    if len(size) < ranks:
        raise InputError(
            f"{ranks} processes need at least {ranks} parts, not {len(size)}; ask for more parts or fewer processes"
        )
    owner, load = np.empty(len(size), np.int64), np.zeros(ranks)
    for part in np.argsort(-size, kind="stable"):
        owner[part] = np.argmin(load)
        load[owner[part]] += size[part]
    return owner


def _sizes(pattern: Pattern, steps: int, threads: int, together: World) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sizes and work of all rows, of which each process counts a range."""
    first, last = (pattern.n * (together.rank + i) // together.size for i in (0, 1))
    counted = np.stack(row_sizes(pattern, steps, first, last, threads))
    size, work = together.summed(torch.from_numpy(counted)).numpy()
    return size, work


def _all_columns(size: NDArray[np.int64], work: NDArray[np.int64], steps: int) -> Support:
    """Rows with every column from the diagonal on."""
    indptr, n = np.concatenate([[0], np.cumsum(size)]), len(size)
    rows = np.flatnonzero(size)
    columns = np.arange(indptr[-1]) - np.repeat(indptr[rows] - rows, n - rows)
    return Support(indptr, columns.astype(np.int32), chunks_of(work), steps, int(work.sum()))


class _Enter(torch.autograd.Function):
    """The same tensors; the gradients that the processes have for them are added up."""

    @staticmethod
    def forward(context: Any, together: World, *tensors: Tensor) -> tuple[Tensor, ...]:
        context.together = together
        return tuple(tensor.view_as(tensor) for tensor in tensors)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        total = context.together.summed(torch.cat([each.reshape(-1) for each in gradients]))
        parts = total.split([each.numel() for each in gradients])
        return None, *(part.view_as(each) for part, each in zip(parts, gradients, strict=True))


class _Leave(torch.autograd.Function):
    """Scores of all pairs and a sum from what each process has; a gradient goes to the process of its pair."""

    @staticmethod
    def forward(
        context: Any, together: World, score: Tensor, square: Tensor, where: Tensor, count: int
    ) -> tuple[Tensor, Tensor]:
        context.save_for_backward(where)
        whole = score.new_zeros(count + 1)
        whole[where], whole[count] = score, square
        whole = together.summed(whole)
        return whole[:count], whole[count]

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (where,) = context.saved_tensors
        return None, gradients[0].index_select(0, where), gradients[1], None, None

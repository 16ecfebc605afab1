"""Which representations a Bellman-Ford iteration must compute one by one, and where their messages come from.

After ``l`` iterations only the nodes within ``l`` links of a source are reached by its paths. All others have a value
that is the same for every source, as if there were none: these ``n`` rows per layer are computed once. Where only some
targets of a source are asked for, only the nodes on the way to them are computed.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from scipy.sparse import csr_array, eye_array, hstack
from torch import Tensor

from gelato.kernels.gpu.walks import row_entries
from gelato.methods.nbfnet.aggregation import Inbox
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.torch_ops.row_intersection import pair_ranges

MASKED = {"cpu": 2**22, "cuda": 2**27}
"""Pairs of a source and a node that are marked at once in each layer, about."""

EXPANDED = {"cpu": 2**18, "cuda": 2**24}
"""Messages, of all layers together, that are computed at once, about."""

ZERO, QUERY, NODES = 0, 1, 2
"""Rows of a table of messages: none from the boundary, that of the source, and where those of nodes begin."""


class Portion(NamedTuple):
    """Some sources, and what must be computed for them.

    Attributes:
        sources: ``(b,)`` nodes.
        required: of each layer ``0 .. L`` the ``(b, n)`` nodes whose representations are needed.
    """

    sources: Tensor
    required: list[Tensor]


class Paths:
    """The messages of a view: each node hears its neighbours, itself and the boundary.

    Attributes:
        n, layers: number of nodes and of iterations ``L``.
        scale: ``(n,)`` logarithms of the number of messages at each node, relative to their mean.
    """

    def __init__(self, view: MaskedGraph, layers: int) -> None:
        closed = csr_array(view.adjacency + eye_array(view.n, format="csr"))
        heard = csr_array(hstack([closed, csr_array([[1.0]] * view.n)], format="csr"))
        heard.sort_indices()
        self.n, self.layers, self.device = view.n, layers, view.device
        self._closed = view.rows(closed)
        self._indptr, self._heard = (
            torch.as_tensor(each, dtype=torch.int64, device=view.device) for each in (heard.indptr, heard.indices)
        )
        self._counts = self._indptr.diff().to(view.dtype)
        self.scale = self._counts.log() / self._counts.log().mean()

    def everywhere(self) -> Inbox:
        """The messages of all nodes where there is no source."""
        index = torch.where(self._heard == self.n, ZERO, self._heard + NODES)
        return Inbox(index.int(), self._indptr)

    def inbox(self, portion: Portion, layer: int) -> tuple[Inbox, Tensor, Tensor]:
        """The messages of the required nodes of a layer, ``(N,)`` their rows in the layer before, and the nodes.

        A table of messages holds those of ``ZERO`` and ``QUERY``, of all nodes without a source, and of the required
        nodes of the layer before.
        """
        n, before = self.n, portion.required[layer - 1]
        place = torch.arange(n + 1, device=self.device).repeat(len(before), 1)
        place[:, n] = ZERO - NODES
        place[:, :n][before] = torch.arange(n, n + int(before.sum()), device=self.device)
        which, node = portion.required[layer].nonzero().T
        row, entry = row_entries(self._indptr, node)
        index = place[which[row], self._heard[entry]] + NODES
        indptr = torch.cat([node.new_zeros(1), self._indptr.diff()[node].cumsum(0)])
        index[indptr[1:][portion.sources[which] == node] - 1] = QUERY  # the boundary is the last message of a node
        return Inbox(index.int(), indptr), place[which, node], node

    def reached(self, sources: Tensor) -> list[Tensor]:
        """``(b, n)`` nodes within 0, 1, .. ``L`` links of each source."""
        balls = [torch.zeros(len(sources), self.n, dtype=torch.bool, device=self.device)]
        balls[0][torch.arange(len(sources), device=self.device), sources] = True
        for _ in range(self.layers):
            balls.append(self._spread(balls[-1]))
        return balls

    def reached_keys(self, wanted: Tensor | None) -> Tensor:
        """Ascending ``u n + v`` of the pairs ``u < v`` that at most ``L`` links join, all or of the ``wanted``."""
        n = self.n
        first = torch.arange(n, device=self.device) if wanted is None else torch.unique(wanted // n)
        keys = [first.new_zeros(0)]
        for sources in torch.split(first, self._at_once):
            i, v = self.reached(sources)[-1].nonzero().T
            u = sources[i]
            key = (u * n + v)[u < v]
            keys.append(key if wanted is None else key[torch.isin(key, wanted)])
        return torch.cat(keys)

    def portions(self, source: Tensor, target: Tensor) -> Iterator[tuple[int, int, Portion]]:
        """Portions of ``(p,)`` pairs, ascending by source and target, each with its range of the pairs."""
        sources, counts = torch.unique_consecutive(source, return_counts=True)
        begins = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        for first in range(0, len(sources), self._at_once):
            group = sources[first : first + self._at_once]
            begin, end = int(begins[first]), int(begins[first + len(group)])
            wanted = torch.zeros(len(group), self.n, dtype=torch.bool, device=self.device)
            wanted[torch.searchsorted(group, source[begin:end]), target[begin:end]] = True
            required = self._required(self.reached(group), wanted)
            effort = torch.stack([each.to(self._counts.dtype) @ self._counts for each in required]).sum(0).long()
            for a, b in pair_ranges(effort, EXPANDED[self.device.type]):
                portion = Portion(group[a:b], [each[a:b] for each in required])
                yield int(begins[first + a]), int(begins[first + b]), portion

    def _required(self, reached: list[Tensor], wanted: Tensor) -> list[Tensor]:
        """Of each layer what the ``wanted`` nodes of the last one are made of."""
        required = [wanted & reached[-1]]
        for before in reversed(reached[:-1]):
            required.append(before & self._spread(required[-1]))
        return required[::-1]

    def _spread(self, mask: Tensor) -> Tensor:
        """``(b, n)`` the nodes of a mask and their neighbours."""
        return self._closed.times(mask.T.to(self._closed.values.dtype)).T > 0

    @property
    def _at_once(self) -> int:
        return max(1, MASKED[self.device.type] // self.n)

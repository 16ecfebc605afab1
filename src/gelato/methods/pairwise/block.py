"""Blocks of log-odds by a trained network, in double precision, on the CPU or a GPU."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.methods.pairwise.network import Context, PairNetwork
from gelato.methods.pairwise.task import pairs_at_once, rows_at_once, scored
from gelato.methods.pairwise.view import Views


@dataclass(frozen=True, eq=False)
class NetworkBlock:
    """Log-odds of rows and columns, by the function that training uses for listed pairs and for validation.

    Attributes:
        network: in double precision, as it is outside training.
        graph: whose pairs are scored.
        device: where.
    """

    network: PairNetwork
    graph: Graph
    device: torch.device

    @classmethod
    def of(cls, network: PairNetwork, graph: Graph) -> "NetworkBlock":
        """A copy of a network, where it is."""
        network.check(graph)
        if not all(bool(torch.isfinite(each).all()) for each in network.state_dict().values()):
            raise InputError("training diverged: the network is not finite; lower learning_rate")
        device = next(network.parameters()).device
        return cls(deepcopy(network).double().eval(), graph, device)

    @cached_property
    def _context(self) -> Context:
        with torch.no_grad():
            return self.network.context(Views(self.graph, self.device, torch.float64).whole)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_context"}

    @torch.no_grad()
    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, c)`` log-odds."""
        at_once = rows_at_once(self.network, len(columns), self.device)
        return _numpy(scored(self.network, self._context, self._on(rows), self._on(columns), at_once))

    def on(self, device: torch.device) -> Callable[[Tensor, Tensor], Tensor]:
        """The same on a device, on tensors that stay there."""
        same = self.device.type == device.type and device.index in (None, self.device.index)
        there = self if same else NetworkBlock(deepcopy(self.network).to(device), self.graph, device)

        @torch.no_grad()
        def block(rows: Tensor, columns: Tensor) -> Tensor:
            at_once = rows_at_once(there.network, len(columns), there.device)
            return scored(there.network, there._context, rows, columns, at_once).double()

        return block

    @torch.no_grad()
    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` log-odds of listed pairs."""
        chunk = pairs_at_once(self.network, self.device)
        u, v = self._on(pairs[:, 0]), self._on(pairs[:, 1])
        parts = [
            self.network(self._context, *both)[0]
            for both in zip(torch.split(u, chunk), torch.split(v, chunk), strict=True)
        ]
        return _numpy(torch.cat(parts)) if len(pairs) else np.empty(0)

    @property
    def parts(self) -> tuple[Any, ...]:
        """All that the scores depend on."""
        graph = self.graph
        learned = (value.cpu().numpy() for value in self.network.state_dict().values())
        settings = self.network.settings.identity()
        return (type(self.network).__name__, settings, *learned, graph.adjacency, graph.attributes)

    def _on(self, nodes: NDArray[np.int64]) -> Tensor:
        return torch.as_tensor(np.ascontiguousarray(nodes), device=self.device)


def _numpy(scores: Tensor) -> NDArray[np.float64]:
    block: NDArray[np.float64] = scores.double().cpu().numpy()
    return block

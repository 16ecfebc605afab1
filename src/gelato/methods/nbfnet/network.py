"""The network of NBFNet: Bellman-Ford iterations with learned messages, aggregation and update."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from gelato.graph import Graph
from gelato.methods.nbfnet.aggregation import Inbox, statistics, summed
from gelato.methods.nbfnet.paths import Paths, Portion
from gelato.methods.nbfnet.settings import NbfnetSettings
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.network import Context, PairNetwork
from gelato.torch_ops.gather import take_rows

KEPT = {"cpu": 2**28, "cuda": 2**31}
"""Numbers of pairs that are kept while all are scored, at most: all up to 4,096 nodes of width 32 (``cuda``: 11,585).
Beyond, iterations are run anew for every so many rows of pairs as have no more numbers."""

NARROWEST = 32
"""Narrower representations have no more rows at once than those of this width."""


class BellmanFordLayer(nn.Module):
    """``h_v <- relu(norm(W [h_v ; aggregate of messages] + b)) + h_v``, messages ``r ∘ h_w`` and the boundary of v.

    ``w`` runs over the neighbours of ``v`` and ``v`` itself, and the boundary of the source is ``q``, of others 0. The
    aggregate is the sum; or that of PNA (Corso et al., NeurIPS 2020): mean, largest, smallest and standard deviation
    times 1, ``s`` and ``1 / s``, with ``s_v`` the logarithm of the number of messages relative to its mean.
    """

    __call__: Callable[..., Tensor]

    def __init__(self, width: int, aggregation: str) -> None:
        super().__init__()
        self.aggregate = summed if aggregation == "sum" else statistics
        self.scalers = 1 if aggregation == "sum" else 3
        self.relation = nn.Parameter(torch.randn(width))
        self.update = nn.Linear((2 if aggregation == "sum" else 13) * width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, query: Tensor, before: Tensor, own: Tensor, inbox: Inbox, scale: Tensor) -> Tensor:
        """``(N, d)`` from ``(T, d)`` rows of the layer before, the nodes' own among them, messages and scales."""
        d = len(query)
        messages = torch.cat([torch.zeros_like(query)[None], query[None], before * self.relation])
        of_own, of_messages = torch.split(self.update.weight, [d, self.update.in_features - d], 1)
        weights = of_messages.view(d, self.scalers, -1).transpose(0, 1).flatten(0, 1)
        scaled = (self.aggregate(messages, inbox) @ weights.T).view(-1, self.scalers, d)
        if self.scalers > 1:
            scaled = scaled * torch.stack([torch.ones_like(scale), scale, 1 / scale], 1)[:, :, None]
        h = take_rows(before, own)
        normed: Tensor = self.norm(h @ of_own.T + scaled.sum(1) + self.update.bias)
        return normed.relu() + h


class NbfnetNetwork(PairNetwork):
    """``s_uv = MLP([h_uv ; q])``, ``h_uv`` what ``L`` Bellman-Ford iterations from source ``u`` give node ``v``.

    NBFNet (Zhu et al., NeurIPS 2021) for graphs with one kind of links; neither attributes nor weights of links are
    used. ``h_uv`` stands for the walks of at most ``L`` links from ``u`` to ``v``. It is averaged with ``h_vu``, unless
    ``directions`` is ``one``; the MLP has one hidden layer, of ``2 d`` units. Nodes out of reach of the source have the
    rows ``far`` of no source at all, so that pairs out of reach of one another tie exactly where their nodes are alike.
    """

    settings: NbfnetSettings

    def __init__(self, graph: Graph, settings: NbfnetSettings) -> None:
        super().__init__(graph, settings)
        self.by_node, self.inputs = False, 0
        d = settings.hidden
        self.query = nn.Parameter(torch.randn(d))
        self.layers = nn.ModuleList(BellmanFordLayer(d, settings.aggregation) for _ in range(settings.layers))
        self.hidden, self.last = nn.Linear(2 * d, 2 * d), nn.Linear(2 * d, 1)
        self.width = 8 * d

    def check(self, graph: Graph) -> None:
        """Any graph: nothing is learned of single nodes or attributes."""

    def context(
        self, view: MaskedGraph, random: torch.Generator | None = None, wanted: Tensor | None = None
    ) -> Context:
        """``(n, d)`` rows ``far`` of every layer; and those of the ``wanted`` pairs, if given, as keys ``u n + v``."""
        paths = Paths(view, len(self.layers))
        inbox, own = paths.everywhere(), torch.arange(view.n, device=view.device)
        far = [self.query.new_zeros(view.n, len(self.query))]
        for layer in self.layers:
            far.append(layer(self.query, far[-1], own, inbox, paths.scale))
        context = Context(view, {f"far{i}": each for i, each in enumerate(far)}, {"paths": paths})
        if wanted is not None:
            context.constants["keys"], context.tensors["near"] = self.near(context, wanted)
        return context

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(1, p)`` log-odds, the same for ``(v, u)``."""
        u, v = torch.minimum(u, v), torch.maximum(u, v)
        key = u * context.view.n + v
        keys, near = self._kept(context) or self.near(context, torch.unique(key))
        slot = torch.searchsorted(keys, key)
        reached = torch.cat([keys, keys.new_full((1,), -1)])[slot] == key
        far = context.tensors[f"far{len(self.layers)}"]
        apart = take_rows(far, v)
        if self.settings.directions == "both":
            apart = (apart + take_rows(far, u)) / 2
        rows = take_rows(near, torch.where(reached, slot, len(keys)))  # the last row is 0
        return self.read(torch.where(reached[:, None], rows, apart))[None]

    def read(self, rows: Tensor) -> Tensor:
        """``(p,)`` log-odds from ``(p, d)`` rows."""
        of_rows, of_query = torch.split(self.hidden.weight, len(self.query), 1)
        odds: Tensor = self.last((rows @ of_rows.T + (of_query @ self.query + self.hidden.bias)).relu_())
        return odds[:, 0]

    def rows_together(self, columns: int) -> int:
        """As many rows as may be kept: their iterations have other ends as sources too, nearly all nodes, but once."""
        return max(1, KEPT[self.query.device.type] // (max(columns, 1) * max(len(self.query), NARROWEST)))

    def for_rows(self, context: Context, rows: Tensor, columns: Tensor) -> Context:
        """With the pairs within reach of one another: all, computed only once, if these may be kept; else of rows."""
        n = context.view.n
        if self._kept(context) is not None:
            return context
        if self.keeps(n):
            context.constants["all"] = self.near(context, None)
            return context
        wanted = torch.unique(torch.minimum(rows[:, None], columns) * n + torch.maximum(rows[:, None], columns))
        keys, near = self.near(context, wanted)
        tensors, constants = {**context.tensors, "near": near}, {**context.constants, "keys": keys}
        return replace(context, tensors=tensors, constants=constants)

    def keeps(self, n: int) -> bool:
        """Whether the rows of all pairs of ``n`` nodes may be kept."""
        return self.numbers(n) <= KEPT[self.query.device.type]

    def numbers(self, n: int) -> int:
        """Numbers in the rows of all pairs of ``n`` nodes, if every pair is within reach."""
        return n * n * len(self.query) // 2

    def no_paths(self) -> tuple[Tensor, Tensor]:
        """Keys and rows, as ``near`` gives them, where no pair is within reach."""
        return torch.zeros(0, dtype=torch.int64, device=self.query.device), self.query.new_zeros(1, len(self.query))

    @staticmethod
    def _kept(context: Context) -> tuple[Tensor, Tensor] | None:
        """Keys and rows of the pairs within reach, if they have been computed."""
        if "near" in context.tensors:
            return context.constants["keys"], context.tensors["near"]
        kept: tuple[Tensor, Tensor] | None = context.constants.get("all")
        return kept

    def near(self, context: Context, wanted: Tensor | None) -> tuple[Tensor, Tensor]:
        """``(k,)`` ascending keys of the pairs within reach, all or of the ``wanted``, and their ``(k + 1, d)`` rows.

        The last row is 0. Several portions of sources are computed once more each on the way back, so that what lies
        between is held for one at a time.
        """
        paths: Paths = context.constants["paths"]
        keys = paths.reached_keys(wanted)
        u, v = keys // paths.n, keys % paths.n
        slot = torch.arange(len(keys), device=keys.device)
        near = self.query.new_zeros(len(keys) + 1, len(self.query))
        both = self.settings.directions == "both"
        if both:
            order = torch.argsort(torch.cat([keys, v * paths.n + u]))
            u, v, slot = torch.cat([u, v])[order], torch.cat([v, u])[order], slot.repeat(2)[order]
        for begin, end, rows in self._rows(context, u, v):
            near.index_add_(0, slot[begin:end], rows)
        return keys, near.div_(2) if both else near

    def rows_from(self, context: Context, sources: Tensor) -> Tensor:
        """``(k, d)`` rows of all nodes within reach of some ascending sources, by source and node."""
        i, v = context.constants["paths"].reached(sources)[-1].nonzero().T
        return torch.cat([rows for _, _, rows in self._rows(context, sources[i], v)])

    def _rows(self, context: Context, u: Tensor, v: Tensor) -> Iterator[tuple[int, int, Tensor]]:
        """Rows ``h_uv`` of ``(p,)`` pairs within reach, ascending, range by range."""
        paths: Paths = context.constants["paths"]
        far = [context.tensors[f"far{i}"] for i in range(len(self.layers))]
        iterate: Callable[..., Any] = self._iterated
        if torch.is_grad_enabled():
            iterate = partial(checkpoint, self._iterated, use_reentrant=True, preserve_rng_state=False)
        for begin, end, portion in paths.portions(u, v):
            yield begin, end, iterate(paths, portion, self.query, *far)

    def _iterated(self, paths: Paths, portion: Portion, query: Tensor, *far: Tensor) -> Tensor:
        """``(k, d)`` rows of the required nodes of the last layer, by source and node."""
        h = query.expand(int(portion.required[0].sum()), -1)
        for i, layer in enumerate(self.layers):
            inbox, own, node = paths.inbox(portion, i + 1)
            h = layer(query, torch.cat([far[i], h]), own, inbox, paths.scale[node])
        return h

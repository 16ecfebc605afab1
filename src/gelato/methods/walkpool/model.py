"""WalkPool as a method, and its network: attention on links, walks between both ends, and an MLP on their profiles."""

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu
from torch.utils.checkpoint import checkpoint

from gelato.graph import Graph
from gelato.methods.walkpool.profiles import walk_profiles
from gelato.methods.walkpool.settings import WalkPoolSettings
from gelato.methods.walkpool.walks import end_to_end, transitions
from gelato.networks.pairwise.enclosing_subgraphs import Neighborhoods
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.network import Context, PairNetwork
from gelato.networks.pairwise.predictor import PairPredictor
from gelato.prediction.transfer import check_inputs
from gelato.torch_ops.gather import take_rows
from gelato.torch_ops.layers import RowNorm, apply_dropout
from gelato.training.trained_predictor import TrainedPredictor

SLOPE = 0.2
"""Of the leaky relu in keys and queries, below 0."""


class WalkPoolNetwork(PairNetwork):
    """``s_uv = MLP(BatchNorm(profiles of walks between u and v with and without their link, sigmoid(w_uv) + ...))``.

    WalkPool (Pan, Shi, Dokmanić, ICLR 2022). ``H_1 = Â X W_1 + b_1``, ``H_2 = Â drop(relu(H_1)) W_2 + b_2``, and keys
    ``k_i`` and queries ``q_i`` of two layers from ``[x_i ; h_1i ; h_2i]``. A walk steps from ``i`` to its neighbour
    ``j`` in the subgraph that encloses ``u`` and ``v`` with probability ``P_ij``, the softmax over ``j`` of ``w_ij =
    <q_j, k_i> / sqrt(hidden)``. ``walk_profiles`` tells what is learned from ``P``.

    The authors convolve on each subgraph; here it is once for all pairs, on the graph without the links that are being
    learned, so that the ``w`` of all links are the same for all pairs. Of a far pair the subgraph is two balls side by
    side, so that walks back to each node in its own ball serve all of them.
    Without attributes every node has the one attribute 1, and no row of its own.
    """

    balanced: ClassVar[bool] = False
    settings: WalkPoolSettings

    def __init__(self, graph: Graph, settings: WalkPoolSettings) -> None:
        super().__init__(graph, settings)
        h, heads = settings.hidden, settings.heads
        self.by_node = False
        self.inputs = graph.f
        self.dropout, self.heads, self.steps = settings.dropout, heads, settings.steps
        self.first = nn.Parameter(nn.init.xavier_uniform_(torch.empty(max(graph.f, 1), 3 * h)))
        self.second = nn.Parameter(nn.init.xavier_uniform_(torch.empty(h, h)))
        self.biases = nn.ParameterList(torch.zeros(h) for _ in range(2))
        self.of_embeddings = nn.Linear(2 * h, 2 * h)
        self.keys, self.queries = nn.Linear(h, heads * h), nn.Linear(h, heads * h)
        features = heads * (5 * (self.steps - 1) + 1)
        widths = [features, settings.width, settings.width, settings.width // 2, features]
        self.norm = RowNorm(features)
        self.layers = nn.ModuleList(nn.Linear(*shape) for shape in pairwise(widths))
        self.last = nn.Linear(features, 1)
        self.width = 2 * sum(widths) + 40 * heads * self.steps + 4 * heads * h

    def check(self, graph: Graph) -> None:
        """Refuse a graph of other attributes; nodes may be others."""
        check_inputs(graph, self.inputs)

    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        """``(e, heads)`` weights ``w`` of links, and ``(n, heads h)`` keys and queries; when ranking also walks back.

        Walks back are those of each node in its own ball, of which far pairs are made.
        """
        h, drop = self.settings.hidden, partial(self._drop, random=random)
        dropped = self.settings.attribute_dropout if self.training else 0.0
        inputs = view.inputs(self.first, dropped, random) if self.inputs else self.first.expand(view.n, -1)
        one = view.step @ inputs[:, :h] + self.biases[0]
        two = view.step @ (drop(one.relu()) @ self.second) + self.biases[1]
        mixed = drop(leaky_relu(inputs[:, h:] + self.of_embeddings(torch.cat([one, two], 1)), SLOPE))
        keys, queries = self.keys(mixed[:, :h]), self.queries(mixed[:, h:])
        neighbors = view.neighbors
        rows = torch.repeat_interleave(neighbors.indptr.diff())
        tensors = {"keys": keys, "queries": queries, "w": self._weights(keys, queries, rows, neighbors.indices)}
        context = Context(view, tensors, {"surroundings": Neighborhoods(view, self.settings.hops)})
        if not torch.is_grad_enabled():
            context.constants["back"] = self.walks_back(context, torch.arange(view.n, device=view.device))
        return context

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(1, p)`` log-odds."""
        keys, queries = context.tensors["keys"], context.tensors["queries"]
        w = [self._weights(keys, queries, *ends) for ends in ((u, v), (v, u))]
        return self.log_odds(context, u, v, torch.stack(w, 2), random)[None]

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds: ``w`` without keys and queries to gather."""
        h = self.settings.hidden
        keys, queries = (context.tensors[name].view(-1, self.heads, h) for name in ("keys", "queries"))
        both = (keys[rows], queries[columns]), (queries[rows], keys[columns])
        w = torch.stack([torch.einsum("bhd,chd->bch", *each) for each in both], 3) / math.sqrt(h)
        u, v = rows.repeat_interleave(len(columns)), columns.repeat(len(rows))
        return self.log_odds(context, u, v, w.flatten(0, 1)).view(len(rows), len(columns))

    def log_odds(
        self, context: Context, u: Tensor, v: Tensor, w: Tensor, random: torch.Generator | None = None
    ) -> Tensor:
        """``(p,)`` log-odds of pairs with ``(p, heads, 2)`` ``w_uv, w_vu``."""
        near = self.to_be_enclosed(context, torch.minimum(u, v), torch.maximum(u, v))
        close, apart = near.nonzero()[:, 0], (~near).nonzero()[:, 0]
        order = torch.cat([close, apart])
        parts = [self.walks(context, u[close], v[close])]
        if len(apart):
            parts.append(self.walks_apart(context, u[apart], v[apart]))
        blocks, totals = (torch.cat(each) for each in zip(*parts, strict=True))
        w = take_rows(w.flatten(1), order).view(w.shape)
        profiles = walk_profiles(blocks, torch.sigmoid(w - totals))
        h = self.norm(torch.cat([profiles.flatten(1), torch.sigmoid(w).sum(2)], 1))
        for layer in self.layers:
            h = layer(h).relu_()
        return take_rows(self.last(self._drop(h, random)).squeeze(1), torch.argsort(order))

    def to_be_enclosed(self, context: Context, u: Tensor, v: Tensor) -> Tensor:
        """``(p,)`` which pairs with ``u <= v`` are treated as near: all where a few are learned from.

        Walks back of all their ends would take longer.
        """
        if "back" not in context.constants and len(u) <= context.view.n:
            return torch.ones_like(u, dtype=torch.bool)
        surroundings: Neighborhoods = context.constants["surroundings"]
        return surroundings.are_near(u, v)

    def walks(self, context: Context, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """``(p, heads, steps, 2, 2)`` walks from end to end, and ``(p, heads, 2)`` log-sum-exp of the ``w`` of both.

        Where there are several portions of subgraphs and gradients are wanted, each is computed once more on the way
        back, so that only one is held at a time.
        """
        surroundings: Neighborhoods = context.constants["surroundings"]
        ranges = list(surroundings.portions(u, v))
        portion: Callable[..., Any] = self._portion
        if len(ranges) > 1 and torch.is_grad_enabled():
            portion = partial(checkpoint, self._portion, use_reentrant=True, preserve_rng_state=False)
        parts = [portion(context.tensors["w"], surroundings, u[a:b], v[a:b]) for a, b in ranges]
        blocks, totals = (torch.cat(each) for each in zip(*parts, strict=True))
        return blocks, totals

    def walks_back(self, context: Context, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """``(k, heads, steps)`` walks back to nodes in their own balls, and ``(k, heads)`` log-sum-exp of ``w``."""
        blocks, totals = self.walks(context, nodes, nodes)
        return blocks[..., 0, 0], totals[..., 0]

    def walks_apart(self, context: Context, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """What ``walks`` gives for far pairs: no walk leads from one end to the other."""
        nodes, back = torch.stack([u, v], 1).flatten(), context.constants.get("back")
        if back is None:
            some, nodes = torch.unique(nodes, return_inverse=True)
            back = self.walks_back(context, some)
        steps, totals = (take_rows(each, nodes).view(len(u), 2, *each.shape[1:]).movedim(1, -1) for each in back)
        return torch.diag_embed(steps), totals

    def _drop(self, h: Tensor, random: torch.Generator | None) -> Tensor:
        return apply_dropout(h, self.dropout, self.training, random)

    def _weights(self, keys: Tensor, queries: Tensor, i: Tensor, j: Tensor) -> Tensor:
        """``(e, heads)`` ``w_ij``."""
        products = (take_rows(keys, i) * take_rows(queries, j)).view(len(i), self.heads, -1)
        return products.sum(2) / math.sqrt(self.settings.hidden)

    def _portion(self, w: Tensor, surroundings: Neighborhoods, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        subgraphs = surroundings.enclosing(u, v)
        probability, totals = transitions(subgraphs, w)
        ends = torch.stack([subgraphs.first, subgraphs.second], 1)
        blocks = end_to_end(probability, subgraphs, ends, self.steps)
        return blocks, torch.stack([take_rows(totals, each) for each in ends.T], 2)


class WalkPool(PairPredictor):
    """Neural link prediction with walk pooling: see ``WalkPoolNetwork``.

    No node has a learned row of its own, so a model of a graph without attributes can be applied to other nodes.
    """

    Settings = WalkPoolSettings
    Network = WalkPoolNetwork
    method = "walkpool"
    settings: WalkPoolSettings

    def adapt(self, graph: Graph) -> None:
        """Carry what was learned over to another graph, of as many attributes."""
        self._network.check(graph)
        TrainedPredictor.adapt(self, graph)

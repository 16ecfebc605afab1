"""SEAL as a method, and its network: graph convolutions on enclosing subgraphs, sort pooling and convolutions."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from gelato.graph import Graph
from gelato.methods.seal.settings import SealSettings
from gelato.methods.seal.subgraphs import MOST, node_labels, usual_size
from gelato.networks.pairwise.enclosing_subgraphs import Neighborhoods, Subgraphs
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.network import Context, PairNetwork
from gelato.networks.pairwise.predictor import PairPredictor
from gelato.prediction.transfer import check_inputs
from gelato.runs.search_log import SearchLog
from gelato.splits import Split
from gelato.torch_ops.gather import take_rows
from gelato.torch_ops.layers import apply_dropout
from gelato.torch_ops.sparse_matrix import Compressed, sparse_product
from gelato.training.trained_predictor import TrainedPredictor


class Convolution:
    """Multiplies by ``Â = (D + I)^-1/2 (A + I) (D + I)^-1/2`` of subgraphs, ``D`` the degrees inside them.

    ``Â`` is symmetric, so gradients are multiplied by it too; sums are in a fixed order on every device.
    """

    def __init__(self, subgraphs: Subgraphs, dtype: torch.dtype) -> None:
        row, column = subgraphs.rows, subgraphs.indices
        self._loops = (1.0 / (subgraphs.indptr.diff() + 1.0).to(dtype))[:, None]
        scale = self._loops[:, 0].sqrt()
        self._links = Compressed(subgraphs.indptr, column.int(), scale[row] * scale[column])

    def __call__(self, h: Tensor) -> Tensor:
        """``(N, c)`` from ``(N, c)``."""
        return sparse_product(self._links, self._links, h) + self._loops * h


CHANNELS, WINDOW_CHANNELS, LAST = 16, 32, 128
"""Width of a sorted node, of a window of them, and of the last hidden layer."""

WINDOW = 5
"""Places that a window covers, after pooling."""


class SealNetwork(PairNetwork):
    """``s_uv = MLP(windows(pool(sorted rows of the subgraph that encloses u and v)))``, the DGCNN of SEAL.

    SEAL (Zhang, Chen, NeurIPS 2018). Inside a subgraph ``H_0 = [label ; x]`` and ``H_i = tanh(Â H_{i-1} W_i + b_i)``,
    the last of width 1. A node is a row ``r = relu([H_1 ; ... ; H_L] W + b)``; the ``kept`` nodes with the largest
    ``H_L`` count, in that order, and rows of an empty node, ``relu(b)``, fill up small subgraphs. Then ``max`` of every
    two rows, windows of five such, and an MLP.

    Of a far pair the subgraph is two balls side by side, so that a list of sorted rows for each node serves all of
    them: a pair merges two lists. Nodes tie where they look alike, and then their rows are the same.
    """

    balanced: ClassVar[bool] = False
    settings: SealSettings

    def __init__(self, graph: Graph, settings: SealSettings) -> None:
        kept = settings.kept or usual_size(graph, settings)
        super().__init__(graph, settings.replaced(kept=kept))
        self.by_node = False
        self.inputs = graph.f if settings.attributes else 0
        self.kept, self.dropout, h = kept, settings.dropout, settings.hidden
        windows = kept // 2 - WINDOW + 1
        self.labels = nn.Embedding(MOST + 1, h)
        shapes = [(h + self.inputs, h), *[(h, h)] * (settings.layers - 1), (h, 1)]
        self.weights = nn.ParameterList(nn.init.xavier_uniform_(torch.empty(shape)) for shape in shapes)
        self.biases = nn.ParameterList(torch.zeros(width) for _, width in shapes)
        self.of_nodes = nn.Linear(settings.layers * h + 1, CHANNELS)
        self.of_windows = nn.Linear(WINDOW * CHANNELS, WINDOW_CHANNELS)
        self.hidden = nn.Linear(windows * WINDOW_CHANNELS, LAST)
        self.last = nn.Linear(LAST, 1)
        self.width = 4 * CHANNELS * kept + windows * (WINDOW * CHANNELS + 2 * WINDOW_CHANNELS) + 2 * LAST

    def check(self, graph: Graph) -> None:
        """Refuse a graph of other attributes, if they are used; nodes may be others."""
        if self.settings.attributes:
            check_inputs(graph, self.inputs)

    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        """First layer of labels and attributes, and ``(n k, 16)`` rows of each node's own ball in order of their keys.

        No gradient flows through an order, so the ``(n, k)`` keys are constants.
        """
        first = self.weights[0]
        tensors = {"labels": self.labels.weight @ first[: self.settings.hidden]}
        if self.inputs:
            tensors["attributes"] = view.inputs(first[self.settings.hidden :])
        surroundings = Neighborhoods(view, self.settings.hops)
        nodes = torch.arange(view.n, device=view.device)
        keys, rows = self.enclosed(tensors, surroundings, nodes, nodes)
        return Context(view, {**tensors, "rows": rows.flatten(0, 1)}, {"surroundings": surroundings, "keys": keys})

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(1, p)`` log-odds, the same for ``(v, u)``."""
        u, v = torch.minimum(u, v), torch.maximum(u, v)
        surroundings: Neighborhoods = context.constants["surroundings"]
        near = surroundings.are_near(u, v)
        close, apart = near.nonzero()[:, 0], (~near).nonzero()[:, 0]
        _, enclosed = self.enclosed(context.tensors, surroundings, u[close], v[close])
        odds = [self.read(enclosed, random), self.read(self.merged(context, u[apart], v[apart]), random)]
        return take_rows(torch.cat(odds), torch.argsort(torch.cat([close, apart])))[None]

    def enclosed(
        self, tensors: dict[str, Tensor], surroundings: Neighborhoods, u: Tensor, v: Tensor
    ) -> tuple[Tensor, Tensor]:
        """``(p, k)`` keys and ``(p, k, 16)`` rows of the subgraphs that enclose pairs, portion by portion.

        Where there are several and gradients are wanted, a portion is computed once more on the way back, so that only
        one is held at a time.
        """
        ranges = list(surroundings.portions(u, v))
        portion: Callable[..., Any] = self._portion
        if len(ranges) > 1 and torch.is_grad_enabled():
            portion = partial(checkpoint, self._portion, use_reentrant=True, preserve_rng_state=False)
        inputs = tensors["labels"], tensors.get("attributes"), surroundings
        parts = [portion(*inputs, u[begin:end], v[begin:end]) for begin, end in ranges]
        keys, rows = (torch.cat(each) for each in zip(*parts, strict=True))
        return keys.detach(), rows

    def _portion(
        self, labels: Tensor, attributes: Tensor | None, surroundings: Neighborhoods, u: Tensor, v: Tensor
    ) -> tuple[Tensor, Tensor]:
        subgraphs = surroundings.enclosing(u, v)
        convolution = Convolution(subgraphs, labels.dtype)
        h = take_rows(labels, node_labels(subgraphs))
        if attributes is not None:
            h = h + take_rows(attributes, subgraphs.node)
        layers: list[Tensor] = []
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            h = (convolution(h if i == 0 else h @ weight) + bias).tanh()
            layers.append(h)
        rows = self.of_nodes(torch.cat(layers, 1)).relu()
        empty = self.of_nodes.bias.relu()[None]
        keys = torch.cat([h.detach()[:, 0], h.new_full((1,), -torch.inf)])
        chosen = self._largest(subgraphs, keys[:-1])
        return keys[chosen], take_rows(torch.cat([rows, empty]), chosen.flatten()).view(*chosen.shape, CHANNELS)

    def _largest(self, subgraphs: Subgraphs, keys: Tensor) -> Tensor:
        """``(p, k)`` the nodes of each subgraph with the largest keys, largest first; ``N`` stands for none."""
        owner = subgraphs.owner
        order = torch.argsort(keys, descending=True, stable=True)
        order = order[torch.argsort(owner[order], stable=True)]
        begins = torch.searchsorted(owner, torch.arange(subgraphs.count, device=owner.device))
        place = torch.arange(len(owner), device=owner.device) - begins[owner]
        first = place < self.kept
        chosen = torch.full((subgraphs.count, self.kept), len(owner), device=owner.device)
        chosen[owner[first], place[first]] = order[first]
        return chosen

    def merged(self, context: Context, u: Tensor, v: Tensor) -> Tensor:
        """``(p, k, 16)`` rows of far pairs: those with the largest keys of both ends' lists."""
        keys: Tensor = context.constants["keys"]
        both = torch.cat([keys[u], keys[v]], 1)
        order = both.sort(dim=1, descending=True, stable=True).indices[:, : self.kept]
        place = torch.where(order < self.kept, u[:, None] * self.kept, (v[:, None] - 1) * self.kept) + order
        return take_rows(context.tensors["rows"], place.flatten()).view(*place.shape, CHANNELS)

    def read(self, rows: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(p,)`` log-odds from ``(p, k, 16)`` sorted rows."""
        half = self.kept // 2 * 2
        pooled = torch.maximum(rows[:, 0:half:2], rows[:, 1:half:2])
        windows = pooled.unfold(1, WINDOW, 1).transpose(2, 3).flatten(2)  # (p, windows, 5 x 16)
        h = self.of_windows(windows).relu().flatten(1)
        h = apply_dropout(self.hidden(h).relu(), self.dropout, self.training, random)
        odds: Tensor = self.last(h).squeeze(1)
        return odds


class SEAL(PairPredictor):
    """Learning from subgraphs, embeddings and attributes for link prediction: see ``SealNetwork``.

    No node has a learned row of its own, so a model of a graph without attributes can be applied to other nodes.
    """

    Settings = SealSettings
    Network = SealNetwork
    method = "seal"
    settings: SealSettings

    @property
    def uses_attributes(self) -> bool:
        return self.settings.attributes

    def choose(self, split: Split, device: torch.device, trials: SearchLog) -> dict[str, Any]:
        """The nodes that sort pooling keeps: shapes of layers depend on them, on whatever graph the model is used."""
        return {} if self.settings.kept is not None else {"kept": usual_size(split.train, self.settings)}

    def adapt(self, graph: Graph) -> None:
        """Carry what was learned over to another graph, with or without attributes."""
        self._network.check(graph)
        TrainedPredictor.adapt(self, graph)

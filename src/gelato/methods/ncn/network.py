"""The network of NCN: propagated attributes, and MLPs on products and on sums over common neighbours."""

from typing import Any

import torch
from torch import Tensor, nn

from gelato.graph import Graph
from gelato.methods.gelato.enhance.mlp import dropped
from gelato.methods.ncn.settings import NcnSettings
from gelato.methods.pairwise.network import Context, PairNetwork, spread, summed, taken
from gelato.methods.pairwise.products import layer_on_products
from gelato.methods.pairwise.rows import Meeting, Rows, meet
from gelato.methods.pairwise.view import View


class Propagated(nn.Module):
    """``H = sum_i c_i T_i``, ``T_0 = drop(X) W + b``, ``T_i = drop(Â drop(T_{i-1}))``, ``c_i`` learned numbers.

    Without attributes ``X = I``, one learned row for each node. With ``residual`` a step adds to ``T_{i-1}``.
    """

    def __init__(self, inputs: int, settings: NcnSettings) -> None:
        super().__init__()
        self.settings = settings
        self.weight = nn.Parameter(torch.empty(inputs, settings.hidden))
        self.bias = nn.Parameter(torch.zeros(settings.hidden))
        nn.init.xavier_uniform_(self.weight)
        self.steps = nn.Parameter(torch.randn(settings.layers))

    def forward(self, view: View, random: torch.Generator | None = None) -> Tensor:
        """``(n, h)`` embeddings."""
        settings, training = self.settings, self.training
        h = view.inputs(self.weight, settings.attribute_dropout if training else 0.0, random) + self.bias
        h = dropped(h, settings.step_dropout, training, random)
        total = torch.zeros_like(h)
        for share in self.steps:
            step = dropped(view.step @ h, settings.tail_dropout, training, random)
            h = step + h if settings.residual else step
            total = total + share * h
        return total


class Layers(nn.Module):
    """An MLP of named parts: ``lin``, ``norm`` (LayerNorm), ``drop``, ``relu`` and ``out``, a layer of width 1."""

    def __init__(self, width: int, parts: str, dropout: float) -> None:
        super().__init__()
        self.parts, self.dropout = parts.split(), dropout
        make: dict[str, Any] = {
            "lin": lambda: nn.Linear(width, width),
            "norm": lambda: nn.LayerNorm(width),
            "out": lambda: nn.Linear(width, 1),
        }
        self.layers = nn.ModuleList(make[part]() for part in self.parts if part in make)

    def forward(self, h: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(p, width)`` or ``(p, 1)`` from ``(p, width)``."""
        return self._through(h, self.parts, list(self.layers), random)

    def products(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b c, .)`` of ``h_u ∘ h_v`` for ``(b, h)`` rows and ``(c, h)`` columns."""
        first = self.layers[0]
        assert isinstance(first, nn.Linear) and self.parts[0] == "lin"
        h = layer_on_products(first.weight, first.bias, rows, columns)
        return self._through(h.flatten(0, 1), self.parts[1:], list(self.layers)[1:], None)

    def _through(self, h: Tensor, parts: list[str], layers: list[nn.Module], random: torch.Generator | None) -> Tensor:
        rest = iter(layers)
        for part in parts:
            if part == "drop":
                h = dropped(h, self.dropout, self.training, random)
            else:
                h = h.relu() if part == "relu" else next(rest)(h)
        return h


class NcnNetwork(PairNetwork):
    """``s_uv = MLP_out(b MLP_cn(sum of h'_k over common neighbours k) + MLP_uv(h_u ∘ h_v))``, ``h' = h + MLP_x(h)``.

    Neural common neighbours (Wang, Yang, Zhang, ICLR 2024). Pairs without common neighbours share ``MLP_cn(0)``, and in
    training the dropout of it.
    """

    def __init__(self, graph: Graph, settings: NcnSettings) -> None:
        super().__init__(graph, settings)
        width, drop = settings.hidden, settings.dropout
        end = "" if settings.tail else " lin"
        self.encoder = Propagated(self.inputs, settings)
        self.of_nodes = Layers(width, "lin drop relu lin norm drop relu", drop)
        self.of_neighbors = Layers(width, "lin drop relu lin norm drop relu" + end, drop)
        self.of_products = Layers(width, "lin norm drop relu" + end, drop)
        self.last = Layers(width, "lin norm drop relu " * (2 if settings.deep else 1) + "out", drop)
        self.strength = nn.Parameter(torch.ones(1))
        self.link_dropout = settings.link_dropout
        self.encoder_learning_rate = settings.encoder_learning_rate
        self.width = 4 * width

    def context(self, view: View, random: torch.Generator | None = None) -> Context:
        """Embeddings ``h`` and ``h'``, and the links that join common neighbours."""
        H = self.encoder(view, random)
        return Context(view, {"H": H, "K": H + self.of_nodes(H, random)}, {"links": self._seen(view, random)})

    def _seen(self, view: View, random: torch.Generator | None) -> Rows:
        """The links, in training less a random share of them."""
        links = view.neighbors
        if not self.training or self.link_dropout == 0:
            return links
        kept = torch.rand(len(links.keys), generator=random, device=view.device) >= self.link_dropout
        lengths = torch.cat([links.indptr.new_zeros(1), kept.long().cumsum(0)])
        return Rows(lengths[links.indptr], links.indices[kept], links.values[kept], links.keys[kept])

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(1, p)`` log-odds."""
        H = context.tensors["H"]
        products = self.of_products(taken(H, u) * taken(H, v), random)
        pooled = self.pooled(context.tensors["K"], self.neighbors(context, u, v), len(u), random)
        odds: Tensor = self.last(products + pooled, random)
        return odds.T

    def neighbors(self, context: Context, u: Tensor, v: Tensor) -> Meeting:
        """The common neighbours of pairs."""
        return meet(context.constants["links"], context.constants["links"], u, v)

    def pooled(self, K: Tensor, meeting: Meeting, pairs: int, random: torch.Generator | None) -> Tensor:
        """``(p, h)`` what is added for the neighbours of ``meeting``: ``b MLP_cn(sum of weight h'_k)``."""
        which, place = torch.unique_consecutive(meeting.pair, return_inverse=True)
        sums = summed(taken(K, meeting.node) * meeting.weight[:, None], place, len(which))
        near = self.strength * self.of_neighbors(sums, random)
        far = self.strength * self.of_neighbors(K.new_zeros(1, K.shape[1]), random)
        return spread(near, far, which, pairs)

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds: products without gathering, and common neighbours only where there are any."""
        H, links = context.tensors["H"], context.constants["links"]
        hidden = self.of_products.products(H[rows], H[columns])
        common = links.times(links.dense(rows).T)[columns].T  # (b, c) how many
        i, j = common.nonzero().T
        meeting = meet(links, links, rows[i], columns[j])
        pair = (i * len(columns) + j)[meeting.pair]
        hidden += self.pooled(context.tensors["K"], meeting._replace(pair=pair), len(hidden), None)
        odds: Tensor = self.last(hidden)
        return odds.view(len(rows), len(columns))

    def groups(self) -> list[dict[str, Any]]:
        """The encoder learns at a rate of its own."""
        encoder = list(self.encoder.parameters())
        others = [each for name, each in self.named_parameters() if not name.startswith("encoder.")]
        return [{"params": others}, {"params": encoder, "lr": self.encoder_learning_rate}]

"""The enhancer: weights of all enhanced links, from what is observed, learned and alike."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.gelato.settings import GelatoSettings
from gelato.networks.gnn.encoder import seeded_encoder
from gelato.networks.pair_mlp.network import Attributes, PairInputs, PairMLP
from gelato.similarity.enhanced_links import EnhancedLinks, enhanced_links
from gelato.torch_ops.gather import Selection
from gelato.torch_ops.layers import apply_dropout
from gelato.torch_ops.sparse_matrix import constant_matrix

CPU = torch.device("cpu")


class GraphEncoder(nn.Module):
    """Two layers of GIN or GCN on the training links, then ``[h_u + h_v ; |h_u - h_v|] -> hidden -> 2``.

    GIN: ``h_u' = relu(MLP((1 + eps) h_u + sum over neighbours h_v))``. GCN: ``h' = relu(D^-1/2 (A + I) D^-1/2 h W)``.
    BatchNorm and dropout follow each layer. All links count alike, masked ones not at all; directed graphs send
    messages both ways (twice, if there are links both ways) and use ``[h_u ; h_v]``.
    """

    def __init__(
        self, attributes: Attributes, links: EnhancedLinks, settings: GelatoSettings, device: torch.device
    ) -> None:
        super().__init__()
        kind, hidden = settings.encoder, settings.hidden
        n, f = attributes.shape
        self.dropout, self.directed = settings.dropout, links.directed
        self.first, self.second = nn.Linear(f, hidden), nn.Linear(hidden, hidden)
        self.inner = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(2)) if kind == "gin" else None
        self.eps = nn.Parameter(torch.zeros(2)) if kind == "gin" else None
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(2))
        self.head, self.last = nn.Linear(2 * hidden, hidden), nn.Linear(hidden, 2)
        self._nodes = constant_matrix(attributes, device)
        u, v = links.pairs[links.links].T
        self._from, self._to = (Selection(np.concatenate(ends), n, device) for ends in ((u, v), (v, u)))
        self._link = torch.as_tensor(np.tile(links.links, 2), device=device)
        self._u, self._v = (Selection(links.pairs[:, i], n, device) for i in (0, 1))

    def forward(self, keep: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(M,)`` log-odds of the weights; ``keep (M,)`` is 0 for masked links."""
        kept = keep[self._link].float()
        h = self._layer(0, self._nodes @ self.first.weight.T, self.first.bias, kept, random)
        h = self._layer(1, h @ self.second.weight.T, self.second.bias, kept, random)
        h_u, h_v = self._u.take(h), self._v.take(h)
        pair = torch.cat([h_u, h_v] if self.directed else [h_u + h_v, (h_u - h_v).abs()], dim=1)
        out: Tensor = self.last(self.head(pair).relu())
        return out[:, 1] - out[:, 0]

    def _layer(self, i: int, h: Tensor, bias: Tensor, kept: Tensor, random: torch.Generator | None) -> Tensor:
        if self.inner is None or self.eps is None:  # GCN
            scale = (1 + self._to.sums(kept)).rsqrt()
            messages = self._to.add(self._from.take(h * scale[:, None]) * kept[:, None])
            h = ((messages + h * scale[:, None]) * scale[:, None] + bias).relu()
        else:
            h = (1 + self.eps[i]) * h + self._to.add(self._from.take(h) * kept[:, None]) + bias
            h = self.inner[i](h.relu()).relu()
        return apply_dropout(self.norms[i](h), self.dropout, self.training, random)


class Enhancer(nn.Module):
    """``A~_uv = alpha A_uv + (1 - alpha) (beta w_uv + (1 - beta) max(S_uv, 0))`` on the enhanced links [method 3].

    A masked link loses its observed weight, and all of it unless the similarity rule had added the pair.

    Attributes:
        links: the enhanced links.
        net: what learns ``w``, or ``None`` when ``beta`` is 0.
        mixing: ``(2,)`` log-odds of ``alpha`` and ``beta``, when they are learned.
    """

    def __init__(
        self, attributes: Attributes | None, links: EnhancedLinks, settings: GelatoSettings, device: torch.device = CPU
    ) -> None:
        super().__init__()
        assert settings.alpha is not None and settings.beta is not None
        self.device = device
        self.links, self.alpha, self.beta = links, settings.alpha, settings.beta
        self.mixing: nn.Parameter | None = None
        if settings.learn_mixing:  # shares are moved a little inside (0, 1)
            self.mixing = nn.Parameter(torch.tensor([self.alpha, self.beta]).clamp(0.01, 0.99).logit())
        self.net: Any = None
        self._features: PairInputs | None = None
        learned = (self.beta > 0 and self.alpha < 1) or settings.learn_mixing
        if attributes is not None and learned and settings.encoder == "mlp":
            self._features = PairInputs(
                attributes, links.pairs, directed=links.directed, device=device, threads=settings.threads
            )
            self.net = PairMLP(attributes.shape[1], hidden=settings.hidden, dropout=settings.dropout)
        elif attributes is not None and learned:
            self.net = GraphEncoder(attributes, links, settings, device)
        self._observed, self._similar, self._added = (
            torch.as_tensor(part, dtype=torch.float64, device=device)
            for part in (links.observed, links.similar, links.added)
        )
        self.to(device)

    def forward(self, masked: Tensor | None = None, random: torch.Generator | None = None) -> Tensor:
        """``(M,)`` weights in double precision; ``masked`` are the links to hide, ``random`` drives the dropout."""
        keep = torch.ones_like(self._observed)
        if masked is not None:
            keep.index_fill_(0, masked, 0.0)
        alpha, beta = (self.alpha, self.beta) if self.mixing is None else self.mixing.double().sigmoid().unbind()
        made = (1 - beta) * self._similar
        if self.net is not None:
            odds = self.net(keep if self._features is None else self._features, random)
            made = made + beta * odds.double().sigmoid()
        return alpha * self._observed * keep + (1 - alpha) * made * torch.maximum(self._added, keep)


def new_enhancer(graph: Graph, settings: GelatoSettings, device: torch.device, newcomers: int = 0) -> Enhancer:
    """What gives weights to the enhanced links of ``graph``, initialised by ``settings.random_state``.

    ``newcomers`` is how many similar nodes a node without links is joined to.
    """
    assert settings.eta is not None
    links = enhanced_links(graph, settings.eta, settings.similarity, newcomers)
    return enhancer_on_links(graph, links, settings, device)


def enhancer_on_links(graph: Graph, links: EnhancedLinks, settings: GelatoSettings, device: torch.device) -> Enhancer:
    """What gives weights to enhanced links that are known."""
    assert settings.alpha is not None
    if graph.f == 0 and settings.alpha < 1:
        raise InputError(
            f"alpha {settings.alpha} gives weight to attributes, but the graph has none; give --attributes, or alpha 1"
            " and eta 0"
        )
    with seeded_encoder(settings.random_state):
        return Enhancer(graph.attributes, links, settings, device)

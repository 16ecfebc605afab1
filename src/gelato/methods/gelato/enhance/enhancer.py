"""The enhancer: weights of all enhanced links, from what is observed, learned and alike."""

from typing import Any

import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor, nn

from gelato.methods.gelato.enhance.gnn import GraphEncoder
from gelato.methods.gelato.enhance.links import EnhancedLinks
from gelato.methods.gelato.enhance.mlp import PairFeatures, PairMLP


class Enhancer(nn.Module):
    """``A~_uv = alpha A_uv + (1 - alpha) (beta w_uv + (1 - beta) max(S_uv, 0))`` on the enhanced links [method 3].

    A masked link loses its observed weight, and all of it unless the similarity rule had added the pair.

    Attributes:
        links: the enhanced links.
        net: what learns ``w``, or ``None`` when ``beta`` is 0.
        mixing: ``(2,)`` log-odds of ``alpha`` and ``beta``, when they are learned.
        filter: ``(degree + 1,)`` coefficients of the polynomial that these weights are for, where there is one.
    """

    def __init__(
        self,
        attributes: NDArray[Any] | csr_array | None,
        links: EnhancedLinks,
        *,
        alpha: float,
        beta: float,
        encoder: str = "mlp",
        hidden: int = 128,
        dropout: float = 0.5,
        learn_mixing: bool = False,
        threads: int | None = None,
        device: torch.device | str = "cpu",
        degree: int | None = None,
    ) -> None:
        super().__init__()
        self.device = device = torch.device(device)
        self.links, self.alpha, self.beta = links, alpha, beta
        self.mixing = nn.Parameter(_odds(torch.tensor([alpha, beta]))) if learn_mixing else None
        self.net: Any = None
        self._features: PairFeatures | None = None
        learned = attributes is not None and ((beta > 0 and alpha < 1) or learn_mixing)
        if attributes is not None and learned and encoder == "mlp":
            self._features = PairFeatures(
                attributes, links.pairs, directed=links.directed, device=device, threads=threads
            )
            self.net = PairMLP(attributes.shape[1], hidden=hidden, dropout=dropout)
        elif attributes is not None and learned:
            kind: Any = encoder
            self.net = GraphEncoder(attributes, links, kind=kind, hidden=hidden, dropout=dropout, device=device)
        self._observed, self._similar, self._added = (
            torch.as_tensor(part, dtype=torch.float64, device=device)
            for part in (links.observed, links.similar, links.added)
        )
        self.filter: Tensor
        if degree is not None:
            self.register_buffer("filter", torch.zeros(degree + 1, dtype=torch.float64))
        self.to(device)

    def forward(self, masked: Tensor | None = None, random: torch.Generator | None = None) -> Tensor:
        """``(M,)`` weights in double precision; ``masked`` are the links to hide, ``random`` drives the dropout."""
        keep = torch.ones_like(self._observed)
        if masked is not None:
            keep.index_fill_(0, masked, 0.0)
        alpha, beta = (self.alpha, self.beta) if self.mixing is None else self.mixing.double().sigmoid().unbind()
        made = (1 - beta) * self._similar
        if self.net is not None:
            made = made + beta * self.odds(keep, random).double().sigmoid()
        return alpha * self._observed * keep + (1 - alpha) * made * torch.maximum(self._added, keep)

    def odds(self, keep: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(M,)`` log-odds of the learned weights."""
        odds: Tensor = self.net(keep if self._features is None else self._features, random)
        return odds


def _odds(share: Tensor) -> Tensor:
    """Log-odds, of shares moved a little inside (0, 1)."""
    return torch.logit(share.clamp(0.01, 0.99))

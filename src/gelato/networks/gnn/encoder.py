"""The encoder: graph convolutions from attributes to embeddings, trained in torch, applied in double precision."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.networks.pairwise.masked_graph import MaskedGraph, Propagation
from gelato.prediction.transfer import check_inputs
from gelato.torch_ops.layers import apply_dropout


class NodeEncoder(nn.Module):
    """``H_0 = X``, ``H_i = Â drop(relu(H_{i-1})) W_i + b_i``, without relu and dropout before the first layer.

    Graph convolutions of Kipf and Welling (ICLR 2017). Without attributes ``X = I``: ``W_1`` has one learned row for
    each node of the graph, and the encoder cannot be applied to a graph of other nodes.

    Args:
        graph: whose attributes, or nodes, it encodes.
        widths: of the layers, the last one being that of the embeddings.
        bias: whether there are ``b_i``.
        dropout: share of the entries dropped between layers.

    Attributes:
        inputs: number of attributes, or of nodes.
        by_node: whether it has learned one row for each node.
    """

    def __init__(self, graph: Graph, widths: Sequence[int], *, bias: bool, dropout: float) -> None:
        super().__init__()
        self.by_node = graph.f == 0
        self.inputs = graph.f or graph.n
        self.dropout = dropout
        shapes = list(pairwise([self.inputs, *widths]))
        self.weights = nn.ParameterList(nn.init.xavier_uniform_(torch.empty(shape)) for shape in shapes)
        self.biases = nn.ParameterList(torch.zeros(width) for width in widths) if bias else None

    def forward(self, view: MaskedGraph, random: torch.Generator | None = None) -> Tensor:
        """``(n, h)`` embeddings of the nodes of a view; ``random`` drives the dropout in training."""
        h = view.step @ view.inputs(self.weights[0])
        for i, weight in enumerate(self.weights):
            if i > 0:
                h = view.step @ (apply_dropout(h.relu(), self.dropout, self.training, random) @ weight)
            h = h if self.biases is None else h + self.biases[i]
        return h


def embeddings(encoder: NodeEncoder, graph: Graph) -> NDArray[np.float64]:
    """``(n, h)`` what the encoder makes of a graph, in double precision and the same for every device."""
    check_inputs(graph, encoder.inputs, encoder.by_node)
    step = Propagation(graph).matrix()
    both = (encoder.weights, encoder.biases or ())
    weights, biases = ([each.detach().cpu().double().numpy() for each in part] for part in both)
    h: NDArray[np.float64] = weights[0] if encoder.by_node else graph.attributes @ weights[0]
    for i, weight in enumerate(weights):
        h = step @ (h if i == 0 else np.maximum(h, 0) @ weight)
        h = h + biases[i] if biases else h
    if not np.isfinite(h).all():
        raise InputError("training diverged: embeddings are not finite; lower learning_rate")
    return h


@contextmanager
def seeded_encoder(seed: int) -> Iterator[None]:
    """Initialise networks by ``seed``; the global state of torch is as before afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield

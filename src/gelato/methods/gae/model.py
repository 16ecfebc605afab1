"""GAE: network, task and scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.graph import Graph, Pairs
from gelato.kernels.device.tensors import tensor_on
from gelato.kernels.dots import row_dots
from gelato.methods.gae.settings import GaeSettings
from gelato.methods.gae.task import GaeTask
from gelato.methods.gnn.encoder import Encoder, embeddings, seeded
from gelato.methods.gnn.predictor import EncodedPredictor
from gelato.methods.scored import block_scores
from gelato.scores import Scores
from gelato.splits import Split
from gelato.training.settings import TrainingSettings


class GAE(EncodedPredictor):
    """Graph auto-encoder (Kipf and Welling, 2016): ``s_uv = z_u · z_v`` with ``Z = Â relu(Â X W_1) W_2``.

    ``Â`` is the normalised adjacency with self-loops, ``X`` the attributes; without attributes ``X = I``, one learned
    embedding for each node, and the model cannot be applied to other nodes. Scores are log-odds.

    Example:
        >>> from gelato import load, new_predictor, split
        >>> hidden = split(load("debian-sample"))
        >>> new_predictor("gae", epochs=2).fit(hidden).predict_top(3).pairs.shape
        (3, 2)
    """

    Settings: ClassVar[type[TrainingSettings]] = GaeSettings
    method = "gae"

    def network(self, graph: Graph, settings: GaeSettings, device: torch.device) -> Encoder:
        """The encoder, initialised by ``settings.random_state``."""
        with seeded(settings.random_state):
            encoder = Encoder(graph, (settings.hidden, settings.width), bias=False, dropout=settings.dropout)
        return encoder.to(device)

    def task(self, network: Encoder, split: Split, settings: GaeSettings) -> GaeTask:
        """What is trained on a split."""
        return GaeTask(network, split, settings)

    def scores_of(self, network: Encoder, graph: Graph) -> Scores:
        """Inner products of the embeddings of ``graph``."""
        return block_scores(graph.n, InnerProducts(embeddings(network, graph)))


@dataclass(frozen=True, eq=False)
class InnerProducts:
    """Blocks of ``Z Z^T``.

    Attributes:
        Z: ``(n, h)`` float64 embeddings.
    """

    Z: NDArray[np.float64]

    def __call__(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(b, c)`` scores of rows with columns."""
        block: NDArray[np.float64] = self.Z[rows] @ self.Z[columns].T
        return block

    def on(self, device: torch.device) -> Callable[[Tensor, Tensor], Tensor]:
        """The same on a device."""
        Z = tensor_on(self.Z, device)
        return lambda rows, columns: Z[rows] @ Z[columns].T

    def listed(self, pairs: Pairs) -> NDArray[np.float64]:
        """``(p,)`` scores of listed pairs."""
        return row_dots(self.Z, self.Z, pairs)

    @property
    def parts(self) -> tuple[NDArray[np.float64], ...]:
        """All that the scores depend on."""
        return (self.Z,)

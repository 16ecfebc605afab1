"""SEAL as a method."""

from typing import Any, ClassVar

import torch

from gelato.graph import Graph
from gelato.methods.pairwise.predictor import PairPredictor
from gelato.methods.seal.network import SealNetwork
from gelato.methods.seal.settings import SealSettings
from gelato.methods.seal.subgraphs import usual_size
from gelato.runs.trials import Trials
from gelato.splits import Split
from gelato.training.predictor import TrainedPredictor
from gelato.training.settings import TrainingSettings


class SEAL(PairPredictor):
    """Learning from subgraphs, embeddings and attributes for link prediction: see ``SealNetwork``.

    No node has a learned row of its own, so a model of a graph without attributes can be applied to other nodes.
    """

    Settings: ClassVar[type[TrainingSettings]] = SealSettings
    Network = SealNetwork
    method = "seal"
    settings: SealSettings

    @property
    def uses_attributes(self) -> bool:
        """As the settings say."""
        return self.settings.attributes

    def choose(self, split: Split, device: torch.device, trials: Trials) -> dict[str, Any]:
        """The nodes that sort pooling keeps: shapes of layers depend on them, on whatever graph the model is used."""
        return {} if self.settings.kept is not None else {"kept": usual_size(split.train, self.settings)}

    def adapt(self, graph: Graph) -> None:
        """Carry what was learned over to another graph, with or without attributes."""
        self._network.check(graph)
        TrainedPredictor.adapt(self, graph)

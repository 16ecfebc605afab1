"""What the predictors with a graph encoder share."""

import numpy as np

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.directions import needs_undirected
from gelato.methods.gnn.settings import EncodedSettings
from gelato.training.predictor import TrainedPredictor


class EncodedPredictor(TrainedPredictor):
    """A trained predictor whose network encodes attributes, or without any one learned row per node."""

    @property
    def selected_by(self) -> str:
        """What keeps an epoch, as the settings say."""
        assert isinstance(self.settings, EncodedSettings)
        return "hits@100 among sampled pairs" if self.settings.selection == "balanced" else "precision@100%"

    def check_graph(self, graph: Graph) -> None:
        """Refuse directed graphs: pairs are scored alike both ways."""
        super().check_graph(graph)
        problem = needs_undirected(self.method, graph)
        if problem is not None:
            raise InputError(problem)

    def adapt(self, graph: Graph) -> None:
        """Carry what was learned over to another graph; without attributes that must have the same nodes."""
        learned_from = self._seen.graph
        if graph.f == 0 and (graph.n != learned_from.n or not _alike(graph, learned_from)):
            raise InputError(
                f"the model was trained without attributes: it learned one embedding for each of {learned_from.n:,} "
                "nodes and cannot be applied to others; train a model for them"
            )
        super().adapt(graph)


def _alike(one: Graph, other: Graph) -> bool:
    """Whether two graphs call their nodes the same."""
    if one.names is None or other.names is None:
        return one.names is other.names
    return bool(np.array_equal(one.names, other.names))

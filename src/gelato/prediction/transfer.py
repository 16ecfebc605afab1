"""Fitted predictors on other graphs: attributes matched by name, or a model trained again without some links."""

from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gelato.errors import InputError, wrong_kind
from gelato.graph import Graph
from gelato.io import align_attributes
from gelato.io.attributes.alignment import rescaled
from gelato.scores import Scores
from gelato.splits import Split

if TYPE_CHECKING:
    from gelato.prediction.predictor import LinkPredictor

Predictor = TypeVar("Predictor", bound="LinkPredictor")


def predictor_on(predictor: Predictor, graph: Graph) -> Predictor:
    """What ``LinkPredictor.on`` returns."""
    fitted = predictor.graph_
    if not isinstance(graph, Graph):
        raise wrong_kind("on", "Graph", graph)
    if graph.directed != fitted.directed:
        kinds = ("undirected", "directed")
        raise InputError(
            f"the model was trained on {kinds[fitted.directed]} links, but the links of the"
            f" graph are {kinds[graph.directed]}; train a model for it"
        )
    if predictor.columns_ is None and predictor.uses_attributes:
        check_inputs(graph, fitted.f)
    twin = copy(predictor)
    twin.remarks_, twin.valid_ = [], predictor._seen.selected_in(graph)
    if predictor.columns_ is not None and predictor.uses_attributes:
        graph, alignment = align_attributes(graph, predictor.columns_, fitted.scaling)
        if alignment.missing or alignment.unknown:
            twin.remarks_ = [str(alignment)]
    elif predictor.uses_attributes and graph.f:
        graph = rescaled(graph, fitted.scaling)
    twin.adapt(graph)
    return twin


def trial_scores(predictor: "LinkPredictor", split: Split, run: Path | None) -> Scores:
    """What ``LinkPredictor.trial_scores`` returns."""
    rest = split.graph.without(split.test)
    if not predictor.trained or not predictor._seen.among(split.graph, split.test).any():
        return predictor.on(rest).scores()
    twin = type(predictor)(**predictor.twin_settings())
    if len(split.valid) == 0:  # none of those that selected this model are in the graph: others must
        return twin.fit(rest, run=run).scores()
    return twin.fit(split, run=run).on(rest).scores()


def check_inputs(graph: Graph, inputs: int, by_node: bool = False) -> None:
    """Refuse a graph with another number of attributes than ``inputs``.

    If ``by_node``, the model was trained without attributes and has learned one row for each of ``inputs`` nodes, so
    graphs with attributes or with another number of nodes are refused instead.
    """
    if by_node and (graph.f or graph.n != inputs):
        raise InputError(
            f"the model was trained without attributes: it learned one embedding for each of {inputs:,} nodes, and "
            f"cannot be applied to other nodes ({graph.n:,}, {graph.f:,} attributes); train a model for them"
        )
    if not by_node and graph.f != inputs:
        raise InputError(
            f"the model learned from {inputs:,} attributes, but the graph has {graph.f:,}; give it the same "
            "attributes, or train a model for it"
        )

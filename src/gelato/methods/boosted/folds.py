"""Rows to learn from: training links hidden fold by fold, with everything computed anew without the fold."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Graph, Pairs, pair_keys
from gelato.methods.boosted.features import PairFeatures
from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.boosted.stages import FirstStages
from gelato.runs.files import unedited
from gelato.runs.folder import RunFolder

HARD = 0.1
"""Pairs among this share of the best of any list are all learned from; of others a sample, if they are too many."""

PARTS = ("features", "labels", "weights")
"""What is kept of the rows of a fold."""

LEAST_SAMPLE = 0.05
"""The sample is no smaller share of them."""

Stages = Callable[[Graph], FirstStages]
"""From a graph to its first stages."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one fold.

    Attributes:
        features: ``(p, c)``.
        names: ``(c,)`` of the features.
        labels: ``(p,)`` whether a pair is a hidden link.
        weights: ``(p,)`` how many candidates a row stands for.
        recall: share of the hidden links that are among the candidates.
    """

    features: NDArray[np.float32]
    names: list[str]
    labels: NDArray[np.bool_]
    weights: NDArray[np.float64]
    recall: float


def hidden_folds(graph: Graph, settings: BoostedSettings) -> list[Pairs]:
    """Links to hide, fold by fold; the folds are disjoint as long as there are links."""
    count, size = settings.fold_count(graph), max(1, min(graph.m - 1, int(settings.hidden_share * graph.m)))
    random = np.random.default_rng((settings.random_state, 0))
    order = np.concatenate([random.permutation(graph.m) for _ in range(-(-count * size // graph.m))])
    return [graph.edges[np.sort(np.unique(order[i * size : (i + 1) * size]))] for i in range(count)]


def rows_of(graph: Graph, hidden: Pairs, stages: Stages, settings: BoostedSettings, fold: int, most: float) -> Rows:
    """The rows of a fold, about ``most``: candidates of the graph without the hidden links, which are to be found.

    Nothing but the labels depends on the hidden links: neither the candidates nor which of them are sampled.
    """
    rest = graph.without(hidden)
    first = stages(rest)
    pairs, place = first.candidates(settings.candidate_count(rest))
    labels = np.isin(pair_keys(pairs, graph.n), pair_keys(hidden, graph.n))
    hard = place < HARD
    sampled = min(1.0, max(LEAST_SAMPLE, (most - hard.sum()) / max(1, (~hard).sum())))
    random = np.random.default_rng((settings.random_state, 2, fold))
    kept = hard | (random.random(len(pairs)) < sampled) | labels
    weights = np.where(hard | labels, 1.0, 1.0 / sampled)[kept]
    features, names = PairFeatures(first).matrix(pairs[kept], weighted=graph.weighted)
    return Rows(features, names, labels[kept], weights, float(labels.sum() / len(hidden)))


def keep_rows(folder: RunFolder, done: list[Rows]) -> None:
    """Keep the rows of the folds so far."""
    tensors = {f"{name}.{fold}": getattr(rows, name) for fold, rows in enumerate(done) for name in PARTS}
    state = {"names": done[0].names, "recall": [rows.recall for rows in done]}
    folder.keep(tensors, state, {"fold": len(done), "recall": done[-1].recall, "rows": len(done[-1].labels)})


def kept_rows(folder: RunFolder) -> list[Rows]:
    """The rows of the folds that are kept."""
    kept = folder.checkpoint()
    if kept is None:
        return []
    tensors, state = kept
    with unedited(folder.path):
        return [
            Rows(
                tensors[f"features.{fold}"],
                state["names"],
                tensors[f"labels.{fold}"],
                tensors[f"weights.{fold}"],
                recall,
            )
            for fold, recall in enumerate(state["recall"])
        ]

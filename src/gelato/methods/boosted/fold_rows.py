"""Rows to learn from: training links hidden fold by fold, with everything computed anew without the fold."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Graph, Pairs, pair_keys
from gelato.io.untrusted import checked_array
from gelato.kernels.mixed_bits import mixed_bits
from gelato.methods.boosted.features import known_features
from gelato.methods.boosted.first_stages import FirstStages
from gelato.methods.boosted.settings import BoostedSettings
from gelato.runs.files import refuse_damaged
from gelato.runs.folder import RunFolder

HARD = 0.1
"""Pairs among this share of the best of any list are all learned from; of others a sample, if they are too many."""

KINDS: dict[str, type] = {"pairs": np.int64, "features": np.float32, "labels": np.bool_, "weights": np.float64}
"""What is kept of the rows of a fold."""

LEAST_SAMPLE = 0.05
"""The sample is no smaller share of them."""

Stages = Callable[[Graph], FirstStages]
"""From a graph to its first stages."""


@dataclass(frozen=True, eq=False)
class FoldRows:
    """Rows of one fold.

    Attributes:
        pairs: ``(p, 2)`` in the order of their keys.
        features: ``(p, c)``.
        labels: ``(p,)`` whether a pair is a hidden link.
        weights: ``(p,)`` how many candidates a row stands for; 0 if it is not learned from.
        names: ``(c,)`` of the features.
        recall: share of the hidden links that are among the candidates.
    """

    pairs: Pairs
    features: NDArray[np.float32]
    labels: NDArray[np.bool_]
    weights: NDArray[np.float64]
    names: list[str]
    recall: float


def hidden_folds(graph: Graph, settings: BoostedSettings) -> list[Pairs]:
    """Links to hide, fold by fold; the folds are disjoint as long as there are links."""
    count, size = settings.fold_count(graph), max(1, min(graph.m - 1, int(settings.hidden_share * graph.m)))
    random = np.random.default_rng((settings.random_state, 0))
    order = np.concatenate([random.permutation(graph.m) for _ in range(-(-count * size // graph.m))])
    return [graph.edges[np.sort(np.unique(order[i * size : (i + 1) * size]))] for i in range(count)]


def fold_rows(
    graph: Graph, hidden: Pairs, stages: Stages, settings: BoostedSettings, fold: int, most: float
) -> FoldRows:
    """The rows of a fold: candidates of the graph without the hidden links, which are to be found.

    About ``most`` are learned from. With cross-fitting, a pair that is not hidden is learned from in one fold only, or
    trees would know pairs of a fold from all others; those of folds that are rehearsed on are all kept. Nothing but the
    labels depends on the hidden links: neither the candidates nor which of them are sampled.
    """
    rest = graph.without(hidden)
    first = stages(rest)
    pairs, place = first.candidates(settings.candidate_count(rest))
    keys = pair_keys(pairs, graph.n)
    labels, hard = np.isin(keys, pair_keys(hidden, graph.n)), place < HARD
    folds = settings.fold_count(graph) if settings.cross_fits(graph) else 1
    mine = fold_of_pairs(keys, folds) == fold if folds > 1 else np.ones(len(pairs), bool)
    sampled = min(1.0, max(LEAST_SAMPLE, (most - (mine & hard).sum()) / max(1, (mine & ~hard).sum())))
    random = np.random.default_rng((settings.random_state, 2, fold))
    learned = mine & (hard | (random.random(len(pairs)) < sampled)) | labels
    weights = np.where(labels, 1.0, np.where(hard, 1.0, 1.0 / sampled) * folds) * learned
    kept = slice(None) if fold < settings.rehearsed_count(graph) else learned
    features, names = known_features(first, pairs[kept], weighted=graph.weighted)
    return FoldRows(pairs[kept], features, labels[kept], weights[kept], names, float(labels.sum() / len(hidden)))


def fold_of_pairs(keys: NDArray[np.int64], folds: int) -> NDArray[np.int64]:
    """``(p,)`` the fold in which a pair is learned from, as if drawn at random, the same for the same key."""
    return (mixed_bits(keys) % np.uint64(folds)).astype(np.int64)


def save_fold_rows(folder: RunFolder, fold: int, rows: FoldRows) -> None:
    """Keep the rows of a fold."""
    line = {"fold": fold + 1, "recall": rows.recall, "rows": int((rows.weights > 0).sum())}
    tensors = {part: getattr(rows, part) for part in KINDS}
    folder.keep(tensors, {"names": rows.names, "recall": rows.recall}, line, part=fold)


def load_fold_rows(folder: RunFolder) -> list[FoldRows]:
    """The rows of the folds that are kept."""
    done: list[FoldRows] = []
    while (kept := folder.checkpoint(part=len(done))) is not None:
        tensors, state = kept
        with refuse_damaged(folder.path):
            names, count = list(state["names"]), len(tensors["labels"])
            shapes = {"pairs": (count, 2), "features": (count, len(names)), "labels": (count,), "weights": (count,)}
            arrays = {part: checked_array(tensors, part, KINDS[part], shapes[part]) for part in KINDS}
            done.append(FoldRows(**arrays, names=names, recall=float(state["recall"])))
    return done

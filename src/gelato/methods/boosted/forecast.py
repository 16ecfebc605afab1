"""How long the second stage will take."""

from gelato.graph import Graph
from gelato.methods.boosted.first_stages import PROPOSING
from gelato.methods.boosted.second_stage import has_torch
from gelato.methods.boosted.settings import BoostedSettings
from gelato.ranking.estimate import scan_cost
from gelato.ranking.rank import compile_kernels_for
from gelato.regimes import unbiased
from gelato.scores.autocovariance import autocovariance
from gelato.spectrum.adjacency import scaled_adjacency
from gelato.spectrum.eigen import eigenpairs_seconds
from gelato.splits import Split

ITERATIONS = 10
"""Of the power iteration of a timed decomposition."""

DECOMPOSITIONS, WALKS = 2.5, 6.0
"""What the stages of one graph take, as multiples of one decomposition and of one ranking by walks of 5 steps."""

SECONDS_A_PAIR, SECONDS_TO_GROW, SECONDS_TO_SCORE = 1e-5, 5.5e-8, 2e-8
"""What the features of a pair take besides, a row while a tree grows, seen or not, and a row that it scores."""

COLUMNS = 39
"""Features of a pair of a graph with attributes."""


def boosted_seconds(split: Split, settings: BoostedSettings) -> float:
    """Seconds of a fit, from timed products and rows of walks, and from what a row of a tree usually takes."""
    graph, rank = split.train, settings.rank_of(split.train)
    decomposition = eigenpairs_seconds(scaled_adjacency(graph, PROPOSING, "all"), rank, ITERATIONS)
    longest = autocovariance(graph, steps=5)
    compile_kernels_for(longest)
    walks = scan_cost(longest, unbiased(split, "valid"), threads=settings.threads).seconds
    folds, listed = settings.fold_count(graph), settings.listed_count(graph)
    once = DECOMPOSITIONS * decomposition + WALKS * walks + SECONDS_A_PAIR * listed
    return (folds + 1) * once + tree_seconds(graph, settings) + network_seconds(graph, settings)


def rows_to_learn_from(graph: Graph, settings: BoostedSettings) -> int:
    """How many rows all folds have, about."""
    folds = 1 if settings.cross_fits(graph) else settings.fold_count(graph)
    return min(settings.usual.rows, folds * settings.listed_count(graph))


def tree_seconds(graph: Graph, settings: BoostedSettings) -> float:
    """Seconds of growing the trees and of ranking the candidates by them."""
    trees = (settings.trees or settings.usual.trees) * settings.bag_count(graph)
    rows = rows_to_learn_from(graph, settings)
    return trees * (SECONDS_TO_GROW * rows + SECONDS_TO_SCORE * settings.listed_count(graph))


def network_seconds(graph: Graph, settings: BoostedSettings) -> float:
    """Seconds of training the networks of a graph, from a few timed batches; 0 where there are none."""
    count = settings.network_count(graph)
    if not count or not has_torch():
        return 0.0
    from gelato.methods.boosted.training import timed_training

    return count * timed_training(rows_to_learn_from(graph, settings), COLUMNS, settings)

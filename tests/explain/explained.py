"""Explanations with ranks, as ``LinkPredictor.explain`` gives them."""

import numpy as np

from gelato.explain import explain_all
from gelato.explain.contract import pair_ranks


def explain_ranked(scores, graph, pairs, *, threads=None, **options):
    """An explanation of each of ``(p, 2)`` pairs, with its rank."""
    found = explain_all(scores, graph, pairs, **options)
    ranks = pair_ranks(scores, graph, np.asarray(pairs), threads)
    return [each.with_pair_rank(rank) for each, rank in zip(found, ranks, strict=True)]


def explain(scores, graph, u, v, **options):
    """The explanation of one pair, with its rank."""
    return explain_ranked(scores, graph, [(u, v)], **options)[0]

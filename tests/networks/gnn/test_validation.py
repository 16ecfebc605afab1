"""Validation precision: the same as by exact ranks, with ties too."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gelato import Graph, split
from gelato.errors import InputError
from gelato.networks.gnn.validation import HITS, DrawnHits, PrecisionOfAllPairs
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import biased, unbiased
from gelato.scores import BlockScores
from gelato.splits import Split
from graphs import graphs, random_graph


@given(graphs(), st.integers(0, 1000), st.sampled_from([1, 2, 3, 1000]), st.integers(1, 13))
def test_precision_is_that_of_exact_ranks_also_with_ties(graph, seed, values, block_rows):
    parts = split(graph, seed, (0.2, 0.2))
    if len(parts.valid) == 0:
        return
    S = np.random.default_rng(seed).integers(values, size=(graph.n, graph.n)).astype(float)
    S = np.triu(S) + np.triu(S, 1).T
    exact = metric(
        "precision@100%", rank(BlockScores.from_rows(graph.n, lambda rows: S[rows]), unbiased(parts, "valid"))
    )
    scores = torch.tensor(S)
    quick = PrecisionOfAllPairs(parts, torch.device("cpu"))(lambda a, b: scores[a:b, a:].clone(), block_rows)
    assert quick == pytest.approx(exact)


@given(st.integers(0, 1000), st.sampled_from([2, 5, 1000]), st.sampled_from([60, 1200]))
def test_hits_are_those_of_ranks_among_drawn_pairs_also_with_ties(seed, values, nodes):
    rng = np.random.default_rng(seed)
    parts = split(Graph.from_edges(rng.integers(nodes, size=(nodes, 2)), nodes), seed, (0.2, 0.2))
    value = torch.tensor(rng.integers(values, size=nodes))
    of_pairs = lambda pairs: value[pairs[:, 0]] + value[pairs[:, 1]]  # noqa: E731
    drawn = of_pairs(torch.tensor(biased(parts, 1, seed, "valid").sampled))
    linked = of_pairs(torch.tensor(parts.valid))
    above = [int((drawn >= score).sum()) for score in linked]
    enough = len(drawn) >= HITS
    expected = np.mean([count < HITS if enough else 1 - count / len(drawn) for count in above])
    assert enough == (nodes == 1200)
    assert DrawnHits(parts, seed, torch.device("cpu"))(of_pairs) == pytest.approx(expected)


def test_a_model_cannot_be_selected_without_validation_links():
    graph = random_graph(0)
    with pytest.raises(InputError, match="no validation links"):
        PrecisionOfAllPairs(Split(graph, graph, graph.edges[:0], graph.edges[:0], "none"), torch.device("cpu"))

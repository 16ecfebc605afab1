"""Pairs as a range of numbers, and a random order of it; batches deal every pair once."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gelato import Graph, InputError
from gelato.datasets import block_model
from gelato.networks.pairwise import batches as batches_module
from gelato.networks.pairwise import batches as space_module
from gelato.networks.pairwise.batches import PairBatches, PairNumbering, PairShuffle
from gelato.networks.pairwise.settings import PairwiseSettings
from graphs import path

CPU = torch.device("cpu")


def listed(space):
    return torch.stack(space.pairs(torch.arange(space.size)), dim=1).numpy()


@given(st.integers(2, 12), st.lists(st.integers(0, 3), min_size=12, max_size=12), st.booleans())
def test_every_pair_inside_a_part_has_one_number(n, labels, by_sides):
    labels = np.array(labels[:n])
    sides = (np.arange(n) % 2).astype(np.int8) if by_sides else None
    graph = Graph.from_edges([(0, 1)], n, sides=sides)
    space = PairNumbering(graph, labels, CPU)
    wanted = [(u, v) for u in range(n) for v in range(u + 1, n) if labels[u] == labels[v]]
    wanted = [(u, v) for u, v in wanted if not by_sides or sides[u] != sides[v]]
    pairs = listed(space)
    assert sorted(map(tuple, pairs.tolist())) == wanted
    inside, numbers = space.numbers(pairs[:, ::-1])
    assert inside.all() and numbers.tolist() == list(range(space.size))


def test_pairs_across_parts_have_no_number():
    graph = Graph.from_edges([(0, 1), (1, 2)], 4)
    inside, numbers = PairNumbering(graph, np.array([0, 0, 1, 1]), CPU).numbers(graph.edges)
    assert inside.tolist() == [True, False] and numbers.tolist() == [0]


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(space_module, "LARGEST", 5)
    with pytest.raises(InputError, match="would list 6 pairs; set regime to partitioned"):
        PairNumbering(Graph.from_edges([(0, 1)], 4), None, CPU)


@given(st.integers(1, 200), st.integers(0, 10**6))
def test_a_shuffle_has_every_number_once_and_knows_where(size, seed):
    order = PairShuffle.drawn(size, np.random.default_rng(seed))
    numbers = order.at(torch.arange(size))
    assert sorted(numbers.tolist()) == list(range(size))
    assert order.positions(numbers).tolist() == list(range(size))


def test_large_numbers_do_not_overflow():
    order = PairShuffle(2_999_999_929, 2_999_999_928, 2_999_999_900)
    places = torch.tensor([0, 1, 2_999_999_928])
    assert order.at(places).tolist() == [(order.a * i + order.b) % order.size for i in places.tolist()]
    assert order.positions(order.at(places)).tolist() == places.tolist()


@pytest.mark.parametrize("regime", ["unbiased", "partitioned"])
def test_an_epoch_deals_every_link_and_every_non_link_once(regime):
    graph = block_model([12, 12], 0.4, 0.05, seed=1)
    batches = list(PairBatches(graph, PairwiseSettings(regime=regime, parts=2, batches=4, passes=1), CPU).epoch(3))
    assert len(batches) == 4
    links = np.sort(np.concatenate([batch.links for batch in batches]))
    assert len(np.unique(links)) == len(links) and (regime == "partitioned" or len(links) == graph.m)
    others = [torch.stack(batch.pairs(0, batch.places), dim=1) for batch in batches]
    assert [len(each) for each in others] == [batch.negatives for batch in batches]
    pairs = list(map(tuple, torch.cat(others).tolist()))
    known = set(map(tuple, graph.edges.tolist()))
    assert len(set(pairs)) == len(pairs) and known.isdisjoint(pairs)
    if regime == "unbiased":
        assert len(pairs) == graph.n * (graph.n - 1) // 2 - graph.m
    halves = [torch.cat(batch.pairs(0, 5)) for batch in batches]
    rest = [torch.cat(batch.pairs(5, batch.places)) for batch in batches]
    assert sum(map(len, halves)) + sum(map(len, rest)) == 2 * len(pairs)


def test_a_graph_without_enough_links_is_refused(monkeypatch):
    with pytest.raises(InputError, match="at least two links"):
        PairBatches(Graph.from_edges([(0, 1)], 4), PairwiseSettings(), CPU)
    full = Graph.from_edges([(0, 1), (0, 2), (1, 2)])
    with pytest.raises(InputError, match="no non-links to learn from"):
        PairBatches(full, PairwiseSettings(regime="unbiased"), CPU)
    monkeypatch.setattr(batches_module, "partition", lambda *_: np.array([0, 0, 1, 2, 3, 4]))
    with pytest.raises(InputError, match="ask for fewer parts"):
        PairBatches(path(6), PairwiseSettings(regime="partitioned"), CPU)

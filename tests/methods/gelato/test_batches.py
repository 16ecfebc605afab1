"""Batches of an epoch: every positive and every negative has its turn, and its mask."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference_training as naive
from gelato.errors import InputError
from gelato.graph import pair_keys
from gelato.methods.gelato.batches import GelatoBatches
from gelato.methods.gelato.walks.full import BatchedWalks, DenseWalks
from gelato.methods.gelato.walks.sparse import SegmentWalks, SupportWalks
from gelato.methods.gelato.walks.topology import Topology
from gelato.similarity.enhanced_links import EnhancedLinks, enhanced_links
from gelato.training.negative_sampling import draw_non_links
from graphs import graphs, path, random_graph

WAYS = {
    "support": lambda pattern: SupportWalks(pattern, 3),
    "two steps": lambda pattern: SupportWalks(pattern, 2),
    "laid out": lambda pattern: SegmentWalks(pattern, device="cpu"),
    "dense": lambda pattern: DenseWalks(pattern, device="cpu"),
    "batched": lambda pattern: BatchedWalks(pattern, 3, device="cpu", size=3),
}
every_way = pytest.mark.parametrize("way", WAYS)


class Setting(NamedTuple):
    links: EnhancedLinks
    topology: Topology
    walks: object

    def batches(self, **options):
        return GelatoBatches(self.links, self.topology, self.walks, **options)

    def names(self, listed):
        """The pairs of a batch by the names of the graph."""
        pairs = self.topology.order[torch.stack(listed[:2], dim=1).numpy()]
        return [tuple(pair if self.links.directed else sorted(pair)) for pair in pairs.tolist()]

    @property
    def known(self):
        return {tuple(pair) for pair in self.links.pairs[self.links.observed > 0].tolist()}


def setting_of(graph, way="support", eta=0.5):
    """Links of a graph, with the most similar pairs added: these are no positives."""
    links = enhanced_links(graph, 0.0 if graph.directed else eta)
    topology = Topology(links.n, links.pairs, directed=links.directed)
    return Setting(links, topology, WAYS[way](topology.pattern))


def labels_of(graph, parts):
    return None if parts is None else np.arange(graph.n) * 5 % parts


def inside(pairs, labels):
    return {(u, v) for u, v in pairs if labels is None or labels[u] == labels[v]}


def check_epoch(setting, batches, labels, seed=0):
    """Positives once, negatives once, and everything that is listed where it belongs."""
    positives, negatives, sizes = [], [], []
    for batch in batches.epoch(seed):
        named = setting.names(batch.listed)
        positives += named[: batch.p]
        negatives += named[batch.p :]
        sizes.append((batch.p, len(named) - batch.p))
        masked = [tuple(pair) for pair in setting.links.pairs[batch.masked.numpy()].tolist()]
        assert masked == named[: batch.p]
        place = setting.walks.find(torch.stack(batch.listed[:2], dim=1).numpy())
        np.testing.assert_array_equal(batch.listed.place.numpy(), place)
    assert len(sizes) == batches.batches
    for counts in zip(*sizes, strict=True):
        assert max(counts) - min(counts) <= 1
    known, every = setting.known, naive.pairs_inside(setting.links.n, setting.links.directed, labels)
    assert sorted(positives) == sorted(inside(known, labels))
    joined = every if setting.walks.complete else by_names(setting)
    assert sorted(negatives) == sorted((set(every) & set(joined)) - known)
    rest = 0 if batches.background is None else counted(setting, batches)
    assert rest == len(set(every) - set(joined) - known)
    assert len(positives) + len(negatives) + rest == len(set(every) | inside(known, labels))


def by_names(setting):
    """Reached pairs by the names of the graph."""
    pairs = setting.topology.order[setting.walks.reached()].tolist()
    return [tuple(pair if setting.links.directed else sorted(pair)) for pair in pairs]


def counted(setting, batches):
    batches.background.update(torch.rand(setting.links.n, generator=torch.Generator().manual_seed(0)).double())
    return int(batches.background.count.sum())


@every_way
@given(graphs(), st.integers(1, 12), st.sampled_from([None, 2, 3]))
@settings(max_examples=25)
def test_an_epoch_has_every_positive_and_every_negative_once(way, graph, count, parts):
    setting, labels = setting_of(graph, way), labels_of(graph, parts)
    assume(inside(setting.known, labels))
    check_epoch(setting, setting.batches(batches=count, labels=labels), labels)


@given(
    graphs(directed=True), st.integers(1, 12), st.sampled_from([None, 2, 3]), st.sampled_from(["support", "two steps"])
)
@settings(max_examples=40)
def test_an_epoch_of_a_directed_graph_has_every_ordered_pair_once(graph, count, parts, way):
    setting, labels = setting_of(graph, way), labels_of(graph, parts)
    assume(inside(setting.known, labels))
    check_epoch(setting, setting.batches(batches=count, labels=labels), labels)


def test_pairs_added_for_their_attributes_are_negatives():
    setting = setting_of(random_graph(3, nodes=14), eta=1.0)
    added = {tuple(pair) for pair in setting.links.pairs.tolist()} - setting.known
    assert added
    negatives = {pair for batch in setting.batches().epoch(0) for pair in setting.names(batch.listed)[batch.p :]}
    assert added <= negatives


def test_links_that_no_walk_reaches_are_positives_and_no_background():
    # the ends of a link without a triangle are not joined by two steps
    graph = path(8)
    setting = setting_of(graph, "two steps", eta=0.0)
    unreached = setting.known - set(by_names(setting))
    assert unreached == setting.known
    batches = setting.batches()
    places = {
        pair: int(place)
        for batch in batches.epoch(0)
        for pair, place in zip(setting.names(batch.listed), batch.listed.place, strict=True)
    }
    assert all(places[pair] == -1 for pair in unreached)
    assert counted(setting, batches) + len(places) == graph.n * (graph.n - 1) // 2


def test_more_batches_than_positives_are_as_many_as_positives():
    graph = random_graph(2)
    batches = setting_of(graph).batches(batches=1000)
    assert batches.batches == graph.m
    assert [batch.p for batch in batches.epoch(0)] == [1] * graph.m


# Randomness.


def contents(batches, seed):
    return [
        tuple(map(tuple, (batch.masked.tolist(), *(part.tolist() for part in batch.listed))))
        for batch in batches.epoch(seed)
    ]


@pytest.mark.parametrize("ratio", [None, 2])
def test_a_seed_gives_the_same_batches_again_and_another_gives_others(ratio):
    setting = setting_of(random_graph(4, nodes=20))
    batches, again = setting.batches(ratio=ratio), setting.batches(ratio=ratio)
    first = contents(batches, 0)
    assert contents(batches, 0) == first
    assert contents(again, 0) == first
    for seed in (1, 2, 2**40):
        other = contents(batches, seed)
        assert [batch[0] for batch in other] != [batch[0] for batch in first]
        assert [batch[1:3] for batch in other] != [batch[1:3] for batch in first]


def test_the_batches_do_not_depend_on_the_random_state_of_torch_nor_change_it():
    batches = setting_of(random_graph(4, nodes=20)).batches()
    torch.manual_seed(0)
    first = contents(batches, 0)
    state = torch.get_rng_state()
    torch.manual_seed(1)
    assert contents(batches, 0) == first
    torch.manual_seed(0)
    assert torch.equal(torch.get_rng_state(), state)


def test_over_epochs_a_negative_meets_every_batch():
    setting = setting_of(random_graph(4, nodes=20))
    batches = setting.batches(batches=4)
    seen = {}
    for seed in range(40):
        for i, batch in enumerate(batches.epoch(seed)):
            for pair in setting.names(batch.listed):
                seen.setdefault(pair, set()).add(i)
    assert all(where == {0, 1, 2, 3} for where in seen.values())


# Drawn negatives.


@every_way
@given(graphs(), st.integers(1, 3), st.integers(0, 100))
@settings(max_examples=15)
def test_a_ratio_draws_that_many_non_links_for_each_positive(way, graph, ratio, seed):
    assume(graph.m < graph.n * (graph.n - 1) // 2)
    setting = setting_of(graph, way)
    batches = setting.batches(batches=3, ratio=ratio)
    assert batches.background is None
    positives = []
    for batch in batches.epoch(seed):
        named = setting.names(batch.listed)
        positives += named[: batch.p]
        assert len(named) == (1 + ratio) * batch.p
        assert not set(named[batch.p :]) & setting.known
        assert all(u != v for u, v in named)
        place = setting.walks.find(torch.stack(batch.listed[:2], dim=1).numpy())
        np.testing.assert_array_equal(batch.listed.place.numpy(), place)
        assert [tuple(pair) for pair in setting.links.pairs[batch.masked.numpy()].tolist()] == named[: batch.p]
    assert sorted(positives) == sorted(setting.known)


@pytest.mark.parametrize("directed", [False, True])
def test_drawn_pairs_are_uniform_over_the_non_links(directed):
    graph = random_graph(1, nodes=6, directed=directed)
    free = [pair for pair in naive.pairs_inside(graph.n, directed) if list(pair) not in graph.edges.tolist()]
    wanted = 2000 * len(free)
    keys = pair_keys(graph.edges, graph.n)
    drawn = draw_non_links(wanted, graph.n, directed, keys, np.random.default_rng(0))
    assert drawn.shape == (wanted, 2)
    counts = dict.fromkeys(free, 0)
    for pair in map(tuple, drawn.tolist()):
        counts[pair] += 1
    assert set(counts) == set(free)
    # 2000 each; five standard deviations are 224 at most
    assert all(abs(count - 2000) < 224 for count in counts.values())


def test_each_batch_draws_afresh():
    setting = setting_of(random_graph(4, nodes=20))
    drawn = [setting.names(batch.listed)[batch.p :] for batch in setting.batches(batches=3, ratio=4).epoch(0)]
    assert len({tuple(pairs) for pairs in drawn}) == 3


@pytest.mark.parametrize("directed", [False, True])
def test_drawing_refuses_a_graph_that_links_every_pair(directed):
    every = np.array(naive.pairs_inside(5, directed))
    with pytest.raises(InputError, match="every pair of nodes is linked"):
        draw_non_links(3, 5, directed, pair_keys(every, 5), np.random.default_rng(0))


@pytest.mark.parametrize("directed", [False, True])
def test_drawing_finds_the_only_pair_left(directed):
    every = naive.pairs_inside(7, directed)
    keys = pair_keys(np.array(every[:-1]), 7)
    drawn = draw_non_links(20, 7, directed, keys, np.random.default_rng(0))
    assert drawn.tolist() == [list(every[-1])] * 20

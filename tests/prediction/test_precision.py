"""Expected precision against sorted lists of all pairs, against sums by hand, and against the truth it estimates."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.heuristic import Heuristic
from gelato.prediction.precision import FEWEST_HIDDEN, ExpectedPrecision, expected_precision, hidings
from gelato.scores import DenseScores
from gelato.splits import rehearsals
from graphs import random_graph, star

NONE = np.empty((0, 2), np.int64)

# Counts, against lists of all pairs in their order


def ranked_lists(graph, score, *, per_node=False, nodes=None, between=None, exclude=None):
    """All pairs that may be suggested, best first, as one list or as one for each node."""
    n, left_out = graph.n, {(u, v) for u, v in np.argwhere(graph.adjacency.toarray() != 0).tolist()}
    for u, v in [] if exclude is None else exclude.tolist():
        left_out |= {(u, v)} if graph.directed else {(u, v), (v, u)}
    one, other = (range(n), range(n)) if between is None else (set(side.tolist()) for side in between)
    if per_node:
        asked = sorted(set(nodes.tolist())) if nodes is not None else sorted(one)
        lists = [[(u, v) for v in sorted(other) if u != v and (u, v) not in left_out] for u in asked]
    else:
        pairs = [pair for pair in reference.all_pairs(n, graph.directed) if pair not in left_out]
        if nodes is not None:
            pairs = [pair for pair in pairs if set(pair) & set(nodes.tolist())]
        if between is not None:
            back = not graph.directed
            pairs = [(u, v) for u, v in pairs if (u in one and v in other) or (back and v in one and u in other)]
        lists = [pairs]
    return [sorted(pairs, key=lambda pair: (-score(*pair), pair)) for pairs in lists]


def counted(lists, hidden, k):
    """Hidden pairs among the first 1..k, those ahead of the 1..k-th other pair, and others up to it."""
    found, ahead, size = [], [], []
    for rank in range(1, k + 1):
        found.append(sum(pair in hidden for pairs in lists for pair in pairs[:rank]))
        before, others = 0, 0
        for pairs in lists:
            passed = 0
            for pair in pairs:
                if pair not in hidden:
                    passed += 1
                    others += passed <= rank
                before += pair in hidden and passed < rank
        ahead.append(before)
        size.append(others)
    longest = max((sum(pair not in hidden for pair in pairs) for pairs in lists), default=0)
    return [row[:longest] for row in (found, ahead, size)]


@st.composite
def questions(draw):
    """A small graph, a method, and what is asked of it."""
    graph = random_graph(draw(st.integers(0, 1000)), nodes=8, directed=draw(st.booleans()))
    some = st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=graph.n).map(np.array)
    chosen = {"per_node": draw(st.booleans()), "min_score": 0.5}  # a least score does not tell what is found
    kind = draw(st.sampled_from(["all", "nodes", "between"]))
    if kind == "nodes":
        chosen["nodes"] = draw(some)
    if kind == "between":
        chosen["between"] = (draw(some), draw(some))
    if draw(st.booleans()):
        every = st.sampled_from(reference.all_pairs(graph.n, graph.directed))
        chosen["exclude"] = np.array(draw(st.lists(every, min_size=1, max_size=8)))
    method = draw(st.sampled_from(["cn", "ac"]))
    return graph, method, chosen, draw(st.integers(1, 12)), draw(st.sampled_from([0.2, 0.35])), draw(st.integers(1, 3))


@settings(max_examples=80)
@given(questions(), st.integers(0, 100))
def test_the_counts_are_those_of_sorting_every_pair(question, seed):
    graph, method, chosen, k, share, repeats = question
    assume(share * graph.m >= 1)
    exact = {"cn": reference.cn, "ac": reference.ac}[method]
    allowed = {name: value for name, value in chosen.items() if name != "min_score"}
    if "exclude" in chosen:  # links are not suggested anyway, and hidden ones are to be found
        new = [pair for pair in chosen["exclude"].tolist() if not graph.adjacency[pair[0], pair[1]]]
        allowed["exclude"] = np.array(new, np.int64).reshape(-1, 2)
    wanted, eligible = [], 0
    for parts in rehearsals(graph, NONE, share, repeats, seed):
        hidden = {pair for u, v in parts.test.tolist() for pair in {(u, v), (u, v) if graph.directed else (v, u)}}
        lists = ranked_lists(graph.without(parts.test), exact(graph.without(parts.test)), **allowed)
        wanted.append(counted(lists, hidden, k))
        free = {"per_node": False} | {name: allowed[name] for name in allowed if name in ("nodes", "between")}
        eligible += sum(pair in hidden for pair in ranked_lists(graph.without(parts.test), lambda u, v: 0, **free)[0])
    length = min(len(size) for *_, size in wanted)

    found = expected_precision(
        Heuristic(method, threads=1).fit(graph), k, chosen=chosen, share=share, repeats=repeats, seed=seed
    )

    assert (found.repeats, found.share, found.hidden) == (len(wanted), share, int(share * graph.m))
    assert (found.per_node, found.eligible) == (chosen["per_node"], eligible)
    for name, i in (("recovered", 0), ("ahead", 1)):
        assert getattr(found, name).tolist() == [count[i][:length] for count in wanted], name
    np.testing.assert_allclose(found.size, np.mean([count[2][:length] for count in wanted], axis=0))


def test_every_rehearsal_is_reported():
    reports = []
    graph = random_graph(1, nodes=12)
    expected_precision(Heuristic("cn").fit(graph), 3, share=0.2, repeats=3, progress=lambda *done: reports.append(done))
    assert reports == [(0, 3), (1, 3), (2, 3)]


def test_a_share_that_cannot_be_hidden_is_refused():
    with pytest.raises(InputError, match=r"a share of 0\.1 of 4 links cannot be hidden 5 times"):
        expected_precision(Heuristic("cn").fit(star(4)), 3)


# What is stated, by hand


def made(ahead, found=None, *, share=0.1, hidden=50, eligible=250, per_node=False, size=None):
    ahead = np.array(ahead, dtype=float)
    found = ahead if found is None else np.array(found, dtype=float)
    size = np.arange(1.0, ahead.shape[1] + 1) if size is None else np.array(size, dtype=float)
    return ExpectedPrecision(share, hidden, eligible, found, ahead, size, per_node)


def steady(count, k, repeats, **more):
    """So many hidden links among the first ``k`` in each rehearsal, all at the end."""
    ahead = np.zeros((repeats, k))
    ahead[:, -1] = count
    return made(ahead, **more)


def test_what_was_found_is_stated_and_the_upper_end_is_that_of_links_as_often_missing():
    told = made([[0, 1, 2, 2], [1, 1, 1, 2]], [[0, 1, 1, 2], [1, 1, 1, 1]], share=0.2)
    assert told.at(4).k == 4
    assert told.at(4).expected == pytest.approx(1.5 / 4)
    # p = (2 * 1.5 + .5) / (2 * 4 + 1), 1.96 sqrt(4 p (1 - p) 3 / 2) = 2.3; a / (1 - s) = 2.5, with drift it is 2.6
    assert (told.at(4).low, told.at(4).high) == (0.0, 1.0)
    assert made([[4, 8]], share=0.5).at(1).expected == 1.0  # never more than all


@pytest.mark.parametrize(
    ("count", "repeats", "wanted"),
    [
        # low: p = (5 * 9 + .5) / (5 * 100 + 1), 1.96 sqrt(100 p (1 - p) 6 / 5) = 6.2: 9 - 6.2
        # high: p = (5 * 10 + .5) / 501, 1.96 sqrt(100 p (1 - p) 6 / 5 + (.2 * 10)^2) = 7.6: 9 / .9 + 7.6
        (9, 5, (9, 2, 18)),
        # one rehearsal: p = 9.5 / 101, 1.96 sqrt(100 p (1 - p) 2) = 8.1; p = 10.5 / 101, with drift 9.4
        (9, 1, (9, 0, 20)),
        (50, 1, (50, 36, 82)),  # 50 - 13.9; 55.6 + 25.8
        (50, 4, (50, 39, 80)),  # 50 - 11.0; 55.6 + 24.4
        # none found: p = .5 / 501, 1.96 sqrt(100 p (1 - p) 6 / 5) = .68
        (0, 5, (0, 0, 1)),
        # all found: .68 less
        (100, 5, (100, 99, 100)),
    ],
)
def test_the_interval_is_that_of_sums_by_hand(count, repeats, wanted):
    stated = steady(count, 100, repeats).at(100)
    assert [100 * stated.expected, 100 * stated.low, 100 * stated.high] == pytest.approx(list(wanted))


def test_rehearsals_that_differ_more_than_chance_widen_the_interval():
    calm, wild = steady(36, 100, 2), made(np.array([np.arange(100) * 0.18, np.arange(100) * 54 / 99]))
    wild.ahead[:, -1] = wild.recovered[:, -1] = (18, 54)
    assert calm.at(100).expected == wild.at(100).expected == pytest.approx(0.36)
    # the variance between 18 and 54 is 648: 1.96 sqrt(648 * 3 / 2) = 61
    assert wild.at(100).low == 0.0 and calm.at(100).low == pytest.approx(0.24)
    # (1 / 0.9)^2 of it, and drift: 40 + 1.96 sqrt(800 * 3 / 2 + 8^2) = 110
    assert wild.at(100).high == 1.0 and calm.at(100).high == pytest.approx(0.6)


@given(st.data())
def test_an_interval_holds_its_middle_and_lies_between_nothing_and_all(data):
    k, repeats = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 6))
    steps = data.draw(st.lists(st.lists(st.integers(0, 1), min_size=k, max_size=k), min_size=repeats, max_size=repeats))
    found = np.cumsum(steps, axis=1)
    more = np.array(data.draw(st.lists(st.integers(0, 3), min_size=repeats, max_size=repeats)))
    share = data.draw(st.sampled_from([0.05, 0.1, 0.5]))
    per_node = data.draw(st.booleans())
    size = np.arange(1, k + 1) + (0.4 if per_node else 0)  # lists of nodes differ in length: a mean is no whole number
    told = made(found + more[:, None], found, share=share, per_node=per_node, size=size)
    for rank in range(1, k + 1):
        stated = told.at(rank)
        assert 0 <= stated.low <= stated.expected <= stated.high <= 1
        assert stated.expected == pytest.approx(min(1, found[:, rank - 1].mean() / size[rank - 1]))
        if not per_node:
            assert math.isclose(rank * stated.low, round(rank * stated.low), abs_tol=1e-9)  # whole links
            assert math.isclose(rank * stated.high, round(rank * stated.high), abs_tol=1e-9)


@given(st.integers(0, 60), st.integers(1, 6), st.integers(1, 6))
def test_fewer_rehearsals_widen_the_interval(count, repeats, more):
    few, many = steady(count, 60, repeats).at(60), steady(count, 60, repeats + more).at(60)
    assert few.expected == pytest.approx(many.expected)
    assert few.low <= many.low and many.high <= few.high
    if 0 < count < 30:
        assert steady(count, 60, 1).at(60).high > steady(count, 60, 30).at(60).high


def test_nothing_is_stated_of_too_few_hidden_links_or_of_ranks_beyond():
    told = steady(3, 10, 2, eligible=FEWEST_HIDDEN)
    assert told.at(10) is not None and told.at(1) is not None
    assert told.at(0) is None and told.at(11) is None
    assert steady(3, 10, 2, eligible=FEWEST_HIDDEN - 1).at(10) is None
    assert made(np.empty((3, 0))).at(1) is None


def test_few_links_among_the_pairs_asked_for_are_too_few_and_bad_news_is_told():
    """A node with few links tells nothing; a method that finds nothing among all pairs tells that."""
    ring = [(u, (u + 1) % 40) for u in range(40)]
    graph = Graph.from_edges([*ring, *((u, (u + 2) % 40) for u in range(40))])
    one = expected_precision(Heuristic("cn").fit(graph), 5, chosen={"nodes": np.array([3])}, repeats=3)
    assert one.eligible < FEWEST_HIDDEN and one.at(1) is None
    useless = expected_precision(Heuristic("pa").fit(Graph.from_edges(ring)), 2)
    assert useless.ahead.sum() == 0 and useless.eligible == 20
    assert useless.at(2).expected == 0.0


def test_the_words_say_what_the_numbers_say():
    assert steady(9, 100, 5).words(100) == (
        "When one link in ten was hidden, 9 of the first 100 suggestions were hidden links (mean of 5 trials). If"
        " your graph lacks at least as many links, expect at least that many to be right (2 to 18); if it lacks fewer,"
        " expect fewer."
    )
    thousand = steady(400, 1000, 4, share=0.2).words(1000)
    assert thousand.startswith(
        "When one link in five was hidden, 400 of the first 1,000 suggestions were hidden links (mean of 4 trials)."
    )


def test_the_words_of_lists_for_each_node_count_in_a_hundred():
    told = made([[30.0, 45.0]], size=[150.0, 300.0], per_node=True)
    # p = 45.5 / 301, 1.96 sqrt(300 p (1 - p) 2) = 17.2: 27 of 300; 50 and p = 50.5 / 301, with drift 26.6: 77 of 300
    assert told.words(2) == (
        "When one link in ten was hidden, 15% of the first 2 suggestions for each node were hidden links (1 trial)."
        " If your graph lacks at least as many links, expect at least that share to be right (9% to 25.7%);"
        " if it lacks fewer, expect fewer."
    )


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.5, "one link in two was"),
        (0.25, "one link in four was"),
        (0.05, "one link in twenty was"),
        (0.01, "one link in a hundred was"),
        (1 / 7, "one link in 7 was"),
        (0.3, "30% of the links were"),
        (0.15, "15% of the links were"),
    ],
)
def test_shares_are_told_in_words(share, words):
    assert steady(2, 10, 3, share=share).words(10).startswith(f"When {words} hidden, 2 of the first 10 suggestions")


def test_too_little_is_said_in_words_too():
    told = steady(2, 10, 3, eligible=2)
    assert told.words(10) == (
        "Too few of the known links are among the pairs asked for to say how many suggestions will be right."
    )


# What is hidden


class Reader:
    """A predictor that has seen the first links of its graph and was selected on some of them."""

    threads = 1

    def __init__(self, graph, seen, selected):
        self.graph_, self.valid_ = graph, graph.edges[:selected]
        self._seen = np.arange(graph.m) < seen

    def unseen(self, graph):
        return ~self._seen

    def rehearse(self, parts, run=None):
        raise AssertionError("nothing is scored here")


@pytest.fixture(scope="module")
def ring():
    return Graph.from_edges([(u, (u + 1) % 40) for u in range(40)])


def test_only_links_that_were_never_seen_are_hidden_where_these_suffice(ring):
    found = hidings(Reader(ring, 27, 5), 0.1, 5, 0)
    assert len(found) == 3  # 13 links, 4 each time
    hidden = np.concatenate([parts.test for parts in found])
    assert len(np.unique(hidden, axis=0)) == 12
    unseen = ring.edges[27:].tolist()
    assert all(pair in unseen for pair in hidden.tolist())
    for parts in found:
        assert len(parts.valid) == 0
        assert parts.train.edges.tolist() == ring.without(parts.test).edges.tolist()


def test_otherwise_links_that_selected_the_predictor_are_spared(ring):
    selected = ring.edges[:5].tolist()
    for seen in (38, 40):
        found = hidings(Reader(ring, seen, 5), 0.1, 3, 0)
        assert len(found) == 3
        for parts in found:
            assert parts.valid.tolist() == selected and len(parts.test) == 4
            assert not any(pair in selected for pair in parts.test.tolist())


@pytest.mark.parametrize("links", [40, 43])
def test_the_test_links_of_a_split_are_enough_to_hide(links):
    ring = Graph.from_edges([(u, (u + 1) % links) for u in range(links)])
    found = hidings(Reader(ring, links - int(0.1 * links), 2), 0.1, 5, 0)
    assert [sorted(parts.test.tolist()) for parts in found] == [ring.edges[-4:].tolist()]


# Against the truth


class Fixed:
    """A predictor with given scores, which nothing that is hidden changes."""

    threads = 1
    valid_ = NONE

    def __init__(self, graph, matrix):
        self.graph_, self._matrix = graph, matrix

    def rehearse(self, parts, run=None):
        return DenseScores(self.graph_.n, lambda rows: self._matrix[rows], threads=1)

    def unseen(self, graph):
        return np.ones(graph.m, dtype=bool)


def simulated(seed, *, share, ranks, n=80, links=500):
    """A true graph of which a share is missing: what is stated of the best pairs, and how many of them are true."""
    random = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    score = random.normal(size=len(u))
    true = random.choice(len(u), size=links, replace=False)
    score[true] += 1.5
    known = true[int(share * links) :]  # random.choice has shuffled them
    matrix = np.zeros((n, n))
    matrix[u, v] = matrix[v, u] = score
    graph = Graph.from_edges(np.column_stack([u, v])[known], n)
    told = expected_precision(Fixed(graph, matrix), max(ranks), share=share, repeats=5, seed=seed)
    order = np.argsort(-np.where(np.isin(np.arange(len(u)), known), -np.inf, score))
    right = np.cumsum(np.isin(order, true))
    estimate = told.ahead.mean(axis=0) / (1 - share)
    return [(told.at(k), estimate[k - 1] / k, right[k - 1] / k) for k in ranks]


def test_the_interval_holds_the_truth_and_the_estimate_is_unbiased():
    """A graph that misses the share that is hidden: the upper end is about what is right, the middle is less."""
    ranks, times = (10, 50, 150), 200
    results = [simulated(seed, share=0.2, ranks=ranks) for seed in range(times)]
    for i, k in enumerate(ranks):
        stated, estimate, truth = zip(*(result[i] for result in results), strict=True)
        held = np.mean([each.low <= right <= each.high for each, right in zip(stated, truth, strict=True)])
        assert held >= 0.9, k
        assert np.mean(estimate) == pytest.approx(np.mean(truth), rel=0.05), k
        assert np.mean([each.expected for each in stated]) < 0.9 * np.mean(truth), k  # at least that
        assert np.mean([each.high - each.low for each in stated]) < {10: 1.0, 50: 0.75, 150: 0.4}[k]

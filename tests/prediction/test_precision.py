"""Expected precision against sorted lists of all pairs, against sums by hand, and against the truth it estimates."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.heuristic import Heuristic
from gelato.prediction.hidden_link_trials import NEAR, trial_splits
from gelato.prediction.precision import FEWEST_HIDDEN, FEWEST_PLACES, ExpectedPrecision, expected_precision
from gelato.scores import BlockScores
from gelato.splits import repeated_hidings
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


def weighed(lists, hidden, excluded, graph, per_node):
    """What each pair of each list counts as: nothing if it is excluded, and a hidden one as often as others are not."""
    partners = {u: sum(1 for pair in excluded if pair[0] == u) for u in range(graph.n)}
    free = {u: graph.n - 1 - int((graph.adjacency.toarray()[u] != 0).sum()) for u in range(graph.n)}
    for u in partners:
        partners[u] = min(1, sum(u in pair for pair in {tuple(sorted(p)) for p in excluded}) / max(1, free[u]))
    rows = []
    for pairs in lists:
        others = [pair in excluded for pair in pairs if pair not in hidden]
        passed, row = 0, []
        for place, (u, v) in enumerate(pairs):
            if (u, v) not in hidden:
                passed += 1
                row.append(0.0 if (u, v) in excluded else 1.0)
                continue
            if not excluded:
                row.append(1.0)
                continue
            if per_node:
                near = [each[place] in excluded for each in lists if place < len(each) and each[place] not in hidden]
            else:
                begin = min(max(0, passed - NEAR), max(0, len(others) - 2 * NEAR))
                near = others[begin : begin + 2 * NEAR]
            chance = sum(near) / len(near) if near else 0.0
            row.append((1 - chance) * (1 - partners[u]) * (1 - partners[v]))
        rows.append(list(zip(pairs, row, strict=True)))
    return rows


def counted(lists, hidden, k):
    """Hidden pairs among the first 1..k, those ahead of the 1..k-th other pair, and others up to it, by weight."""
    found, ahead, size = [], [], []
    for rank in range(1, k + 1):
        recovered, before, others = 0.0, 0.0, 0
        for pairs in lists:
            passed, mixed = 0, 0.0
            for pair, weight in pairs:
                if pair in hidden:
                    recovered += weight if math.floor(mixed + 1e-9) < rank else 0.0
                    before += weight if passed < rank else 0.0
                elif weight:
                    passed += 1
                    others += passed <= rank
                mixed += weight
        found.append(recovered)
        ahead.append(before)
        size.append(others)
    longest = max((sum(pair not in hidden and w > 0 for pair, w in pairs) for pairs in lists), default=0)
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
    allowed = {name: value for name, value in chosen.items() if name not in ("min_score", "exclude")}
    excluded = set()  # links are not suggested anyway, and hidden ones are to be found
    for u, v in chosen["exclude"].tolist() if "exclude" in chosen else []:
        if not graph.adjacency[u, v]:
            excluded |= {(u, v)} if graph.directed else {(u, v), (v, u)}
    wanted, eligible = [], 0
    for parts in repeated_hidings(graph, NONE, share, repeats, seed):
        hidden = {pair for u, v in parts.test.tolist() for pair in {(u, v), (u, v) if graph.directed else (v, u)}}
        lists = ranked_lists(graph.without(parts.test), exact(graph.without(parts.test)), **allowed)
        if graph.directed:
            assume(not excluded)  # shares of partners go by the direction there
        wanted.append(counted(weighed(lists, hidden, excluded, graph, chosen["per_node"]), hidden, k))
        free = {"per_node": False} | {name: allowed[name] for name in allowed if name in ("nodes", "between")}
        eligible += sum(pair in hidden for pair in ranked_lists(graph.without(parts.test), lambda u, v: 0, **free)[0])
    length = min(len(size) for *_, size in wanted)

    found = expected_precision(
        Heuristic(method, threads=1).fit(graph), k, chosen=chosen, share=share, repeats=repeats, seed=seed
    )

    assert (found.repeats, found.share, found.hidden) == (len(wanted), share, int(share * graph.m))
    assert (found.per_node, found.eligible) == (chosen["per_node"], eligible)
    for name, i in (("recovered", 0), ("ahead", 1)):
        np.testing.assert_allclose(getattr(found, name), [count[i][:length] for count in wanted], err_msg=name)
    np.testing.assert_allclose(found.size, np.mean([count[2][:length] for count in wanted], axis=0))


def test_what_is_excluded_further_down_counts_however_short_the_list_is():
    for seed in range(30):
        graph = random_graph(seed, nodes=8, directed=False)
        unlinked = [pair for pair in reference.all_pairs(graph.n, False) if not graph.adjacency[pair]]
        chosen = {"exclude": np.array(unlinked[-2:])}
        model = Heuristic("cn", threads=1).fit(graph)
        short, long = (expected_precision(model, k, chosen=chosen, share=0.35, repeats=1) for k in (1, 20))
        np.testing.assert_allclose(short.recovered[:, :1], long.recovered[:, :1])


def test_every_rehearsal_is_reported():
    reports = []
    graph = random_graph(1, nodes=12)
    expected_precision(Heuristic("cn").fit(graph), 3, share=0.2, repeats=3, progress=lambda *done: reports.append(done))
    assert reports == [(0, 3), (1, 3), (2, 3)]


def test_a_share_that_cannot_be_hidden_is_refused():
    with pytest.raises(InputError, match=r"^cannot hide 0 of 4 links \(a share of 0\.1\) 5 times: 4 may be hidden"):
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


def test_what_was_found_is_stated_as_if_as_many_links_were_missing():
    told = made([[0, 1, 2, 2], [1, 1, 1, 2]], [[0, 1, 1, 2], [1, 1, 1, 1]], share=0.2)
    assert told.at(4) is None  # eight places are too few, and the interval is that of everything
    # 2 / 0.8 of 100: p = (2 * 2.5 + .5) / (2 * 100 + 1), 1.96 sqrt(100 p (1 - p) 3 / 2 + (.15 * 2.5)^2) = 4.0
    stated = steady(2, 100, 2, share=0.2).at(100)
    assert [100 * each for each in (stated.expected, stated.low, stated.high)] == pytest.approx([2.5, 0, 6])
    assert steady(100, 100, 2, share=0.5).at(100).expected == 1.0  # never more than all


@pytest.mark.parametrize(
    ("count", "repeats", "wanted"),
    [
        # p = (5 * 10 + .5) / 501, 1.96 sqrt(100 p (1 - p) 6 / 5 + (.15 * 10)^2) = 7.1
        (9, 5, (10, 3, 17)),
        # one rehearsal: p = 10.5 / 101, 1.96 sqrt(100 p (1 - p) 2 + (.15 * 10)^2) = 8.9
        (9, 1, (10, 1, 19)),
        (45, 4, (50, 32, 68)),  # 1.96 sqrt(25 * 5 / 4 + 7.5^2) = 18.3
        # none found: p = .5 / 501, 1.96 sqrt(100 p (1 - p) 6 / 5) = .68
        (0, 5, (0, 0, 1)),
    ],
)
def test_the_interval_is_that_of_sums_by_hand(count, repeats, wanted):
    stated = steady(count, 100, repeats).at(100)
    assert [100 * stated.expected, 100 * stated.low, 100 * stated.high] == pytest.approx(list(wanted))


def test_rehearsals_that_differ_more_than_chance_widen_the_interval():
    calm = made(np.tile(np.arange(1, 101) * 0.36, (2, 1)))
    wild = made(np.array([np.arange(1, 101) * 0.18, np.arange(1, 101) * 0.54]))
    assert calm.at(100).expected == pytest.approx(0.4)
    # 1.96 sqrt(100 * .4 * .6 * 3 / 2 + 6^2) = 16.6
    assert (calm.at(100).low, calm.at(100).high) == (pytest.approx(0.23), pytest.approx(0.57))
    # the variance between 20 and 60 is 800 instead of 24; (33.4 + 4) / 5 of it: 1.96 sqrt(24 * 7.5 * 3 / 2 + 6^2) = 34
    assert wild.at(100).expected == pytest.approx(0.4)
    assert wild.at(100).low == pytest.approx(0.06, abs=0.08) and wild.at(100).high == pytest.approx(0.74, abs=0.08)


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
        if stated is None:
            continue
        assert 0 <= stated.low <= stated.expected <= stated.high <= 1
        assert stated.high - stated.low <= 0.9
        if not per_node:
            assert math.isclose(rank * stated.low, round(rank * stated.low), abs_tol=1e-9)  # whole links
            assert math.isclose(rank * stated.high, round(rank * stated.high), abs_tol=1e-9)


@given(st.integers(0, 200), st.integers(1, 6), st.integers(1, 6))
def test_fewer_rehearsals_widen_the_interval(count, repeats, more):
    few, many = steady(count, 200, repeats).at(200), steady(count, 200, repeats + more).at(200)
    assert few.expected == pytest.approx(many.expected)
    assert few.low <= many.low + 0.005 and many.high <= few.high + 0.005  # whole links of 200


def test_nothing_is_stated_of_too_few_hidden_links_or_of_ranks_beyond():
    told = steady(3, 100, 2, eligible=FEWEST_HIDDEN)
    assert told.at(100) is not None and told.chance(1) is not None
    assert told.at(0) is None and told.at(101) is None and told.chance(101) is None
    assert steady(3, 100, 2, eligible=FEWEST_HIDDEN - 1).at(100) is None
    assert steady(3, 100, 2, eligible=FEWEST_HIDDEN - 1).chance(100) is None
    assert made(np.empty((3, 0))).at(1) is None
    assert steady(3, FEWEST_PLACES // 2 - 1, 2).chance(1) is None  # too few places to read a chance from
    assert steady(3, FEWEST_PLACES // 2, 2).chance(1) is not None


# The chance of each suggestion


@given(st.data())
def test_chances_never_rise_and_add_up_to_what_is_stated_of_them(data):
    k, repeats = data.draw(st.integers(60, 200)), data.draw(st.integers(1, 5))
    seed, share = data.draw(st.integers(0, 1000)), data.draw(st.sampled_from([0.05, 0.1, 0.3]))
    random = np.random.default_rng(seed)
    rate = np.sort(random.random(k))[::-1] * data.draw(st.sampled_from([0.1, 0.5, 1.0]))
    told = made(np.cumsum(random.random((repeats, k)) < rate, axis=1), share=share)
    chances = [told.chance(rank) for rank in range(1, k + 1)]
    stated = [each for each in chances if each is not None]
    for one, next_one in pairwise(stated):
        assert one.expected >= next_one.expected and one.low >= next_one.low and one.high >= next_one.high
    assert all(0 <= each.low <= each.expected <= each.high <= 1 for each in stated)
    if told.at(k) is not None and None not in chances:
        short = sum(1 / (FEWEST_PLACES + 1) for each in chances if each.expected > 0.97)  # no chance is a certainty
        assert k * told.at(k).expected - short <= sum(each.expected for each in chances) + 1e-9
        assert sum(each.expected for each in chances) <= k * told.at(k).expected + 1e-9


def test_the_chance_of_a_suggestion_is_what_places_like_it_showed():
    """The first half of the places is right half of the time, the second never."""
    hits = np.tile(np.concatenate([np.arange(100) % 2, np.zeros(100)]), (3, 1))
    told = made(np.cumsum(hits, axis=1), share=0.5)
    assert told.chance(1).expected == pytest.approx(1.0, abs=0.01) and told.chance(100).expected > 0.9
    assert told.chance(1).expected < 1  # 204 places that were right are no certainty
    assert told.chance(200).expected == 0.0 and told.chance(200).high < 0.05
    lists = made(np.cumsum(hits, axis=1) * 4, share=0.5, size=np.arange(1, 201) * 4.0, per_node=True)
    assert lists.chance(1).low > told.chance(1).low  # four lists show more than one


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
    assert steady(9, 100, 5).words(100) == [
        "Expect about 10 of the first 100 suggestions to be right (3 to 17), if links are missing at random and the"
        " graph lacks one link in ten; if it lacks fewer, expect fewer.",
        "This was tested 5 times by hiding that many known links and looking for them.",
    ]
    several = made(np.tile(np.arange(1, 1001) * 0.36, (2, 1)))
    assert several.words(100, 1000)[0].startswith(
        "Expect about 40 of the first 100 suggestions to be right (23 to 57) and 400 of the first 1,000 (2"
    )


def test_the_words_of_lists_for_each_node_count_in_a_hundred():
    told = made([[30.0, 45.0]], size=[150.0, 300.0], per_node=True)
    # p = 50.5 / 301, 1.96 sqrt(300 p (1 - p) 2 + (.15 * 50)^2) = 23.3
    assert told.words(2) == [
        "Expect about 17% of the first 2 suggestions for each node to be right (9.0% to 24%), if links are missing at"
        " random and the graph lacks one link in ten; if it lacks fewer, expect fewer.",
        "This was tested once by hiding that many known links and looking for them.",
    ]


def test_the_words_of_links_in_time_speak_of_the_next_links():
    told = ExpectedPrecision(
        0.1, 50, 250, *[np.tile(np.arange(1, 101) * 0.1, (3, 1))] * 2, np.arange(1.0, 101), False, True
    )
    assert told.words(100) == [
        "Expect about 10 of the first 100 suggestions to be among the next 50 links (0 to 20).",
        "This was tested 3 times by leaving out the latest links and looking for them.",
    ]


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.5, "one link in two"),
        (0.25, "one link in four"),
        (0.05, "one link in twenty"),
        (0.01, "one link in a hundred"),
        (1 / 7, "one link in 7"),
        (0.3, "30% of its links"),
        (0.15, "15% of its links"),
    ],
)
def test_shares_are_told_in_words(share, words):
    assert (
        steady(2, 100, 3, share=share)
        .words(100)[0]
        .endswith(f" and the graph lacks {words}; if it lacks fewer, expect fewer.")
    )


def test_too_little_is_said_in_words_too():
    assert steady(2, 100, 3, eligible=2).words(10, 100) == [
        "Too few links could be hidden to say how many of the first 10 and 100 suggestions will be right."
    ]
    wild = made(np.array([np.arange(1, 26) * 0.0, np.arange(1, 26) * 0.9]))
    assert wild.words(10) == ["The trials differ too much to say how many of the first 10 suggestions will be right."]


# What is hidden


class Reader:
    """A predictor that has seen the first links of its graph and was selected on some of them."""

    threads = 1

    def __init__(self, graph, seen, selected):
        self.graph_, self.valid_ = graph, graph.edges[:selected]
        self._seen = np.arange(graph.m) < seen

    def unseen(self, graph):
        return ~self._seen

    def trial_scores(self, parts, run=None):
        raise AssertionError("nothing is scored here")


@pytest.fixture(scope="module")
def ring():
    return Graph.from_edges([(u, (u + 1) % 40) for u in range(40)])


def test_only_links_that_were_never_seen_are_hidden_where_these_suffice(ring):
    found = trial_splits(Reader(ring, 27, 5), 0.1, 5, 0)
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
        found = trial_splits(Reader(ring, seen, 5), 0.1, 3, 0)
        assert len(found) == 3
        for parts in found:
            assert parts.valid.tolist() == selected and len(parts.test) == 4
            assert not any(pair in selected for pair in parts.test.tolist())


@pytest.mark.parametrize("links", [40, 43])
def test_the_test_links_of_a_split_are_enough_to_hide(links):
    ring = Graph.from_edges([(u, (u + 1) % links) for u in range(links)])
    found = trial_splits(Reader(ring, links - int(0.1 * links), 2), 0.1, 5, 0)
    assert [sorted(parts.test.tolist()) for parts in found] == [ring.edges[-4:].tolist()]


# Against the truth


class Fixed:
    """A predictor with given scores, which nothing that is hidden changes."""

    threads = 1
    valid_ = NONE
    most_trials = None

    def __init__(self, graph, matrix):
        self.graph_, self._matrix = graph, matrix

    def trial_scores(self, parts, run=None):
        return BlockScores.from_rows(self.graph_.n, lambda rows: self._matrix[rows], threads=1)

    def unseen(self, graph):
        return np.ones(graph.m, dtype=bool)

    def rehearsals(self, share, repeats, run):
        return None


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
    return [(told.at(k), right[k - 1] / k) for k in ranks]


def test_the_interval_holds_the_truth_and_the_estimate_is_unbiased():
    """A graph that lacks the share that is hidden: about as many are right as stated."""
    ranks, times = (10, 50, 150), 200
    results = [simulated(seed, share=0.2, ranks=ranks) for seed in range(times)]
    for i, k in enumerate(ranks):
        pairs = [(result[i][0], result[i][1]) for result in results if result[i][0] is not None]
        assert len(pairs) > times / 2, k
        assert np.mean([stated.low <= truth <= stated.high for stated, truth in pairs]) >= 0.9, k
        expected, truth = np.mean([(stated.expected, truth) for stated, truth in pairs], axis=0)
        assert expected == pytest.approx(truth, rel=0.08), k
        assert np.mean([stated.high - stated.low for stated, _ in pairs]) < {10: 0.85, 50: 0.75, 150: 0.45}[k]


def test_an_earlier_list_that_is_excluded_does_not_make_the_next_one_look_better():
    """The best pairs were suggested before and are excluded; hidden links among them are lost to the next list too."""
    ratios = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        u, v = np.triu_indices(80, 1)
        score = random.normal(size=len(u))
        true = random.choice(len(u), size=500, replace=False)
        score[true] += 1.5
        known = true[100:]
        matrix = np.zeros((80, 80))
        matrix[u, v] = matrix[v, u] = score
        pairs = np.column_stack([u, v])
        graph = Graph.from_edges(pairs[known], 80)
        order = np.argsort(-np.where(np.isin(np.arange(len(u)), known), -np.inf, score))
        told = expected_precision(
            Fixed(graph, matrix), 100, chosen={"exclude": pairs[order[:100]]}, share=0.2, repeats=5, seed=seed
        )
        right = np.isin(order[100:200], true).mean()
        ratios.append((told.at(100).expected, right, told.at(100).low <= right <= told.at(100).high))
    expected, right, held = np.mean(ratios, axis=0)
    assert expected == pytest.approx(right, rel=0.25) and held >= 0.85

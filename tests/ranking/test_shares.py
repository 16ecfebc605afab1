"""Shares of a scan: joined, they are the whole run, bit for bit; parts that do not fit are refused."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.methods import HEURISTICS
from gelato.ranking.engines import running_on
from gelato.ranking.rank import rank
from gelato.ranking.shares import UNFINISHED, Merged, Share, ShareDone
from gelato.ranking.top import top
from gelato.regimes import partitioned, unbiased
from gelato.scores import LiftedScores
from gelato.splits import split
from graphs import random_bipartite, random_graph

COMMAND = ("evaluate", "graph.csv")


@pytest.fixture(scope="module")
def graph():
    return block_model([300, 200, 100], 0.05, 0.005, seed=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


def shared(folder, count, run):
    """The files of all shares of what ``run`` ranks."""
    paths = [folder / f"{number}.npz" for number in range(1, count + 1)]
    for number, path in enumerate(paths, 1):
        path.unlink(missing_ok=True)
        with running_on(Share(number, count, COMMAND, path).engine), suppress(ShareDone):
            run()
    return paths


def merged(paths, run):
    """What ``run`` gives when its results are taken from the parts."""
    parts = Merged.read(paths)
    with running_on(parts.engine):
        found = run()
    assert parts.used == set(parts.pieces)
    return found


def same_ranks(one, other):
    for name in ("above", "tied"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@given(seed=st.integers(0, 10**6), count=st.integers(1, 5), bipartite=st.booleans())
def test_counts_of_shares_add_up(folder, seed, count, bipartite):
    graph = random_bipartite(seed) if bipartite else random_graph(seed, weighted=seed % 2 == 0, directed=seed % 3 == 0)
    parts = split(graph, 0, (0.0, 0.34))
    scores, candidates = HEURISTICS["ac"](parts.train), unbiased(parts)

    def run():
        return rank(scores, candidates, block_rows=2)

    same_ranks(merged(shared(folder, count, run), run), run())


@pytest.mark.parametrize("name", ["cn", "katz", "cosine", "lifted"])
def test_every_form_of_scores_can_be_shared(graph, folder, name):
    graph = random_graph(5, nodes=40) if name == "cosine" else graph
    parts = split(graph, 0, (0.05, 0.1))
    scores = HEURISTICS["aa" if name == "lifted" else name](parts.train)
    if name == "lifted":
        scores = LiftedScores(scores, parts.test[:20], np.arange(20.0) % 3)

    def run():
        return rank(scores, partitioned(parts, np.arange(graph.n) % 2), block_rows=16)

    same_ranks(merged(shared(folder, 3, run), run), run())


@pytest.mark.parametrize("options", [{}, {"per_node": True}, {"nodes": [0, 5, 7]}, {"min_score": 1.0}], ids=str)
@pytest.mark.parametrize("bipartite", [False, True])
@pytest.mark.parametrize("k", [1, 30])
def test_the_best_of_shares_are_the_best(graph, folder, options, bipartite, k):
    """Common neighbours tie at every cut, which merging settles by itself."""
    graph = random_bipartite(4, nodes=60) if bipartite else graph
    scores = HEURISTICS["cn"](graph)

    def run():
        return top(scores, graph, k, **options)

    found, whole = merged(shared(folder, 3, run), run), run()
    np.testing.assert_array_equal(found.pairs, whole.pairs)
    np.testing.assert_array_equal(found.score, whole.score)


def test_a_share_that_was_stopped_goes_on_where_it_was(graph, tmp_path):
    parts = split(graph)
    scores, candidates = HEURISTICS["ac"](parts.train), unbiased(parts)
    path, seen = tmp_path / "part.npz", []

    def share(progress=None):
        with running_on(Share(2, 2, COMMAND, path).engine), suppress(ShareDone, KeyboardInterrupt):
            rank(scores, candidates, threads=1, block_rows=16, progress=progress)

    def stop(done, total):
        seen.append(done)
        if len(seen) == 3:
            raise KeyboardInterrupt

    share(stop)
    assert not path.exists() and path.with_name(path.name + UNFINISHED).exists()
    later = []
    share(lambda done, total: later.append((done, total)))
    assert later[0][0] > seen[2] and later[-1][0] == later[-1][1]  # the blocks that were done are not run again
    assert path.exists() and not path.with_name(path.name + UNFINISHED).exists()
    before = path.read_bytes()
    share(lambda done, total: pytest.fail("a finished share is run again"))
    assert path.read_bytes() == before


def test_parts_that_do_not_fit_are_refused(graph, tmp_path):
    parts = split(graph)
    scores, candidates = HEURISTICS["ac"](parts.train), unbiased(parts)

    def run():
        return rank(scores, candidates, block_rows=16)

    one, two = shared(tmp_path, 2, run)
    double = tmp_path / "double.npz"
    double.write_bytes(one.read_bytes())
    other = tmp_path / "other.npz"
    with running_on(Share(2, 2, ("evaluate", "other.csv"), other).engine), suppress(ShareDone):
        run()
    changed = tmp_path / "changed.npz"
    with running_on(Share(2, 2, COMMAND, changed).engine), suppress(ShareDone):
        rank(HEURISTICS["cn"](parts.train), candidates, block_rows=16)
    noise = tmp_path / "noise.npz"
    noise.write_bytes(b"nothing")
    for paths, message in (
        ([one], "share 2 of 2 is missing; make it with --shard 2/2"),
        ([one, double], "both hold share 1 of 2; give one"),
        ([one, one], "a file is given twice"),
        ([one, other], "are shares of different runs: 'gelato evaluate other.csv' in 2 shares and 'gelato evaluate"),
        ([one, changed], "made from the same files"),
        ([one, noise], "noise.npz cannot be merged: it is not part of a shared run; give the files that --shard wrote"),
        ([one, tmp_path / "none.npz"], "none.npz cannot be merged: No such file or directory"),
    ):
        with pytest.raises(InputError, match=message):
            Merged.read(paths)
    with pytest.raises(InputError, match="the shares do not match this"), running_on(Merged.read([one, two]).engine):
        rank(HEURISTICS["cn"](parts.train), candidates, block_rows=16)


def test_a_part_made_of_an_older_file_is_replaced(graph, tmp_path):
    parts = split(graph)
    path = tmp_path / "part.npz"
    for name in ("cn", "aa"):
        share = Share(1, 1, COMMAND, path)
        with running_on(share.engine), suppress(ShareDone):
            rank(HEURISTICS[name](parts.train), unbiased(parts))
        share.finish()
    assert len(Merged.read([path]).pieces) == 1

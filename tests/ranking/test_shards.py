"""Shards of a scan: joined, they are the whole run, bit for bit; files that do not fit are refused."""

import io
import zipfile
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.methods import HEURISTICS
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.engines import running_on
from gelato.ranking.rank import rank
from gelato.ranking.shard_files import PartialResult, ShardedCall, ShardFile, read_shard, write_shard
from gelato.ranking.shards import UNFINISHED, MergedShards, Shard, ShardDone
from gelato.ranking.top import top
from gelato.regimes import partitioned, unbiased
from gelato.scores import LiftedScores
from gelato.splits import split
from graphs import random_bipartite, random_graph

CALL = ShardedCall("evaluate", {"graph": "graph.csv"})


@pytest.fixture(scope="module")
def graph():
    return block_model([300, 200, 100], 0.05, 0.005, seed=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shards")


def sharded(folder, count, run):
    """The files of all shards of what ``run`` ranks."""
    paths = [folder / f"{number}.npz" for number in range(1, count + 1)]
    for number, path in enumerate(paths, 1):
        path.unlink(missing_ok=True)
        with running_on(Shard(number, count, CALL, path).engine), suppress(ShardDone):
            run()
    return paths


def merged(paths, run):
    """What ``run`` gives when its results are taken from the shards."""
    shards = MergedShards.read(paths)
    with running_on(shards.engine):
        found = run()
    assert shards.used == set(shards.results)
    return found


def same_ranks(one, other):
    for name in ("above", "tied"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@given(seed=st.integers(0, 10**6), count=st.integers(1, 5), bipartite=st.booleans())
def test_counts_of_shards_add_up(folder, seed, count, bipartite):
    graph = random_bipartite(seed) if bipartite else random_graph(seed, weighted=seed % 2 == 0, directed=seed % 3 == 0)
    parts = split(graph, 0, (0.0, 0.34))
    scores, candidates = HEURISTICS["ac"](parts.train), unbiased(parts)

    def run():
        return rank(scores, candidates, block_rows=2)

    same_ranks(merged(sharded(folder, count, run), run), run())


@pytest.mark.parametrize("name", ["cn", "katz", "cosine", "lifted"])
def test_every_form_of_scores_can_be_sharded(graph, folder, name):
    graph = random_graph(5, nodes=40) if name == "cosine" else graph
    parts = split(graph, 0, (0.05, 0.1))
    scores = HEURISTICS["aa" if name == "lifted" else name](parts.train)
    if name == "lifted":
        scores = LiftedScores(scores, parts.test[:20], np.arange(20.0) % 3)

    def run():
        return rank(scores, partitioned(parts, np.arange(graph.n) % 2), block_rows=16)

    same_ranks(merged(sharded(folder, 3, run), run), run())


@pytest.mark.parametrize("options", [{}, {"per_node": True}, {"nodes": [0, 5, 7]}, {"min_score": 1.0}], ids=str)
@pytest.mark.parametrize("bipartite", [False, True])
@pytest.mark.parametrize("k", [1, 30])
def test_the_best_of_shards_are_the_best(graph, folder, options, bipartite, k):
    """Common neighbours tie at every cut, which merging settles by itself."""
    graph = random_bipartite(4, nodes=60) if bipartite else graph
    scores = HEURISTICS["cn"](graph)

    def run():
        return top(scores, graph, k, **options)

    found, whole = merged(sharded(folder, 3, run), run), run()
    np.testing.assert_array_equal(found.pairs, whole.pairs)
    np.testing.assert_array_equal(found.score, whole.score)


def test_a_shard_that_was_stopped_resumes_where_it_was(graph, tmp_path):
    parts = split(graph)
    scores, candidates = HEURISTICS["ac"](parts.train), unbiased(parts)
    path, seen = tmp_path / "shard.npz", []

    def shard(progress=None):
        with running_on(Shard(2, 2, CALL, path).engine), suppress(ShardDone, KeyboardInterrupt):
            rank(scores, candidates, threads=1, block_rows=16, progress=progress)

    def stop(done, total):
        seen.append(done)
        if len(seen) == 3:
            raise KeyboardInterrupt

    shard(stop)
    assert not path.exists() and path.with_name(path.name + UNFINISHED).exists()
    later = []
    shard(lambda done, total: later.append((done, total)))
    assert later[0][0] > seen[2] and later[-1][0] == later[-1][1]  # the blocks that were done are not run again
    assert path.exists() and not path.with_name(path.name + UNFINISHED).exists()
    before = path.read_bytes()
    shard(lambda done, total: pytest.fail("a finished shard is run again"))
    assert path.read_bytes() == before


def test_shards_that_do_not_fit_are_refused(graph, tmp_path):
    parts = split(graph)
    scores, candidates = HEURISTICS["ac"](parts.train), unbiased(parts)

    def run():
        return rank(scores, candidates, block_rows=16)

    one, two = sharded(tmp_path, 2, run)
    double = tmp_path / "double.npz"
    double.write_bytes(one.read_bytes())
    other = tmp_path / "other.npz"
    with running_on(Shard(2, 2, ShardedCall("evaluate", {"graph": "other.csv"}), other).engine), suppress(ShardDone):
        run()
    changed = tmp_path / "changed.npz"
    with running_on(Shard(2, 2, CALL, changed).engine), suppress(ShardDone):
        rank(HEURISTICS["cn"](parts.train), candidates, block_rows=16)
    noise = tmp_path / "noise.npz"
    noise.write_bytes(b"nothing")
    for paths, message in (
        ([one], "shard 2 of 2 is missing; make it with --shard 2/2"),
        ([one, double], "both hold shard 1 of 2; give one"),
        ([one, one], "a file is given twice"),
        ([one, other], "are shards of different runs: graph 'graph.csv' and 'other.csv'; merge the shards"),
        ([one, changed], "made from the same files"),
        ([one, noise], "noise.npz cannot be merged: it is not a shard of a run; give the files that --shard wrote"),
        ([one, tmp_path / "none.npz"], "none.npz cannot be merged: No such file or directory"),
    ):
        with pytest.raises(InputError, match=message):
            MergedShards.read(paths)
    with (
        pytest.raises(InputError, match="the shards do not match this"),
        running_on(MergedShards.read([one, two]).engine),
    ):
        rank(HEURISTICS["cn"](parts.train), candidates, block_rows=16)


def test_a_shard_made_of_an_older_file_is_replaced(graph, tmp_path):
    parts = split(graph)
    path = tmp_path / "shard.npz"
    for name in ("cn", "aa"):
        shard = Shard(1, 1, CALL, path)
        with running_on(shard.engine), suppress(ShardDone):
            rank(HEURISTICS[name](parts.train), unbiased(parts))
        shard.finish()
    assert len(MergedShards.read([path]).results) == 1


# Files that were changed by somebody


def with_arrays(path, change):
    """A shard whose partial results were changed."""
    shard = read_shard(path)
    results = {
        key: replace(result, arrays=change({name: array.copy() for name, array in result.arrays.items()}))
        for key, result in shard.results.items()
    }
    write_shard(path, replace(shard, results=results))


def put(name, value):
    """A change of one array; ``value`` may be a function of it."""
    return lambda arrays: arrays | {name: value(arrays[name]) if callable(value) else np.asarray(value)}


def filled(value):
    """An array of the same shape and type."""
    return lambda array: np.full_like(array, value)


COUNTS = [
    lambda arrays: {},
    put("counters", lambda array: array[:-1]),
    put("counters", lambda array: array.reshape(-1, 1)),
    put("counters", lambda array: array.astype(float)),
    put("counters", lambda array: array.astype(np.int32)),
    put("counters", filled(-1)),
    put("counters", filled(2**62)),
]
BEST = [
    put("key", filled(-1)),
    put("key", filled(600**2)),
    put("key", filled(2**62)),
    put("key", filled(601)),  # the pair (1, 1)
    put("key", filled(1)),  # one pair many times
    put("key", lambda array: array.astype(float)),
    put("key", lambda array: np.arange(1, 500_000)),
    put("score", filled(np.nan)),
    put("score", filled(np.inf)),
    put("score", lambda array: array[:-1]),
    put("last", np.zeros(2, np.int64)),
    put("last", lambda array: array[:0]),
    put("bound", np.zeros(3)),
    put("bound", np.array([np.nan, 0.0])),
    put("bound", np.array([0.0, 1.0])),
    put("cut", np.array([np.inf])),
    put("cut", np.array([np.nan])),
]
ROWS = [
    put("rows", filled(-1)),
    put("rows", filled(600)),
    put("rows", filled(0)),
    put("rows", lambda array: array[:-1]),
    put("key", filled(-1)),
    put("key", filled(600**2)),
    put("key", lambda array: array[:, :1]),
    put("score", filled(np.nan)),
    put("count", filled(4)),
    put("count", filled(-2)),
    put("count", lambda array: array[:-1]),
]


@pytest.mark.parametrize(
    ("kind", "change"),
    [(kind, change) for kind, changes in (("count", COUNTS), ("top", BEST), ("rows", ROWS)) for change in changes],
)
def test_changed_arrays_are_refused_before_they_are_used(graph, tmp_path, kind, change):
    parts = split(graph)
    scores, candidates = HEURISTICS["cn"](parts.train), unbiased(parts)

    def run():
        if kind == "count":
            return rank(scores, candidates, block_rows=64)
        return top(scores, parts.train, 3 if kind == "rows" else 20, per_node=kind == "rows")

    paths = sharded(tmp_path, 1, run)
    with_arrays(paths[0], change)
    shards = MergedShards.read(paths)
    refused = pytest.raises(InputError, match=r"the shards cannot be merged: array '\w+' .*make them again")
    with refused, running_on(shards.engine):
        run()


def test_blocks_that_are_not_those_of_the_job_are_refused(graph, tmp_path):
    parts = split(graph)
    scores, candidates = HEURISTICS["cn"](parts.train), unbiased(parts)

    def run():
        return rank(scores, candidates, block_rows=64)

    (path,) = sharded(tmp_path, 1, run)
    shard = read_shard(path)
    ((key, result),) = shard.results.items()
    for places in (result.places[:-1], result.places - 1, np.append(result.places, 0), result.places * 2**40):
        write_shard(path, replace(shard, results={key: replace(result, places=places)}))
        with pytest.raises(InputError, match="every block exactly once"), running_on(MergedShards.read([path]).engine):
            run()
    for arrays in ({"places": np.zeros((1, 1), np.int64)}, {"places": np.zeros(1)}, {"blocks": np.zeros(2, np.int64)}):
        held = dict(np.load(path)) | {f"0.{name}": array for name, array in arrays.items()}
        np.savez(path, **held)
        with pytest.raises(InputError, match="cannot be merged: array '0"):
            read_shard(path)


def archive(path, entries, method=zipfile.ZIP_STORED):
    """A zip archive of some bytes by name."""
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in entries.items():
            file.writestr(name, content)


def test_arrays_that_claim_more_than_the_file_holds_are_refused_before_memory_is_taken(tmp_path):
    path = tmp_path / "shard.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (1 << 45,)})
    archive(path, {"format.npy": header.getvalue()})
    with pytest.raises(
        InputError, match=r"array format claims 256.0 TiB .* holds 0 bytes of it; give the files that --shard wrote"
    ):
        read_shard(path)
    archive(path, {"format.npy": bytes(50_000_000)}, zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match=r"its arrays claim 47[.]7 MiB, but the file has"):
        read_shard(path)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"format": np.array("gelato shard 1")},
        {"format": np.array(1), "about": np.array("{}")},
        {"format": np.array("gelato shard 1"), "about": np.array("[" * 100_000)},
        {"format": np.array("gelato shard 1"), "about": np.array("9" * 10_000)},
        {"format": np.array("gelato shard 1"), "about": np.array(['{"a": 1}'])},
        {"format": np.array("gelato shard 1"), "about": np.array(b"{}")},
        {"format": np.array("gelato shard 1"), "about": np.array("{}", dtype=object)},
    ],
)
def test_what_is_no_shard_is_refused_in_a_line(tmp_path, arrays):
    path = tmp_path / "shard.npz"
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=r"shard.npz cannot be merged: it is not a shard of a run; give the files"):
        read_shard(path)


def test_a_result_that_is_stored_twice_or_unknown_is_refused(tmp_path):
    path = tmp_path / "shard.npz"
    result = PartialResult(1, np.zeros(1, np.int64), {"counters": np.zeros(2, np.int64)})
    write_shard(path, ShardFile(1, 1, CALL, {"a" * 64: result}))
    held = dict(np.load(path))
    assert set(read_shard(path).results) == {"a" * 64}
    twice = {name.replace("0.", "1.", 1): array for name, array in held.items() if name.startswith("0.")}
    for more in (twice, {"other": np.zeros(1)}, {"0.result.words": np.array("x")}):
        np.savez(path, **held, **more)
        with pytest.raises(InputError, match="it is not a shard of a run"):
            read_shard(path)


def test_changed_arrays_in_a_checkpoint_are_not_used(graph, tmp_path):
    parts = split(graph)
    scores, candidates = HEURISTICS["cn"](parts.train), unbiased(parts)
    whole = rank(scores, candidates, block_rows=64)
    path, stops = tmp_path / "count.npz", []

    def stop(done, total):
        stops.append(done)
        if len(stops) == 2:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        rank(scores, candidates, block_rows=64, threads=1, progress=stop, checkpoint=Checkpoint(path, "key"))
    held = dict(np.load(path))
    for change in COUNTS[1:]:
        np.savez(path, **held | {"part_counters": change({"counters": held["part_counters"]})["counters"]})
        checkpoint = Checkpoint(path, "key")
        same_ranks(rank(scores, candidates, block_rows=64, checkpoint=checkpoint), whole)
        assert checkpoint.resumed == 0
    np.savez(path, **held)
    checkpoint = Checkpoint(path, "key")
    same_ranks(rank(scores, candidates, block_rows=64, checkpoint=checkpoint), whole)
    assert checkpoint.resumed == 2

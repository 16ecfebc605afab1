"""The engine ray on a cluster of two worker processes: what threads give, bit for bit, also when a worker is killed."""

import importlib.util
import json
import os
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import ray

import ray_cases
from gelato.datasets import block_model
from gelato.errors import InputError, MissingDependency
from gelato.evaluation.search import tune
from gelato.experiments.experiment import read_experiment
from gelato.experiments.seed_results import reproduce
from gelato.methods import HEURISTICS, make
from gelato.ranking import estimate as estimates
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.engines import cluster, map_tasks, running_on
from gelato.ranking.engines import ray as engine
from gelato.ranking.engines.local import Threads
from gelato.ranking.engines.ray import STARTING, Ray
from gelato.ranking.engines.worker import SHARED, pack_arrays, release, run_blocks, unpack_arrays
from gelato.ranking.estimate import scan_cost
from gelato.ranking.rank import rank
from gelato.ranking.top import top
from gelato.regimes import partitioned, unbiased
from gelato.scores import BlockScores, LiftedScores
from gelato.splits import split
from graphs import random_bipartite, random_graph
from ray_cases import Fatal, Products, Refusing, scores_of

GPUS = 2
TESTS = str(Path(ray_cases.__file__).parent)


@pytest.fixture(scope="module", autouse=True)
def workers():
    """A cluster of two workers that can import the cases of these tests, and no block that is not sent there.

    It is told of two GPUs, which only the tests of ``gpus`` see; what tasks find there is PyTorch's CPU, or nothing.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray, "init", partial(ray.init, num_gpus=GPUS))
        patch.setattr(cluster.Cluster, "gpus", 0)
        patch.setattr(engine, "ALONE", 0.0)
        source = str(Path(engine.__file__).parents[3])
        patch.setenv("PYTHONPATH", os.pathsep.join([TESTS, source, *filter(None, [os.environ.get("PYTHONPATH")])]))
        yield cluster.join(2, None)
        cluster.leave()


@pytest.fixture(scope="module")
def parts():
    return split(block_model([200, 150, 50], 0.05, 0.005, attributes=20, seed=3))


def same_ranks(scores, candidates, **options):
    expected = rank(scores, candidates, threads=2, engine="threads", **options)
    ranks = rank(scores, candidates, threads=2, engine="ray", **options)
    for name in ("score", "above", "tied"):
        np.testing.assert_array_equal(getattr(ranks, name), getattr(expected, name))
    return ranks


def same_links(scores, graph, k, **options):
    expected = top(scores, graph, k, threads=2, engine="threads", **options)
    links = top(scores, graph, k, threads=2, engine="ray", **options)
    np.testing.assert_array_equal(links.pairs, expected.pairs)
    np.testing.assert_array_equal(links.score, expected.score)


def scores_by_name(name, parts):
    if name == "lifted":
        return LiftedScores(HEURISTICS["aa"](parts.train), parts.test[:20], np.arange(20.0) % 3)
    return HEURISTICS[name](parts.train)


@pytest.mark.parametrize("name", ["ac", "cn", "ppr", "cosine", "lifted"])
def test_ranks_are_those_of_threads(parts, name):
    scores = scores_by_name(name, parts)
    same_ranks(scores, unbiased(parts), block_rows=16)
    same_ranks(scores, partitioned(parts, np.arange(parts.graph.n) % 2))


@pytest.mark.parametrize("kind", ["directed", "bipartite"])
def test_ranks_of_other_graphs_are_those_of_threads(kind):
    graph = random_bipartite(4, nodes=60) if kind == "bipartite" else random_graph(3, nodes=60, directed=True)
    parts = split(graph, 0, (0.0, 0.3))
    same_ranks(HEURISTICS["ac"](parts.train), unbiased(parts), block_rows=4)
    same_links(HEURISTICS["ac"](graph), graph, 25)
    same_links(HEURISTICS["ac"](graph), graph, 2, per_node=True)


@pytest.mark.parametrize("options", [{}, {"per_node": True}, {"nodes": [0, 5, 7]}, {"min_score": 1.0}], ids=str)
@pytest.mark.parametrize("name", ["cn", "ac", "lifted"])
def test_the_best_are_those_of_threads(parts, name, options):
    """Common neighbours tie at every cut."""
    scores = scores_by_name(name, parts)
    for k in (1, 40):
        same_links(scores, parts.train, k, **options)


@pytest.fixture
def gpus(monkeypatch):
    """A cluster with GPUs; tells of each task whether one ran its blocks."""
    monkeypatch.setattr(cluster.Cluster, "gpus", GPUS)
    seen, result = [], cluster.Cluster.result

    def watched(self, task):
        given = result(self, task)
        seen.append(given[2])
        return given

    monkeypatch.setattr(cluster.Cluster, "result", watched)
    return seen


class InTwoShares:
    """An engine that runs two shares of a job as workers with a GPU do, in this process."""

    def __init__(self, threads):
        self.moved = []

    def fold(self, job, how=None):
        whole, middle = job.start(), len(job.blocks) // 2
        for share in (range(middle), range(middle, len(job.blocks))):
            arrays, _, moved = run_blocks(job, share, job.hint(whole), "cpu")
            self.moved.append(moved)
            whole = job.merge(whole, job.load(arrays))
        return whole


def same_on(engine_of, parts, scores, moved):
    """Ranks and suggestions of an engine with GPUs are those of threads, and ``moved`` tells that they were used."""
    labels = np.arange(parts.graph.n) % 2
    tests = [unbiased(parts)] if parts.graph.sides is not None else [unbiased(parts), partitioned(parts, labels)]
    calls = [lambda test=test: rank(scores, test, threads=2, block_rows=8) for test in tests]
    calls += [lambda k=k: top(scores, parts.train, k, threads=2) for k in (1, 40)]
    calls += [lambda: top(scores, parts.train, 3, threads=2, per_node=True)]
    for call in calls:
        expected = call()
        with running_on(engine_of):
            found = call()
        for name in ("above", "tied") if hasattr(expected, "above") else ("pairs",):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        np.testing.assert_allclose(found.score, expected.score, rtol=1e-12)
    assert any(moved)


@pytest.mark.parametrize("kind", ["ac", "cn", "lifted", "directed", "bipartite"])
def test_shares_on_a_device_give_what_threads_do(parts, kind):
    pytest.importorskip("torch")
    if kind in ("directed", "bipartite"):
        graph = random_bipartite(4, nodes=60) if kind == "bipartite" else random_graph(3, nodes=60, directed=True)
        parts, kind = split(graph, 0, (0.0, 0.3)), "ac"
    one = InTwoShares(1)
    same_on(lambda threads: one, parts, scores_by_name(kind, parts), one.moved)


def test_workers_with_a_gpu_give_what_threads_do(parts, gpus):
    pytest.importorskip("torch")
    same_on(partial(Ray, device="cpu"), parts, HEURISTICS["ac"](parts.train), gpus)


def test_gpus_that_cannot_be_used_leave_the_blocks_to_all_workers(parts, gpus, monkeypatch):
    """A worker with a GPU but without CUDA in its PyTorch, such as those of this cluster."""
    asked, submit = [], cluster.Cluster.submit

    def watched(self, *args, gpus=0):
        asked.append(gpus)
        return submit(self, *args, gpus=gpus)

    monkeypatch.setattr(cluster.Cluster, "submit", watched)
    scores, candidates = HEURISTICS["ac"](parts.train), unbiased(parts)
    same_ranks(scores, candidates, block_rows=4)
    assert asked[0] == 1 and asked[-1] == 0 and not any(gpus)
    asked.clear()
    with running_on(partial(Ray, device=None)):
        rank(scores, candidates, threads=2)
    assert set(asked) == {0}


def test_a_killed_worker_costs_nothing_but_its_blocks(tmp_path):
    graph = random_graph(2, nodes=160)
    parts = split(graph, 0, (0.0, 0.3))
    mark, reports = tmp_path / "killed", []
    expected = rank(scores_of(Products(graph.n)), unbiased(parts), engine="threads")
    ranks = rank(
        scores_of(Fatal(graph.n, str(mark))),
        unbiased(parts),
        engine="ray",
        progress=lambda done, total: reports.append((done, total)),
    )
    assert int(mark.read_text()) != os.getpid()
    np.testing.assert_array_equal(ranks.above, expected.above)
    np.testing.assert_array_equal(ranks.tied, expected.tied)
    done = [each for each, _ in reports]
    assert done == sorted(done) and reports[-1][0] == reports[-1][1]  # no block twice


def test_a_refusal_is_raised_as_it_is_and_not_tried_again():
    graph = random_graph(2, nodes=80)
    parts = split(graph, 0, (0.0, 0.3))
    with pytest.raises(InputError, match=r"^these rows are refused$") as caught:
        rank(scores_of(Refusing(graph.n)), unbiased(parts), engine="ray")
    assert type(caught.value) is InputError


def test_scores_without_a_key_run_on_threads_only():
    graph = random_graph(2, nodes=40)
    parts = split(graph, 0, (0.0, 0.3))
    for function in (Products(graph.n), lambda rows, columns: np.ones((len(rows), len(columns)))):
        scores = BlockScores(graph.n, function)
        for call in (partial(rank, scores, unbiased(parts)), partial(top, scores, parts.train, 3)):
            with pytest.raises(InputError, match="without a key, which only threads can run"):
                call(engine="ray")


def test_workers_of_another_release_are_refused(parts, monkeypatch):
    monkeypatch.setattr(cluster, "release", lambda: "gelato 9.9 (source 00000000)")
    with pytest.raises(InputError) as caught:
        rank(HEURISTICS["cn"](parts.train), unbiased(parts), engine="ray")
    assert str(caught.value) == (
        f"a worker of the cluster has {release()}, this process gelato 9.9 (source 00000000); install the same release"
        " on every machine and start the cluster again"
    )


def test_a_stopped_count_resumes_on_either_engine(parts, tmp_path):
    scores, candidates = HEURISTICS["ac"](parts.train), unbiased(parts)
    expected = rank(scores, candidates, engine="threads")
    for first, second in (("ray", "ray"), ("ray", "threads"), ("threads", "ray")):
        seen = []

        def stop(done, total, seen=seen):
            seen.append(done)
            if done > total / 3:
                raise KeyboardInterrupt

        path = tmp_path / f"{first}-{second}.npz"
        with pytest.raises(KeyboardInterrupt):
            checkpoint = Checkpoint(path, "a count")
            rank(scores, candidates, block_rows=8, engine=first, threads=2, progress=stop, checkpoint=checkpoint)
        later, checkpoint = [], Checkpoint(path, "a count")
        ranks = rank(
            scores,
            candidates,
            block_rows=8,
            engine=second,
            threads=2,
            progress=lambda done, total, later=later: later.append((done, total)),
            checkpoint=checkpoint,
        )
        assert checkpoint.resumed > 0 and later[0][0] > seen[-1] and later[-1][0] == later[-1][1]
        np.testing.assert_array_equal(ranks.above, expected.above)
        np.testing.assert_array_equal(ranks.tied, expected.tied)


def test_a_quick_job_is_not_sent(parts, monkeypatch):
    monkeypatch.setattr(engine, "ALONE", 60.0)
    monkeypatch.setattr(engine, "join", lambda *_: pytest.fail("a cluster is joined"))
    same_ranks(HEURISTICS["cn"](parts.train), unbiased(parts))


def test_an_estimate_counts_the_workers_and_what_a_cluster_takes_to_start(parts, monkeypatch):
    scores, candidates = HEURISTICS["ac"](parts.train), unbiased(parts)
    with running_on(partial(Ray, address="auto")):
        assert scan_cost(scores, candidates, threads=1).threads == 2
    with running_on(Ray):
        assert scan_cost(scores, candidates, threads=7).seconds < STARTING  # which is done before one would start
        monkeypatch.setattr(estimates, "ALONE", 0.0)
        told = scan_cost(scores, candidates, threads=7)
        assert (told.threads, told.seconds > STARTING) == (7, True)


def test_calls_are_mapped_in_order_to_workers():
    assert [value for value, _ in map_tasks(ray_cases.doubled, [3, 1])] == [6, 2]
    with running_on(Ray):
        results = list(map_tasks(ray_cases.doubled, [3, 1, 2], threads=2))
        assert [value for value, _ in results] == [6, 2, 4]
        assert os.getpid() not in {process for _, process in results}
        assert list(map_tasks(ray_cases.doubled, [5])) == [(10, os.getpid())]  # alone, it may use all workers itself
        with pytest.raises(InputError, match=r"^13 is refused$"):
            list(map_tasks(ray_cases.doubled, [1, 13, 2], threads=2))


def test_what_is_sent_comes_back_with_large_arrays_shared_and_small_ones_copied():
    small, large, frozen = np.arange(3.0), np.arange(SHARED), np.arange(SHARED)
    frozen.flags.writeable = False
    data, buffers = pack_arrays((small, large, frozen, np.empty((0, 2))))
    again = unpack_arrays((data, buffers))
    for one, other in zip(again, (small, large, frozen, np.empty((0, 2))), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.flags.writeable == other.flags.writeable
    assert np.shares_memory(again[1], large) and not np.shares_memory(again[0], small)


def test_an_address_where_nothing_answers_is_refused():
    with pytest.raises(InputError, match=r"no Ray cluster answers at 127.0.0.1:9 .*; start one with 'ray"):
        cluster._check_answer("127.0.0.1:9")


def test_without_the_package_the_extra_is_named(parts, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ray" else find(name))
    with pytest.raises(MissingDependency, match=r"the engine ray needs ray: pip install 'gelato-links\[ray\]'"):
        rank(HEURISTICS["cn"](parts.train), unbiased(parts), engine="ray")
    assert "gelato.ranking.engines.ray" in sys.modules  # which is loaded without the package


COMMANDS = """
import contextlib, io, json, sys
from gelato.cli import main
from gelato.ranking.engines import ray
ray.ALONE = 0.0
for args in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(args)
    print(json.dumps([code, out.getvalue()]), flush=True)
"""


def test_commands_join_a_cluster_and_print_what_threads_do(workers, tmp_path):
    address = workers.ray.get_runtime_context().gcs_address
    on_ray = ["--engine", "ray", "--address", address, "--device", "cpu"]
    evaluate = ["evaluate", "debian-sample", "--method", "ac", "--quiet", "--json", "--no-resume"]
    predict = ["predict", "debian-sample", "--method", "cn", "--top", "30", "--repeats", "0", "--quiet", "--out"]
    commands = [
        evaluate,
        [*evaluate, *on_ray],
        [*predict, "one.csv"],
        [*predict, "two.csv", *on_ray],
        [*evaluate, "--address", address],
        [*evaluate, "--shard", "1/2", "--out", "part.npz", *on_ray],
    ]
    call = [sys.executable, "-c", COMMANDS, json.dumps(commands)]
    done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path)
    codes, printed = zip(*map(json.loads, done.stdout.splitlines()), strict=True)
    assert codes == (0, 0, 0, 0, 2, 2), done.stderr
    one, other = (json.loads(text)[0] | {"seconds": 0, "peak_memory_bytes": 0} for text in printed[:2])
    assert one == other
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert done.stderr.splitlines() == [
        "gelato: --address is for a Ray cluster; add --engine ray; see 'gelato evaluate --help'",
        "gelato: --shard and --engine ray both divide the work; use one of them; see 'gelato evaluate --help'",
    ]


def test_trials_are_the_same_as_tasks(parts, tmp_path):
    base, trials = make("katz", threads=2), {}
    for name, engine_of in (("threads", Threads), ("ray", Ray)):
        with running_on(engine_of):
            trials[name] = [asdict(each) | {"seconds": 0} for each in tune(parts, base, tmp_path / name).trials]
    assert trials["ray"] == trials["threads"]
    assert (tmp_path / "ray" / "best.toml").read_bytes() == (tmp_path / "threads" / "best.toml").read_bytes()
    with running_on(lambda threads: pytest.fail("a trial is run again")):
        assert len(tune(parts, base, tmp_path / "ray").trials) == len(trials["ray"])


def test_the_folds_of_a_second_stage_are_the_same_as_tasks(parts):
    models = []
    for engine_of in (Threads, Ray):
        with running_on(engine_of):
            models.append(
                make("boosted", effort="quick", folds=2, trees=10, rank=16, candidates=2000, threads=2).fit(parts)
            )
    one, other = models
    assert one.recall_ == other.recall_ and one.features_ == other.features_
    np.testing.assert_array_equal(one.listed_, other.listed_)
    np.testing.assert_array_equal(one.listed_score_, other.listed_score_)


def test_the_seeds_of_an_experiment_are_the_same_as_tasks(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        '[run]\ndataset = "debian-sample"\nsplit = "paper"\nseeds = 3\n\n[model]\nmethod = "katz"\nbeta = 0.01\n'
    )
    experiment, results = read_experiment(str(file)), []
    for engine_of in (Threads, Ray):
        with running_on(engine_of):
            outcomes = reproduce(experiment, tmp_path / engine_of.__name__, watch=lambda *_: nullcontext({}))
            results.append([asdict(each) | {"seconds": 0} for each in outcomes])
    assert results[0] == results[1] and len(list((tmp_path / "Ray").rglob("seed-*.json"))) == 3

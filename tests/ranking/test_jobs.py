"""Jobs: the same result after a pickle, in parts, in any order; counts kept under the hash of their scores."""

import pickle

import numpy as np
import pytest

from gelato.datasets import block_model
from gelato.errors import InputError
from gelato.kernels.top_buffer import ScoreLimits
from gelato.methods import HEURISTICS
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.counting import CountJob
from gelato.ranking.engines import ENGINES
from gelato.ranking.pair_list import PairsJob, score_pairs
from gelato.ranking.queries import candidates_query
from gelato.ranking.rank import rank
from gelato.ranking.top import top
from gelato.ranking.top_search import TopJob, TopPerRowJob
from gelato.regimes import unbiased
from gelato.scores import BlockScores, LiftedScores, Query
from gelato.scores.autocovariance import autocovariance
from gelato.splits import split

EVERYTHING = ScoreLimits(-np.inf, np.inf, 1.0, -np.inf, False)


@pytest.fixture(scope="module")
def parts():
    return split(block_model([60, 60, 40], 0.1, 0.01, attributes=20, seed=1))


def jobs_of(name, parts):
    """Every kind of job over the scores of a method."""
    scores, candidates = HEURISTICS[name](parts.train), unbiased(parts)
    if name == "cn":
        listed = parts.test[:20]
        scores = LiftedScores(scores, listed, np.arange(20.0) % 3)
    every = Query(parts.train.pattern, False)
    levels = scores.levels(scores.score_list(parts.test))
    last = scores.searches(every)[-1]
    (row_scan,) = [scan for scan in scores.searches(Query(parts.train.pattern, False, by_row=True)) if scan.tier == 0]
    return {
        "count": CountJob(scores.counts(candidates_query(candidates), 16), levels.bins),
        "pairs": PairsJob(scores, parts.test),
        "best": TopJob([last], 40, 16, EVERYTHING),
        "by row": TopPerRowJob([row_scan], 3, 9, EVERYTHING),
    }


def same(one, other):
    assert one.keys() == other.keys()
    for name in one.keys() - {"cut", "last", "bound"}:
        np.testing.assert_array_equal(one[name], other[name])


def ordered(arrays):
    """What jobs that keep a list of blocks hold, in one order."""
    for name in ("at", "rows", "key"):
        if name in arrays and arrays[name].ndim == 1:
            order = np.argsort(arrays[name])
            short = {key: array for key, array in arrays.items() if key in ("cut", "last", "bound")}
            return {**{key: array[order] for key, array in arrays.items() if key not in short}, **short}
    return arrays


@pytest.mark.parametrize("kind", ["count", "pairs", "best", "by row"])
@pytest.mark.parametrize("name", ["ac", "cn", "ppr", "cosine", "simrank"])
def test_a_job_gives_the_same_result_after_a_pickle_and_in_any_order(name, kind, parts):
    job = jobs_of(name, parts)[kind]
    whole = ordered(job.dump(ENGINES["threads"](1).fold(job)))
    for threads in (2, 3):
        same(whole, ordered(job.dump(ENGINES["threads"](threads).fold(job))))
    again = pickle.loads(pickle.dumps(job))
    blocks = list(again.blocks)
    results = []
    for mine in (blocks[1::2][::-1], blocks[::2]):  # two machines, one of which goes backwards
        part = again.start()
        for block in mine:
            again.run(part, block)
        results.append(job.load(pickle.loads(pickle.dumps(again.dump(part)))))
    same(whole, ordered(job.dump(job.merge(*results))))


def test_a_merged_part_is_empty_and_may_go_on(parts):
    for job in jobs_of("ac", parts).values():
        blocks = list(job.blocks)
        whole, part = job.start(), job.start()
        for block in blocks:
            job.run(part, block)
            whole = job.merge(whole, part)
        same(ordered(job.dump(whole)), ordered(job.dump(ENGINES["threads"](1).fold(job))))


def test_the_hint_of_a_search_is_a_score_that_nothing_kept_lies_below(parts):
    job = jobs_of("ac", parts)["best"]
    part = ENGINES["threads"](1).fold(job)
    assert -np.inf < job.hint(part)[0] <= part.best.score[: part.best.size[0]].min()


def test_an_unknown_engine_is_refused(parts):
    scores, candidates = autocovariance(parts.train), unbiased(parts)
    for call in (
        lambda: rank(scores, candidates, engine="steam"),
        lambda: top(scores, parts.train, 3, engine="steam"),
        lambda: score_pairs(scores, parts.test, engine="steam"),
    ):
        with pytest.raises(InputError, match="unknown engine 'steam'; known: auto, cuda, ray, threads"):
            call()


def stopped(scores, candidates, checkpoint):
    """Count until half is done, then Ctrl-C."""

    def progress(done, total):
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank(scores, candidates, threads=1, block_rows=8, progress=progress, checkpoint=checkpoint)


def test_two_models_called_alike_never_share_a_count(parts, tmp_path):
    candidates = unbiased(parts)
    one, other = autocovariance(parts.train), autocovariance(parts.train, steps=2)
    path = tmp_path / "count.npz"
    stopped(one, candidates, Checkpoint(path, "my model"))
    assert path.exists()
    checkpoint = Checkpoint(path, "my model")
    ranks = rank(other, candidates, block_rows=8, checkpoint=checkpoint)
    assert checkpoint.resumed == 0
    assert ranks.above.tolist() == rank(other, candidates).above.tolist()


def test_counts_in_one_folder_go_by_scores_and_candidates(parts, tmp_path):
    one, valid = autocovariance(parts.train), unbiased(parts, "valid")
    others = [autocovariance(parts.train, steps=2), HEURISTICS["ppr"](parts.train)]
    kept = [Checkpoint.in_folder(tmp_path, scores, unbiased(parts)) for scores in (one, *others)]
    kept.append(Checkpoint.in_folder(tmp_path, one, valid))
    assert len({each.path for each in kept}) == 4
    stopped(one, unbiased(parts), kept[0])
    again = Checkpoint.in_folder(tmp_path, autocovariance(parts.train), unbiased(parts))
    ranks = rank(autocovariance(parts.train), unbiased(parts), block_rows=8, checkpoint=again)
    assert again.resumed > 0 and again.spent > 0
    assert ranks.above.tolist() == rank(one, unbiased(parts)).above.tolist()


def test_nothing_is_kept_of_scores_that_cannot_be_told_apart(parts, tmp_path):
    mine = BlockScores(parts.graph.n, lambda rows, columns: np.zeros((len(rows), len(columns))))
    assert Checkpoint.in_folder(tmp_path, mine, unbiased(parts)) is None
    stopped(mine, unbiased(parts), Checkpoint(tmp_path / "count.npz", "mine", every=0.0))
    assert list(tmp_path.iterdir()) == []


def test_a_lifted_count_is_taken_up(parts, tmp_path):
    lifted = LiftedScores(autocovariance(parts.train), parts.valid, np.arange(len(parts.valid)) % 4.0)
    stopped(lifted, unbiased(parts), Checkpoint(tmp_path / "count.npz", "lifted"))
    checkpoint = Checkpoint(tmp_path / "count.npz", "lifted")
    ranks = rank(lifted, unbiased(parts), block_rows=8, checkpoint=checkpoint)
    assert checkpoint.resumed > 0
    assert ranks.above.tolist() == rank(lifted, unbiased(parts)).above.tolist()

"""A count that was stopped, however rudely, goes on where it was and ends with the same integers."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gelato.datasets import block_model
from gelato.evaluation.evaluate import evaluate
from gelato.io import read_graph, write_graph
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.scores.autocovariance import autocovariance
from gelato.splits import split

COUNT = """
import sys
import numpy as np
from gelato.scores.autocovariance import autocovariance
from gelato.io import read_graph
from gelato.ranking.checkpoint import Checkpoint
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.splits import split

graph, folder, threads, every = sys.argv[1:]
parts = split(read_graph(graph))
checkpoint = Checkpoint(f"{folder}/count.npz", "the same", every=float(every))
ranks = rank(
    autocovariance(parts.train),
    unbiased(parts),
    threads=int(threads),
    checkpoint=checkpoint,
    progress=lambda done, total: print(done, flush=True),
)
np.savez(f"{folder}/ranks.npz", above=ranks.above, tied=ranks.tied, resumed=checkpoint.resumed)
"""
"""Counts, and tells every block; what it found is in ranks.npz."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GELATO_")}
    return kept | {"GELATO_CACHE": str(tmp_path_factory.mktemp("cache"))}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A graph whose count takes seconds, in a file, and the ranks that an undisturbed count finds."""
    graph = block_model([1600, 1600, 1600, 1600], 0.025, 0.004, seed=1)
    path = tmp_path_factory.mktemp("graph") / "large.npz"
    write_graph(graph, path)
    parts = split(graph)
    return path, rank(autocovariance(parts.train), unbiased(parts))


def counting(path, folder, environment, *, threads=1, every=0.0):
    return subprocess.Popen(
        [sys.executable, "-c", COUNT, str(path), str(folder), str(threads), str(every)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process):
    """Exit code and stderr of a process, once it has ended."""
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def blocks_done(path):
    """Blocks done according to a checkpoint, and blocks in all."""
    with path.open("rb") as stream, np.load(stream) as file:
        return int(file["done"].sum()), len(file["done"])


def finished(path, folder, expected):
    """Let the count go on here to its end, and compare what it finds; how many blocks it took over."""
    parts = split(read_graph(path))
    checkpoint = Checkpoint(folder / "count.npz", "the same")
    found = rank(autocovariance(parts.train), unbiased(parts), checkpoint=checkpoint)
    np.testing.assert_array_equal(found.above, expected.above)
    np.testing.assert_array_equal(found.tied, expected.tied)
    return checkpoint.resumed


# Real signals


def killed(process, kept, goal):
    """Kill a count once its checkpoint has so many blocks, and not all; how many it has then."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (kept.exists() and blocks_done(kept)[0] >= goal):
        time.sleep(0.01)
    process.kill()
    assert ended(process)[0] == -signal.SIGKILL
    done, blocks = blocks_done(kept)
    assert goal <= done < blocks
    return done


def test_a_killed_count_goes_on_in_a_new_process_and_finds_the_same_ranks(large, environment, tmp_path):
    path, expected = large
    done = killed(counting(path, tmp_path, environment), tmp_path / "count.npz", 12)
    assert not (tmp_path / "ranks.npz").exists()
    assert ended(counting(path, tmp_path, environment)) == (0, "")
    with np.load(tmp_path / "ranks.npz") as found:
        np.testing.assert_array_equal(found["above"], expected.above)
        np.testing.assert_array_equal(found["tied"], expected.tied)
        assert found["resumed"] == done


def test_a_count_on_threads_killed_twice_finds_the_same_ranks(large, environment, tmp_path):
    path, expected = large
    kept = tmp_path / "count.npz"
    first = killed(counting(path, tmp_path, environment, threads=2), kept, 5)
    second = killed(counting(path, tmp_path, environment, threads=2), kept, first + 5)
    assert finished(path, tmp_path, expected) == second


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_keeps_what_was_counted_since_the_last_write(large, environment, tmp_path, threads):
    path, expected = large
    process = counting(path, tmp_path, environment, threads=threads, every=1e9)
    for _ in range(5):
        process.stdout.readline()
    assert list(tmp_path.iterdir()) == []
    process.send_signal(signal.SIGINT)
    code, errors = ended(process)
    assert code == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
    done, blocks = blocks_done(tmp_path / "count.npz")
    assert 5 <= done < blocks
    assert [file.name for file in tmp_path.iterdir()] == ["count.npz"]
    assert finished(path, tmp_path, expected) == done


def interrupted(args, environment):
    """Run a command on a terminal, and press Ctrl-C once a tenth is done; exit code, and what the terminal showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gelato", *args],
        env=environment | {"TERM": "xterm", "COLUMNS": "120"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown, pressed, deadline = "", False, time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([ours], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece.decode(errors="replace")
        if not pressed and re.search(r"\b[1-9]\d%", shown):
            process.send_signal(signal.SIGINT)
            pressed = True
    os.close(ours)
    return process.wait(timeout=10), shown


def test_an_evaluation_stopped_by_ctrl_c_goes_on_with_the_same_command(large, environment):
    path, expected = large
    folder = Path(environment["GELATO_CACHE"]) / "resume"
    args = ["evaluate", str(path), "--method", "ac", "--threads", "1", "--json"]
    code, shown = interrupted(args, environment)
    assert code == 130
    assert "the counts so far are saved; resume by running the same command again" in shown
    assert shown.rstrip().endswith("gelato: stopped")
    assert "Traceback" not in shown
    (kept,) = folder.iterdir()
    done, blocks = blocks_done(kept)
    assert 0 < done < blocks
    again = subprocess.run(
        [sys.executable, "-m", "gelato", *args, "--quiet"], env=environment, capture_output=True, text=True, check=True
    )
    (result,) = json.loads(again.stdout)
    assert again.stderr == ""
    assert result["metrics"] == {name: pytest.approx(metric(name, expected), rel=1e-12) for name in result["metrics"]}
    assert list(folder.iterdir()) == []


def test_an_evaluation_without_resuming_keeps_nothing(large, environment, tmp_path):
    path, _ = large
    args = ["evaluate", str(path), "--method", "ac", "--threads", "1", "--no-resume"]
    code, shown = interrupted(args, environment | {"GELATO_CACHE": str(tmp_path)})
    assert code == 130
    assert "kept" not in shown
    assert list(tmp_path.iterdir()) == []


# The file, on a small graph


@pytest.fixture(scope="module")
def small():
    return split(block_model([60, 60, 60], 0.1, 0.01, attributes=30, seed=4))


def stop_at(share):
    """A progress that presses Ctrl-C when this share is done."""

    def progress(done, total):
        if done >= share * total:
            raise KeyboardInterrupt

    return progress


@pytest.fixture
def half(small, tmp_path):
    """The checkpoint of a count that was stopped in the middle."""
    checkpoint = Checkpoint(tmp_path / "count.npz", "mine")
    with pytest.raises(KeyboardInterrupt):
        rank(
            autocovariance(small.train),
            unbiased(small),
            threads=1,
            block_rows=10,
            progress=stop_at(0.5),
            checkpoint=checkpoint,
        )
    done, blocks = blocks_done(checkpoint.path)
    assert 0 < done < blocks
    return checkpoint.path


def gone_on(small, path, key="mine", block_rows=10):
    """Let the count go on and compare its ranks with an undisturbed count; how many blocks it took over."""
    scores, candidates = autocovariance(small.train), unbiased(small)
    checkpoint = Checkpoint(path, key)
    found = rank(scores, candidates, block_rows=block_rows, checkpoint=checkpoint)
    expected = rank(scores, candidates)
    np.testing.assert_array_equal(found.above, expected.above)
    np.testing.assert_array_equal(found.tied, expected.tied)
    assert found.negatives == expected.negatives
    return checkpoint.resumed


def test_a_checkpoint_is_taken_up(small, half):
    assert gone_on(small, half) == blocks_done(half)[0]


def test_a_checkpoint_of_another_computation_is_ignored(small, half):
    assert gone_on(small, half, key="yours") == 0


def test_a_checkpoint_of_other_blocks_is_ignored(small, half):
    assert gone_on(small, half, block_rows=20) == 0


def flipped(content):
    """One bit of the last array changed, which its checksum betrays."""
    middle = content.rindex(b"done.npy", 0, content.index(b"PK\x01\x02")) + 160
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"this is no archive",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        flipped,
    ],
    ids=["empty", "garbage", "half", "less a byte", "a bit flipped"],
)
def test_a_damaged_checkpoint_is_ignored(small, half, damage):
    half.write_bytes(damage(half.read_bytes()))
    assert gone_on(small, half) == 0


def test_a_flipped_bit_is_damage(half):
    half.write_bytes(flipped(half.read_bytes()))
    with zipfile.ZipFile(half) as archive:
        assert archive.testzip() == "done.npy"


def test_ctrl_c_before_a_block_is_noted_does_not_count_it_twice(small, tmp_path, monkeypatch):
    path = tmp_path / "count.npz"
    add, calls = Checkpoint.add, []

    def struck(self, *args):
        calls.append(args)
        if len(calls) == 5:
            raise KeyboardInterrupt
        add(self, *args)

    with monkeypatch.context() as patched:
        patched.setattr(Checkpoint, "add", struck)
        with pytest.raises(KeyboardInterrupt):
            rank(
                autocovariance(small.train),
                unbiased(small),
                threads=1,
                block_rows=10,
                checkpoint=Checkpoint(path, "mine"),
            )
    assert gone_on(small, path) == 4


def test_a_write_that_fails_leaves_the_old_checkpoint_and_the_count_goes_on(small, half, monkeypatch, caplog):
    before = half.read_bytes()

    def fail(file, **arrays):
        file.write(b"half of it")
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(np, "savez", fail)
        scores, candidates = autocovariance(small.train), unbiased(small)
        found = rank(scores, candidates, block_rows=10, checkpoint=Checkpoint(half, "mine", every=0.0))
    assert found.above.tolist() == rank(scores, candidates).above.tolist()
    assert [record.message for record in caplog.records] == [
        f"cannot save {half} (no space left): it will not be possible to resume this run"
    ]
    assert half.read_bytes() == before
    assert list(half.parent.iterdir()) == [half]


# Evaluations


def begin(data, folder, method="ac", **options):
    """Evaluate until half is done, then Ctrl-C."""
    with pytest.raises(KeyboardInterrupt):
        evaluate(data, method, resume=folder, progress=stop_at(0.5), threads=1, **options)


def first_report(data, folder, method="ac", **options):
    """Evaluate to the end; the result, and the share that was done at the first report."""
    shares = []
    result = evaluate(
        data, method, resume=folder, progress=lambda done, total: shares.append(done / total), threads=1, **options
    )
    assert shares[-1] == 1
    return result, shares[0]


def test_a_stopped_evaluation_goes_on_and_leaves_no_file(small, tmp_path):
    begin(small, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    result, share = first_report(small, tmp_path)
    assert share > 0.5
    assert list(tmp_path.iterdir()) == []
    expected = evaluate(small, "ac").ranks
    np.testing.assert_array_equal(result.ranks.above, expected.above)
    np.testing.assert_array_equal(result.ranks.tied, expected.tied)


def test_an_evaluation_removes_checkpoints_that_nobody_resumed_for_a_month(small, tmp_path):
    begin(small, tmp_path)
    (kept,) = tmp_path.iterdir()
    names = {"old": "0" * 24, "new": "1" * 24, "mine": "my-counts", "longer": "0" * 25}
    paths = {name: tmp_path / f"{stem}.npz" for name, stem in names.items()}
    month = 30 * 24 * 3600
    for name, path in paths.items():
        shutil.copy(kept, path)
        before = time.time() - month + (3600 if name == "new" else -3600)
        os.utime(path, (before, before))
    evaluate(small, "cn", resume=tmp_path, threads=1)
    assert set(tmp_path.iterdir()) == {kept, paths["new"], paths["mine"], paths["longer"]}
    _, share = first_report(small, tmp_path)
    assert share > 0.5  # what can be resumed was left alone


def test_the_seconds_of_a_stopped_evaluation_count(small, tmp_path):
    begin(small, tmp_path)
    (path,) = tmp_path.iterdir()
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **arrays | {"seconds": np.float64(1000)})
    result, share = first_report(small, tmp_path)
    assert share > 0.5
    assert 1000 < result.seconds < 1060


@pytest.mark.parametrize(
    "change",
    [
        {"method": "katz"},
        {"steps": 2},
        {"dtype": "float32"},
        {"phase": "valid"},
        {"regime": "partitioned", "parts": 2},
    ],
    ids=lambda change: " ".join(change),
)
def test_an_evaluation_does_not_go_on_from_another(small, tmp_path, change):
    begin(small, tmp_path)
    _, share = first_report(small, tmp_path, **change)
    assert share < 0.5
    assert len(list(tmp_path.iterdir())) == 1  # that of the other, which may still go on
    assert first_report(small, tmp_path)[1] > 0.5


def test_an_evaluation_does_not_go_on_from_that_of_another_split(small, tmp_path):
    begin(small, tmp_path)
    assert first_report(split(small.graph, 1), tmp_path)[1] < 0.5


def test_an_evaluation_does_not_go_on_from_that_of_other_attributes(small, tmp_path):
    begin(small, tmp_path, "cosine")
    turned = replace(small.train, attributes=small.train.attributes[::-1])
    assert first_report(replace(small, train=turned), tmp_path, "cosine")[1] < 0.5
    assert first_report(small, tmp_path, "cosine")[1] > 0.5

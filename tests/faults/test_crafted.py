"""Crafted files and folders: pipes, devices, links, bombs and endless numbers end with exit code 2, at once."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from safetensors import safe_open

from faults.cases_runs import settings, words
from faults.fork_server import fork_server
from gelato import METHODS, open_model
from gelato.errors import InputError
from gelato.io.stored_files import MOST_DEPTH, MOST_VALUES, open_stored, parse_json
from gelato.io.untrusted import read_uncompressed
from gelato.methods.gelato.settings import MOST_STEPS as OF_GELATO
from gelato.scores.walk import MOST_STEPS

SAVED = Path(__file__).parent.parent / "data" / "saved_models"
OTHER, TOO_WIDE = (
    "the stored parameters do not fit the network of this model",
    "hidden must be a whole number from 1 to 65",
)
QUIET = "--quiet"
FIT = ("fit", "graph.csv", "--attributes", "nodes.csv", "--out", "model", QUIET)
FIT += tuple(word for each in ("epochs=1", "alpha=0.5", "beta=0.5", "eta=0.1") for word in ("--option", each))
EXPLAIN, REPORT = ("explain", "model", "n0", "n1", QUIET), ("report", "model", "--repeats", "0", QUIET)
SHARDS = ("evaluate", "graph.csv", "--method", "ac", QUIET)
RUN_FILES = ("config.json", "graph.npz", "split.npz", "seen.npz", "model.safetensors", "chosen.json", "metrics.jsonl")
RUN_FILES += ("trials.jsonl", "timings.json", "environment.json", "checkpoint.safetensors", ".lock")


@pytest.fixture(scope="module")
def shards(stock, tmp_path_factory):
    """Two shards of an evaluation, beside the graph that they are of."""
    folder = tmp_path_factory.mktemp("shards")
    shutil.copyfile(stock / "graph.csv", folder / "graph.csv")
    for i in (1, 2):
        command = [sys.executable, "-m", "gelato", *SHARDS, "--shard", f"{i}/2", "--out", f"s{i}.npz"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def reader(stock):
    """Runs a command in a folder, in a process that ends after ten seconds at the latest."""
    environment = {key: value for key, value in os.environ.items() if key != "GELATO_DEBUG"}
    with fork_server([(list(EXPLAIN), str(stock))], environment) as run:
        yield run


@pytest.fixture
def folder(stock, tmp_path):
    for name in ("graph.csv", "nodes.csv"):
        shutil.copyfile(stock / name, tmp_path / name)
    shutil.copytree(stock / "model", tmp_path / "model")
    (tmp_path / "victim").write_text("not yours\n")
    return tmp_path


def refused(answer, fragment):
    code, errors = answer
    assert code == 2, answer
    assert fragment in errors
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize("file", RUN_FILES)
def test_a_pipe_in_a_run_folder_is_refused_without_waiting(file, folder, reader):
    (folder / "model" / file).unlink(missing_ok=True)
    os.mkfifo(folder / "model" / file)
    for command in (EXPLAIN, FIT):
        refused(reader(command, folder), "model")


@pytest.mark.parametrize("file", RUN_FILES)
def test_a_link_in_a_run_folder_is_neither_read_nor_written_through(file, folder, reader):
    (folder / "model" / file).unlink(missing_ok=True)
    (folder / "model" / file).symlink_to("../victim")
    for command in (FIT, EXPLAIN, REPORT):
        refused(reader(command, folder), "symbolic link")
    if file != "model.safetensors":
        (folder / "model" / "model.safetensors").unlink()  # a run that is not finished is written to
        refused(reader(FIT, folder), "symbolic link")
    assert (folder / "victim").read_text() == "not yours\n"


def test_the_users_own_output_may_be_a_link(folder, reader):
    (folder / "links.csv").symlink_to("victim")
    command = ("predict", "graph.csv", "--method", "cn", "--repeats", "0", "--out", "links.csv", QUIET)
    assert reader(command, folder)[0] == 0
    assert (folder / "links.csv").is_symlink()
    assert (folder / "victim").read_text().startswith("rank,source,target")


def bound_socket(path):
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(os.fspath(path))


SPECIAL = {"pipe": os.mkfifo, "device": lambda path: path.symlink_to("/dev/zero"), "socket": bound_socket}


@pytest.mark.parametrize("kind", SPECIAL)
def test_shards_settings_and_graphs_must_be_regular_files(kind, folder, shards, reader):
    for name in ("s.npz", "c.toml"):
        SPECIAL[kind](folder / name)
    shutil.copyfile(shards / "s2.npz", folder / "s2.npz")
    refused(reader(("merge", "s.npz", "s2.npz", QUIET), folder), kind)
    refused(reader(("fit", "graph.csv", "--config", "c.toml", "--out", "r", QUIET), folder), kind)
    refused(reader(("predict", "s.npz", "--method", "cn", QUIET), folder), kind)
    refused(reader(("predict", "s.npz", "--method", "cn", "--memory", "2G", QUIET), folder), kind)
    refused(reader(("evaluate", "graph.csv", "--method", "cn", "--split", "s.npz", QUIET), folder), kind)


@pytest.mark.parametrize("file", ["graph.npz", "split.npz"])
@pytest.mark.parametrize("content", [b"", b"x", None], ids=["empty", "text", "half"])
def test_a_resumed_run_with_a_damaged_graph_or_split_is_refused(file, content, folder, reader):
    (folder / "model" / "model.safetensors").unlink()
    path = folder / "model" / file
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if content is None else content)
    refused(reader(FIT, folder), file)
    assert not (folder / "model" / "model.safetensors").exists()


def test_a_resumed_run_with_another_graph_is_refused_and_one_without_a_graph_writes_it_again(folder, reader, stock):
    (folder / "model" / "model.safetensors").unlink()
    whole = (folder / "model" / "graph.npz").read_bytes()
    shutil.copyfile(stock / "graph.npz", folder / "model" / "graph.npz")  # the same links without attributes
    refused(reader(FIT, folder), "graph.npz or split.npz")
    (folder / "model" / "graph.npz").unlink()
    assert reader(FIT, folder)[0] == 0
    assert len((folder / "model" / "graph.npz").read_bytes()) == len(whole)
    assert reader(EXPLAIN, folder)[0] == 0


@pytest.mark.parametrize("digits", ["1" + "0" * 400, "0." + "0" * 400 + "1", "1e400", "-" + "9" * 400, "9" * 5000])
def test_endless_numbers_are_refused(digits, folder, reader):
    for option in (("katz", f"beta={digits}"), ("ac", f"steps={digits}"), ("gelato", f"learning_rate={digits}")):
        command = ("fit", "graph.csv", "--method", option[0], "--option", option[1], "--out", "r", QUIET)
        refused(reader(command, folder), option[1].partition("=")[0])
    assert not (folder / "r").exists()


@pytest.mark.parametrize("word", ["no", "", b"no", 2, [True], 0.5, np.nan])
def test_a_word_does_not_make_the_links_of_a_file_directed(word, folder, reader, stock):
    with np.load(stock / "graph.npz") as arrays:
        np.savez(folder / "d.npz", **arrays, directed=np.array(word))
    refused(reader(("predict", "d.npz", "--method", "cn", "--repeats", "0", QUIET), folder), "directed")


def test_walks_of_a_billion_billion_steps_in_a_stored_model_are_refused(folder, reader):
    assert OF_GELATO == MOST_STEPS
    settings(steps=10**18)(folder / "model" / "model.safetensors")
    refused(reader(EXPLAIN, folder), "steps must be a whole number from 1 to 1,000")
    command = ("evaluate", "graph.csv", "--method", "ac", "--option", "steps=2147483647", QUIET)
    refused(reader(command, folder), "at most 1,000")


@pytest.mark.parametrize(("width", "rule"), [(5, OTHER), (65_536, OTHER), (65_537, TOO_WIDE), (10**9, TOO_WIDE)])
@pytest.mark.parametrize("name", ["gae", "gcn", "gelato", "mlp", "seal"])
def test_a_stored_network_of_another_width_is_refused_before_memory_is_taken(name, width, rule, tmp_path):
    shutil.copytree(SAVED / name, tmp_path / name)
    settings(hidden=width)(tmp_path / name / "model.safetensors")
    with pytest.raises(InputError, match=rule):
        open_model(tmp_path / name).evidence()


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.trains and name != "boosted"])
def test_endless_sizes_in_a_stored_network_are_refused_or_do_not_matter(name, tmp_path):
    stored = json.loads((SAVED / name / "config.json").read_text())["settings"]
    for key in [key for key, value in stored.items() if type(value) is int]:
        for size in (100_000, 10**9, 10**18):
            shutil.copytree(SAVED / name, tmp_path / name)
            settings(**{key: size})(tmp_path / name / "model.safetensors")
            with suppress(InputError):
                assert np.isfinite(open_model(tmp_path / name).score_pairs([[0, 1]], index=True)).all()
            shutil.rmtree(tmp_path / name)


@pytest.mark.parametrize("ranker", ["trees and networks", "no such feature"])
def test_a_stored_second_stage_whose_ranker_it_does_not_have_is_refused(ranker, tmp_path):
    shutil.copytree(SAVED / "boosted", tmp_path / "boosted")
    file = tmp_path / "boosted" / "model.safetensors"
    with safe_open(file, framework="numpy") as stored:
        learned = json.loads(stored.metadata()["learned"])
    learned["chosen_"]["ranker"], learned["validation_"][ranker] = ranker, 0.5
    words(learned=json.dumps(learned))(file)
    with pytest.raises(InputError, match=f"nothing that ranks is called '{ranker}'"):
        open_model(tmp_path / "boosted")


@pytest.mark.parametrize("place", ["cell", "name"])
def test_text_of_a_parquet_file_that_is_not_utf8_is_refused(place, folder, reader):
    table = pyarrow.table({"source": ["ann", "bob"], "target": ["bob", "xxQQxx"], "zzQQzz": [1, 2]})
    parquet.write_table(
        table, folder / "links.parquet", compression="none", use_dictionary=False, write_statistics=False
    )
    text = b"xxQQxx" if place == "cell" else b"zzQQzz"
    content = (folder / "links.parquet").read_bytes()
    assert text in content
    (folder / "links.parquet").write_bytes(content.replace(text, text.replace(b"QQ", b"\xcf\xff")))
    code, errors = reader(("predict", "links.parquet", "--method", "cn", "--top", "3", QUIET), folder)
    assert code == 2 and "links.parquet" in errors and "write it again" in errors, errors


def test_a_refused_merge_leaves_nothing_behind(shards, tmp_path, reader):
    for path in shards.iterdir():
        shutil.copyfile(path, tmp_path / path.name)
    before = sorted(path.name for path in tmp_path.iterdir())
    for rest in (("s1.npz",), ("s1.npz", "s2.npz"), ("s1.npz", "missing.npz")):  # evaluate writes no links
        refused(reader(("merge", *rest, "--out", "new/sub/links.csv", QUIET), tmp_path), "")
    (tmp_path / "graph.csv").write_text("".join(f"a{i},a{i + 1}\n" for i in range(40)))
    refused(reader(("merge", "s1.npz", "s2.npz", QUIET), tmp_path), "do not match")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_long_messages_are_cut_short_and_keep_their_repair(folder, reader):
    for text in ("x" * 100_000, "a b " * 25_000):
        code, errors = reader(("explain", "graph.csv", text, "n1", QUIET), folder)
        assert (code, len(errors) < 2_000) == (2, True)
        assert "24 nodes" in errors


def test_an_archive_that_unpacks_to_more_than_it_has_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.npz"
    about = {"descr": "<i8", "fortran_order": False, "shape": (25_000_000,)}
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("0.places.npy", "w") as member,
    ):
        np.lib.format.write_array_header_1_0(member, about)
        for _ in range(200):
            member.write(bytes(1_000_000))
    assert path.stat().st_size < 2_000_000
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"claim 190\.7 MiB, but the file has"):
            read_uncompressed(path)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    with pytest.raises(InputError, match=r"at most 64\.0 MiB are read"), open_stored(path, 1 << 26):
        pass


PLAIN = st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats(allow_nan=False) | st.text()


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20))
def test_json_in_bounds_is_read_as_it_is(value):
    assert parse_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        *("[" * (MOST_DEPTH + 2) + "]" * (MOST_DEPTH + 2), "[" * 100_000, '{"a":' * 5_000 + "1" + "}" * 5_000),
        *("1" * 401, "1" * 5_000, str(1 << 64), "1e309", "0." + "1" * 500, "[" + "1," * MOST_VALUES + "1]", "{", ""),
    ],
    ids=lambda text: f"{text[:6]} of {len(text)}",
)
def test_json_out_of_bounds_is_a_value_error(text):
    with pytest.raises(ValueError):
        parse_json(text)


DROPPED = """
import os, signal, sys, time, weakref
from gelato.cli import main
import gelato.cli.listings as listings

class Thing:
    def __del__(self):
        if HOW == "destructor":
            os.kill(os.getpid(), NUMBER)

def callback(reference):
    os.kill(os.getpid(), NUMBER)

def work(*_, **__):
    thing = Thing()
    kept = weakref.ref(thing, callback if HOW == "callback" else None)
    del thing
    time.sleep(20)

from gelato.cli import cli
cli.commands["methods"].callback = work
sys.exit(main(["methods"]))
"""


@pytest.mark.parametrize("how", ["callback", "destructor"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_that_comes_where_python_drops_exceptions_still_ends_the_command(how, number, code):
    program = f"HOW, NUMBER = {how!r}, {int(number)}\nimport signal\n"
    program += "signal.signal(signal.SIGINT, signal.default_int_handler)\n" + DROPPED
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=15)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.strip() == "gelato: stopped"

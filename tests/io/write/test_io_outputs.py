"""Outputs: inputs and what is no regular file are never replaced, folders are made and unmade, leftovers go."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelato.errors import InputError
from gelato.io.files import written_aside
from gelato.io.write.outputs import OLD, check_output, create_folders, remove_leftovers, same_place, scratch_beside

HOLD = """
import sys, time
from pathlib import Path
from gelato.io.write.outputs import scratch_beside
with scratch_beside(Path(sys.argv[1])) as part:
    part.write_text("half of it")
    print("ready", flush=True)
    time.sleep(60)
"""
"""Writes half a file, and waits."""


def write(path, text="new"):
    with written_aside(path) as part:
        part.write_text(text)


def scraps(folder):
    return [each.name for each in folder.iterdir() if each.name.startswith(".gelato-")]


def aliases(path):
    """Other names of a file."""
    folder = path.parent
    (folder / "deep").mkdir()
    (folder / "soft").symlink_to(path)
    (folder / "softer").symlink_to("soft")
    (folder / "hard").hardlink_to(path)
    (folder / "way").symlink_to(folder)
    yield from (path, folder / "soft", folder / "softer", folder / "hard", folder / "way" / path.name)
    yield folder / "deep" / ".." / path.name
    yield os.path.relpath(path)
    yield f"{folder}/./{path.name}"


def test_an_output_onto_an_input_is_refused_under_any_name(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("a,b\n")
    for alias in aliases(path):
        assert same_place(alias, path)
        message = r"^--out .* would overwrite GRAPH .*, which is an input; give another name$"
        with pytest.raises(InputError, match=message):
            check_output(alias, [("GRAPH", path)], "--out")
    check_output(tmp_path / "links.csv", [("GRAPH", path)], "--out")


def test_a_file_that_is_missing_yet_is_the_same_under_any_name(tmp_path):
    (tmp_path / "way").symlink_to(tmp_path)
    assert same_place(tmp_path / "way" / "new.csv", tmp_path / "x" / ".." / "new.csv")
    assert not same_place(tmp_path / "new.csv", tmp_path / "old.csv")


def special(folder, kind):
    """Something that is no regular file."""
    path = folder / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(os.path.relpath(path))
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        return Path("/dev/null")
    elif kind == "dangling":
        path.symlink_to(folder / "nowhere")
    elif kind == "loop":
        path.symlink_to(path)
    elif kind.startswith("link to "):
        path.symlink_to(special(folder, kind.removeprefix("link to ")))
    return path


KINDS = ["pipe", "socket", "folder", "device", "dangling", "loop", "link to pipe", "link to device", "link to folder"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_never_replaced(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    path = special(tmp_path, kind)
    before = path.lstat()
    for refusing in (write, check_output):
        with pytest.raises(InputError) as refusal:
            refusing(path)
        assert str(refusal.value).startswith(str(path)) and "\n" not in str(refusal.value)
    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert scraps(tmp_path) == [] and not (tmp_path / "nowhere").exists()


def test_a_link_to_a_file_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file.txt").write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to("there/file.txt")
    write(link)
    assert link.is_symlink() and (tmp_path / "there" / "file.txt").read_text() == "new"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_places_that_are_not_writable_are_refused(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "file").write_text("old")
    (tmp_path / "kept").write_text("old")
    (tmp_path / "kept").chmod(0o444)
    closed.chmod(0o555)
    try:
        for path in (closed / "new", closed / "deep" / "new"):
            with pytest.raises(InputError, match="is not writable"):
                check_output(path)
        with pytest.raises(InputError, match="is write-protected"):
            write(tmp_path / "kept")
    finally:
        closed.chmod(0o755)


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("old")
    for path in (tmp_path / "file" / "new", tmp_path / "file" / "deep" / "new"):
        with pytest.raises(InputError):
            check_output(path)
        with pytest.raises(InputError):
            write(path)
    assert (tmp_path / "file").read_text() == "old"


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_folders_are_made_and_those_still_empty_go_when_the_block_fails(parts, fails, writes):
    import tempfile

    with tempfile.TemporaryDirectory() as root:
        folder = Path(root).joinpath(*parts)
        try:
            with create_folders(folder):
                assert folder.is_dir()
                if writes:
                    (folder / "file").write_text("kept")
                if fails:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        assert folder.exists() == (writes or not fails)
        assert any(Path(root).iterdir()) == (writes or not fails)


def test_written_aside_makes_the_folders_it_needs_and_none_for_nothing(tmp_path):
    write(tmp_path / "a" / "b" / "file")
    assert (tmp_path / "a" / "b" / "file").read_text() == "new"
    with pytest.raises(ZeroDivisionError), written_aside(tmp_path / "c" / "d" / "file"):
        _ = 1 / 0
    assert not (tmp_path / "c").exists()


# Leftovers


@pytest.fixture
def writing(tmp_path):
    """A process that is in the middle of a file."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "theirs")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_leftovers_go_with_the_next_write_but_not_while_their_process_lives(tmp_path, writing):
    (mine,) = scraps(tmp_path)
    write(tmp_path / "ours")
    assert scraps(tmp_path) == [mine] and (tmp_path / mine / "theirs").read_text() == "half of it"
    writing.kill()
    writing.wait()
    assert scraps(tmp_path) == [mine]
    write(tmp_path / "ours")
    assert scraps(tmp_path) == [] and not (tmp_path / "theirs").exists()


def test_a_scratch_folder_without_a_lock_yet_is_left_until_it_is_old(tmp_path):
    young, old = tmp_path / ".gelato-new-abcd1234", tmp_path / ".gelato-new-abcd1235"
    for folder in (young, old):
        folder.mkdir()
    os.utime(old, (time.time() - 2 * OLD,) * 2)
    remove_leftovers(tmp_path)
    assert scraps(tmp_path) == [young.name]


def test_what_a_user_calls_alike_is_never_removed(tmp_path):
    (tmp_path / ".gelato-settings").mkdir()
    (tmp_path / ".gelato-settings" / "mine").write_text("mine")
    (tmp_path / ".gelato-notes123").write_text("mine")
    (tmp_path / ".gelato-linked12").symlink_to(tmp_path / ".gelato-settings")
    os.utime(tmp_path / ".gelato-settings", (0, 0))
    remove_leftovers(tmp_path)
    assert len(scraps(tmp_path)) == 3 and (tmp_path / ".gelato-settings" / "mine").exists()


def test_in_a_folder_of_our_own_all_scratch_folders_are_removed_and_nothing_else(tmp_path):
    for name in (".gelato-new-abcd1234", ".gelato-abcd1235", ".gelato-my-own-notes"):
        (tmp_path / name).mkdir()
    remove_leftovers(tmp_path, alone=True)
    assert scraps(tmp_path) == [".gelato-my-own-notes"]


def test_a_block_that_fails_leaves_neither_scratch_nor_a_changed_file(tmp_path):
    write(tmp_path / "file", "old")
    with pytest.raises(ZeroDivisionError), scratch_beside(tmp_path / "file") as part:
        part.write_text("half")
        _ = 1 / 0
    assert [each.name for each in tmp_path.iterdir()] == ["file"] and (tmp_path / "file").read_text() == "old"

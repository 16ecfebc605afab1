"""Completion at TAB, asked for by a real bash that has sourced the script."""

import os
import select
import shutil
import subprocess
import sys
import time

import pytest
from click.shell_completion import BashComplete

from gelato.cli import cli
from gelato.cli.listings import VARIABLE

ASK = """
source "$SCRIPT"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_gelato_completion gelato
printf '%s\\n' "${COMPREPLY[@]}"
"""

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Where a command called gelato is found, and the script it printed."""
    folder = tmp_path_factory.mktemp("completion")
    command = folder / "gelato"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gelato "$@"\n')
    command.chmod(0o755)
    script = folder / "script.bash"
    script.write_text(printed("bash"))
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("_GELATO", "COMP_"))}
    return kept | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "SCRIPT": str(script)}


def printed(shell):
    done = subprocess.run([sys.executable, "-m", "gelato", "completion", shell], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def complete(environment):
    """What bash is offered for some words, the last of which is not finished."""

    def ask(*words):
        done = subprocess.run(
            ["bash", "--norc", "-c", ASK, "bash", *words], env=environment, capture_output=True, text=True, timeout=30
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    return ask


@needs_bash
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["pre"], ["predict"]),
        (["e"], ["estimate", "evaluate", "explain"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["predict", "--per"], ["--per-node"]),
        (["predict", "graph.csv", "--top", "5", "--min-s"], ["--min-score"]),
        (["evaluate", "graph.csv", "--regime", "b"], ["biased"]),
        (["predict", "--nothing-like-this"], []),
    ],
    ids=" ".join,
)
def test_bash_is_offered_what_may_stand_there(complete, words, offered):
    assert sorted(complete("gelato", *words)) == sorted(offered)


@pytest.mark.parametrize(
    ("words", "incomplete", "offered"),
    [
        (["predict"], "edg", True),
        (["predict", "edges.csv", "--attributes"], "", True),
        (["predict", "edges.csv", "--between"], "fil", True),
        (["predict", "edges.csv", "--between", "films.csv"], "act", True),
        (["evaluate", "edges.csv", "--split"], "", True),
        (["evaluate", "edges.csv", "--model"], "", True),
        (["report"], "edges", True),
        (["predict", "edges.csv", "--source"], "", False),
        (["predict", "edges.csv", "--device"], "", False),
        (["explain", "edges.csv"], "node", False),
    ],
)
def test_files_are_offered_where_a_file_may_stand_and_nowhere_else(words, incomplete, offered):
    items = BashComplete(cli, {}, "gelato", VARIABLE).get_completions(words, incomplete)
    assert [item.type for item in items] == ["file"] * offered


@needs_bash
@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_offers_all_of_its_options(complete, name):
    names = [name for each in cli.commands[name].params for name in (*each.opts, *each.secondary_opts)]
    assert set(complete("gelato", name, "--")) == {name for name in names if name.startswith("--")} | {"--help"}


@needs_bash
@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("gelato pre\t", "gelato predict"),
        ("gelato predict edg\t", "gelato predict edges.csv"),
        ("gelato predict edges.csv --attr\tno\t", "gelato predict edges.csv --attributes nodes.csv"),
    ],
)
def test_a_real_tab_completes_commands_options_and_files(environment, tmp_path, typed, line):
    for name in ("edges.csv", "nodes.csv"):
        (tmp_path / name).touch()
    assert f"{line} " in typed_into_bash(typed, f"{line} ", environment, tmp_path)


def typed_into_bash(keys, awaited, environment, folder):
    """What an interactive bash that has sourced the script shows on its terminal after some keys."""
    import pty  # not on Windows

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        env=environment | {"PS1": "ready ", "TERM": "dumb", "COLUMNS": "200", "HISTFILE": ""},
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        read_until(ours, "ready ")
        os.write(ours, b'source "$SCRIPT"\n')
        read_until(ours, "ready ")
        os.write(ours, keys.encode())
        return read_until(ours, awaited)
    finally:
        process.kill()
        process.wait(timeout=10)
        os.close(ours)


def read_until(terminal, awaited):
    shown, deadline = "", time.monotonic() + 20
    while awaited not in shown and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 1 << 16).decode().replace("\a", "")
    return shown


@pytest.mark.parametrize(
    ("shell", "sign"),
    [
        ("bash", "complete -o nosort -F _gelato_completion gelato"),
        ("zsh", "#compdef gelato"),
        ("fish", "complete --no-files --command gelato"),
    ],
)
def test_the_script_is_of_the_shell_asked_for_and_for_the_command_gelato(shell, sign):
    script = printed(shell)
    assert sign in script
    assert f"_GELATO_COMPLETE={shell}_complete" in script
    done = subprocess.run(
        [sys.executable, "-m", "gelato"],
        env=os.environ | {"_GELATO_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == script


@pytest.mark.parametrize(
    ("shell", "environment_of_it"),
    [
        ("zsh", {"COMP_WORDS": "gelato pre", "COMP_CWORD": "1"}),
        ("fish", {"COMP_WORDS": "gelato pre", "COMP_CWORD": "pre"}),
    ],
)
def test_the_other_shells_are_answered_too(shell, environment_of_it):
    done = subprocess.run(
        [sys.executable, "-m", "gelato"],
        env=os.environ | environment_of_it | {"_GELATO_COMPLETE": f"{shell}_complete"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "predict" in done.stdout
    assert "evaluate" not in done.stdout.splitlines()


def test_an_unknown_shell_is_refused_with_the_known_ones():
    done = subprocess.run([sys.executable, "-m", "gelato", "completion", "tcsh"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'bash', 'zsh', 'fish'" in done.stderr


def test_the_help_says_where_the_script_belongs():
    done = subprocess.run([sys.executable, "-m", "gelato", "completion", "--help"], capture_output=True, text=True)
    assert "gelato completion bash > ~/.local/share/bash-completion/completions/gelato\n" in done.stdout
    assert "fish/completions/gelato.fish" in done.stdout


def test_completing_loads_nothing_heavy(environment):
    code = (
        "import sys, gelato.cli\n"
        "try: gelato.cli.main([])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'scipy', 'numba', 'rich'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    asked = {"COMP_WORDS": "gelato\npredict\n--m", "COMP_CWORD": "2", "_GELATO_COMPLETE": "bash_complete"}
    done = subprocess.run([sys.executable, "-c", code], env=environment | asked, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "plain,--model" in done.stdout

"""What holds for every test: hypothesis without deadlines, since the first call of a kernel compiles it; and commands
that run one after the other in one process."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import settings

os.environ.setdefault("GELATO_DEBUG", "1")  # unexpected errors of commands are not turned into a line

settings.register_profile("gelato", deadline=None, derandomize=True)
settings.load_profile("gelato")

SERVER = """
import contextlib, io, json, sys, traceback
from gelato.cli import main
for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = main(json.loads(line))
        except BaseException:
            code = traceback.format_exc()
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.fixture(scope="module")
def command(environment, folder):
    """Runs one command after the other in one process, which saves its start; exit code, stdout and stderr."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        env=environment,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def run(*args):
            print(json.dumps([str(arg) for arg in args]), file=process.stdin, flush=True)
            return tuple(json.loads(process.stdout.readline()))

        yield run
        process.stdin.close()

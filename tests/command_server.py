"""Commands of gelato that run one after the other in one process of their own, which saves its start."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

SERVER = """
import contextlib, io, json, os, sys, traceback
from gelato.cli import main
for line in sys.stdin:
    args, environment, folder = json.loads(line)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = main(args)
        except BaseException:
            code = traceback.format_exc()
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@contextmanager
def command_server(preparation=""):
    """A function that runs a command with an environment and in a folder, and returns exit code, stdout and stderr.

    The process executes ``preparation`` before it imports gelato.
    """
    program = [sys.executable, "-c", preparation + SERVER]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def run(args, environment, folder):
            request = [[str(arg) for arg in args], dict(environment), os.fspath(folder)]
            print(json.dumps(request), file=process.stdin, flush=True)
            return tuple(json.loads(process.stdout.readline()))

        yield run
        process.stdin.close()

"""Commands in processes forked from one that is warm: each with a cap of memory, and an end.

Run as a program, it reads a request per line (arguments, folder) and answers each with a line: how the command ended.
"""

import json
import os
import resource
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

SECONDS, MEMORY = 10.0, 1 << 30
"""What a command may take: seconds, and bytes above what the process has mapped when it begins."""


def _mapped():
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _run(args, folder, errors):
    """In a forked process: run a command under the cap, and end."""
    from gelato.cli import main

    code = 71
    try:
        cap = _mapped() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        code = main(args)
    finally:
        os._exit(code)


def _answer(args, folder, errors):
    child, begin = os.fork(), time.monotonic()
    if child == 0:
        _run(args, folder, errors)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() - begin > SECONDS:
            os.kill(child, 9)
            os.waitpid(child, 0)
            return "hang"
        time.sleep(0.002)


def serve(warm):
    """Answer requests until there are no more; ``warm`` lists commands that are run first, here."""
    from gelato.cli import main

    errors, told = f"/tmp/fuzz-{os.getpid()}.err", os.dup(1)
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    for args, folder in warm:
        os.chdir(folder)
        main(args)
    os.write(told, b"ready\n")
    for line in sys.stdin:
        args, folder = json.loads(line)
        code = _answer(args, folder, errors)
        text = Path(errors).read_text(errors="replace")[-3000:] if Path(errors).exists() else ""
        os.write(told, (json.dumps([code, text]) + "\n").encode())
    Path(errors).unlink(missing_ok=True)


@contextmanager
def fork_server(warm, environment):
    """A function that runs a command in a folder: its exit code (negative: a signal; ``hang``), and its stderr."""
    program = [sys.executable, __file__, json.dumps(warm)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(program, text=True, env=environment, **pipes) as process:
        assert process.stdout.readline() == "ready\n"

        def run(args, folder):
            print(json.dumps([list(map(str, args)), os.fspath(folder)]), file=process.stdin, flush=True)
            return tuple(json.loads(process.stdout.readline()))

        yield run
        process.stdin.close()


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))

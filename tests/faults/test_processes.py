"""Faults that only a process of its own can show: closed streams, locales, limits, variables, signals."""

import os
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest

from faults.case import Case, check, snapshot

GIB = 1 << 30
ASCII = {"LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
CN = "--method cn --quiet"
CSV = ("graph.csv",)
GRAPH = "a,b\nb,c\nc,d\nd,a\na,c\n"


@dataclass(frozen=True)
class Process:
    """A case in a process.

    Attributes:
        case: what is called and expected.
        closed: numbers of the streams that are closed.
        memory: limit of its address space in bytes.
        files: limit of open files.
        says: whether stderr can be read; where it is closed, only the code tells.
    """

    case: Case
    closed: tuple[int, ...] = ()
    memory: int | None = None
    files: int | None = None
    says: bool = field(default=True)


def shut(name, args, closed, fragment="standard output is closed"):
    return Process(Case(f"closed: {name}", args, fragment, stock=CSV), closed, says=2 not in closed)


def plain(name, args, fragment, environment, files=None, code=2):
    return Process(Case(name, args, fragment, files or {}, CSV, code, environment))


def limited(name, args, fragment, memory, files=None, stock=CSV):
    return Process(Case(f"memory: {name}", args, fragment, files or {}, stock), memory=memory)


def many_nodes(path):
    np.savez(path, edges=np.array([[0, 1], [1, 2]]), num_nodes=np.int64(200_000_000))


def zeros(path):
    np.savez_compressed(path, edges=np.array([[0, 1]]), num_nodes=np.int64(2), x=np.zeros((2, 100_000_000), np.float32))


PROCESSES = [
    shut("stdout of methods", "methods", (1,)),
    shut("stdout of methods --json", "methods --json", (1,)),
    shut("stdout of datasets", "datasets", (1,)),
    shut("stdout of predict", f"predict graph.csv {CN}", (1,)),
    shut("stdout of evaluate", f"evaluate graph.csv {CN}", (1,)),
    shut("stdout of explain", "explain graph.csv n0 n1 --quiet", (1,)),
    shut("stdout of fit", f"fit graph.csv {CN} --out r", (1,)),
    shut("stdout of completion", "completion bash", (1,)),
    shut("stdin and stdout", "methods", (0, 1)),
    shut("stderr", "predict missing.csv", (2,)),
    shut("stderr of a usage error", "predict --colour", (2,)),
    shut("stdout and stderr", "methods", (1, 2)),
    shut("all three", f"predict graph.csv {CN}", (0, 1, 2)),
    shut("stdin", "predict missing.csv --method cn", (0,), "no such file"),
    plain("ascii: a file", ("predict", "müsli.csv", *CN.split()), "there is no such file", ASCII),
    plain("ascii: a node", ("explain", "graph.csv", "n0", "żółw", "--quiet"), "unknown node", ASCII),
    plain("ascii: a method", ("predict", "graph.csv", "--method", "→"), "unknown method", ASCII),
    plain("ascii: an edge list", f"predict g.csv {CN}", "line 2", ASCII, {"g.csv": "ä,ö\nü\n"}),
    plain("posix locale: a file", ("predict", "müsli.csv", *CN.split()), "no such file", {"LC_ALL": "POSIX"}),
    plain("latin-1: a file", ("predict", "müsli.csv", *CN.split()), "no such file", {"PYTHONIOENCODING": "latin-1"}),
    plain("variables: NUMBA_NUM_THREADS=0", f"predict graph.csv {CN}", "NUMBA_NUM_THREADS", {"NUMBA_NUM_THREADS": "0"}),
    plain("variables: NUMBA_NUM_THREADS=abc", f"predict graph.csv {CN}", "NUMBA_NUM", {"NUMBA_NUM_THREADS": "abc"}),
    plain("variables: NUMBA_NUM_THREADS of 5,000 digits", "methods", "NUMBA_NUM", {"NUMBA_NUM_THREADS": "9" * 5000}),
    plain("variables: OMP_NUM_THREADS=abc", "methods", "OMP_NUM_THREADS", {"OMP_NUM_THREADS": "abc"}),
    plain("variables: OPENBLAS_NUM_THREADS=-3", "methods", "OPENBLAS", {"OPENBLAS_NUM_THREADS": "-3"}),
    plain(
        "variables: GELATO_CACHE in a device",
        "evaluate cora --method cn",
        "GELATO_CACHE",
        {"GELATO_CACHE": "/dev/null/x"},
    ),
    plain("variables: GELATO_DATA is a file", "datasets", "GELATO_DATA", {"GELATO_DATA": "graph.csv"}),
    plain(
        "variables: GELATO_DATA of a loop",
        "datasets",
        "GELATO_DATA",
        {"GELATO_DATA": "l"},
        {"l": lambda path: path.symlink_to("l")},
    ),
    plain("home: empty", "datasets", "HOME", {"HOME": "", "GELATO_CACHE": None, "XDG_CACHE_HOME": None}),
    plain("home: an unknown user's", "datasets", "home folder", {"GELATO_CACHE": "~nobody-here"}),
    plain(
        "home: a file",
        "evaluate cora --method cn",
        "GELATO_CACHE",
        {"HOME": "graph.csv", "GELATO_CACHE": None, "XDG_CACHE_HOME": None},
    ),
    limited(
        "a graph of 200 million nodes", f"predict g.npz {CN}", "200,000,000 nodes", 5 * GIB, {"g.npz": many_nodes}, ()
    ),
    limited("an array of 800 MB in 800 kB", f"predict g.npz {CN}", "is available", 1 * GIB, {"g.npz": zeros}, ()),
    limited(
        "all pairs of a large graph",
        f"predict g.csv --method simrank {CN.split()[-1]}",
        "n x n",
        3 * GIB,
        {"g.csv": "".join(f"{i},{i + 1}\n" for i in range(30_000))},
        (),
    ),
    limited("a list of two billion", "predict graph.csv --method cn --top 1000000000000 --quiet", "'--top'", 3 * GIB),
    Process(Case("limits: few open files", f"predict missing.csv {CN}", "no such file"), files=32),
    *(
        Process(Case(f"names: {kind}", ("predict", f"{name}.csv", "--method", "cn"), "there is no such file"))
        for kind, name in {"an escape": "\x1b[2J", "a line": "x\ny", "a bell": "\a", "an override": "\u202ecod"}.items()
    ),
    *(
        Process(Case(f"usage: {args}", args, "--help"))
        for args in ("predct", "predict", "report --top x", "evaluate --jsno", "completion tcsh")
    ),
]


def start(process, folder, environment, **more):
    def limit():
        for stream in process.closed:
            os.close(stream)
        if process.memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (process.memory, process.memory))
        if process.files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (process.files, process.files))

    kept = {key: value for key, value in (environment | process.case.environment).items() if value is not None}
    return subprocess.Popen(
        [sys.executable, "-m", "gelato", *process.case.argv()],
        env=kept,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limit,
        **more,
    )


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.case.name)
def test_a_fault_of_a_process_ends_in_one_line(process, stock, sealed, tmp_path):
    process.case.prepare(tmp_path, stock)
    before = snapshot(tmp_path)
    running = start(process, tmp_path, sealed)
    output, errors = (part.decode(errors="replace") for part in running.communicate(timeout=60))
    if process.says:
        check(process.case, running.returncode, output, errors)
    assert (running.returncode, output) == (process.case.code, "")
    assert snapshot(tmp_path) == before


def test_there_are_forty_processes():
    assert len(PROCESSES) >= 40


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command_without_a_traceback(number, sealed, tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    process = Process(Case("signal", f"predict pipe.csv {CN}", ""))
    running = start(process, tmp_path, sealed)
    with pipe.open("w"):  # opens when the command reads
        running.send_signal(number)
        output, errors = running.communicate(timeout=30)
    assert running.returncode == (130 if number == signal.SIGINT else 143)
    assert (output, b"Traceback" in errors) == (b"", False)


def test_results_come_out_where_stderr_is_closed_and_where_stdout_is_ascii(stock, sealed, tmp_path):
    case = Case("sound", f"explain {stock / 'graph.csv'} n0 n1", "", environment=ASCII)
    running = start(Process(case, closed=(2,)), tmp_path, sealed)
    output, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    assert b"n0" in output

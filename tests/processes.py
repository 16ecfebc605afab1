"""Processes started together as torchrun starts them, meeting on the loopback device."""

import os
import socket
import subprocess
import sys


def start(args, size, **variables):
    """``size`` processes of ``python ARGS``; each is told its number."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(size), "LOCAL_WORLD_SIZE": "2"}
    shared = {**os.environ, **place, **loopback(), **variables}
    return [
        subprocess.Popen(
            [sys.executable, *map(str, args)],
            env=shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]


def loopback():
    return {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}


def ended(processes):
    """Exit code, stdout and stderr of each, once all have ended."""
    told = [process.communicate(timeout=60) for process in processes]
    return [(process.returncode, *words) for process, words in zip(processes, told, strict=True)]

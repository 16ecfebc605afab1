"""What holds for every test: hypothesis without deadlines, since the first call of a kernel compiles it; and commands
that run one after the other in one process."""

import gc
import os

import pytest
from hypothesis import settings

from command_server import command_server

os.environ.setdefault("GELATO_DEBUG", "1")  # unexpected errors of commands are not turned into a line

settings.register_profile("gelato", deadline=None, derandomize=True)
settings.load_profile("gelato")


def pytest_collection_finish(session):
    """Let the garbage collector pass over what importing and collecting made, which stays until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def server():
    """The process that runs the commands of all modules of tests."""
    with command_server() as run:
        yield run


@pytest.fixture(scope="module")
def command(server, environment, folder):
    """Runs one command after the other in one process; exit code, stdout and stderr."""
    return lambda *args, **changes: server(args, environment | changes, folder)

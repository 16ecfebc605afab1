"""What the command ``gelato`` says of itself, and what it loads for that."""

import os
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

HEAVY = ("torch", "numpy", "scipy", "numba", "pandas", "networkx", "pyarrow", "rich")
COMMANDS = ("predict", "explain", "report", "evaluate", "estimate", "fit", "tune", "datasets", "methods", "demo")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GELATO_")}
    return kept | {"GELATO_CACHE": str(tmp_path_factory.mktemp("cache"))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("empty")


def process(*args, environment):
    """What a process of its own prints, and nothing on stderr."""
    done = subprocess.run([sys.executable, *args], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def imported(code, environment):
    """The packages that a program imports, by its own account."""
    told = f"import sys\n{code}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(process("-c", told, environment=environment).splitlines()[-1].split())


def test_help_names_every_command(environment):
    listed = re.findall(r"^  ([a-z]+)  ", process("-m", "gelato", "--help", environment=environment), re.MULTILINE)
    assert set(COMMANDS) <= set(listed)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_the_usual_options(command, name):
    code, output, errors = command(name, "--help")
    assert (code, errors) == (0, "")
    assert f"Example: gelato {name}" in output
    usual = {"datasets": ("--json",), "methods": (), "demo": ("--quiet",)}.get(name, ("--json", "--quiet", "--threads"))
    assert all(option in output for option in usual)
    assert command(name, "-h") == (code, output, errors)


def test_the_version_is_that_of_the_package(environment):
    told = process("-m", "gelato", "--version", environment=environment)
    assert told == f"gelato, version {version('gelato-links')}\n"


@pytest.mark.parametrize("args", [["--help"], ["predict", "--help"], ["explain", "--help"], ["report", "--help"]])
def test_help_imports_nothing_heavy(environment, args):
    code = f"import gelato.cli\nassert gelato.cli.main({args!r}) == 0"
    assert imported(code, environment).isdisjoint(HEAVY)


def test_the_package_itself_imports_nothing_heavy(environment):
    assert imported("import gelato; gelato.__version__; dir(gelato)", environment).isdisjoint({*HEAVY, "click"})


def test_no_large_package_is_imported_before_it_is_used(environment):
    code = (
        "import gelato.datasets, gelato.methods, gelato.io, gelato.splits, gelato.partition, gelato.regimes\n"
        "import gelato.evaluation.evaluate, gelato.ranking.estimate, gelato.ranking.top, gelato.demo, gelato.cli\n"
        "gelato.datasets.load('debian-sample')"
    )
    unused = {"torch", "pandas", "networkx", "pyarrow", "polars", "pymetis", "ogb", "torch_geometric", "sklearn"}
    assert imported(code, environment).isdisjoint(unused)


def test_the_readers_of_frames_are_found_without_another_import(environment):
    code = "import gelato; print(gelato.io.from_pandas.__name__)"
    assert process("-c", code, environment=environment) == "from_pandas\n"

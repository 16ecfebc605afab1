"""Every example runs as a user would run it, and leaves nothing behind."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
SCRIPTS, NOTEBOOKS = sorted(FOLDER.glob("*.py")), sorted(FOLDER.glob("*.ipynb"))
NEEDS = {"pyg_in_and_out": ("torch_geometric", "networkx", "pandas"), "own_predictor": ()}
"""Packages beside the core; torch and safetensors, unless told."""

OTHERS = {"pyg_in_and_out": ["ignore:`torch.jit.script`:DeprecationWarning"]}  # of torch_geometric, when it is imported
"""Warnings that are not ours."""

EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


@pytest.fixture
def run(tmp_path):
    """Runs Python in an empty folder; neither there, nor among temporary files, nor in the repository may any stay."""
    here, temporary, own = (tmp_path / name for name in ("here", "temporary", "own"))
    for folder in (here, temporary, own):
        folder.mkdir()
    settings = ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "TORCHINDUCTOR_CACHE_DIR")  # where other packages keep theirs
    places = {name: str(own / name) for name in settings} | {"TMPDIR": str(temporary)}

    def python(*args):
        before = repository()
        done = subprocess.run(
            [sys.executable, *map(str, args)],
            capture_output=True,
            text=True,
            cwd=here,
            env=os.environ | places,
            timeout=300,
        )
        assert repository() == before
        assert [*here.iterdir(), *temporary.iterdir()] == []
        return done

    return python


def repository():
    """What lies at the top of the repository and beside the examples."""
    return {path for folder in (FOLDER.parent, FOLDER) for path in folder.iterdir() if not path.name.startswith(".")}


def skip_without(*packages):
    for package in packages:
        if find_spec(package) is None:
            pytest.skip(f"needs {package}")


def test_there_are_examples():
    assert len(SCRIPTS) >= 6
    assert len(NOTEBOOKS) >= 1


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_example_runs_without_a_warning_and_prints_something(path, run):
    skip_without(*NEEDS.get(path.stem, ("torch", "safetensors")))
    others = [word for each in OTHERS.get(path.stem, []) for word in ("-W", each)]
    done = run("-W", "error", *others, path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_example_is_short_and_says_what_it_shows(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert len(text.splitlines()) <= 35


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_and_shows_a_chart_a_picture_and_a_table(path, run, tmp_path):
    skip_without("nbclient", "nbformat", "ipykernel", "matplotlib", "pandas", "torch", "safetensors")
    done = run("-c", EXECUTE, path, tmp_path / path.name)
    assert done.returncode == 0, done.stderr
    cells = json.loads((tmp_path / path.name).read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert {"image/png", "image/svg+xml", "text/html"} <= {
        kind for output in outputs for kind in output.get("data", {})
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_is_stored_without_outputs(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [(cell["outputs"], cell["execution_count"]) for cell in code] == [([], None)] * len(code)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"

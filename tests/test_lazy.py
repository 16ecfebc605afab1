"""What is listed without loading it."""

import inspect
import subprocess
import sys

import pytest

from gelato.lazy import LazyFunction
from gelato.methods import METHODS
from gelato.methods.gelato.settings import REGIME_NAMES, SIMILARITY_NAMES
from gelato.methods.spectral.settings import SELF_LOOP_NAMES
from gelato.regimes import REGIMES
from gelato.similarity.measures import SIMILARITIES
from gelato.spectrum.adjacency import SELF_LOOPS

LAZY = [name for name, each in METHODS.items() if isinstance(each.score, LazyFunction)]


@pytest.mark.parametrize("command", ["methods", "datasets"])
def test_a_listing_loads_neither_numba_nor_scipy_nor_torch(command):
    code = f"import sys, gelato.cli; gelato.cli.main([{command!r}]); print(*sys.modules, file=sys.stderr)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split()
    assert "gelato.cli" in loaded and not {"numba", "scipy", "numpy", "torch"} & set(loaded)


@pytest.mark.parametrize("name", LAZY)
def test_a_heuristic_is_described_before_it_is_loaded_as_it_is_after(name):
    lazy, method = METHODS[name].score, METHODS[name]
    assert lazy.doc == inspect.getdoc(lazy.function)
    assert [option for option in method.settings.names() if option != "threads"] == method.options()


def test_the_names_that_settings_know_are_those_of_the_tables():
    assert tuple(SIMILARITIES) == SIMILARITY_NAMES
    assert SELF_LOOPS == SELF_LOOP_NAMES
    assert tuple(REGIMES) == REGIME_NAMES

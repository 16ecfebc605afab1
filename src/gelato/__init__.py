"""Find the missing links of sparse, attributed graphs, and measure link predictors against every pair."""

from importlib.metadata import PackageNotFoundError, version

from gelato.errors import GelatoError as GelatoError
from gelato.errors import InputError as InputError
from gelato.errors import MissingDependency as MissingDependency
from gelato.graph import Graph as Graph

try:
    __version__ = version("gelato")
except PackageNotFoundError:  # run from the source tree
    __version__ = "0+source"

"""Find missing links in sparse, attributed graphs, and evaluate link predictors against every pair.

The public names are listed here and loaded when first used, so that ``import gelato`` costs next to nothing.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gelato.datasets import DATASETS as DATASETS
    from gelato.datasets import load as load
    from gelato.errors import GelatoError as GelatoError
    from gelato.errors import InputError as InputError
    from gelato.errors import MissingDependency as MissingDependency
    from gelato.evaluation.evaluate import evaluate as evaluate
    from gelato.graph import Graph as Graph
    from gelato.io import read_graph as read_graph
    from gelato.io import write_graph as write_graph
    from gelato.methods import HEURISTICS as HEURISTICS
    from gelato.methods import METHODS as METHODS
    from gelato.methods import new_predictor as new_predictor
    from gelato.methods import open_model as open_model
    from gelato.methods import open_run as open_run
    from gelato.methods.gelato.model import Gelato as Gelato
    from gelato.methods.heuristic import Heuristic as Heuristic
    from gelato.prediction.suggest import suggest as suggest
    from gelato.prediction.suggestions import Suggestions as Suggestions
    from gelato.ranking.estimate import estimate as estimate
    from gelato.ranking.metrics import metric as metric
    from gelato.ranking.rank import rank as rank
    from gelato.ranking.ranks import Ranks as Ranks
    from gelato.ranking.top import top as top
    from gelato.regimes import Candidates as Candidates
    from gelato.regimes import biased as biased
    from gelato.regimes import partitioned as partitioned
    from gelato.regimes import unbiased as unbiased
    from gelato.scores import BlockScores as BlockScores
    from gelato.scores import DenseScores as DenseScores
    from gelato.scores import LiftedScores as LiftedScores
    from gelato.scores import WalkScores as WalkScores
    from gelato.splits import Split as Split
    from gelato.splits import audit as audit
    from gelato.splits import split as split
    from gelato.splits import split_by_time as split_by_time

_HOMES = {
    "datasets": ("DATASETS", "load"),
    "errors": ("GelatoError", "InputError", "MissingDependency"),
    "graph": ("Graph",),
    "io": ("read_graph", "write_graph"),
    "methods": ("HEURISTICS", "METHODS", "new_predictor", "open_model", "open_run"),
    "methods.gelato.model": ("Gelato",),
    "methods.heuristic": ("Heuristic",),
    "prediction.suggest": ("suggest",),
    "prediction.suggestions": ("Suggestions",),
    "ranking.estimate": ("estimate",),
    "evaluation.evaluate": ("evaluate",),
    "ranking.metrics": ("metric",),
    "ranking.rank": ("rank",),
    "ranking.ranks": ("Ranks",),
    "ranking.top": ("top",),
    "regimes": ("Candidates", "biased", "partitioned", "unbiased"),
    "scores": ("BlockScores", "DenseScores", "LiftedScores", "WalkScores"),
    "splits": ("Split", "audit", "split", "split_by_time"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)

PROGRAM = __name__
"""What the package and its command are called."""

DISTRIBUTION = "gelato-links"
"""What the package index calls it; ``gelato`` is another package there."""

try:
    __version__ = version(DISTRIBUTION)
except PackageNotFoundError:  # run from the source tree
    __version__ = "0+source"


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gelato' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"gelato.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        from gelato.errors import MissingDependency

        raise MissingDependency(name, "torch", "train") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])

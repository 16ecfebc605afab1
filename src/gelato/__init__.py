"""Find missing links in sparse, attributed graphs, and evaluate link predictors against every pair.

The public names are listed here and loaded when first used, so that ``import gelato`` costs little. The class of a
method is known by its entry in ``METHODS``; it stands here only for type checkers.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from gelato.lazy import public_names

if TYPE_CHECKING:
    from gelato import io as io
    from gelato.costs.estimates import Estimate as Estimate
    from gelato.costs.estimates import Forecast as Forecast
    from gelato.datasets import DATASETS as DATASETS
    from gelato.datasets import load as load
    from gelato.errors import GelatoError as GelatoError
    from gelato.errors import InputError as InputError
    from gelato.errors import MissingDependency as MissingDependency
    from gelato.evaluation.estimate import estimate as estimate
    from gelato.evaluation.evaluate import Evaluation as Evaluation
    from gelato.evaluation.evaluate import evaluate as evaluate
    from gelato.evaluation.search import TuneResult as TuneResult
    from gelato.evaluation.search import tune as tune
    from gelato.explain.contract import PairExplanation as PairExplanation
    from gelato.graph import Graph as Graph
    from gelato.io import read_graph as read_graph
    from gelato.io import write_graph as write_graph
    from gelato.methods import HEURISTICS as HEURISTICS
    from gelato.methods import METHODS as METHODS
    from gelato.methods import make as make
    from gelato.methods import open_model as open_model
    from gelato.methods import open_run as open_run
    from gelato.methods.auto.model import Auto as Auto
    from gelato.methods.boosted.model import Boosted as Boosted
    from gelato.methods.buddy.model import BUDDY as BUDDY
    from gelato.methods.buddy.model import ELPH as ELPH
    from gelato.methods.gae.model import GAE as GAE
    from gelato.methods.gcn.model import GCN as GCN
    from gelato.methods.gelato.model import Gelato as Gelato
    from gelato.methods.heuristic import Heuristic as Heuristic
    from gelato.methods.heuristic import NamedHeuristic
    from gelato.methods.hgcn.model import HGCN as HGCN
    from gelato.methods.lgcn.model import LGCN as LGCN
    from gelato.methods.mlp.model import MLP as MLP
    from gelato.methods.nbfnet.model import NBFNet as NBFNet
    from gelato.methods.ncn.model import NCN as NCN
    from gelato.methods.ncn.model import NCNC as NCNC
    from gelato.methods.neo_gnn.model import NeoGNN as NeoGNN
    from gelato.methods.seal.model import SEAL as SEAL
    from gelato.methods.spectral.model import Spectral as Spectral
    from gelato.methods.walkpool.model import WalkPool as WalkPool
    from gelato.prediction.predictor import LinkPredictor as LinkPredictor
    from gelato.prediction.suggestions import Suggestions as Suggestions
    from gelato.ranking.metrics import metric as metric
    from gelato.ranking.rank import rank as rank
    from gelato.ranking.ranks import Ranks as Ranks
    from gelato.ranking.top import top as top
    from gelato.regimes import Candidates as Candidates
    from gelato.regimes import biased as biased
    from gelato.regimes import partitioned as partitioned
    from gelato.regimes import unbiased as unbiased
    from gelato.scores import BlockScores as BlockScores
    from gelato.scores import LiftedScores as LiftedScores
    from gelato.scores import WalkScores as WalkScores
    from gelato.splits import Split as Split
    from gelato.splits import audit as audit
    from gelato.splits import split as split
    from gelato.splits import split_by_time as split_by_time

    AdamicAdar = NamedHeuristic
    Autocovariance = NamedHeuristic
    CommonNeighbors = NamedHeuristic
    Cosine = NamedHeuristic
    FullKatz = NamedHeuristic
    Jaccard = NamedHeuristic
    Katz = NamedHeuristic
    PersonalizedPageRank = NamedHeuristic
    PreferentialAttachment = NamedHeuristic
    ResourceAllocation = NamedHeuristic
    SimRank = NamedHeuristic

_DEPRECATED = {"DenseScores": "scores", "new_predictor": "methods", "suggest": "prediction.deprecated"}
"""Former names, and where they live for one more release; each warns when it is called."""

PROGRAM = __name__
"""What the package and its command are called."""

DISTRIBUTION = "gelato-links"
"""What the package index calls it; ``gelato`` is another package there."""

try:
    __version__ = version(DISTRIBUTION)
except PackageNotFoundError:  # run from the source tree
    __version__ = "0+source"


def _method_classes() -> dict[str, str]:
    """The modules of the classes of all methods, by the names of the classes."""
    from gelato.methods.table import METHODS

    return {name: module for module, _, name in (entry.make.partition(":") for entry in METHODS.values())}


__getattr__, __dir__ = public_names(__name__, __file__, _DEPRECATED, _method_classes)

"""Scores of all pairs of nodes: the interface that ranking uses, and its forms walk, block and lifted."""

from gelato.kernels.walk import JACCARD as JACCARD
from gelato.kernels.walk import LINEAR as LINEAR
from gelato.scores.block import BlockScores as BlockScores
from gelato.scores.block import DenseScores as DenseScores
from gelato.scores.contract import Query as Query
from gelato.scores.contract import ScoredPairs as ScoredPairs
from gelato.scores.contract import Scores as Scores
from gelato.scores.keys import key_of as key_of
from gelato.scores.lifted import LiftedScores as LiftedScores
from gelato.scores.walk import WalkScores as WalkScores

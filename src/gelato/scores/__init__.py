"""Scores: what any predictor hands on. The contract, and its forms: walk, block, lifted."""

from gelato.kernels.form import JACCARD as JACCARD
from gelato.kernels.form import LINEAR as LINEAR
from gelato.scores.block import BlockScores as BlockScores
from gelato.scores.block import DenseScores as DenseScores
from gelato.scores.contract import Query as Query
from gelato.scores.contract import ScoredPairs as ScoredPairs
from gelato.scores.contract import Scores as Scores
from gelato.scores.keys import key_of as key_of
from gelato.scores.lifted import LiftedScores as LiftedScores
from gelato.scores.walk import WalkScores as WalkScores

"""Scores: what any predictor hands on."""

from gelato.kernels.form import JACCARD as JACCARD
from gelato.kernels.form import LINEAR as LINEAR
from gelato.scores.block import DenseScores as DenseScores
from gelato.scores.walk import WalkScores as WalkScores

Scores = WalkScores | DenseScores

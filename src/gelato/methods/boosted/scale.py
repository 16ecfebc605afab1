"""One scale for all pairs: candidates from 1 on, all other pairs below."""

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DOUBLINGS = 10
"""The best feature is given a score between 2 to this power and half of it."""


class CandidateScale(NamedTuple):
    """The score of a candidate, ``1 + unit (s - lowest)``; that of any other pair is an autocovariance, less than 1.

    Log-odds keep their unit. Features may be so small that all candidates would round to 1, so they are enlarged, by a
    power of 2, which rounds nothing.
    """

    lowest: float
    unit: float

    @classmethod
    def of(cls, score: Floats, *, log_odds: bool) -> Self:
        """The scale for ``(l,)`` candidates by what ranks them.

        >>> scale = CandidateScale.of(np.array([2e-6, 5e-6]), log_odds=False)
        >>> scale(np.array([2e-6, 5e-6])).round().tolist()
        [1.0, 806.0]
        """
        lowest, reach = (float(score.min()), float(np.ptp(score))) if len(score) else (0.0, 0.0)
        return cls(lowest, 1.0 if log_odds or reach == 0 else 2.0 ** (DOUBLINGS - math.frexp(reach)[1]))

    def __call__(self, score: Floats) -> Floats:
        """``(p,)`` scores on the scale."""
        return 1.0 + self.unit * (score - self.lowest)

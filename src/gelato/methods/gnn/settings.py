"""Settings that all methods with a graph encoder share; without torch."""

from dataclasses import dataclass

from gelato.prediction.settings import one_of
from gelato.training.settings import TrainingSettings

SELECTED_BY = ("unbiased", "balanced")


@dataclass(frozen=True, kw_only=True)
class EncodedSettings(TrainingSettings):
    """How the epoch of an encoder is chosen.

    Attributes:
        selection: what keeps an epoch: ``unbiased`` precision@100% of the validation links over all pairs;
            ``balanced`` hits@100 against as many drawn non-links, which other studies report.
    """

    selection: str = one_of("unbiased", SELECTED_BY)

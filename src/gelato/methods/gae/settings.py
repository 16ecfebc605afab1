"""Settings of GAE; without torch."""

from dataclasses import dataclass

from gelato.prediction.options import fraction, layer_width, number, one_of, whole_number
from gelato.training.settings import EncodedSettings


@dataclass(frozen=True, kw_only=True)
class GaeSettings(EncodedSettings):
    """Hyperparameters of GAE; the defaults are those of the paper.

    Attributes:
        hidden: width of the first layer.
        width: of the embeddings.
        dropout: share of the hidden layer dropped in training.
        weight_decay: of Adam.
        regime: ``unbiased`` rebuilds all ``n^2`` entries; ``biased`` links, and as many drawn non-links.
        batches: steps of an epoch. 1 is the original: every link is rebuilt from messages that pass along it as well.
            With more, links are dealt into so many shares, and each is rebuilt from messages along the others only.
    """

    epochs: int = whole_number(200, 0)
    learning_rate: float = number(0.01, above=0)
    hidden: int = layer_width(32)
    width: int = layer_width(16)
    dropout: float = fraction(0.0, most=0.99)
    weight_decay: float = number(0.0)
    regime: str = one_of("unbiased", ("unbiased", "biased"))
    batches: int = whole_number(1)

"""Settings of NCN and NCNC; without torch."""

from dataclasses import dataclass

from gelato.networks.pairwise.settings import PairwiseSettings
from gelato.prediction.options import fraction, layer_count, layer_width, number, whole_number, yes_or_no


@dataclass(frozen=True, kw_only=True)
class NcnSettings(PairwiseSettings):
    """Hyperparameters of NCN; the defaults are those of its authors for Cora.

    Attributes:
        learning_rate: of the predictor.
        encoder_learning_rate: of the encoder.
        hidden: width of embeddings and of all layers.
        layers: steps of propagation.
        residual: whether a step of propagation adds to the embeddings, rather than replacing them.
        attribute_dropout, step_dropout, tail_dropout: shares dropped of the attributes, of the embeddings before
            propagation, and after it.
        dropout: share dropped in the predictor.
        link_dropout: share of the links that the predictor does not see as joining common neighbours.
        deep: whether the last MLP has one more layer.
        tail: whether the MLPs on common neighbours and on products end with a relu.
    """

    learning_rate: float = number(0.0024, above=0)
    encoder_learning_rate: float = number(0.0043, above=0)
    batch_size: int = whole_number(1152)
    hidden: int = layer_width(256)
    layers: int = layer_count(1)
    residual: bool = yes_or_no(False)
    attribute_dropout: float = fraction(0.7, most=0.99)
    step_dropout: float = fraction(0.05, most=0.99)
    tail_dropout: float = fraction(0.3, most=0.99)
    dropout: float = fraction(0.05, most=0.99)
    link_dropout: float = fraction(0.4, most=0.99)
    deep: bool = yes_or_no(False)
    tail: bool = yes_or_no(True)


@dataclass(frozen=True, kw_only=True)
class NcncSettings(NcnSettings):
    """Hyperparameters of NCNC: those of NCN, and how likely neighbours count.

    A node ``k`` that only one end of a pair is linked to counts ``p = weight pt q / (pt q + 1 - q)``, where ``q =
    sigmoid(scale (s - offset))`` and ``s`` is the log-odds of NCN for ``k`` and the other end.

    Attributes:
        scale, offset: of the log-odds.
        pt: prior odds of a completed link.
        weight: of a completed neighbour.
    """

    scale: float = number(4.3)
    offset: float = number(2.8)
    pt: float = fraction(0.75)
    weight: float = number(1.0)

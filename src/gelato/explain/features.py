"""Explanations by features: what each kind of feature adds to a learned score, and the walks behind the pair."""

from dataclasses import asdict, dataclass
from typing import Any

from gelato.explain.contract import PairExplanation
from gelato.explain.shared_attributes import SharedAttribute, sharing_line

NAMED = 2
"""Kinds of features named in a reason at most."""

LEAST_SHARE = 0.15
"""A kind is named if it adds at least this share of what all that speak for the pair add."""

START = "starting value of every pair"

WIDEST = 40
"""Letters of a column of words at most; longer words push what follows aside."""


@dataclass(frozen=True)
class FeaturePart:
    """What features of one kind add to the score.

    Attributes:
        words, value: what they say of this pair, such as "close-knit surroundings", and what they add.
        features: the single features in words, each with what it adds, the largest first.
    """

    words: str
    value: float
    features: tuple[tuple[str, float], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class FeatureExplanation(PairExplanation):
    """Why a pair has its score, by features: ``score = start + values of the parts + remainder``.

    Attributes:
        parts: kinds of features, the largest magnitude first.
        start, remainder: the starting value of every pair, and what rounding leaves.
        walks: how walks join the pair, with a score of their own.
        unit: of the score, such as "log-odds"; empty where it has none.
        shared: the attributes that both nodes have, rarest first.
    """

    start: float
    parts: tuple[FeaturePart, ...]
    remainder: float
    walks: PairExplanation
    unit: str
    shared: tuple[SharedAttribute, ...] = ()

    def reason(self) -> str:
        """The kinds that speak most for the pair, and the heaviest route between its ends."""
        for_it = [part for part in self.parts if part.value > 0]
        total = sum(part.value for part in for_it)
        named = [part.words for part in for_it[:NAMED] if part.value >= LEAST_SHARE * total]
        return "; ".join([*named, self.walks.reason()])

    def lines(self) -> list[str]:
        """The sum of the parts, then the walks."""
        width = min(WIDEST, max(map(len, [START, *(part.words for part in self.parts)])))
        score = f"the score ({self.unit}: the higher, the likelier)" if self.unit else "the score"
        lines = [self.headline(), self.reason(), "", f"{score} is the sum of:"]
        lines += [f"  {START:<{width}}  {_signed(self.start)}"]
        for part in self.parts:
            most = ", ".join(f"{name} {_signed(value)}" for name, value in part.features[:3])
            lines.append(f"  {part.words:<{width}}  {_signed(part.value)}  ({most})")
        shared = ["", sharing_line(self.shared)] if self.shared else []
        return [*lines, *shared, "", "the walks between them:", *self.walks.lines()[2:]]

    def svg(self) -> str:
        """A picture of the walks."""
        return self.walks.svg()

    def as_json(self) -> dict[str, Any]:
        own = super().as_json()
        return {
            **own,
            "start": self.start,
            "parts": [{**asdict(part), "features": dict(part.features)} for part in self.parts],
            "remainder": self.remainder,
            "shared_attributes": [{"name": each.name, "holders": each.holders} for each in self.shared],
            "walk_score": self.walks.score,
            **{key: value for key, value in self.walks.as_json().items() if key not in own},
        }


def _signed(value: float) -> str:
    """With a sign and three digits after the point, or as many as a small number needs."""
    return f"{value:+.3f}" if value == 0 or abs(value) >= 0.01 else f"{value:+.3g}"

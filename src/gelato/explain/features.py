"""Explanations by features: what each kind of feature adds to a learned score, and the walks behind the pair."""

from dataclasses import asdict, dataclass
from typing import Any

from gelato.explain.pair import PairExplanation
from gelato.explain.words import headline
from gelato.figures import enumeration

NAMED = 2
"""Kinds of features named in a reason at most."""

LEAST_SHARE = 0.15
"""A kind is named if it adds at least this share of what all that speak for the pair add."""


@dataclass(frozen=True)
class FeaturePart:
    """What features of one kind add to the score.

    Attributes:
        words: what they say of this pair, such as "many short walks".
        value: what they add.
        features: the single features, each with what it adds, the largest first.
    """

    words: str
    value: float
    features: tuple[tuple[str, float], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class FeatureExplanation(PairExplanation):
    """Why a pair has its score, by features: ``score = start + values of the parts + remainder``.

    Attributes:
        start: the starting value of every pair.
        parts: kinds of features, the largest magnitude first.
        remainder: what rounding leaves.
        walks: how walks join the pair, with a score of their own.
        unit: of the score, such as "log-odds"; empty where it has none.
    """

    start: float
    parts: tuple[FeaturePart, ...]
    remainder: float
    walks: PairExplanation
    unit: str

    def reason(self) -> str:
        """The kinds that speak most for the pair, and the heaviest route between its ends."""
        for_it = [part for part in self.parts if part.value > 0]
        total = sum(part.value for part in for_it)
        named = [part.words for part in for_it[:NAMED] if part.value >= LEAST_SHARE * total]
        return f"{enumeration(named)}; {self.walks.reason()}" if named else self.walks.reason()

    def lines(self) -> list[str]:
        """The sum of the parts, then the walks."""
        width = max(map(len, ["starting value of every pair", *(part.words for part in self.parts)]))
        score = f"the score ({self.unit})" if self.unit else "the score"
        lines = [headline(self), self.reason(), "", f"{score} is the sum of:"]
        lines += [f"  {'starting value of every pair':<{width}}  {_signed(self.start)}"]
        for part in self.parts:
            most = ", ".join(f"{name} {_signed(value)}" for name, value in part.features[:3])
            lines.append(f"  {part.words:<{width}}  {_signed(part.value)}  ({most})")
        return [*lines, "", "the walks behind it:", *self.walks.lines()[2:]]

    def svg(self) -> str:
        """A picture of the walks."""
        return self.walks.svg()

    def as_json(self) -> dict[str, Any]:
        """Everything as plain types, ready for ``json.dumps``, with nodes by name."""
        parts = [{**asdict(part), "features": dict(part.features)} for part in self.parts]
        own = super().as_json()
        walks = {key: value for key, value in self.walks.as_json().items() if key not in own}
        return {
            **own,
            "start": self.start,
            "parts": parts,
            "remainder": self.remainder,
            "walk_score": self.walks.score,
            **walks,
        }


def _signed(value: float) -> str:
    """With a sign and three digits after the point, or as many as a small number needs."""
    return f"{value:+.3f}" if value == 0 or abs(value) >= 0.01 else f"{value:+.3g}"

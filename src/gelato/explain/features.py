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
        start: the score that starting value of every pair.
        parts: kinds of features, the largest magnitude first.
        remainder: what rounding leaves.
        walks: how walks join the pair, with a score of their own.
    """

    start: float
    parts: tuple[FeaturePart, ...]
    remainder: float
    walks: PairExplanation

    def reason(self) -> str:
        """The kinds that speak most for the pair, and the heaviest route between its ends."""
        for_it = [part for part in self.parts if part.value > 0]
        total = sum(part.value for part in for_it)
        named = [part.words for part in for_it[:NAMED] if part.value >= LEAST_SHARE * total]
        return f"{enumeration(named)}; {self.walks.reason()}" if named else self.walks.reason()

    def lines(self) -> list[str]:
        """The sum of the parts, then the walks."""
        width = max(map(len, ["starting value of every pair", *(part.words for part in self.parts)]))
        lines = [headline(self), self.reason(), "", "the score (log-odds) is the sum of:"]
        lines += [f"  {'starting value of every pair':<{width}}  {self.start:+.3f}"]
        for part in self.parts:
            most = ", ".join(f"{name} {value:+.3f}" for name, value in part.features[:3])
            lines.append(f"  {part.words:<{width}}  {part.value:+.3f}  ({most})")
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

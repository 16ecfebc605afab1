"""The strongest reason for each suggestion, in words."""

from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.suggestions import Suggestions
from gelato.ranking.rank import Progress


def with_reasons(
    predictor: LinkPredictor, suggestions: Suggestions, *, progress: Progress | None = None
) -> Suggestions:
    """The suggestions with the strongest reason for each; unchanged where the predictor cannot explain its scores."""
    if not predictor.explains:
        return suggestions
    explained = predictor.explanations(suggestions.pairs, limit=1, progress=progress)
    return suggestions.replaced(reasons=[each.reason() for each in explained])

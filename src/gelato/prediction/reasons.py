"""The strongest reason for each suggestion, in words."""

from dataclasses import replace

from gelato.explain.explanation import Explanation, explain_all
from gelato.explain.standing import standings_of
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.suggestions import Suggestions
from gelato.ranking.rank import Progress
from gelato.scores import Scores

AT_ONCE = 64
"""Suggestions that are explained together, between two reports of progress."""


def have_reasons(scores: Scores) -> bool:
    """Whether scores are sums over walks along links, so that walks and links explain them."""
    walked = scores.walks()
    return walked is not None and bool(walked.on_graph)


def explanations(
    predictor: LinkPredictor,
    suggestions: Suggestions,
    *,
    limit: int = 5,
    with_rank: bool = False,
    progress: Progress | None = None,
) -> list[Explanation]:
    """An explanation of each suggestion.

    Args:
        predictor: what made the suggestions.
        suggestions: ``k`` links.
        limit: how many walks to list for each, the heaviest.
        with_rank: whether to rank them among all unlinked pairs, which takes one pass over all pairs, however many
            suggestions there are.
        progress: called with the number of suggestions explained, and of all.
    """
    scores, graph, evidence = predictor.scores(), predictor.graph_, predictor.evidence()
    explained: list[Explanation] = []
    standings = standings_of(scores, graph, suggestions.pairs, predictor.threads) if with_rank and suggestions else []
    for begin in range(0, len(suggestions), AT_ONCE):
        pairs = suggestions.pairs[begin : begin + AT_ONCE]
        explained += explain_all(scores, graph, pairs, evidence=evidence, limit=limit, with_rank=False)
        if progress is not None:
            progress(len(explained), len(suggestions))
    if with_rank:
        return [
            each if at is None else replace(each, **at._asdict()) for each, at in zip(explained, standings, strict=True)
        ]
    return explained


def with_reasons(
    predictor: LinkPredictor, suggestions: Suggestions, *, progress: Progress | None = None
) -> Suggestions:
    """The suggestions with the strongest reason for each; unchanged where walks do not explain the scores."""
    if not have_reasons(predictor.scores()):
        return suggestions
    reasons = [each.reason() for each in explanations(predictor, suggestions, limit=1, progress=progress)]
    return suggestions.replaced(reasons=reasons)

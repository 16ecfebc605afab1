"""The strongest reason of each suggestion, in words."""

from gelato.explain.explanation import Explanation, explain_all
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.suggestions import Suggestions
from gelato.ranking.rank import Progress
from gelato.scores import Scores

CHUNK = 64
"""Explained together, between two reports of progress."""


def has_reasons(scores: Scores) -> bool:
    """Whether scores are sums over walks on a graph."""
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
    """An explanation of each suggestion."""
    scores, evidence = predictor.scores(), predictor.evidence()
    found: list[Explanation] = []
    for begin in range(0, len(suggestions), CHUNK):
        chunk = suggestions.pairs[begin : begin + CHUNK]
        found += explain_all(
            scores,
            predictor.graph_,
            chunk,
            evidence=evidence,
            limit=limit,
            with_rank=with_rank,
            threads=predictor.threads,
        )
        if progress is not None:
            progress(len(found), len(suggestions))
    return found


def with_reasons(
    predictor: LinkPredictor, suggestions: Suggestions, *, progress: Progress | None = None
) -> Suggestions:
    """Suggestions with the strongest reason of each; as they are, where scores are no sums over walks."""
    if not has_reasons(predictor.scores()):
        return suggestions
    told = explanations(predictor, suggestions, limit=1, progress=progress)
    return suggestions.told(reasons=[each.reason() for each in told])

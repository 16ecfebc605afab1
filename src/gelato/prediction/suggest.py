"""The whole answer: exact suggestions, the precision to expect of them, and reasons."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from gelato.prediction.precision import REPEATS, SHARE, expected_precision
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.reasons import with_reasons
from gelato.prediction.suggestions import Suggestions
from gelato.ranking.rank import Progress

Stage = Callable[[str, str], AbstractContextManager[Progress | None]]
"""From the title of a piece of work and what it counts to a context with what is told of its progress."""


def silent(title: str, unit: str) -> AbstractContextManager[None]:
    """Shows nothing."""
    return nullcontext()


def suggest(
    predictor: LinkPredictor,
    k: int = 100,
    per_node: bool = False,
    *,
    nodes: Any = None,
    between: tuple[Any, Any] | None = None,
    exclude: Any = None,
    min_score: float | None = None,
    share: float = SHARE,
    repeats: int = REPEATS,
    seed: int = 0,
    run: Path | None = None,
    reasons: bool = True,
    stage: Stage = silent,
) -> Suggestions:
    """The ``k`` best missing links with all that is to be said of them.

    Args:
        predictor: fitted.
        k, per_node, nodes, between, exclude, min_score: which links, as in ``LinkPredictor.predict_top``.
        share, repeats, seed: of the known links to hide, how often and which, to tell the precision; 0 times: not told.
        run: folder for trainings that this takes, which go on there if they were stopped.
        reasons: whether to say why, for each.
        stage: how progress is shown.
    """
    with stage("ranking all pairs", "pairs") as progress:
        found = predictor.predict_top(
            k, per_node, nodes=nodes, between=between, exclude=exclude, min_score=min_score, progress=progress
        )
    if len(found) == 0:
        return found
    tiny = share == SHARE and int(share * predictor.graph_.m) == 0  # not one link is a tenth of it
    if repeats and not tiny:
        with stage("hiding links to see how many are found", "times") as progress:
            precision = expected_precision(
                predictor, k, chosen=found.chosen, share=share, repeats=repeats, seed=seed, run=run, progress=progress
            )
        found = found.told(precision=precision)
    if reasons:
        with stage("reasons", "links") as progress:
            found = with_reasons(predictor, found, progress=progress)
    return found

"""The whole answer: exact suggestions, the precision to expect of them, and the reasons for them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.prediction.precision import FEWEST_PLACES, REPEATS, SHARE, expected_precision
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.reasons import with_reasons
from gelato.prediction.suggestions import Suggestions
from gelato.ranking.rank import Progress
from gelato.splits import check_share, hidden_shares

Stage = Callable[[str, str], AbstractContextManager[Progress | None]]
"""From the title of a stage and the unit it counts in to a context that yields its progress callback."""


def silent(title: str, unit: str) -> AbstractContextManager[None]:
    """A stage that shows nothing."""
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
    """The ``k`` best missing links, with the precision to expect of them and the reason for each.

    Args:
        predictor: a fitted predictor.
        k, per_node, nodes, between, exclude, min_score: which links, as in ``LinkPredictor.predict_top``.
        share, repeats, seed: how many of the known links to hide, how often, and the seed that picks them, to estimate
            the precision; ``repeats=0`` skips the estimate.
        run: folder for the trainings that the estimate needs; stopped ones are resumed from there.
        reasons: whether to give the reason for each link.
        stage: shows progress.

    Example:
        >>> from gelato import Graph, Heuristic
        >>> graph = Graph.from_edges([(0, 2), (2, 1), (0, 3), (3, 1)], names=["ann", "bob", "cat", "dan"])
        >>> links = suggest(Heuristic("cn").fit(graph), 1, repeats=0)
        >>> list(links), links.reasons
        ([('ann', 'bob', 2.0)], ['both linked to cat (50% of the walks)'])
    """
    if not isinstance(predictor, LinkPredictor):
        repair = "fit one first: gelato.Heuristic('cn').fit(graph)"
        raise InputError(f"suggest takes a fitted predictor, got {type(predictor).__name__}; {repair}")
    check_share(share)
    with stage("ranking all pairs", "pairs") as progress:
        suggestions = predictor.predict_top(
            k, per_node, nodes=nodes, between=between, exclude=exclude, min_score=min_score, progress=progress
        )
    if len(suggestions) == 0:
        return suggestions
    if repeats and not _tiny(predictor.graph_, share):
        with stage("hiding links and looking for them", "times") as progress:
            options: dict[str, Any] = {"share": share, "repeats": repeats, "seed": seed, "run": run}
            least = k if per_node else max(k, FEWEST_PLACES)  # a chance needs so many places
            precision = expected_precision(predictor, least, chosen=suggestions.chosen, progress=progress, **options)
        suggestions = suggestions.replaced(precision=precision)
    if reasons:
        with stage("reasons", "links") as progress:
            suggestions = with_reasons(predictor, suggestions, progress=progress)
    return suggestions


def check_hiding(graph: Graph, share: float, repeats: int) -> None:
    """Refuse a share of the links that cannot be hidden, before anything is fitted."""
    if not _tiny(graph, share):
        hidden_shares(graph, graph.edges[:0], share, repeats, 0)


def _tiny(graph: Graph, share: float) -> bool:
    """Whether the usual tenth is less than one link, so that no precision can be stated."""
    return bool(share == SHARE) and int(share * graph.m) == 0

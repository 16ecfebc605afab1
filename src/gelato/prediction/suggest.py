"""The whole answer: exact suggestions, the precision to expect of them, and the reasons for them."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.prediction.precision import FEWEST_PLACES, SHARE, expected_precision
from gelato.prediction.suggestions import Suggestions
from gelato.ranking.rank import Progress
from gelato.ranking.top import top
from gelato.splits import hidden_fractions

if TYPE_CHECKING:
    from gelato.prediction.predictor import LinkPredictor

Stage = Callable[[str, str], AbstractContextManager[Progress | None]]
"""From the title of a stage and the unit it counts in to a context that yields its progress callback."""


def ranked_links(model: "LinkPredictor", k: int, chosen: Mapping[str, Any], stage: Stage) -> Suggestions:
    """The ``k`` best pairs, of those that ``chosen`` allows, as keywords of ``top``."""
    graph = model.graph_
    with stage("ranking all pairs", "pairs") as progress:
        links = top(model.scores(), graph, k, threads=model.threads, progress=progress, **chosen)
    per_node = bool(chosen.get("per_node"))
    return Suggestions(graph, links.pairs, links.score, per_node=per_node, chosen=chosen, method=model.ranked_by)


def completed_links(
    model: "LinkPredictor",
    k: int,
    ranked: Suggestions,
    hiding: Mapping[str, Any],
    *,
    min_chance: float | None = None,
    reasons: bool = True,
    stage: Stage,
) -> Suggestions:
    """The same with the precision to expect of them, and the reason for each.

    ``hiding`` holds ``share``, ``repeats``, ``seed`` and ``run``, as in ``expected_precision``; those with a lower
    chance than ``min_chance`` are left out.
    """
    graph, suggestions = model.graph_, ranked
    if len(suggestions) == 0:
        return suggestions
    if hiding["repeats"] and not _tiny(graph, hiding["share"]):
        with stage("hiding links and looking for them", "times") as progress:
            least = k if ranked.per_node else max(k, FEWEST_PLACES)  # a chance needs so many places
            precision = expected_precision(model, least, chosen=ranked.chosen, progress=progress, **hiding)
        suggestions = replace(suggestions, precision=precision)
    if min_chance is not None:
        suggestions = suggestions.at_least(min_chance)
    if reasons and len(suggestions):
        with stage("reasons", "links") as progress:
            suggestions = with_reasons(model, suggestions, progress)
    return suggestions


def check_min_chance(min_chance: float | None, repeats: int) -> None:
    """Refuse a least chance that is no share, or that nothing is known of."""
    if min_chance is None:
        return
    if not 0 <= min_chance <= 1:
        raise InputError(f"the least chance must lie between 0 and 1, got {min_chance:g}; 0.5 means one in two")
    if not repeats:
        raise InputError("chances come from hiding links: with a least chance, repeats must be 1 or more, got 0")


def with_reasons(predictor: "LinkPredictor", suggestions: Suggestions, progress: Progress | None = None) -> Suggestions:
    """The suggestions with the strongest reason for each; unchanged where the predictor cannot explain its scores."""
    if not predictor.explains:
        return suggestions
    explained = predictor.explain_pairs(suggestions.pairs, index=True, limit=1, progress=progress)
    return replace(suggestions, reasons=[each.reason() for each in explained])


def check_hiding(graph: Graph, share: float, repeats: int) -> None:
    """Refuse a share of the links that cannot be hidden, before anything is fitted."""
    if not _tiny(graph, share):
        hidden_fractions(graph, graph.edges[:0], share, repeats, 0)


def _tiny(graph: Graph, share: float) -> bool:
    """Whether the usual tenth is less than one link, so that no precision can be stated."""
    return bool(share == SHARE) and int(share * graph.m) == 0

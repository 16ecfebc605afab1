"""Which methods cannot tell the pairs of a bipartite graph apart: walks of an even length never join its two sides."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gelato.graph import Graph

Blindness = Callable[[Graph, Mapping[str, Any]], str | None]
"""From a graph and the options of a method to why it cannot tell the pairs of the graph apart; ``None`` if it can."""

FITTING = "use ac or katz with an odd number of steps, 3 or more"


def sighted(graph: Graph, options: Mapping[str, Any]) -> str | None:
    """The rule of methods that tell pairs apart on every graph."""
    return None


def needs_common_neighbors(graph: Graph, options: Mapping[str, Any]) -> str | None:
    """Of methods that score pairs by common neighbours: nodes of different sides have none."""
    if graph.sides is None:
        return None
    return f"gives every pair across the two sides the same score, since such nodes share no neighbour; {FITTING}"


def needs_three_steps(graph: Graph, options: Mapping[str, Any]) -> str | None:
    """Of Katz: the shortest walk between unlinked nodes of different sides has three steps."""
    if graph.sides is None or options.get("steps", 3) >= 3:
        return None
    return (
        "gives every unlinked pair across the two sides the same score, since no walk that short joins one; " + FITTING
    )


def needs_odd_steps(graph: Graph, options: Mapping[str, Any]) -> str | None:
    """Of autocovariance, whose walks have one length; self-loops make them wait a step."""
    steps = options.get("steps", 3)
    if graph.sides is None or (steps >= 3 and (steps % 2 == 1 or options.get("self_loops") == "all")):
        return None
    return (
        "scores every unlinked pair across the two sides by its numbers of links alone, since no walk of"
        f" {steps} step{'s' if steps > 1 else ''} joins one; {FITTING}"
    )


def blind_remarks(blind: Sequence[tuple[str, str | None]]) -> list[str]:
    """One remark for each reason, from the names of methods and why they cannot tell pairs apart.

    >>> blind_remarks([("cn", "is blind"), ("ac", None), ("aa", "is blind")])
    ['on this bipartite graph each of cn, aa is blind']
    """
    reasons: dict[str, list[str]] = {}
    for name, reason in blind:
        if reason is not None:
            reasons.setdefault(reason, []).append(name)
    return [
        f"on this bipartite graph {'each of ' if len(names) > 1 else ''}{', '.join(names)} {reason}"
        for reason, names in reasons.items()
    ]

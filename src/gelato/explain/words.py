"""An explanation in words: a short reason for a table, and the whole of it for a terminal."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from gelato.figures import enumeration

if TYPE_CHECKING:
    from gelato.explain.pair import PairExplanation
    from gelato.explain.record import Edge, Explanation

MOST_ATTRIBUTES = 3
"""Attributes named in a reason at most."""


def reason_of(explanation: "Explanation") -> str:
    """Why the pair has its score, in one short phrase: its heaviest route."""
    if not explanation.routes:
        if explanation.background > 0:
            return "scored only by how many links each has"
        return number_of_walks(explanation)
    route = explanation.routes[0]
    share = f"{whole_percent(route.share)} of the walks"
    if not route.between:
        return _straight(explanation, share)
    names = [explanation.name(node) for node in route.between]
    both = len(names) == 1 and not explanation.graph.directed
    through = f"both linked to {names[0]}" if both else f"linked through {listed(names)}"
    added = [_ends(explanation, a, b) for a, b in route.links if explanation.edge(a, b).kind == "attributes"]
    if added:
        every = len(added) == len(route.links)
        links = "these links" if every else listed(added)
        share += f"; {links} {'was' if len(added) == 1 and not every else 'were'} added by attributes"
    return f"{through} ({share})"


def lines_of(explanation: "Explanation") -> list[str]:
    """The whole explanation: score, rank, walks, links, and the sum."""
    lines = [headline(explanation), explanation.reason(), ""]
    lines += _walks(explanation)
    edges = [edge for edge in explanation.edges.values() if edge.kind != "self-loop"]
    if edges:
        ends = [joined(explanation, [edge.source, edge.target]) for edge in edges]
        width = max(map(len, ends))
        about = [_about(edge) for edge in edges]
        if len(set(about)) == 1:
            lines += ["", f"links on these walks: {'each ' if len(about) > 1 else ''}{about[0]}"]
        else:
            lines += ["", "links on these walks (~ added by attributes):"]
            lines += [f"  {end:<{width}}  {each}" for end, each in zip(ends, about, strict=True)]
    return [*lines, "", *_background(explanation), _sum(explanation)]


def headline(explanation: "PairExplanation") -> str:
    """The pair, its score and its rank."""
    u, v = (explanation.name(node) for node in explanation.pair)
    return f"{u} and {v}: score {explanation.score:.3g}{_rank(explanation)}"


def sum_of(terms: Sequence[tuple[float, str]], score: float) -> str:
    """``0.3 (what it is) - 0.1 (what else) = 0.2``."""
    first, *others = terms
    text = f"{first[0]:.4g} ({first[1]})"
    for value, name in others:
        text += f" {'-' if value < 0 else '+'} {abs(value):.4g} ({name})"
    return f"{text} = {score:.4g}"


def joined(explanation: "Explanation", nodes: Sequence[int]) -> str:
    """The nodes of a walk by name, with ``~`` for a link added by attributes and ``(stays)`` for a self-loop."""
    text = explanation.name(nodes[0])
    for a, b in pairwise(nodes):
        if a == b:
            text += " (stays)"
            continue
        line = "~" if explanation.edge(a, b).kind == "attributes" else "-"
        text += f" {line}{'>' if explanation.graph.directed else ''} {explanation.name(b)}"
    return text


def listed(names: list[str]) -> str:
    """``a, b and c``, or ``a, b and 4 more``."""
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} more"]
    return enumeration(names)


def printable(text: str) -> str:
    """Text from outside on one line, without characters that control a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def whole_percent(share: float) -> str:
    """A share in whole percent; a small one is not printed as 0%, nor an almost complete one as 100%."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 - 1e-9 else f"{share:.0%}"


def _steps(explanation: "Explanation") -> str:
    steps = explanation.steps
    return f"{'up to ' if explanation.every_length and steps > 1 else ''}{steps} step{'s' if steps > 1 else ''}"


def _ends(explanation: "Explanation", a: int, b: int) -> str:
    return f"{explanation.name(a)} {'->' if explanation.graph.directed else '-'} {explanation.name(b)}"


def _straight(explanation: "Explanation", share: str) -> str:
    link = explanation.edge(*explanation.routes[0].links[0])
    if link.kind == "observed":
        return f"already linked to each other ({share})"
    names = ", ".join(printable(name) for name, _ in link.attributes[:MOST_ATTRIBUTES])
    return f"similar attributes (weight {link.weight:.2g}{'; ' if names else ''}{names})"


def _rank(explanation: "PairExplanation") -> str:
    if explanation.same_side:
        return "; both are on the same side of the bipartite graph, and such pairs are never suggested"
    if explanation.rank is None:
        return "; already linked" if explanation.linked else ""
    tied = f", tied with {explanation.tied:,} more" if explanation.tied else ""
    across = "" if explanation.graph.sides is None else " across the two sides"
    rank = f"rank {explanation.rank:,} of {explanation.candidates:,} unlinked pairs{across}{tied}"
    return f"; already linked, would be {rank}" if explanation.linked else f", {rank}"


def number_of_walks(explanation: "Explanation") -> str:
    """How many walks join the pair."""
    count = explanation.number_of_walks
    if count == 0:
        return f"no walk of {_steps(explanation)} joins them"
    return (
        f"{_count(count)} walk{'s' if count > 1 else ''} of {_steps(explanation)} join{'' if count > 1 else 's'} them"
    )


def _count(count: int) -> str:
    return f"{count:,}" if count < 2**53 else f"about {count:.1e}"


def _walks(explanation: "Explanation") -> list[str]:
    count, shown = explanation.number_of_walks, len(explanation.walks)
    if count == 0:
        return [number_of_walks(explanation)]
    lines = [f"{number_of_walks(explanation)}, worth {explanation.walk_total:.3g} in total"]
    for walk in explanation.walks:
        lines.append(f"  {walk.value:10.3g} {whole_percent(walk.share):>5}  {joined(explanation, walk.nodes)}")
    if count > shown:
        share = whole_percent(explanation.rest / explanation.walk_total) if explanation.walk_total else "0%"
        other = f"{_count(count - shown)} other walk{'s' if count - shown > 1 else ''}"
        lines.append(f"  {explanation.rest:10.3g} {share:>5}  {other}")
    return lines


def _about(edge: "Edge") -> str:
    kind = "observed" if edge.kind == "observed" else "added by attributes"
    facts = [kind, f"weight {edge.weight:.3g}"]
    if edge.learned is not None:
        facts.append(f"learned weight {edge.learned:.2g}")
    if edge.similarity is not None:
        facts.append(f"similarity {edge.similarity:.2g}")
    support = ", ".join(f"{printable(name)} (+{effect:.2g})" for name, effect in edge.attributes)
    return ", ".join(facts) + (f"; supported by {support}" if support else "")


def _background(explanation: "Explanation") -> list[str]:
    if explanation.background < 0:
        return ["the background, subtracted here, is what walks between nodes with this many links reach by chance"]
    if explanation.background > 0:
        return ["the background is the product of their degrees"]
    return ["there is no background: the score is the sum of the walks"]


def _sum(explanation: "Explanation") -> str:
    terms = [(sum(walk.value for walk in explanation.walks), "the walks above")]
    if explanation.number_of_walks > len(explanation.walks):
        terms.append((explanation.rest, "other walks"))
    if explanation.background:
        terms.append((explanation.background, "background"))
    return sum_of(terms, explanation.score)

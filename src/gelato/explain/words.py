"""An explanation in words: a sentence for a table, and all of it for a terminal."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gelato.explain.record import Edge, Explanation

TOLD = 3
"""Attributes named in the sentence at most."""


def reason_of(explanation: "Explanation") -> str:
    """Why the pair scores what it scores, in one short sentence: its heaviest route."""
    if not explanation.routes:
        if explanation.background > 0:
            return "only how many links they have counts here"
        return f"no walk of {_steps(explanation)} joins them"
    route = explanation.routes[0]
    share = f"{percent(route.share)} of the walks"
    if not route.between:
        return _straight(explanation, share)
    names = [explanation.name(node) for node in route.between]
    both = len(names) == 1 and not explanation.graph.directed
    said = f"both linked to {names[0]}" if both else f"linked through {listed(names)}"
    made = [_ends(explanation, a, b) for a, b in route.links if explanation.edge(a, b).kind == "attributes"]
    if made:
        told = (
            f"{listed(made)} {'is' if len(made) == 1 else 'are'}"
            if len(made) < len(route.links)
            else "all these links are"
        )
        share += f"; {told} made by attributes"
    return f"{said} ({share})"


def lines_of(explanation: "Explanation") -> list[str]:
    """The whole explanation: score, place, walks, links, and the sum."""
    u, v = (explanation.name(node) for node in explanation.pair)
    lines = [f"{u} and {v}: score {explanation.score:.3g}{_place(explanation)}", explanation.reason(), ""]
    lines += _walks(explanation)
    edges = [edge for edge in explanation.edges.values() if edge.kind != "self-loop"]
    if edges:
        ends = [joined(explanation, [edge.source, edge.target]) for edge in edges]
        width = max(map(len, ends))
        made = [_made_of(edge) for edge in edges]
        if len(set(made)) == 1:
            lines += ["", f"each of the links: {made[0]}"]
        else:
            lines += ["", "the links (~ made by attributes)"]
            lines += [f"  {end:<{width}}  {each}" for end, each in zip(ends, made, strict=True)]
    return [*lines, "", *_background(explanation), _sum(explanation)]


def joined(explanation: "Explanation", nodes: Sequence[int]) -> str:
    """The names of the nodes of a walk, with ``~`` for a link that attributes made; at a self-loop a walk stays."""
    said = explanation.name(nodes[0])
    for a, b in pairwise(nodes):
        if a == b:
            said += " (stays)"
            continue
        line = "~" if explanation.edge(a, b).kind == "attributes" else "-"
        said += f" {line}{'>' if explanation.graph.directed else ''} {explanation.name(b)}"
    return said


def listed(names: list[str]) -> str:
    """``a, b and c``, or ``a, b and 4 more``."""
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def plain(text: str) -> str:
    """Text from outside on one line, without what would steer a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def percent(share: float) -> str:
    """A share without digits that tell nothing: what is small is not nothing, what is most is not all."""
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
        return f"linked to one another ({share})"
    names = ", ".join(plain(name) for name, _ in link.attributes[:TOLD])
    return f"alike in attributes (weight {link.weight:.2g}{'; ' if names else ''}{names})"


def _place(explanation: "Explanation") -> str:
    if explanation.rank is None:
        return "; they are linked" if explanation.linked else ""
    tied = f", tied with {explanation.tied:,}" if explanation.tied else ""
    place = f"rank {explanation.rank:,} of {explanation.candidates:,} unlinked pairs{tied}"
    return f"; they are linked, as an unlinked pair {place}" if explanation.linked else f", {place}"


def number_of_walks(explanation: "Explanation") -> str:
    """How many walks there are."""
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
    lines = [f"{number_of_walks(explanation)}, worth {explanation.walk_total:.3g} together"]
    for walk in explanation.walks:
        lines.append(f"  {walk.value:10.3g} {percent(walk.share):>5}  {joined(explanation, walk.nodes)}")
    if count > shown:
        share = percent(explanation.rest / explanation.walk_total) if explanation.walk_total else "0%"
        other = f"{_count(count - shown)} other walk{'s' if count - shown > 1 else ''}"
        lines.append(f"  {explanation.rest:10.3g} {share:>5}  {other}")
    return lines


def _made_of(edge: "Edge") -> str:
    kind = "observed" if edge.kind == "observed" else "made by attributes"
    parts = [f"{kind}, weight {edge.weight:.3g}"]
    if edge.learned is not None:
        parts.append(f"learned {edge.learned:.2g}")
    if edge.similarity is not None:
        parts.append(f"similarity {edge.similarity:.2g}")
    told = ", ".join(f"{plain(name)} +{effect:.2g}" for name, effect in edge.attributes)
    return ", ".join(parts) + (f"; for it speak {told}" if told else "")


def _background(explanation: "Explanation") -> list[str]:
    if explanation.background < 0:
        return ["the background is what walks between two nodes with so many links reach by chance; it is taken off"]
    if explanation.background > 0:
        return ["the background is the product of how many links both have"]
    return ["this score has no background: it is its walks"]


def _sum(explanation: "Explanation") -> str:
    terms = [(sum(walk.value for walk in explanation.walks), "the walks above")]
    if explanation.number_of_walks > len(explanation.walks):
        terms.append((explanation.rest, "other walks"))
    if explanation.background:
        terms.append((explanation.background, "background"))
    first, *others = terms
    said = f"{first[0]:.4g} ({first[1]})"
    for value, name in others:
        said += f" {'-' if value < 0 else '+'} {abs(value):.4g} ({name})"
    return f"{said} = {explanation.score:.4g}"

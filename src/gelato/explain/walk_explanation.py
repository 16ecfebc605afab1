"""The record of an explanation: the score of one pair, split into walks and what does not come from walks."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

from gelato.explain.contract import PairExplanation, listed, printable, sum_text, whole_percent
from gelato.explain.pictures import draw_walks
from gelato.explain.walks import Route

MOST_ATTRIBUTES = 3
"""Attributes named in a reason at most."""

ADDED = "added for similar attributes"
"""What is said of a link that was not observed."""

Kind = Literal["observed", "attributes", "self-loop"]


@dataclass(frozen=True)
class WalkedLink:
    """A link that walks follow.

    Attributes:
        source, target: where it begins, the smaller node if links have no direction, and where it ends.
        kind: observed; added because of similar attributes; or a self-loop, where a walk waits.
        weight: of the link in the graph that is walked on; if the first step weighs links differently from later
            ones, the weight in the observed (or enhanced) graph.
        learned, similarity: the weight ``w`` that the model learned, and the similarity of the attributes, if known.
        attributes: those that support the link most, each with what the weight would lose without it.
    """

    source: int
    target: int
    kind: Kind
    weight: float
    learned: float | None = None
    similarity: float | None = None
    attributes: tuple[tuple[str, float], ...] = ()

    def about(self) -> str:
        """What is known of the link, in words."""
        facts = ["observed" if self.kind == "observed" else ADDED, f"weight {self.weight:.3g}"]
        if self.learned is not None:
            facts.append(f"learned weight {self.learned:.2g}")
        if self.similarity is not None:
            facts.append(f"similarity {self.similarity:.2g}")
        support = ", ".join(f"{printable(name)} (+{effect:.2g})" for name, effect in self.attributes)
        return ", ".join(facts) + (f"; supported by {support}" if support else "")


@dataclass(frozen=True)
class WalkPart:
    """One walk: its nodes, what it adds to the score, and its share of what all walks add."""

    nodes: tuple[int, ...]
    value: float
    share: float


@dataclass(frozen=True, eq=False, kw_only=True)
class WalkExplanation(PairExplanation):
    """Why a pair has its score, by walks: ``score = values of the listed walks + rest + background``.

    Attributes:
        walks: the heaviest walks that join them, heaviest first.
        number_of_walks, walk_total: how many walks there are, listed or not, and what all of them add to the score.
        rest: what the walks that are not listed add.
        background: the part of the score that does not come from walks.
        routes: the nodes that the listed walks pass through, each route with the total of all its walks.
        edges: the links that the listed walks follow, by their ends: ``(a, b)``, with ``a <= b`` unless directed.
        steps, every_length: length of the walks, in steps, and whether shorter walks count too.
    """

    walks: tuple[WalkPart, ...]
    number_of_walks: int
    walk_total: float
    rest: float
    background: float
    routes: tuple[Route, ...]
    edges: dict[tuple[int, int], WalkedLink]
    steps: int
    every_length: bool

    def edge(self, a: int, b: int) -> WalkedLink:
        """The link that a listed walk follows from ``a`` to ``b``."""
        return self.edges[(a, b) if self.graph.directed else (min(a, b), max(a, b))]

    def reason(self) -> str:
        if not self.routes:
            return "scored only by how many links each has" if self.background > 0 else self.counted()
        route = self.routes[0]
        share = f"{whole_percent(route.share)} of the walks"
        if not route.between:
            return self._straight(share)
        names = [self.name(node) for node in route.between]
        both = len(names) == 1 and not self.graph.directed
        through = f"both linked to {names[0]}" if both else f"linked through {listed(names)}"
        arrow = "->" if self.graph.directed else "-"
        added = [link for link in (self.edge(a, b) for a, b in route.links) if link.kind == "attributes"]
        new = [f"{self.name(a)} {arrow} {self.name(b)}" for a, b in route.links if self.edge(a, b) in added]
        if new:
            every = len(new) == len(route.links)
            links = "these links" if every else listed(new)
            share += f"; {links} {'was' if len(new) == 1 and not every else 'were'} {ADDED}{_which(added)}"
        return f"{through} ({share})"

    def _straight(self, share: str) -> str:
        link = self.edge(*self.routes[0].links[0])
        if link.kind == "observed":
            return f"already linked to each other ({share})"
        return f"similar attributes{_which([link])} (weight {link.weight:.2g})"

    def lines(self) -> list[str]:
        alone = self.number_of_walks == 0 and self.background > 0  # no walk has a part in it
        terms = [] if alone else [(sum(walk.value for walk in self.walks), "the walks above")]
        if self.number_of_walks > len(self.walks):
            terms.append((self.rest, "other walks"))
        about = "the score is the sum of the walks"
        if self.background > 0:
            terms.append((self.background, "their links"))
            about = "the score grows with how many links each of them has: these numbers are multiplied"
        if self.background < 0:
            terms.append((self.background, "expected by chance"))
            about = "what walks between nodes with this many links reach by chance is taken off"
        walks = ["", *self._walk_lines(), *self._link_lines()] if not alone else []
        return [self.headline(), self.reason(), *walks, "", about, sum_text(terms, self.score)]

    def _walk_lines(self) -> list[str]:
        others = self.number_of_walks - len(self.walks)
        if self.number_of_walks == 0:
            return [self.counted()]
        lines = [f"{self.counted()}, worth {self.walk_total:.3g} in total"]
        for walk in self.walks:
            lines.append(f"  {walk.value:10.3g} {whole_percent(walk.share):>5}  {self.walk_text(walk.nodes)}")
        if others > 0:
            share = whole_percent(self.rest / self.walk_total) if self.walk_total else "0%"
            lines.append(f"  {self.rest:10.3g} {share:>5}  {_count(others)} other walk{'s' if others > 1 else ''}")
        return lines

    def _link_lines(self) -> list[str]:
        edges = [edge for edge in self.edges.values() if edge.kind != "self-loop"]
        if not edges:
            return []
        about = [edge.about() for edge in edges]
        if len(set(about)) == 1:
            return ["", f"links on these walks: {'each ' if len(about) > 1 else ''}{about[0]}"]
        ends = [self.walk_text([edge.source, edge.target]) for edge in edges]
        width = max(map(len, ends))
        rows = [f"  {end:<{width}}  {each}" for end, each in zip(ends, about, strict=True)]
        return ["", f"links on these walks (~ {ADDED}):", *rows]

    def counted(self) -> str:
        """How many walks join the pair."""
        steps = f"{'up to ' if self.every_length and self.steps > 1 else ''}{self.steps} step"
        steps += "s" if self.steps > 1 else ""
        count = self.number_of_walks
        if count == 0:
            return f"no walk of {steps} joins them"
        return f"{_count(count)} walk{'s' if count > 1 else ''} of {steps} join{'' if count > 1 else 's'} them"

    def walk_text(self, nodes: Sequence[int]) -> str:
        """The nodes of a walk by name, with ``~`` for an added link and ``(stays)`` for a self-loop."""
        text = self.name(nodes[0])
        for a, b in pairwise(nodes):
            if a == b:
                text += " (stays)"
                continue
            line = "~" if self.edge(a, b).kind == "attributes" else "-"
            text += f" {line}{'>' if self.graph.directed else ''} {self.name(b)}"
        return text

    def svg(self) -> str:
        return draw_walks(self)

    def as_json(self) -> dict[str, Any]:
        plain = ("steps", "every_length", "number_of_walks", "walk_total", "rest", "background")
        edges = []
        for edge in self.edges.values():
            source, target = self._names([edge.source, edge.target])
            attributes = [{"name": name, "effect": effect} for name, effect in edge.attributes]
            edges.append({**asdict(edge), "source": source, "target": target, "attributes": attributes})
        return {
            **super().as_json(),
            **{name: getattr(self, name) for name in plain},
            "walks": [{**asdict(walk), "nodes": self._names(walk.nodes)} for walk in self.walks],
            "routes": [
                {"between": self._names(route.between), "value": route.value, "share": route.share}
                for route in self.routes
            ],
            "edges": edges,
        }


def _which(links: Sequence[WalkedLink]) -> str:
    """The attributes that support some links most, the same ones once, after a colon; empty if none are known."""
    effects: dict[str, float] = {}
    for name, effect in (each for link in links for each in link.attributes):
        effects[name] = effects.get(name, 0.0) + effect
    names = sorted(effects, key=lambda name: -effects[name])[:MOST_ATTRIBUTES]
    return ": " + ", ".join(map(printable, names)) if names else ""


def _count(count: int) -> str:
    return f"{count:,}" if count < 2**53 else f"about {count:.1e}"

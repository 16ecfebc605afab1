"""What a report holds, all plain data: the page is a function of this and of nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gelato.report.measure import Measured


@dataclass(frozen=True)
class GraphFacts:
    """The graph at a glance; ``facts_of`` fills it in.

    Attributes:
        n, m, f: number of nodes, links and attributes.
        directed, weighted: what kind of graph it is.
        mean_degree, max_degree: links of a node, in both directions where they have one.
        isolated: nodes without a link.
        components: pieces that no link joins.
        pairs: number of pairs that could be links.
        steps, reached: the share of all pairs that a walk of so many steps joins, or ``None``.
        degrees: ``(degree, nodes that have it)``, ascending.
    """

    n: int
    m: int
    f: int
    directed: bool
    weighted: bool
    mean_degree: float
    max_degree: int
    isolated: int
    components: int
    pairs: int
    steps: int = 3
    reached: float | None = None
    degrees: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Suggestion:
    """One suggested link.

    Attributes:
        rank, source, target, score: its place, its ends by name, and its score.
        precision, low, high: the share of right ones to expect up to this suggestion, and its interval.
        reason: why, in a few words.
        explanation_lines: why at length, as lines of text; spaces at their beginning are kept.
        picture: an ``<svg>`` element made by this package, all text in it escaped, or nothing.
    """

    rank: int
    source: str
    target: str
    score: float
    precision: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    explanation_lines: Sequence[str] = ()
    picture: str = ""


@dataclass(frozen=True)
class Report:
    """All that a page shows; what is left empty is left out of it.

    Attributes:
        title: of the page.
        facts: the graph at a glance.
        measured: what ``measure`` found.
        history: one mapping an epoch with ``epoch``, ``loss``, ``precision`` and ``seconds``.
        best_epoch: the epoch that was kept.
        remarks: what else is worth knowing of the model, in sentences.
        suggestions: best first.
        precision_words: what precision to expect, in sentences for everyone.
        precision_curve: ``(k, expected, low, high)`` of the first ``k`` suggestions.
        settings, seeds, versions: by name.
        timings: seconds by name.
        memory_bytes: the largest resident size.
        command: what made the page.
    """

    title: str
    facts: GraphFacts | None = None
    measured: Measured | None = None
    history: Sequence[Mapping[str, Any]] = ()
    best_epoch: int | None = None
    remarks: Sequence[str] = ()
    suggestions: Sequence[Suggestion] = ()
    precision_words: Sequence[str] = ()
    precision_curve: Sequence[tuple[int, float, float, float]] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    memory_bytes: int | None = None
    command: str | None = None

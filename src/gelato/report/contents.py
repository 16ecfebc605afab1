"""The contents of a report, as plain data: the page is a function of these and nothing else."""

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
        mean_degree, max_degree: number of links per node, counting both directions if the graph is directed.
        isolated: number of nodes without links.
        components: number of connected components.
        pairs: number of pairs that could be links; on a bipartite graph those across.
        steps, reached: length of walks, and the share of all pairs that they join, or ``None``.
        degrees: ``(degree, number of nodes with it)``, ascending.
        sides: number of nodes on each side of a bipartite graph, or ``None``.
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
    sides: Sequence[int] | None = None


@dataclass(frozen=True)
class Suggestion:
    """One suggested link.

    Attributes:
        rank, source, target, score: its rank, the names of its ends, and its score.
        chance, low, high: the chance that it is right, and its interval.
        reason: the reason, in a few words.
        explanation_lines: the explanation, as lines of text; leading spaces are kept.
        picture: an ``<svg>`` element made by this package, with all text escaped, or an empty string.
    """

    rank: int
    source: str
    target: str
    score: float
    chance: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    explanation_lines: Sequence[str] = ()
    picture: str = ""


@dataclass(frozen=True)
class Report:
    """Everything that a page shows; sections without content are left out.

    Attributes:
        title: title of the page.
        facts: the graph at a glance.
        measured: the result of ``measure``.
        history: one mapping per epoch with ``epoch``, ``loss``, ``precision`` and ``seconds``.
        selected_by: what ``precision`` is, on validation links.
        best_epoch: the epoch that was kept.
        remarks: what else is worth knowing of the model, in sentences.
        suggestions: best first.
        precision_words: the precision to expect, in plain sentences.
        precision_curve: ``(k, expected, low, high)`` for the first ``k`` suggestions.
        settings, seeds, versions: by name.
        timings: seconds by name.
        memory_bytes: peak memory.
        command: the command that made the page.
    """

    title: str
    facts: GraphFacts | None = None
    measured: Measured | None = None
    history: Sequence[Mapping[str, Any]] = ()
    selected_by: str = "precision@100%"
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

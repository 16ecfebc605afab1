"""The contents of a report, as plain data, the graph at a glance among them: the page is a function of these alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from gelato.graph import Graph
from gelato.methods import REFERENCE, make
from gelato.ranking.rank import explicit_pairs
from gelato.regimes import Candidates
from gelato.report.measurements import Measurements


@dataclass(frozen=True)
class GraphFacts:
    """The graph at a glance; ``facts_of`` fills it in.

    Attributes:
        n, m, f: number of nodes, links and attributes.
        directed, weighted: what kind of graph it is.
        mean_degree, max_degree: number of links per node, counting both directions if the graph is directed.
        isolated, components: number of nodes without links, and of connected components.
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


def facts_of(graph: Graph, *, steps: int = 3, threads: int | None = None) -> GraphFacts:
    """Sizes, degrees and components of a graph, and how many pairs its walks of some steps join."""
    links = graph.pattern
    degree = np.diff(links.indptr)
    if graph.directed:
        degree = degree + np.bincount(links.indices, minlength=graph.n)
    value, nodes = np.unique(degree, return_counts=True)
    components, _ = connected_components(links, directed=graph.directed, connection="weak")
    none = np.empty((0, 2), np.int64)
    every = Candidates(graph.n, graph.directed, none, none, sides=graph.sides)
    scores = make(REFERENCE, steps=steps).fit(graph).scores()
    return GraphFacts(
        *(graph.n, graph.m, graph.f, graph.directed, graph.weighted),
        mean_degree=float(degree.mean()),
        max_degree=int(degree.max()),
        isolated=int((degree == 0).sum()),
        components=int(components),
        pairs=every.negatives,
        steps=steps,
        reached=explicit_pairs(scores, every, threads=threads) / every.negatives,
        degrees=tuple(zip(value.tolist(), nodes.tolist(), strict=True)),
        sides=None if graph.sides is None else tuple(np.bincount(graph.sides).tolist()),
    )


@dataclass(frozen=True)
class Suggestion:
    """One suggested link.

    Attributes:
        rank, source, target, score: its rank, the names of its ends, and its score.
        chance, low, high: the chance that it is right, and its interval.
        reason, explanation_lines: the reason in a few words, and the explanation as lines; leading spaces are kept.
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
        title, facts, measured: title of the page, the graph at a glance, and the result of ``measure``.
        history: one mapping per epoch with ``epoch``, ``loss``, ``precision`` and ``seconds``.
        selected_by, best_epoch: what ``precision`` is, on validation links, and the epoch that was kept.
        remarks: what else is worth knowing of the model, in sentences.
        suggestions: best first.
        precision_words, precision_curve: what to expect, in sentences and as ``(k, expected, low, high)``.
        settings, seeds, versions, timings: by name; timings in seconds.
        memory_bytes, command: peak memory, and the command that made the page.
    """

    title: str
    facts: GraphFacts | None = None
    measured: Measurements | None = None
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

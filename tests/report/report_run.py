"""A real small run for the report: the embedded graph, three epochs, hostile names among the suggested links."""

from dataclasses import asdict, replace
from html import escape

import numpy as np

from gelato import Gelato, __version__, load, split, top
from gelato.report import Report, Suggestion, facts_of, measure

HOSTILE = ("<script>window.flag = 1</script>", '"><img src=x onerror="window.flag = 2">')
HOSTILE_REASON = "</script></template><script>window.flag = 3</script>"


def picture(names):
    """A stand-in for the pictures of explanations: a path of nodes, their names escaped."""
    spots = [(20 + 90 * i, 30) for i in range(len(names))]
    line = " ".join(f"{x},{y}" for x, y in spots)
    dots = "".join(
        f'<circle cx="{x}" cy="{y}" r="5"/><text x="{x}" y="{y + 20}" font-size="10">{escape(name)}</text>'
        for (x, y), name in zip(spots, names, strict=True)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 60" fill="currentColor">'
        f'<polyline points="{line}" fill="none" stroke="currentColor"/>{dots}</svg>'
    )


def walks_between(graph, u, v):
    """Some walks of three steps between two nodes."""
    A = graph.adjacency
    ends = set(A.indices[A.indptr[v] : A.indptr[v + 1]].tolist())
    for a in A.indices[A.indptr[u] : A.indptr[u + 1]].tolist():
        for b in A.indices[A.indptr[a] : A.indptr[a + 1]].tolist():
            if b in ends:
                yield [u, a, b, v]


def suggested(graph, links):
    """Suggestions with stand-in explanations from real walks."""
    for i, ((u, v), score) in enumerate(zip(links.pairs.tolist(), links.score.tolist(), strict=True), start=1):
        walks = [[str(graph.name_of(node)) for node in walk] for walk in walks_between(graph, u, v)]
        yield Suggestion(
            rank=i,
            source=str(graph.name_of(u)),
            target=str(graph.name_of(v)),
            score=score,
            chance=None if i == 7 else 0.3 / i**0.5,
            low=0.2 / i**0.5,
            high=0.4 / i**0.5,
            reason=HOSTILE_REASON if i == 5 else f"{len(walks)} walks of three steps",
            explanation_lines=[f"{len(walks)} walks join them", *("  " + " - ".join(walk) for walk in walks[:3])],
            picture=picture(walks[0]) if walks else "",
        )


def quick_report():
    """The whole report of a quick run."""
    graph = load("debian-sample")
    parts = split(graph)
    model = Gelato(eta=0.25, alpha=0.5, beta=0.5, self_loops="isolated", epochs=3).fit(parts)
    links = top(model.scores(), graph, 120)
    names = np.array(graph.names, dtype=object)
    names[links.pairs[3]] = HOSTILE
    return Report(
        title="Missing links of debian-sample",
        facts=facts_of(graph),
        measured=measure(parts, model.scores(), name="gelato", dataset="debian-sample", methods=("ac", "aa", "cn")),
        history=[asdict(epoch) for epoch in model.history_],
        best_epoch=model.best_epoch_,
        remarks=model.sentences(),
        suggestions=list(suggested(replace(graph, names=names), links)),
        precision_words=["When one link in ten was hidden, 9 of the first 100 suggestions were hidden (5 to 13)."],
        precision_curve=[(10, 0.2, 0.05, 0.4), (100, 0.09, 0.05, 0.13)],
        settings=model.settings.as_dict(),
        seeds={"split": "paper", "training": 0},
        versions={"gelato": __version__},
        timings={"training": 3.21, "testing": 0.8},
        memory_bytes=412_000_000,
        command="gelato report debian-sample --out page.html",
    )

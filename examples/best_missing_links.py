"""The best missing links of a graph, by name."""

from gelato import HEURISTICS, load, top

graph = load("debian-sample")
links = top(HEURISTICS["ac"](graph), graph, 20)
for (u, v), score in zip(links.pairs, links.score, strict=True):
    print(f"{score:.3g}  {graph.name_of(u)} - {graph.name_of(v)}")

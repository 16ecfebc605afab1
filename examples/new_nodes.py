"""A trained model for nodes it has never seen: new nodes that have attributes but no links, and another graph.

Nothing is retrained. Attributes are matched by the names of their columns.
"""

import numpy as np

from gelato import Gelato, Graph, load


def part_of(graph, kept):
    """Some nodes of a graph, with the links between them."""
    links, about = graph.adjacency[kept][:, kept], graph.attributes[kept]
    return Graph(links, about, names=graph.names[kept], attribute_names=graph.attribute_names)


graph = load("debian-sample")
whole = part_of(graph, graph.labels != "math")  # packages for Python and science
new = np.zeros(whole.n, dtype=bool)
new[np.random.default_rng(0).choice(whole.n, 50, replace=False)] = True
model = Gelato(eta=0.5, alpha=0.5, beta=0.5, self_loops="all", epochs=3).fit(part_of(whole, ~new))

# New nodes: 50 packages added later. Their descriptions are known; their links are to be found.
truth = whole.edges[new[whole.edges].any(axis=1)]
known = model.on(whole.without(truth))
links = known.suggest(5, per_node=True, nodes=whole.names[new], repeats=0, reasons=False)
right = whole.adjacency[links.pairs[:, 0], links.pairs[:, 1]] != 0
chance = 5 * whole.adjacency[new].nnz / (whole.n - 1)
print(f"{len(links)} links suggested for 50 new nodes, {right.sum()} are right, {chance:.1f} expected by chance")

# Another graph: packages for mathematics, none of which the model has seen.
print("the best missing links of another graph")
for first, second, score in model.on(part_of(graph, graph.labels == "math")).suggest(5, repeats=0, reasons=False):
    print(f"  {first} - {second}  {score:.3g}")

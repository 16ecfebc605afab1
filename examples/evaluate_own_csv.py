"""Your own edge list and attribute table, tested against every pair."""

import tempfile
from pathlib import Path

from gelato import evaluate, load, read_graph, split, write_graph
from gelato.io import write_table

with tempfile.TemporaryDirectory() as folder:
    edges, nodes = Path(folder, "edges.csv"), Path(folder, "nodes.csv.gz")
    sample = load("debian-sample")  # stands in for your files
    write_graph(sample, edges)
    write_table(nodes, ["node", "section"], zip(sample.names, sample.labels, strict=True))

    graph = read_graph(edges, attributes=nodes)

print(graph)
parts = split(graph, seed=1)
for method in ("cn", "aa", "cosine", "ac"):
    result = evaluate(parts, method)
    print(f"{method:>7}: AP {result.metric('ap'):.2%}, hits@1000 {result.metric('hits@1000'):.2%}")

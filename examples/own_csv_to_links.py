"""From two CSV files to a list of missing links: each with a reason, and the precision to expect.

The same in the shell:
    gelato predict edges.csv --source package --target needs --attributes nodes.csv --top 50 --out links.csv
which takes the best of several methods; with --method gelato it trains Gelato, as below.
"""

import csv
import tempfile
from pathlib import Path

from gelato import Gelato, load, read_graph

with tempfile.TemporaryDirectory() as folder:
    edges, nodes, out = (Path(folder, name) for name in ("edges.csv", "nodes.csv", "links.csv"))

    # Your files: one link per row, and one node per row with anything known about it.
    sample = load("debian-sample")
    with edges.open("w", newline="") as file:
        names = [(sample.name_of(u), sample.name_of(v)) for u, v in sample.edges]
        csv.writer(file).writerows([("package", "needs"), *names])
    with nodes.open("w", newline="") as file:
        words = [" ".join(sample.attribute_names[row.indices]) or "undescribed" for row in sample.attributes]
        rows = zip(sample.names, sample.labels, words, strict=True)
        csv.writer(file).writerows([("package", "section", "description"), *rows])

    graph = read_graph(edges, attributes=nodes, source="package", target="needs")
    print(graph)
    model = Gelato(eta=0.25, alpha=0.75, beta=1.0, self_loops="isolated", epochs=3).fit(graph)
    links = model.suggest(50, repeats=2)  # hides links twice to see how many of them are found
    links.write(out)

    print(links.words()[-1], end="\n\n")
    print(*out.read_text().splitlines()[:6], sep="\n")

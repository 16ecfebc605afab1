"""Attribute tables that cannot be read or do not fit the links."""

import gzip

from faults.case import Case

EDGES = "a,b\nb,c\nc,d\nd,a\na,c\n"


def bad(name, content, fragment, file="n.csv", command="predict", options="--method cn"):
    args = f"{command} g.csv --attributes {file} {options} --quiet"
    return Case(f"attributes: {name}", args, fragment, {"g.csv": EDGES, file: content})


CASES = [
    Case("attributes: no file", "predict g.csv --attributes n.csv --method cn", "n.csv", {"g.csv": EDGES}),
    bad("empty", "", "empty"),
    bad("only a header", "node,x\n", "only a header"),
    bad("only names", "node\na\nb\nc\nd\n", "n.csv"),
    bad("uneven rows", "node,x\na,1\nb,2,3\n", "line 3"),
    bad("a node twice", "node,x\na,1\na,2\nb,1\nc,1\nd,1\n", "'a'"),
    bad("a node is missing", "node,x\na,1\nb,2\nc,3\n", "'d'"),
    bad("no node is there", "node,x\nw,1\nx,2\ny,3\nz,4\n", "n.csv"),
    bad("an empty name", "node,x\na,1\n,2\nb,1\nc,1\nd,1\n", "n.csv"),
    bad("not UTF-8", b"node,x\na,\xff\nb,1\nc,1\nd,1\n", "UTF-8"),
    bad("an open quote", 'node,x\na,"1\nb,2\n', "quote"),
    bad("an unknown suffix", "node,x\na,1\n", "xlsx", file="n.xlsx"),
    bad("two columns of one name", "node,x,x\na,1,1\nb,1,1\nc,1,1\nd,1,1\n", "x"),
    bad("gzip: not gzip", "node,x\na,1\n", "gz", file="n.csv.gz"),
    bad("gzip: half", gzip.compress(b"node,x\na,1\n" * 99)[:-12], "damaged", file="n.csv.gz"),
    bad("a name of 500,000 letters", f"node,x\na,1\nb,1\nc,1\nd,1\n{'e' * 500_000},1\n", "letters"),
    Case(
        "attributes: of an npz file with others",
        "predict graph.npz --attributes n.csv --method cn --quiet",
        "n.csv",
        {"n.csv": "node,x\nq,1\n"},
        ("graph.npz",),
    ),
    Case(
        "attributes: given to a dataset",
        "predict debian-sample --attributes n.csv --method cn",
        "dataset",
        {"n.csv": "node,x\na,1\n"},
    ),
    Case("attributes: source given to a dataset", "predict debian-sample --source a --method cn", "dataset"),
    Case(
        "attributes: a weight column of an npz", "predict graph.npz --weight w --method cn", "npz", {}, ("graph.npz",)
    ),
    Case(
        "attributes: cosine without any", "predict graph.csv --method cosine --quiet", "attributes", {}, ("graph.csv",)
    ),
    Case(
        "attributes: evaluated without any",
        "evaluate graph.csv --method cosine --quiet",
        "attributes",
        {},
        ("graph.csv",),
    ),
    Case(
        "attributes: estimated without any",
        "estimate graph.csv --method cosine --quiet",
        "attributes",
        {},
        ("graph.csv",),
    ),
    Case(
        "attributes: nodes without links",
        "evaluate g.csv --attributes n.csv --method cn --quiet",
        "isolated",
        {"g.csv": EDGES, "n.csv": "node,x\na,1\nb,1\nc,1\nd,1\ne,1\n"},
    ),
    bad("all zero", "node,x\na,0\nb,0\nc,0\nd,0\n", "zero", options="--method cosine"),
]

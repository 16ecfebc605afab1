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
        "evaluate g.csv --attributes n.csv --method cn --isolated refuse --quiet",
        "isolated",
        {"g.csv": EDGES, "n.csv": "node,x\na,1\nb,1\nc,1\nd,1\ne,1\n"},
    ),
    bad("missing cells", "node,x,y\na,1,\nb,,q\nc,1,q\nd,2,r\n", "'y' (1 cell", options="--missing refuse"),
    bad("a policy of no kind", "node,x\na,1\nb,2\nc,3\nd,4\n", "--missing", options="--missing guess"),
    bad("a scale of no kind", "node,x\na,1\nb,2\nc,3\nd,4\n", "--scale", options="--scale log"),
    bad("a kind of no kind", "node,x\na,1\nb,2\nc,3\nd,4\n", "--kind", options="--kind x=colour"),
    bad("a kind without a column", "node,x\na,1\nb,2\nc,3\nd,4\n", "--kind", options="--kind number"),
    bad("a kind of an unknown column", "node,x\na,1\nb,2\nc,3\nd,4\n", "colour", options="--kind colour=text"),
    bad("an unknown key", "node,x\na,1\nb,2\nc,3\nd,4\n", "colour", options="--key colour"),
    bad("a key of others", "node,x\na,1\nb,2\nc,3\nd,4\n", "--key", options="--key x"),
    bad("other nodes altogether", "node,x\np,1\nq,2\nr,3\ns,4\n", "--key"),
    bad("nothing but ids", "node,uuid\na,p1\nb,p2\nc,p3\nd,p4\n", "--kind"),
    bad("a few words among numbers", "node,x\na,1\nb,two\nc,3\nd,4\n", "--kind x=category"),
    bad("all zero", "node,x\na,0\nb,0\nc,0\nd,0\n", "zero", options="--method cosine"),
]

"""Edge lists that cannot be read, as csv, tsv, txt and gzip."""

import gzip
from pathlib import Path

from faults.case import Case

CN = "--method cn --quiet"
GOOD = "a,b\nb,c\nc,d\nd,a\na,c\n"


def bad(name, content, fragment, file="g.csv", options=""):
    """An edge list in a file, read by predict."""
    return Case(f"edges: {name}", f"predict {file} {CN} {options}", fragment, {file: content})


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def dangling(path: Path) -> None:
    path.symlink_to("nowhere.csv")


CASES = [
    Case("edges: no file", f"predict missing.csv {CN}", "there is no such file"),
    Case("edges: a folder", f"predict d.csv {CN}", "folder", {"d.csv": Path.mkdir}),
    Case("edges: a loop of links", f"predict l.csv {CN}", "symbolic links", {"l.csv": loop}),
    Case("edges: a link to nothing", f"predict l.csv {CN}", "there is no such file", {"l.csv": dangling}),
    Case("edges: a name that is too long", f"predict {'x' * 300}.csv {CN}", "too long"),
    Case("edges: an unknown suffix", f"predict g.xyz {CN}", "xyz", {"g.xyz": bytes(range(256))}),
    Case("edges: a spreadsheet", f"predict g.xlsx {CN}", "xlsx", {"g.xlsx": b"PK"}),
    Case("edges: utf-16", f"predict g.csv {CN}", "UTF-16", {"g.csv": GOOD.encode("utf-16")}),
    Case("edges: a pdf", f"predict g.pdf {CN}", "pdf", {"g.pdf": b"%PDF-1.4"}),
    Case("edges: a file in a file", f"predict g.csv/x.csv {CN}", "g.csv/x.csv", {"g.csv": GOOD}),
    bad("empty", "", "empty"),
    bad("only line ends", "\n\n\n", "empty"),
    bad("only a comment", "# nothing\n", "empty"),
    bad("only a header", "source,target\n", "only a header"),
    bad("one column", "a\nb\nc\n", "column"),
    bad("one column and a header", "source\na\nb\n", "g.csv"),
    bad("uneven rows", "a,b\nb,c,d\n", "line 2"),
    bad("a short row", "a,b,1\nb\n", "line 2"),
    bad("an empty cell", "a,b\n,c\n", "line 2"),
    bad("only loops", "a,a\nb,b\n", "self-loops"),
    bad("one node", "a,a\n", "only node"),
    bad("not UTF-8", b"a,b\nb,\xff\n", "UTF-8"),
    bad("UTF-16", GOOD.encode("utf-16"), "g.csv"),
    bad("binary", bytes(range(256)) * 4, "g.csv"),
    bad("nulls", b"\0" * 1000, "g.csv"),
    bad("an open quote", 'a,b\n"b,c\n', "quote"),
    bad("a negative weight", "source,target,weight\na,b,1\nb,c,-1\n", "weight"),
    bad("a weight of zero", "source,target,weight\na,b,1\nb,c,0\n", "weight"),
    bad("a weight that is text", "source,target,weight\na,b,1\nb,c,heavy\n", "heavy"),
    bad("an infinite weight", "source,target,weight\na,b,1\nb,c,inf\n", "inf"),
    bad("a weight of nan", "source,target,weight\na,b,1\nb,c,nan\n", "nan"),
    bad("a weight that overflows", "source,target,weight\na,b,1\nb,c,1e999\n", "1e999"),
    bad("a time that is no date", "source,target,time\na,b,2020-01-01\nb,c,2020-13-45\n", "2020-13-45"),
    bad("a time that is text", "source,target,time\na,b,1\nb,c,late\n", "late"),
    bad("an infinite time", "source,target,time\na,b,1\nb,c,inf\n", "inf"),
    bad("an unknown source column", GOOD, "nope", options="--source nope"),
    bad("an unknown target column", "source,target\na,b\nb,c\n", "nope", options="--target nope"),
    bad("an unknown weight column", "source,target\na,b\nb,c\n", "nope", options="--weight nope"),
    bad("an unknown time column", "source,target\na,b\nb,c\n", "nope", options="--time nope"),
    bad("a column far to the right", "source,target\na,b\nb,c\n", "99", options="--source 99"),
    bad("a column of 20 digits", "source,target\na,b\nb,c\n", "column", options=f"--source {'9' * 20}"),
    bad("a column of 5,000 digits", "source,target\na,b\nb,c\n", "column", options=f"--source {'9' * 5000}"),
    bad("the same column twice", "source,target\na,b\nb,c\n", "source", options="--source source --target source"),
    bad("one name of 500,000 letters", f"a,b\nb,{'x' * 500_000}\n", "letters"),
    bad("two links", "a,b\nb,c\n", "", options="--method gelato"),
    bad("tsv: uneven rows", "a\tb\nb\tc\td\n", "line 2", file="g.tsv"),
    bad("tsv: words", "a\nb\n", "column", file="g.tsv"),
    bad("another delimiter", "a;b\nb;c\n", "--delimiter", options="--delimiter ::"),
    bad("a delimiter that is not there", "a;b\nb;c\n", "--delimiter", options="--delimiter |"),
    bad("a weight below zero", "source,target,weight\na,b,1\nb,c,-2\n", "--negative drop"),
    bad("an empty weight", "source,target,weight\na,b,1\nb,c,\n", "--missing drop"),
    bad("an empty time", "source,target,time\na,b,1\nb,c,\n", "--time none"),
    bad("negative weights of no kind", "source,target,weight\na,b,1\nb,c,2\n", "--negative", options="--negative keep"),
    bad("two kinds with a direction", "a,b\nb,c\n", "--directed", options="--bipartite --directed"),
    bad("among and a source", "source,target\na,b\nb,c\n", "--among", options="--among source,target --source source"),
    bad("among an unknown column", "source,target\na,b\nb,c\n", "colour", options="--among source,colour"),
    bad("targets of unknown columns", "film,actor\nx,y\nz,y\n", "director", options="--target actor,director"),
    bad("an empty node cell", "film,actor\nx,y\nz,\n", "--target"),
    bad("a column beyond the last", "a,b\nb,c\n", "columns 1 to 2", options="--source 3 --target 1"),
    bad("a header that is denied", "source,target\na,b\nb,c\n", "--header", options="--no-header --source source"),
    bad("nodes without links of no kind", "a,b\nb,c\n", "--isolated", options="--isolated maybe"),
    bad("one column of two kinds", "user\n1\n2\n", "column", options="--bipartite"),
    bad("tsv: empty", "", "empty", file="g.tsv"),
    bad("txt: uneven rows", "a b\nb c d\n", "line 2", file="g.txt"),
    bad("txt: one word per row", "a\nb\n", "column", file="g.txt"),
    bad("txt: only comments", "% x\n# y\n", "empty", file="g.txt"),
    bad("gzip: not gzip", GOOD, "gz", file="g.csv.gz"),
    bad("gzip: half", gzip.compress(GOOD.encode() * 50)[:-20], "damaged or incomplete", file="g.csv.gz"),
    bad("gzip: a wrong checksum", gzip.compress(GOOD.encode())[:-6] + b"123456", "gz", file="g.csv.gz"),
    bad("gzip: empty", gzip.compress(b""), "empty", file="g.csv.gz"),
    bad("gzip: no bytes at all", b"", "g.csv.gz", file="g.csv.gz"),
    bad("gzip: of nothing known", gzip.compress(bytes(range(256))), "gz", file="g.xyz.gz"),
    bad("gzip: uneven rows", gzip.compress(b"a,b\nb,c,d\n"), "line 2", file="g.csv.gz"),
    bad("gzip: twice", gzip.compress(gzip.compress(GOOD.encode())), "g.csv.gz", file="g.csv.gz"),
    bad("gzip: garbage inside", b"\x1f\x8b\x08" + b"x" * 100, "g.csv.gz", file="g.csv.gz"),
]

"""npz files and splits: damaged, lying, hostile or of the wrong kind."""

import io
import json
import warnings
import zipfile

import numpy as np

from faults.case import Case

EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
TINY = {"edges": EDGES, "num_nodes": np.int64(4)}
CN = "--method cn --quiet"


def npz(**arrays):
    """An npz file of some arrays; ``None`` leaves one out."""
    file = io.BytesIO()
    np.savez_compressed(file, **{name: each for name, each in (TINY | arrays).items() if each is not None})
    return file.getvalue()


def claiming(shape, dtype="<f8", content=b"", name="x.npy"):
    """An npz file with an array whose header claims a shape."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": shape})
    file = io.BytesIO(npz())
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name twice
        archive.writestr(name, header.getvalue() + content)
    return file.getvalue()


def member(name, content):
    file = io.BytesIO(npz())
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(name, content)
    return file.getvalue()


def bad(name, content, fragment, command="predict"):
    return Case(f"npz: {name}", f"{command} g.npz {CN}", fragment, {"g.npz": content})


def split_file(graph="0" * 64, **changes):
    about = json.dumps({"format": "gelato split 1", "name": "0", "graph": graph})
    arrays = {"about": np.array(about), "valid": EDGES[:1], "test": EDGES[1:2]} | changes
    file = io.BytesIO()
    np.savez(file, **{name: each for name, each in arrays.items() if each is not None})
    return file.getvalue()


def bad_split(name, content, fragment):
    args = "evaluate graph.csv --method cn --split s.npz --quiet"
    return Case(f"split: {name}", args, fragment, {"s.npz": content}, ("graph.csv",))


SPARSE = {"x_data": np.ones(2), "x_indices": np.array([0, 1]), "x_indptr": np.array([0, 1, 2, 2, 2]), "x_shape": [4, 2]}

CASES = [
    bad("no bytes", b"", "g.npz"),
    bad("a page", b"<html></html>", "npz"),
    bad("half", npz()[:200], "npz"),
    bad("no end", npz()[:-30], "npz"),
    bad("a pickle", b"\x80\x04N.", "pickled"),
    bad("an npy file", b"\x93NUMPY\x01\x00v\x00", "npz"),
    bad("an empty archive", b"PK\x05\x06" + b"\0" * 18, "edges"),
    bad("without edges", npz(edges=None), "edges"),
    bad("without num_nodes", npz(num_nodes=None), "num_nodes"),
    bad("flat edges", npz(edges=EDGES.ravel()), "(e, 2)"),
    bad("edges of three ends", npz(edges=np.zeros((3, 3), int)), "(e, 2)"),
    bad("edges of floats", npz(edges=EDGES + 0.5), "integer"),
    bad("edges of text", npz(edges=EDGES.astype(str)), "integer"),
    bad("edges of objects", npz(edges=np.array([[{}, 1]], dtype=object)), "pickled"),
    bad("complex edges", npz(edges=EDGES + 1j), "integer"),
    bad("no edges at all", npz(edges=np.empty((0, 2), int)), "no links"),
    bad("negative nodes", npz(edges=-EDGES - 1), "outside"),
    bad("nodes outside", npz(edges=EDGES + 9), "outside"),
    bad("num_nodes 1e12", npz(num_nodes=np.int64(10**12)), "1,000,000,000,000"),
    bad("num_nodes 2**31 - 1 of 4", npz(num_nodes=np.int64(2**62)), "at most"),
    bad("num_nodes of floats", npz(num_nodes=np.float64(4)), "one integer"),
    bad("num_nodes of two", npz(num_nodes=np.array([4, 4])), "one integer"),
    bad("num_nodes negative", npz(num_nodes=np.int64(-4)), "g.npz"),
    bad("num_nodes of text", npz(num_nodes=np.array("4")), "one integer"),
    bad("one node", npz(edges=np.zeros((1, 2), int), num_nodes=np.int64(1)), "two nodes"),
    bad("short names", npz(names=np.array(["a"])), "names"),
    bad("names twice", npz(names=np.array(["a", "a", "b", "c"])), "same name"),
    bad("names of objects", npz(names=np.array([1, "a", None, ()], dtype=object)), "pickled"),
    bad("names of 500,000 letters", npz(names=np.array(["a", "b", "c", "x" * 500_000])), "letters"),
    bad("names that are not UTF-8", npz(names=np.array([b"a", b"b", b"c", b"\xff"])), "g.npz"),
    bad("names in a table", npz(names=np.array([["a", "b"], ["c", "d"]])), "names"),
    bad("negative weights", npz(weights=-np.ones(5)), "weight"),
    bad("weights of nan", npz(weights=np.full(5, np.nan)), "weight"),
    bad("infinite weights", npz(weights=np.full(5, np.inf)), "weight"),
    bad("short weights", npz(weights=np.ones(2)), "weights"),
    bad("weights of text", npz(weights=np.array(list("abcde"))), "g.npz"),
    bad("complex weights", npz(weights=np.ones(5) * 1j), "g.npz"),
    bad("short times", npz(times=np.ones(2)), "times"),
    bad("times of nan", npz(times=np.full(5, np.nan)), "time"),
    bad("times of text", npz(times=np.array(list("abcde"))), "g.npz"),
    bad("directed of two", npz(directed=np.array([True, False])), "g.npz"),
    bad("short attributes", npz(x=np.ones((2, 3))), "attributes"),
    bad("flat attributes", npz(x=np.ones(4)), "attributes"),
    bad("attributes of nan", npz(x=np.full((4, 2), np.nan)), "finite"),
    bad("attributes of text", npz(x=np.array([["a"]] * 4)), "g.npz"),
    bad("attributes of objects", npz(x=np.array([[{}]] * 4, dtype=object)), "pickled"),
    bad("short labels", npz(y=np.ones(2)), "labels"),
    bad("sparse attributes without a shape", npz(**SPARSE | {"x_shape": None}), "x_shape"),
    bad("sparse attributes outside", npz(**SPARSE | {"x_indices": np.array([0, 9])}), "fit together"),
    bad("sparse attributes that shrink", npz(**SPARSE | {"x_indptr": np.array([0, 2, 1, 2, 2])}), "g.npz"),
    bad("sparse attributes of another shape", npz(**SPARSE | {"x_shape": [9, 2]}), "fit together"),
    bad("sparse attributes of a huge shape", npz(**SPARSE | {"x_shape": [10**12, 10**12]}), "fit together"),
    bad("sparse attributes of a negative shape", npz(**SPARSE | {"x_shape": [-4, 2]}), "fit together"),
    bad("an array of 4 GB that is not there", claiming((1 << 29,)), "claims"),
    bad("an array of 8 PB", claiming((1 << 50,)), "claims"),
    bad("an array of more bytes than numbers count", claiming((1 << 62, 1 << 62)), "claims"),
    bad("an array of a negative size", claiming((-5,)), "npz"),
    bad("an array with a tail", claiming((1,), content=b"1" * 99), "claims"),
    bad("an array twice", claiming((0,), name="edges.npy"), "npz"),
    bad("an array without a header", member("x.npy", b"123"), "npz"),
    bad("an array with a header of code", member("x.npy", b"\x93NUMPY\x01\x00\x10\x00__import__('os')"), "npz"),
    bad("a header of deep brackets", member("x.npy", b"\x93NUMPY\x01\x00\xe8\x03" + b"(" * 1000), "npz"),
    bad("evaluated: flat edges", npz(edges=EDGES.ravel()), "(e, 2)", "evaluate"),
    bad("estimated: flat edges", npz(edges=EDGES.ravel()), "(e, 2)", "estimate"),
    bad("fitted: flat edges", npz(edges=EDGES.ravel()), "(e, 2)", "fit --out r"),
    bad("tuned: flat edges", npz(edges=EDGES.ravel()), "(e, 2)", "tune --out r"),
    bad_split("no bytes", b"", "split"),
    bad_split("a page", b"<html>", "split"),
    bad_split("half", split_file()[:300], "split"),
    bad_split("of another graph", split_file(), "another graph"),
    bad_split("without words", split_file(about=None), "split"),
    bad_split("without test links", split_file(test=None), "split"),
    bad_split("words that are no JSON", split_file(about=np.array("{")), "split"),
    bad_split("words that are a list", split_file(about=np.array("[]")), "split"),
    bad_split("words of numbers", split_file(about=np.array(5)), "split"),
    bad_split("words without a graph", split_file(about=np.array("{}")), "split"),
    bad_split("words nested deeply", split_file(about=np.array("[" * 100_000)), "split"),
    bad_split("a graph file", npz(), "split"),
    bad_split("a pickled object", split_file(valid=np.array([{}], dtype=object)), "split"),
    Case("split: no file", "evaluate graph.csv --method cn --split s.npz", "s.npz", {}, ("graph.csv",)),
    Case("split: a word", "evaluate graph.csv --method cn --split often", "often", {}, ("graph.csv",)),
    Case("split: by time without times", "evaluate graph.csv --method cn --split time", "time", {}, ("graph.csv",)),
    Case("split: of 20 digits", f"evaluate graph.csv --method cn --split {'9' * 20}", "seed", {}, ("graph.csv",)),
    Case("split: of 5,000 digits", f"evaluate graph.csv --method cn --split {'9' * 5000}", "split", {}, ("graph.csv",)),
    Case("split: of other digits", "evaluate graph.csv --method cn --split ٣", "split", {}, ("graph.csv",)),
    Case("split: a square", "evaluate graph.csv --method cn --split ²", "split", {}, ("graph.csv",)),
    Case("split: negative", "evaluate graph.csv --method cn --split=-1", "split", {}, ("graph.csv",)),
]

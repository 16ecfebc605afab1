"""Run folders whose files were edited, damaged or removed."""

import json
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from faults.case import Case
from gelato.runs.files import _checksum

QUIET = "--quiet"


class Edited:
    """A change to a file of the stock's folder, made where it was copied to."""

    def __init__(self, change):
        self.change = change

    def __call__(self, path: Path) -> None:
        self.change(path)


def keys(**changes):
    """Other values for some keys of a JSON file; ``...`` leaves one out."""

    def change(path):
        table = json.loads(path.read_text()) | changes
        path.write_text(json.dumps({key: value for key, value in table.items() if value is not ...}))

    return Edited(change)


def words(**changes):
    """Other words in a tensor file, with a checksum that fits; ``...`` leaves one out."""

    def change(path):
        with safe_open(path, framework="numpy") as file:
            tensors, about = {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata())  # noqa: SIM118
        about = {key: value for key, value in (about | changes).items() if value is not ... and key != "sha256"}
        path.write_bytes(save(tensors, metadata={**about, "sha256": _checksum(tensors, about)}))

    return Edited(change)


def learned(**changes):
    """Other entries among the learned words."""

    def change(path):
        with safe_open(path, framework="numpy") as file:
            table = json.loads(file.metadata()["learned"]) | changes
        words(learned=json.dumps({key: value for key, value in table.items() if value is not ...}))(path)

    return Edited(change)


def settings(**changes):
    """Other settings."""

    def change(path):
        with safe_open(path, framework="numpy") as file:
            table = json.loads(file.metadata()["settings"]) | changes
        words(settings=json.dumps(table))(path)

    return Edited(change)


def tensors(**changes):
    """Other tensors; ``None`` leaves one out."""

    def change(path):
        with safe_open(path, framework="numpy") as file:
            parts, about = {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata())  # noqa: SIM118
        parts = {name: value for name, value in (parts | changes).items() if value is not None}
        about.pop("sha256")
        path.write_bytes(save(parts, metadata={**about, "sha256": _checksum(parts, about)}))

    return Edited(change)


def flipped(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


FILES = {
    "config.json": {
        "gone": Edited(Path.unlink),
        "empty": "",
        "half": Edited(half),
        "a list": "[]",
        "a number": "5",
        "not UTF-8": b"\xff\xfe",
        "nested deeply": "[" * 100_000,
        "without a method": keys(method=...),
        "of an unknown method": keys(method="magic"),
        "of a method that is a number": keys(method=5),
        "of a method that is a list": keys(method=["ac"]),
    },
    "model.safetensors": {
        "gone": Edited(Path.unlink),
        "empty": b"",
        "half": Edited(half),
        "a flipped bit": Edited(flipped),
        "text": "hello",
        "a header of 8 EB": b"\xff" * 8 + b"{}",
        "no settings": words(settings=...),
        "settings that are no JSON": words(settings="{"),
        "settings that are a list": words(settings="[]"),
        "settings that are unknown": words(settings='{"colour": 1}'),
        "settings of another kind": words(settings='{"threads": "x"}'),
        "nothing learned": words(learned=...),
        "learned words that are no JSON": words(learned="{"),
        "learned words that are a list": words(learned="[]"),
        "learned words nested deeply": words(learned="[" * 100_000),
        "no hash of the graph": learned(graph_hash_=...),
        "a hash that is a number": learned(graph_hash_=5),
        "no choice": learned(chosen_=...),
        "no columns": learned(columns_=...),
        "no validation links": tensors(valid=None),
        "no selected links": tensors(selected=None),
        "another format": words(format="99"),
        "a format that is no number": words(format="new"),
        "another method": words(method="cn"),
    },
    "graph.npz": {
        "gone": Edited(Path.unlink),
        "empty": b"",
        "half": Edited(half),
        "a flipped bit": Edited(flipped),
        "another file": b"PK\x05\x06" + b"\0" * 18,
    },
    "split.npz": {"empty": b"", "half": Edited(half), "text": "x", "no archive": b"PK\x05\x06" + b"\0" * 18},
}
READERS = {
    "explain": "explain {} n0 n1",
    "report": "report {} --out page.html --repeats 0",
    "predict": "predict {}/graph.npz --model {}",
}


def edited(folder, reader):
    """Every change to every file, seen by one command."""
    for file, changes in FILES.items():
        for kind, content in changes.items():
            args = READERS[reader].format(folder, folder)
            if reader == "predict" and file == "graph.npz" and kind == "gone":
                continue
            yield Case(
                f"runs: {reader} {folder}, {file} {kind}",
                f"{args} {QUIET}",
                folder,
                {f"{folder}/{file}": content},
                (folder,),
            )


MODEL = "model/model.safetensors"


def model(name, content, fragment="model"):
    """A change to the trained model, seen by explain."""
    return Case(f"runs: model, {name}", f"explain model n0 n1 {QUIET}", fragment, {MODEL: content}, ("model",))


FACTS = {
    "best_epoch_": ("x", None, 1.5, 10**30),
    "precision_": ([], "0.5", None, True),
    "skipped_": ({}, "x", -0.5),
    "history_": (5, {}, [5], [{}], [{"epoch": 1}], [{"epoch": "x"}]),
    "n": (0, -1, 7, 10**18, "24"),
    "directed": (True, "no", None),
    "fallback_": ("no", 1, None),
    "aps_": ([], [1], ["x", 1], "ab", 5),
    "chosen_": ({"eta": None}, {"alpha": 2}, {"steps": 10**18}, {"alpha": "x"}, [], {"eta": [1]}),
    "columns_": ([None], [[1]], {}, "abc"),
    "graph_hash_": ([], {}, "x"),
}
"""Facts that the trained model keeps, and values that none of them can have."""

ARRAYS = {
    "links.pairs": (np.full((3, 2), 1 << 40), np.zeros((3, 2), np.int64), np.zeros(3), np.zeros((0, 2), np.int64)),
    "links.added": (np.zeros(3, bool), np.zeros(3)),
    "links.observed": (np.full(3, np.nan), np.zeros(0)),
    "weights": (np.full(3, np.inf), np.zeros((3, 3)), np.zeros(3, np.int64)),
    "scale": (np.zeros(3, np.float32), None),
    "net.net.last.weight": (np.zeros((2, 3), np.float32),),
    "valid": (np.full((3, 2), -1), np.zeros((3, 3), np.int64), np.zeros(3)),
    "selected": (np.full((3, 2), 1 << 62), None),
}
"""Arrays of the trained model, and others in their places."""

SETTINGS = ({"steps": 10**18}, {"steps": 1001}, {"alpha": -1}, {"epochs": "x"}, {"loss": []})


def edited_fields():
    """Every value in the place of every field of the trained model."""
    for name, values in FACTS.items():
        yield from (model(f"{name} is {value!r:.60}", learned(**{name: value})) for value in values)
    for name, others in ARRAYS.items():
        yield from (model(f"{name}, other array {i}", tensors(**{name: other})) for i, other in enumerate(others))
    yield from (model(f"settings are {values!r:.60}", settings(**values)) for values in SETTINGS)


CASES = [
    *edited("run", "explain"),
    *edited("run", "report"),
    *edited_fields(),
    model("a weight is gone", tensors(**{"network.0.weight": None, "valid": None})),
    model("columns of another kind", learned(columns_=5)),
    model("a choice of another kind", learned(chosen_=5)),
    model("a choice of unknown settings", learned(chosen_={"colour": 1})),
    model("valid of another kind", tensors(valid=np.array(["x"]).view(np.uint8))),
    model("nothing in it", tensors(valid=None, selected=None)),
    model("half", Edited(half)),
    model("a flipped bit", Edited(flipped)),
    Case("runs: report of nothing", f"report nothing {QUIET}", "nothing"),
    Case("runs: report of a file", f"report graph.csv {QUIET}", "graph.csv", {}, ("graph.csv",)),
    Case("runs: report of an empty folder", f"report d {QUIET}", "d", {"d": Path.mkdir}),
    Case("runs: explain an empty folder", f"explain d n0 n1 {QUIET}", "d", {"d": Path.mkdir}),
    Case("runs: explain an unknown node", f"explain run n0 nobody {QUIET}", "nobody", {}, ("run",)),
    Case("runs: evaluate a model of nothing", "evaluate graph.csv --model nothing", "nothing", {}, ("graph.csv",)),
    Case(
        "runs: evaluate a model of another graph",
        "evaluate g.csv --model run",
        "another graph",
        {"g.csv": "".join(f"a{i},a{i + 1}\n" for i in range(40))},
        ("run",),
    ),
    Case(
        "runs: evaluate a model on another split",
        "evaluate graph.csv --model model --split 5",
        "model",
        {},
        ("graph.csv", "model"),
    ),
    Case(
        "runs: fit others into a run", f"fit graph.csv --method cn --out run {QUIET}", "run", {}, ("graph.csv", "run")
    ),
    Case(
        "runs: fit other settings into a run",
        f"fit graph.csv --method ac --option steps=2 --out run {QUIET}",
        "steps",
        {},
        ("graph.csv", "run"),
    ),
    Case(
        "runs: fit another graph into a run",
        f"fit g.csv --method ac --out run {QUIET}",
        "another graph",
        {"g.csv": "".join(f"a{i},a{i + 1}\n" for i in range(40))},
        ("run",),
    ),
    Case(
        "runs: fit into settings of another kind",
        f"fit graph.csv --method ac --out run {QUIET}",
        "",
        {"run/config.json": keys(settings=5)},
        ("graph.csv", "run"),
    ),
    Case(
        "runs: fit into another format",
        f"fit graph.csv --method ac --out run {QUIET}",
        "format",
        {"run/config.json": keys(format=99)},
        ("graph.csv", "run"),
    ),
]

"""Tables with attributes: the graph is the same however many rows are read and encoded at a time."""

import numpy as np
import pytest

from gelato.io import read_graph
from gelato.io.tables import csv, table
from gelato.sparse import row_bands


@pytest.fixture
def described(tmp_path):
    """Links between all nodes but some, and a table of all kinds of columns, some with missing cells."""
    random, n = np.random.default_rng(1), 60
    words = np.array(["red", "green", "blue", "round", "square", "heavy"])
    columns = {
        "node": [f"n{i}" for i in range(n)],
        "size": random.normal(5, 2, n).round(3),
        "gap": [value if i % 7 else "" for i, value in enumerate(random.normal(size=n).round(2).tolist())],
        "colour": random.choice(words, n),
        "about": [" ".join(random.choice(words, 4)) + f" {i}" for i in range(n)],
        "late": [*range(n - 1), "none left"],
        **{f"count{i}": random.poisson(0.2, n) for i in range(12)},
    }
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    (tmp_path / "nodes.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
    pairs = random.integers(0, n + 2, (200, 2))
    (tmp_path / "links.csv").write_text("source,target\n" + "".join(f"n{u},n{v}\n" for u, v in pairs))
    return tmp_path


OPTIONS = {
    "mean": {"missing": "mean"},
    "category": {"missing": "category", "isolated": "drop"},
    "ranks": {"missing": "zero", "scale": "rank"},
    "dense": {
        "missing": "mean",
        "kinds": {"about": "drop", "colour": "drop"} | {f"count{i}": "drop" for i in range(12)},
    },
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_table_read_and_encoded_in_small_bands_gives_the_same_graph(described, options, monkeypatch):
    given = {"attributes": described / "nodes.csv", "isolated": "keep"} | options
    given["kinds"] = {"late": "category"} | given.get("kinds", {})
    whole = read_graph(described / "links.csv", **given)
    monkeypatch.setattr(row_bands, "CHUNK", 50)
    monkeypatch.setattr(table, "CELLS", 100)
    monkeypatch.setattr(csv, "LEAST_BLOCK", 1)
    graph = read_graph(described / "links.csv", **given)
    assert graph.attribute_names.tolist() == whole.attribute_names.tolist()
    assert type(graph.attributes) is type(whole.attributes)
    assert graph.attribute_fingerprint == whole.attribute_fingerprint  # of the scaling too
    assert graph.names.tolist() == whole.names.tolist()

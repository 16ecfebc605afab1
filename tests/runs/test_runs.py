"""Runs on disk opened again: the graph, what was hidden of it, and a model for all of it or for another graph."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import reference
from gelato.datasets import block_model
from gelato.datasets.loading import is_stored
from gelato.errors import InputError
from gelato.io import read_attributes, read_graph
from gelato.methods import open_model, open_run
from gelato.methods.gelato.model import Gelato
from gelato.splits import split

FIXED = {"eta": 0.5, "alpha": 0.5, "beta": 0.5, "self_loops": "all", "hidden": 16, "batches": 4, "epochs": 2}


@pytest.fixture(scope="module")
def graph():
    made = block_model([25, 25], 0.2, 0.02, attributes=30, words=8, seed=3)
    names = np.array([f"n{i}" for i in range(made.n)], dtype=object)
    return replace(made, names=names, attribute_names=np.array([f"w{j}" for j in range(30)], dtype=object))


@pytest.fixture(scope="module")
def pairs(graph):
    return np.array(reference.all_pairs(graph.n, False))


@pytest.fixture(scope="module")
def parts(graph):
    return split(graph)


@pytest.fixture(scope="module")
def fitted(graph, parts, tmp_path_factory):
    """A run of a split, one of the whole graph, and a saved model; beside each the model that wrote it."""
    folder = tmp_path_factory.mktemp("runs")
    hidden = Gelato(**FIXED).fit(parts, run=folder / "split")
    whole = Gelato(**FIXED).fit(graph, run=folder / "whole")
    whole.save(folder / "saved")
    return folder, {"split": hidden, "whole": whole, "saved": whole}


@pytest.fixture(scope="module")
def runs(fitted):
    return fitted[0]


@pytest.fixture(scope="module")
def models(fitted):
    """The models as they were before anything was read from a disk."""
    return fitted[1]


def test_a_run_of_a_split_has_its_training_links_and_all_links(runs, models, graph, parts, pairs):
    run = open_run(runs / "split")
    assert run.folder == runs / "split"
    assert run.graph.fingerprint == graph.fingerprint and run.graph.names.tolist() == graph.names.tolist()
    assert run.split.test.tolist() == parts.test.tolist() and run.split.valid.tolist() == parts.valid.tolist()
    assert run.model.graph_.fingerprint == parts.train.fingerprint
    whole = run.whole()
    assert whole.graph_.fingerprint == graph.fingerprint and len(whole.links_.links) == graph.m
    wanted = models["split"].on(graph).scores().pairs(pairs)
    np.testing.assert_array_equal(whole.scores().pairs(pairs), wanted)
    assert run.model.graph_.m == parts.train.m  # which stays as it was
    run.model.check_split(parts)


def test_a_run_of_a_whole_graph_has_a_model_for_it(runs, models, graph, pairs):
    run = open_run(str(runs / "whole"))
    assert len(run.split.test) == 0 and len(run.split.valid) == int(0.05 * graph.m)
    assert run.whole() is run.model and run.model.graph_.fingerprint == graph.fingerprint
    saved = open_model(runs / "saved")
    for model in (saved, run.model):
        np.testing.assert_array_equal(model.scores().pairs(pairs), models["whole"].scores().pairs(pairs))


def test_a_model_is_opened_for_all_links_of_its_graph(runs, models, graph, pairs):
    for name in ("split", "whole"):
        found = open_model(runs / name)
        assert found.graph_.fingerprint == graph.fingerprint
        wanted = models[name].on(graph).scores().pairs(pairs)
        np.testing.assert_array_equal(found.scores().pairs(pairs), wanted)


@pytest.mark.parametrize("name", ["split", "whole", "saved"])
def test_a_model_is_applied_where_the_graph_is_another(runs, models, graph, pairs, name):
    found = open_model(runs / name, graph)
    assert list(found.remarks_) == []
    np.testing.assert_array_equal(found.scores().pairs(pairs), models[name].on(graph).scores().pairs(pairs))
    fewer = graph.without(graph.edges[::4])
    found = open_model(runs / name, fewer)
    assert found.graph_.fingerprint == fewer.fingerprint and len(found.links_.links) == fewer.m
    wanted = models[name].on(fewer).scores().pairs(pairs)
    np.testing.assert_array_equal(found.scores().pairs(pairs), wanted)
    blank = replace(graph, attributes=graph.attributes * 0.5)  # the same links, other attributes
    assert open_model(runs / name, blank).graph_.attributes.max() == 0.5


@pytest.mark.parametrize("how", ["standard", "rank"])
def test_a_model_scales_the_attributes_of_new_nodes_as_its_own(tmp_path, how):
    rng = np.random.default_rng(0)
    table = "node,pay,size\n" + "".join(f"n{i},{rng.normal(50, 20):.2f},{rng.poisson(3)}\n" for i in range(40))
    (tmp_path / "nodes.csv").write_text(table)
    (tmp_path / "links.csv").write_text("".join(f"n{i},n{(i + j) % 40}\n" for i in range(40) for j in (1, 2)))
    (tmp_path / "new.csv").write_text("node,pay,size\nx,40,3\ny,90.5,1\nz,47.25,3\n")
    (tmp_path / "few.csv").write_text("x,y\ny,z\n")
    graph = read_graph(tmp_path / "links.csv", attributes=read_attributes(tmp_path / "nodes.csv", scale=how))
    Gelato(eta=0.5, alpha=0.5, beta=0.5, self_loops="all", hidden=4, epochs=1).fit(graph, run=tmp_path / "run")
    new = read_graph(tmp_path / "few.csv", attributes=read_attributes(tmp_path / "new.csv", scale=how))
    found = open_model(tmp_path / "run", new)
    expected = graph.scaling.apply(np.array([[40, 3], [90.5, 1], [47.25, 3]]))
    np.testing.assert_array_equal(np.asarray(found.graph_.attributes), expected)
    np.testing.assert_array_equal(open_model(tmp_path / "run").graph_.attributes, graph.attributes)
    raw = read_graph(tmp_path / "few.csv", attributes=read_attributes(tmp_path / "new.csv", scale="none"))
    np.testing.assert_array_equal(np.asarray(found.on(raw).graph_.attributes), expected)


def test_suggestions_come_in_the_names_of_the_graph_given_not_of_the_one_learned_from(runs, graph):
    other = replace(graph, names=np.array([f"m{i}" for i in range(graph.n)], dtype=object))
    found = open_model(runs / "whole", other)
    assert all(u.startswith("m") and v.startswith("m") for u, v, _ in found.suggest(5, repeats=0, reasons=False))
    assert found.unseen(other).all()  # its nodes are others
    renamed = replace(graph, attribute_names=np.array([f"v{j}" for j in range(30)], dtype=object))
    with pytest.raises(InputError, match="only 0 of 30 attribute columns are in the graph"):
        open_model(runs / "whole", renamed)


def test_what_is_a_run_is_known_by_its_files(runs, tmp_path):
    assert all(is_stored(runs / name) for name in ("split", "whole", "saved"))
    assert not is_stored(tmp_path) and not is_stored(tmp_path / "nowhere") and not is_stored(Path(__file__))


def test_what_is_no_run_is_refused_in_a_line(runs, graph, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    Gelato(**FIXED).fit(graph, run=tmp_path / "stopped")
    (tmp_path / "stopped" / "model.safetensors").unlink()
    refusals = {
        "nowhere": "is not a folder; give one that 'gelato fit --out' or 'gelato predict' wrote",
        "file": "is not a folder",
        "empty": "holds no run; give a folder that 'gelato fit --out' or 'gelato predict' wrote",
        "stopped": "the run is not finished; resume it by running the same command again",
    }
    for name, message in refusals.items():
        with pytest.raises(InputError, match=message) as caught:
            open_run(tmp_path / name)
        assert "\n" not in str(caught.value) and name in str(caught.value)
    with pytest.raises(InputError, match="the run is not finished"):
        open_model(tmp_path / "stopped", graph)
    with pytest.raises(InputError, match="there is no such file"):
        open_model(tmp_path / "empty")
    with pytest.raises(InputError, match="holds a saved model, which has no links hidden to test it on"):
        open_run(runs / "saved")  # a model that was saved tells of no split

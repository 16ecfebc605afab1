"""The door is open: a made-up heuristic and a made-up trained method take one file and one line each."""

import json
import pickle
import sys
from textwrap import dedent

import numpy as np
import pytest

import gelato
from gelato import METHODS, evaluate, make, open_run, split
from gelato.cli import main
from gelato.datasets import block_model
from gelato.evaluation.method_options import methods_of
from gelato.io import write_graph
from gelato.methods import heuristic as heuristics
from gelato.methods.method import Method, heuristic

HEURISTIC = '''
    """Three steps: a made-up heuristic."""
    import numpy as np
    from gelato.scores import WalkScores


    def three_steps(graph, *, steps: int = 3):
        """Number of walks of some steps."""
        A = graph.pattern
        return WalkScores(A, A, np.ones(graph.n), steps, np.zeros(graph.n), directed=graph.directed)
'''

TRAINED = '''
    """Biases: a made-up trained method; every node learns how linked it is."""
    from dataclasses import dataclass

    import numpy as np
    import torch
    from torch import nn

    from gelato.ranking.metrics import metric
    from gelato.ranking.rank import rank
    from gelato.regimes import unbiased
    from gelato.scores import BlockScores, key_of
    from gelato.training.trained_predictor import TrainedPredictor
    from gelato.training.settings import TrainingSettings


    @dataclass(frozen=True, kw_only=True)
    class BiasSettings(TrainingSettings):
        """Nothing of its own."""


    class Biases(TrainedPredictor):
        """s_uv = b_u + b_v."""

        Settings = BiasSettings
        method = "biases"

        def network(self, graph, settings, device):
            torch.manual_seed(settings.random_state)
            return nn.Embedding(graph.n, 1)

        def task(self, network, split, settings):
            return Task(self, network, split, settings)

        def scores_of(self, network, graph):
            return BlockScores(graph.n, Block(network.weight.detach().double().numpy()[:, 0]), key=key_of(
                "biases", network.weight.detach().double().numpy()))


    @dataclass(frozen=True)
    class Block:
        b: np.ndarray

        def __call__(self, rows, columns):
            return self.b[rows][:, None] + self.b[columns]


    class Task:
        def __init__(self, model, network, split, settings):
            self.model, self.network, self.split, self.settings, self.extra = model, network, split, settings, {}

        def batches(self, seed):
            edges = torch.from_numpy(self.split.train.edges.copy())
            drawn = torch.randint(self.split.train.n, edges.shape, generator=torch.Generator().manual_seed(seed))
            yield edges, drawn

        def backward(self, batch, random):
            self.network.weight.grad = None
            s = [self.network(pairs).sum(dim=(1, 2)) for pairs in batch]
            loss = nn.functional.softplus(-s[0]).mean() + nn.functional.softplus(s[1]).mean()
            loss.backward()
            return loss.detach()

        def optimizer(self):
            return torch.optim.Adam(self.network.parameters(), lr=self.settings.learning_rate)

        def validate(self):
            scores = self.model.scores_of(self.network, self.split.train)
            return metric("precision@100%", rank(scores, unbiased(self.split, "valid")))
'''


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """One file each."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "made_up_steps.py").write_text(dedent(HEURISTIC))
    (folder / "made_up_biases.py").write_text(dedent(TRAINED))
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture
def added(modules, monkeypatch):
    """One line each."""
    from made_up_biases import BiasSettings
    from made_up_steps import three_steps

    biases = Method("made_up_biases:Biases", BiasSettings, "biases", "Every node learns how linked it is.", trains=True)
    steps = heuristic(three_steps, "three steps", name="ThreeSteps", grid={"steps": (2, 3)})
    monkeypatch.setitem(METHODS._parts, "three-steps", steps)
    monkeypatch.setitem(METHODS._parts, "biases", biases)


@pytest.fixture(scope="module")
def graph():
    return block_model([25, 25], 0.25, 0.02, attributes=12, words=4, seed=3)


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize(("name", "public"), [("three-steps", "ThreeSteps"), ("biases", "Biases")])
def test_the_line_of_a_method_makes_its_class_a_public_name(name, public):
    try:
        kind = getattr(gelato, public)
        assert kind is METHODS[name].predictor() and {public} <= {*gelato.__all__} & {*dir(gelato)}
        assert kind.__doc__ and kind().set_params(threads=1).get_params()["threads"] == 1
        assert type(pickle.loads(pickle.dumps(make(name)))) is kind
    finally:
        for module in (gelato, heuristics):
            vars(module).pop(public, None)


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("name", ["three-steps", "biases"])
def test_a_new_method_is_everywhere(name, graph, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GELATO_CACHE", str(tmp_path / "cache"))
    write_graph(graph, "graph.npz")
    short = ["--option", "biases.epochs=2"] if name == "biases" else []
    assert main(["methods", "--json"]) == 0
    assert name in [row["name"] for row in json.loads(capsys.readouterr().out)]
    assert main(["evaluate", "graph.npz", "--method", f"ac,{name}", *short, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["method"] for row in rows] == ["ac", name]
    assert rows[1]["metrics"]["ap"] == evaluate(split(graph), name, **settings(name)).metric("ap")
    predicting = ["predict", "graph.npz", "--method", name, "--top", "5", "--repeats", "1", "--out", "links.csv"]
    assert main([*predicting, *short, "--quiet"]) == 0
    assert open_run("links.run").model.method == name
    assert main(["report", "links.run", "--top", "3", "--repeats", "1", "--quiet"]) == 0
    assert METHODS[name].title in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert main(["fit", "graph.npz", "--method", name, *short, "--out", "run", "--quiet"]) == 0
    assert main(["evaluate", "graph.npz", "--model", "run", "--json"]) == 0
    (_, again) = capsys.readouterr().out.strip().rsplit("\n", 1)
    assert json.loads(again)[0]["metrics"]["ap"] == rows[1]["metrics"]["ap"]
    assert main(["estimate", "graph.npz", "--method", name, *short]) == 0


@pytest.mark.usefixtures("added")
def test_a_new_method_keeps_the_contract(graph, tmp_path):
    hidden = split(graph, 0, (0.1, 0.1))
    assert "three-steps" in dict(methods_of("all", {}, graph)) and "biases" not in dict(methods_of("all", {}, graph))
    for name in ("three-steps", "biases"):
        model = make(name, **settings(name)).fit(hidden, run=tmp_path / name)
        again = open_run(tmp_path / name).model
        np.testing.assert_array_equal(again.scores().pairs(hidden.test), model.scores().pairs(hidden.test))


def settings(name):
    return {"epochs": 2} if name == "biases" else {}

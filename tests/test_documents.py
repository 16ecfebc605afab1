"""The code of the documents and of every docstring runs, and the README's figures are those that are kept."""

import doctest
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import gelato
from gelato import METHODS
from gelato.experiments.experiment import read_experiment
from gelato.experiments.seed_results import compare_outcomes, kept_outcomes
from gelato.methods.auto import portfolio
from gelato.methods.config_files import bundled_configs

ROOT = Path(__file__).parent.parent
SOURCE = Path(gelato.__file__).parent
RESULTS = ROOT / "docs" / "results"
specification = importlib.util.spec_from_file_location("published_tables", ROOT / "tools" / "published_tables.py")
tables = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tables)
PUBLISHED = [f"paper/{name}" for name in ("cora", "citeseer", "pubmed", "photo", "computers")]
COMPARED = ("ncn", "ncnc", "neo-gnn", "buddy", "elph", "seal", "gcn", "gae", "mlp")
MODULES = sorted(
    ".".join(("gelato", *path.relative_to(SOURCE).with_suffix("").parts))
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
BLOCKS = [
    pytest.param(code, id=f"{path.name} {i}")
    for path in (ROOT / "README.md", ROOT / "docs" / "guide.md")
    if path.exists()
    for i, code in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.S))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name):
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried > 0 and failed == 0


@pytest.fixture
def own_graph(tmp_path, monkeypatch):
    """The files that the documents speak of, in an empty folder, and Cora by another name where it is not at hand."""
    random = np.random.default_rng(0)
    names = ["ann", "bob", "cat", "author_17", "author_42", *(f"n{i}" for i in range(35))]
    for stem in ("edges", "newer"):
        pairs = {tuple(sorted(random.choice(40, 2, replace=False).tolist())) for _ in range(160)}
        pairs |= {(u, u + 1) for u in range(39)}  # every node has a link
        rows = [f"{names[u]},{names[v]}" for u, v in sorted(pairs)]
        (tmp_path / f"{stem}.csv").write_text(
            "\n".join(["source,target", *rows, *(f"{a},n0" for a in names[:5])]) + "\n"
        )
    table = [f"{name},{','.join(map(str, random.integers(2, size=6)))}" for name in names]
    for stem in ("nodes", "newer_nodes"):
        (tmp_path / f"{stem}.csv").write_text("\n".join(["node,a,b,c,d,e,f", *table]) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(portfolio, "PORTFOLIO", portfolio.PORTFOLIO[:5])  # heuristics, in a moment
    quick = dict(METHODS["gelato"].quick)
    assert quick  # the documents train with patience


@pytest.mark.usefixtures("own_graph")
@pytest.mark.filterwarnings("ignore:`torch.jit.script`:DeprecationWarning")  # of torch_geometric, when it is imported
@pytest.mark.parametrize("code", BLOCKS)
def test_code_of_the_documents_runs(code, capsys):
    small = code.replace('load("cora")', 'load("debian-sample")').replace("Gelato()", "Gelato(epochs=2)")
    small = small.replace('self_loops="all")', 'self_loops="all", epochs=1)').replace("epochs=100", "epochs=2")
    before = dict(METHODS._parts)
    try:
        exec(compile(small, "document", "exec"), {"__name__": "document"})
    finally:
        METHODS._parts = before


@pytest.mark.parametrize(
    ("document", "marks", "table"),
    [
        ("README.md", tables.PUBLISHED, lambda: tables.published_table(RESULTS, PUBLISHED)),
        ("docs/guide.md", tables.COMPARED, lambda: tables.methods_table(RESULTS, COMPARED, tuple(tables.TITLES)[:3])),
    ],
)
def test_the_published_figures_of_the_documents_are_those_that_are_kept(document, marks, table):
    text = (ROOT / document).read_text(encoding="utf-8")
    assert [text.count(mark) for mark in marks] == [1, 1]
    assert tables.replace_table(text, table(), marks) == text


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_seed_of_the_published_figures_is_kept_and_agrees(name):
    """A change of a setting makes its outcomes stale, and this fails until they are run again."""
    experiment = read_experiment(name)
    outcomes = kept_outcomes(experiment, RESULTS)
    assert [outcome.seed for outcome in outcomes] == list(range(experiment.seeds))
    figures = {each.metric: each for each in compare_outcomes(experiment, outcomes)}
    assert figures["ap"].agrees and figures["ap"].reported is not None
    assert figures["hits@1000"].agrees in (True, None)


@pytest.mark.parametrize("name", bundled_configs())
def test_every_file_that_ships_defines_a_result(name):
    experiment = read_experiment(name)
    assert experiment.source and experiment.dataset and experiment.seeds >= 1 and len(experiment.hash) == 64


DOCUMENTS = ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"]
DOCUMENTS += [f"docs/{name}.md" for name in ("api", "decisions", "guide", "notation", "sample", "scale")]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_of_the_package_that_a_document_names_is_there(document):
    """``docs/experiments.md`` is a record of what was, and may name files that are gone."""
    text = re.sub(r"```.*?```", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.S)
    paths = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|md))`", text)
    assert [path for path in paths if not any((folder / path).exists() for folder in (ROOT, SOURCE))] == []


def test_the_map_names_every_part_of_the_package_and_no_other():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"## Map\n\n```\nsrc/gelato/\n(.*?)^tests/", readme, re.S | re.M)
    named = re.findall(r"^  ((?:[a-z_]+(?:/|\.py) ?)+)", section, re.M)
    parts = {part for line in named for part in line.split()}
    beside = set(re.findall(r"[a-z_]+\.py", section)) - parts  # in brackets, beside the part that they belong to
    real = {f"{path.name}/" if path.is_dir() else path.name for path in SOURCE.iterdir() if path.suffix in ("", ".py")}
    assert (parts | beside) & real == real - {"__init__.py", "__main__.py", "__pycache__/"} and parts <= real

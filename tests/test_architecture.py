"""The house as a test: what may import what, what things are called, and what must not be written."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import gelato
from gelato.methods import METHODS

SOURCE = Path(gelato.__file__).parent
ROOT = Path(__file__).parent.parent
MODULES = sorted(SOURCE.rglob("*.py"))

# The ground floor first; a module may import from its own layer and from those below it.
LAYERS = [
    {"errors", "registry", "memory", "lookup", "figures", "scratch", "sparse", "arguments"},
    {"scaling"},
    {"graph"},
    {"kernels"},
    {"scores"},
    {"io", "datasets", "splits", "partition", "regimes"},
    {"ranking"},
    {"explain"},
    {"prediction"},
    {"runs"},
    {"training"},
    {"methods"},
    {"evaluation"},
    {"report", "experiments"},
    {"tables", "demo"},
    {"cli", "__main__"},
]
LEVEL = {part: i for i, layer in enumerate(LAYERS) for part in layer}
DATA = {"io", "datasets", "splits", "partition", "regimes"}
NUMERIC = {"kernels", "scores"}
TASKLESS = {
    "kernels": {"kernels", "sparse", "scratch"},
    "sparse": {"sparse", "scratch"},
    "scratch": {"errors", "memory"},
    "errors": set(),
    "registry": {"errors"},
    "graph": {"errors", "lookup", "scaling", "arguments", "sparse", "scratch"},
    "arguments": {"errors", "memory", "sparse"},
    "scaling": {"errors", "sparse"},
    "memory": set(),
    "figures": set(),
    "lookup": {"figures"},
}
"""Parts that know no others than these."""

FORMS = {"WalkScores", "BlockScores", "LiftedScores", "DenseScores"}
"""Forms of scores: only the room of scores may ask for one of them."""

ANY_DEVICE = "auto"
"""A word for a device, where networks are trained, and the name of a method."""

BY_NAME = {"methods", "experiments", "__init__", "demo"}
"""Rooms that may name a method; all others ask METHODS."""


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def part_of(path):
    """The room a module is in: the first name below ``gelato``."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_parts(tree):
    """The rooms a module imports from, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" if node.module == "gelato" else node.module for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            package, _, rest = (name or "").partition(".")
            if package == "gelato" and rest and rest.split(".")[0] in LEVEL:
                yield rest.split(".")[0]


def modules(wanted=lambda part: True):
    """Runs a test for every module of the wanted rooms."""
    chosen = [path for path in MODULES if wanted(part_of(path))]
    return pytest.mark.parametrize("path", chosen, ids=lambda path: str(path.relative_to(SOURCE)))


def module_name(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_every_part_of_the_package_has_its_layer():
    assert {part_of(path) for path in MODULES} - {"__init__"} == set(LEVEL)


@modules(lambda part: part != "__init__")  # which lists the public names of all
def test_a_module_imports_only_from_the_layers_below_it(path):
    part = part_of(path)
    for other in imported_parts(tree_of(path)):
        assert LEVEL[other] <= LEVEL[part], f"{part} must not import {other}"


@modules(lambda part: part in DATA | NUMERIC)
def test_data_and_numerics_do_not_import_one_another(path):
    others = NUMERIC if part_of(path) in DATA else DATA
    assert others.isdisjoint(imported_parts(tree_of(path)))


@modules(lambda part: part in TASKLESS)
def test_the_ground_floor_and_the_kernels_know_no_task(path):
    assert set(imported_parts(tree_of(path))) <= TASKLESS[part_of(path)]


@modules(lambda part: part != "scores")
def test_nobody_outside_asks_for_the_form_of_scores(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            names = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
            assert names.isdisjoint(FORMS), f"line {node.lineno} asks for a form of scores"
        if isinstance(node, ast.Compare):
            sides = [getattr(side, "attr", "") for side in (node.left, *node.comparators)]
            assert set(sides) != {"first", "inner"}, f"line {node.lineno} asks whether the first step is the inner one"


@modules(lambda part: part not in BY_NAME)
def test_nobody_outside_knows_one_method(path):
    """No import of one method's module, and no string that is the name of a method: METHODS tells."""
    tree = tree_of(path)
    allowed = {"gelato.methods", "gelato.methods.making", "gelato.methods.method", "gelato.methods.configuration"}
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            assert not module.startswith("gelato.methods") or module in allowed, f"line {node.lineno}: {module}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = part_of(path) == "training" and node.value == ANY_DEVICE
            assert word or node.value not in METHODS, f"line {node.lineno} names the method {node.value}"


@modules(lambda part: part == "training")
def test_training_knows_no_method(path):
    assert "methods" not in set(imported_parts(tree_of(path)))


def test_only_the_engines_wire_threads():
    users = [
        str(path.relative_to(SOURCE))
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and {"threading", "concurrent.futures", "multiprocessing"}
        & {getattr(node, "module", None), *(alias.name for alias in node.names)}
    ]
    others = {part for part in users if not part.startswith(("kernels/", "ranking/engines/"))}
    assert others == {"scratch.py"}  # whose thread watches the memory of the process, and computes nothing


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("import gelato.cli", ["cli"]),
        ("from gelato.ranking.rank import rank", ["ranking"]),
        ("from gelato import cli", ["cli"]),
        ("def f():\n    from gelato.io import read_graph", ["io"]),
        ("import numpy", []),
    ],
)
def test_the_walk_over_imports_sees_every_form_of_import(code, parts):
    assert list(imported_parts(ast.parse(code))) == parts


@modules(lambda part: part != "__main__")  # which runs; test_cli.py runs it
def test_every_module_can_be_imported(path):
    assert importlib.import_module(module_name(path)).__doc__


@modules()
def test_imports_are_absolute(path):
    assert not [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ImportFrom) and node.level]


@modules()
def test_no_module_is_called_after_nothing(path):
    names = {part.removesuffix(".py") for part in path.relative_to(SOURCE).parts}
    assert names.isdisjoint({"utils", "util", "common", "helpers", "helper", "base", "manager", "misc"})


@modules(lambda part: part != "cli")
def test_only_the_command_line_prints(path):
    calls = [node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"]


def public(body):
    """Public functions and classes of a module or a class, and those inside public classes."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body)


@modules()
def test_everything_public_says_what_it_is(path):
    tree = tree_of(path)
    assert ast.get_docstring(tree)
    assert [node.name for node in public(tree.body) if not ast.get_docstring(node)] == []


def test_every_public_name_of_the_package_is_there():
    assert [name for name in gelato.__all__ if getattr(gelato, name, None) is None] == []
    assert set(gelato.__all__) <= set(dir(gelato))
    with pytest.raises(AttributeError, match="module 'gelato' has no attribute 'gelati'"):
        _ = gelato.gelati


def test_the_public_names_are_the_same_for_type_checkers():
    body = tree_of(SOURCE / "__init__.py").body
    block = next(node for node in body if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING")
    told = {alias.asname: (node.module, alias.name) for node in block.body for alias in node.names}
    assert set(told) == set(gelato.__all__)
    for name, (module, original) in told.items():
        assert getattr(importlib.import_module(module), original) is getattr(gelato, name)


def written():
    """Everything that is published as text: source, documents, examples, and the files beside them."""
    folders = [folder for folder in (SOURCE, ROOT / "docs", ROOT / "examples", ROOT / "benchmarks") if folder.is_dir()]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in TEXT]
    return sorted(files + [path for path in ROOT.glob("*") if path.suffix in TEXT])


TEXT = {".py", ".md", ".toml", ".txt", ".json", ".csv", ".html", ".ipynb"}


@pytest.mark.parametrize("path", written(), ids=lambda path: path.name)
def test_no_published_text_names_a_folder_of_one_machine(path):
    found = re.findall(r"(?<![\w.])/(?:work|tmp|root|home)/\S*", path.read_text(encoding="utf-8"))
    assert found == []

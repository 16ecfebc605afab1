"""The house as a test: what may import what, what things are called, and what must not be written."""

import ast
import functools
import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

import gelato
from gelato.methods import METHODS

SOURCE = Path(gelato.__file__).parent
ROOT = Path(__file__).parent.parent
MODULES = sorted(SOURCE.rglob("*.py"))

# The ground floor first; a module may import from its own layer and from those below it.
LAYERS = [
    {
        "errors",
        "registry",
        "lazy",
        "memory",
        "name_lookup",
        "notebook",
        "formatting",
        "sparse",
        "validation",
        "costs",
    },
    {"attribute_scaling"},
    {"graph"},
    {"kernels", "torch_ops"},
    {"scores"},
    {"similarity"},
    {"io", "datasets", "splits", "partition", "regimes"},
    {"ranking"},
    {"spectrum"},
    {"explain", "runs"},
    {"prediction"},
    {"training"},
    {"networks"},
    {"methods"},
    {"evaluation"},
    {"report", "experiments"},
    {"tables", "demo"},
    {"cli", "__main__"},
]
LEVEL = {part: i for i, layer in enumerate(LAYERS) for part in layer}
DATA = {"io", "datasets", "splits", "partition", "regimes"}
NUMERIC = {"kernels", "torch_ops", "scores", "similarity"}
TASKLESS = {
    "kernels": {"kernels", "torch_ops", "sparse"},
    "torch_ops": {"kernels", "torch_ops"},
    "sparse": {"sparse"},
    "errors": set(),
    "registry": {"errors"},
    "lazy": {"errors"},
    "notebook": set(),
    "graph": {"errors", "name_lookup", "notebook", "attribute_scaling", "validation", "sparse"},
    "validation": {"errors", "formatting", "memory", "sparse"},
    "attribute_scaling": {"errors", "sparse"},
    "costs": set(),
    "memory": {"errors", "formatting", "memory"},
    "formatting": set(),
    "name_lookup": {"formatting"},
}
"""Parts that know no others than these."""

FORMS = {"WalkScores", "BlockScores", "LiftedScores", "DenseScores"}
"""Forms of scores: only the room of scores may ask for one of them."""

HOMONYMS = {
    "training": {"auto"},
    "ranking": {"auto"},
    "engine_options.py": {"auto"},
    "similarity": {"cosine", "jaccard"},
}
"""Words for something else in these rooms, a device, an engine and similarities, that are also names of methods."""

BY_NAME = {"methods", "experiments", "__init__", "demo"}
"""Rooms that may name a method; all others ask METHODS."""


@functools.cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@functools.cache
def nodes_of(path):
    return list(ast.walk(tree_of(path)))


@pytest.fixture(scope="module", autouse=True)
def _trees_are_read_once():
    """Every file is parsed once for all tests of this module."""
    yield
    tree_of.cache_clear()
    nodes_of.cache_clear()


def part_of(path):
    """The room a module is in: the first name below ``gelato``."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_parts(nodes):
    """The rooms that a module's nodes import from, anywhere in it."""
    for node in nodes:
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
    for other in imported_parts(nodes_of(path)):
        assert LEVEL[other] <= LEVEL[part], f"{part} must not import {other}"


@modules(lambda part: part in DATA | NUMERIC)
def test_data_and_numerics_do_not_import_one_another(path):
    others = NUMERIC if part_of(path) in DATA else DATA
    assert others.isdisjoint(imported_parts(nodes_of(path)))


@modules(lambda part: part in TASKLESS)
def test_the_ground_floor_and_the_kernels_know_no_task(path):
    assert set(imported_parts(nodes_of(path))) <= TASKLESS[part_of(path)]


@modules(lambda part: part != "scores")
def test_nobody_outside_asks_for_the_form_of_scores(path):
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            names = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
            assert names.isdisjoint(FORMS), f"line {node.lineno} asks for a form of scores"
        if isinstance(node, ast.Compare):
            sides = [getattr(side, "attr", "") for side in (node.left, *node.comparators)]
            assert set(sides) != {"first", "inner"}, f"line {node.lineno} asks whether the first step is the inner one"


@modules(lambda part: part not in BY_NAME)
def test_nobody_outside_knows_one_method(path):
    """No import of one method's module, and no string that is the name of a method: METHODS tells."""
    allowed = {"gelato.methods", "gelato.methods.factory", "gelato.methods.method", "gelato.methods.config_files"}
    for node in nodes_of(path):
        modules = []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            assert not module.startswith("gelato.methods") or module in allowed, f"line {node.lineno}: {module}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = node.value in HOMONYMS.get(part_of(path), HOMONYMS.get(path.name, ()))
            assert word or node.value not in METHODS, f"line {node.lineno} names the method {node.value}"


@modules(lambda part: part == "training")
def test_training_knows_no_method(path):
    assert "methods" not in set(imported_parts(nodes_of(path)))


FOLDERS = {path.name for path in (SOURCE / "methods").iterdir() if (path / "__init__.py").exists()}


@modules(lambda part: part == "methods")
def test_no_folder_of_a_method_imports_another_one(path):
    """What methods share lies below them; a second stage reaches first stages through METHODS."""
    own = path.relative_to(SOURCE / "methods").parts[0]
    if own in FOLDERS:
        assert imported_folders(nodes_of(path)) & FOLDERS <= {own}


def imported_folders(nodes):
    """The folders, and single modules, of ``gelato.methods`` that a module imports from, anywhere in it."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[2] for name in names if name.startswith("gelato.methods.")}


@pytest.mark.parametrize(
    ("code", "folders"),
    [
        ("import gelato.methods.gae.model", {"gae"}),
        ("from gelato.methods.gae.model import GaeTask", {"gae"}),
        ("from gelato.methods import gae", {"gae"}),
        ("def f():\n    from gelato.methods.gae import task", {"gae"}),
        ("from gelato.networks.gnn import encoder", set()),
    ],
)
def test_every_form_of_import_of_a_method_is_seen(code, folders):
    assert imported_folders(ast.walk(ast.parse(code))) == folders


def test_only_the_engines_wire_threads():
    users = [
        str(path.relative_to(SOURCE))
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and {"threading", "concurrent.futures", "multiprocessing"}
        & {getattr(node, "module", None), *(alias.name for alias in node.names)}
    ]
    assert all(part.startswith(("kernels/", "ranking/engines/", "sparse/compiled.py")) for part in users)


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
    assert list(imported_parts(ast.walk(ast.parse(code)))) == parts


@modules(lambda part: part != "__main__")  # which runs; test_cli.py runs it
def test_every_module_can_be_imported(path):
    assert importlib.import_module(module_name(path)).__doc__


@modules()
def test_imports_are_absolute(path):
    assert not [node for node in nodes_of(path) if isinstance(node, ast.ImportFrom) and node.level]


@modules()
def test_no_module_is_called_after_nothing(path):
    names = {part.removesuffix(".py") for part in path.relative_to(SOURCE).parts}
    assert names.isdisjoint({"utils", "util", "common", "helpers", "helper", "base", "manager", "misc"})


@modules(lambda part: part != "cli")
def test_only_the_command_line_prints(path):
    calls = [node.func for node in nodes_of(path) if isinstance(node, ast.Call)]
    assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"]


def public(body, owner=None):
    """Public functions and classes of a module or a class, and those inside public classes, with their class."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node, owner
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, node.name)


VAGUE = {
    *("seen", "nested", "followed", "across", "sought", "form", "lanes", "few", "scored", "making"),
    *("places", "standing", "told", "heed", "whisper", "turned"),
}
"""Words that do not say what a module, a class or a public function is; local variables may use them."""


@modules()
def test_no_name_of_a_module_class_or_public_function_has_a_vague_word(path):
    names = [*path.relative_to(SOURCE).with_suffix("").parts, *(node.name for node, _ in public(tree_of(path).body))]
    assert [name for name in names if VAGUE & {name.lower(), *name.split("_")}] == []


def test_no_public_class_name_is_defined_twice():
    named = [node.name for path in MODULES for node, _ in public(tree_of(path).body) if isinstance(node, ast.ClassDef)]
    assert sorted(name for name, count in Counter(named).items() if count > 1) == []


@functools.cache
def protocol_methods():
    """Names of the methods that a protocol of the package documents, for the classes that implement it."""
    classes = [node for path in MODULES for node in nodes_of(path) if isinstance(node, ast.ClassDef)]
    protocols = [node for node in classes if "Protocol" in ast.unparse(ast.Tuple(node.bases))]
    return {name.name for node in protocols for name, _ in public(node.body) if ast.get_docstring(name)}


def inherited(path, node, owner):
    """Whether a method is documented where it comes from: at a protocol, or at a base class of its class."""
    if owner is None:
        return False
    bases = getattr(importlib.import_module(module_name(path)), owner).__mro__[1:]
    return node.name in protocol_methods() or any(getattr(vars(base).get(node.name), "__doc__", "") for base in bases)


@modules()
def test_everything_public_says_what_it_is_or_its_base_class_or_protocol_does(path):
    tree = tree_of(path)
    assert ast.get_docstring(tree)
    silent = [(node, owner) for node, owner in public(tree.body) if not ast.get_docstring(node)]
    assert [node.name for node, owner in silent if not inherited(path, node, owner)] == []


def test_every_public_name_of_the_package_is_there():
    assert [name for name in gelato.__all__ if getattr(gelato, name, None) is None] == []
    assert set(gelato.__all__) <= set(dir(gelato))
    with pytest.raises(AttributeError, match="module 'gelato' has no attribute 'gelati'"):
        _ = gelato.gelati


@pytest.mark.parametrize("package", ["gelato", "gelato.methods", "gelato.datasets"])
def test_the_public_names_are_the_same_for_type_checkers(package):
    module = importlib.import_module(package)
    body = tree_of(Path(module.__file__)).body
    block = next(node for node in body if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING")
    imports = [(node.module, alias) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    named = {alias.asname: (home, alias.name) for home, alias in imports if alias.asname}
    aliases = {node.targets[0].id for node in block.body if isinstance(node, ast.Assign)}
    classes = {entry.predictor().__name__ for entry in METHODS.values()}  # known by METHODS, whether typed here or not
    assert set(named) <= set(module.__all__) <= set(dir(module)) and aliases <= classes
    assert set(module.__all__) - set(named) == (classes - set(named) if package == "gelato" else set())
    for name, (home, original) in named.items():
        assert getattr(importlib.import_module(home), original) is getattr(module, name)


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

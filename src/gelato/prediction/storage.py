"""Predictors on disk: written by ``save`` and by ``fit`` in a run folder, read by ``load``, also inside one another."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gelato.errors import InputError
from gelato.graph import Graph, Pairs
from gelato.io import read_graph
from gelato.io.stored_files import parse_json
from gelato.io.untrusted import DamagedData, check_range, checked_array
from gelato.prediction.options import check_names
from gelato.runs import files
from gelato.runs.files import Tensors, parsing, write_stored_graph
from gelato.runs.folder import check_run_path, training_graph
from gelato.runs.records import check_type, read_fact
from gelato.runs.training_links import TrainingLinks

if TYPE_CHECKING:
    from gelato.prediction.predictor import LinkPredictor

Predictor = TypeVar("Predictor", bound="LinkPredictor")


def identity_of(predictor: "LinkPredictor", graph: Graph) -> dict[str, Any]:
    """What a run is known by: the method, settings that shape the result, and the graph with its attributes."""
    return {
        "method": predictor.method,
        "settings": predictor.settings.identity(),
        "graph": graph.fingerprint,
        "attributes": graph.attribute_fingerprint,
        "names": graph.name_fingerprint,
    }


def save_predictor(predictor: "LinkPredictor", path: str | os.PathLike[str]) -> None:
    """Write a predictor and its graph to a folder: ``config.json``, ``model.safetensors`` and ``graph.npz``."""
    graph, folder = predictor.graph_, Path(path)
    check_run_path(folder)
    if (folder / files.SPLIT).exists():
        raise InputError(f"{path}: holds a run, which has its model already; save to another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: this folder cannot be created: {error.strerror or error}") from None
    write_learned(predictor, folder)
    write_stored_graph(graph, folder / files.GRAPH)
    files.write_json(folder / files.CONFIG, {"format": files.FORMAT, **identity_of(predictor, graph)})


def write_learned(predictor: "LinkPredictor", folder: Path) -> None:
    """Write what was learned, and from which links."""
    seen, graph = predictor._seen, predictor._graph
    if predictor.selects:
        n, directed, names = seen.graph.n, seen.graph.directed, seen.graph.names
        write_stored_graph(Graph.from_edges(seen.pairs, n, directed=directed, names=names), folder / files.SEEN)
    about = {
        **predictor.learned(),
        "chosen_": dict(predictor.chosen_),
        "columns_": predictor.columns_,
        "graph_hash_": graph.fingerprint,
        "attribute_hash_": graph.attribute_fingerprint,
    }
    tensors = {**predictor.tensors(), "valid": predictor.valid_, "selected": seen.selected}
    settings = json.dumps(predictor.settings.as_dict())
    words = {"method": predictor.method, "learned": json.dumps(about), "settings": settings}
    files.write_tensors(folder / files.MODEL, tensors, words)


def load_predictor(kind: type[Predictor], folder: Path, graph: Graph | None) -> Predictor:
    """Read a predictor of some class, for ``graph`` or for the graph that is stored with it."""
    if not (folder / files.MODEL).exists() and (folder / files.CONFIG).exists():
        raise InputError(f"{folder}: the run is not finished; resume it by running the same command again")
    files.check_entries(folder)
    tensors, words = files.read_tensors(folder / files.MODEL)
    with parsing():
        model = kind._of(words["method"], parse_json(words["settings"]), folder)
        learned = parse_json(words["learned"])
        graph_hash = learned["graph_hash_"]
    stored = training_graph(folder, graph_hash) if graph is None else graph
    if stored.fingerprint != graph_hash:
        raise InputError(
            f"{folder}: the model was made for another graph or another split of it; give what it was trained"
            " with, or train a model for this one"
        )
    if stored.attribute_fingerprint != learned.get("attribute_hash_", stored.attribute_fingerprint):
        raise InputError(
            f"{folder}: the attributes of this graph differ from those the model was trained with; give the "
            "attribute table it was trained with, or train a model for this one"
        )
    seen = read_graph(folder / files.SEEN) if model.selects else stored
    with parsing():
        model.chosen_, model.columns_, model.remarks_ = learned["chosen_"], learned["columns_"], []
        check_facts(model)
        model.valid_, selected = (checked_array(tensors, name, np.int64, (None, 2)) for name in ("valid", "selected"))
        check_range("valid", model.valid_, 0, seen.n)
        check_range("selected", selected, 0, seen.n)
    model._seen = TrainingLinks(seen, seen.edges, selected)
    model.restore(learned, tensors, stored)
    return model


def check_facts(model: "LinkPredictor") -> None:
    """Refuse chosen settings and attribute names that no training writes."""
    check_type("chosen_", model.chosen_, dict[str, Any])
    check_names(model.chosen_, model.settings.names(), "setting", model.method)
    if any(model.chosen_.get(name) is None for name in (*model.chooses, *model.chosen_)):
        raise DamagedData(f"the chosen settings are {dict(model.chosen_)!r:.200}")
    model.settings.replaced(**model.chosen_)
    check_type("columns_", model.columns_, list[str | int] | None)


def dump_inner_model(inner: "LinkPredictor", prefix: str) -> tuple[dict[str, Any], Tensors]:
    """What a predictor inside another has learned: plain values, and tensors whose names begin with ``prefix``."""
    about = {
        "method": inner.method,
        "settings": inner.settings.as_dict(),
        "chosen_": dict(inner.chosen_),
        "columns_": inner.columns_,
        "learned": inner.learned(),
    }
    return about, {prefix + name: value for name, value in inner.tensors().items()}


def load_inner_model(
    about: Mapping[str, Any],
    tensors: Tensors,
    prefix: str,
    make: "Callable[..., LinkPredictor]",
    outer: tuple[Graph, Pairs, TrainingLinks],
) -> "LinkPredictor":
    """The predictor that ``dump_inner_model`` described; ``outer`` holds the graph, validation and training links."""
    with parsing():
        inner = make(about["method"], **make(about["method"]).settings.of_saved(about["settings"]))
        inner.chosen_, inner.columns_, inner.remarks_ = about["chosen_"], about["columns_"], []
        check_facts(inner)
        learned = read_fact(about, "learned", dict[str, Any])
    graph, inner.valid_, inner._seen = outer
    own = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    inner.restore(learned, own, graph)
    return inner

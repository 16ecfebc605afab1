"""Models on disk, without pickle: what was learned, from which links, and the graph that the model is for.

``model.safetensors``  weights, enhanced links, settings, history
``seen.npz``           the links learned from and selected on
``graph.npz``          the graph
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import torch

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import read_graph
from gelato.methods.gelato.enhance.links import EnhancedLinks
from gelato.splits import Split
from gelato.training.run import CONFIG, FORMAT, GRAPH, SPLIT, load_tensors, save_tensors, write_plain
from gelato.training.seen import Seen
from gelato.training.trainer import Epoch

MODEL, SEEN = "model.safetensors", "seen.npz"

LINKS = ("pairs", "observed", "similar", "added")
"""Fields of the enhanced links that are saved."""

LEARNED = ("chosen_", "best_epoch_", "precision_", "skipped_", "fallback_", "graph_hash_", "columns_")
"""What a model learned besides its weights."""

T = TypeVar("T")


def write_model(model: Any, folder: Path) -> None:
    """Write what a fitted model learned, and from which links."""
    seen = model._seen
    links = Graph.from_edges(seen.pairs, seen.graph.n, directed=seen.graph.directed, names=seen.graph.names)
    write_plain(links, folder / SEEN)
    enhanced = {f"links.{name}": torch.as_tensor(getattr(model.links_, name)) for name in LINKS}
    about = {name: getattr(model, name) for name in LEARNED} | {"n": model.links_.n, "directed": model.links_.directed}
    about["history_"] = [asdict(epoch) for epoch in model.history_]
    save_tensors(
        folder / MODEL,
        {f"net.{name}": value for name, value in model.state_.items()}
        | enhanced
        | {"weights": torch.as_tensor(model.weights_), "scale": torch.as_tensor(model.scale_)}
        | {"valid": torch.tensor(model.valid_), "selected": torch.tensor(seen.selected)},
        {"format": FORMAT, "learned": json.dumps(about), "settings": json.dumps(model.as_dict())},
    )


def read_model(kind: type[T], folder: Path, graph: Graph | None) -> T:
    """A model of this kind from the folder that ``write_model`` wrote, for ``graph`` or for the one stored there."""
    if not (folder / MODEL).exists() and (folder / CONFIG).exists():
        raise InputError(f"{folder}: the run is not finished; the same command goes on with it")
    tensors, about = load_tensors(folder / MODEL)
    if about.get("format") != FORMAT:
        raise InputError(f"{folder / MODEL}: is no model of this version of gelato; train again")
    model: Any = kind(**json.loads(about["settings"]))
    learned = json.loads(about["learned"])
    for name in LEARNED:
        setattr(model, name, learned[name])
    model.history_ = [Epoch(**epoch) for epoch in learned["history_"]]
    parts = {name: tensors[f"links.{name}"].numpy() for name in LINKS}
    model.links_ = EnhancedLinks(learned["n"], learned["directed"], **parts)
    model.weights_, model.scale_, model.valid_ = (tensors[name].numpy() for name in ("weights", "scale", "valid"))
    model.remarks_ = []
    model.state_ = {name.removeprefix("net."): value for name, value in tensors.items() if name.startswith("net.")}
    stored = _graph_of(folder, model.graph_hash_) if graph is None else graph
    if stored.fingerprint != model.graph_hash_:
        raise InputError(
            f"{folder}: the model was made for another graph or another split of it; train one for this graph,"
            " or apply it without one: Gelato.load(path).applied(graph)"
        )
    seen = read_graph(folder / SEEN)
    model._graph, model._seen = stored, Seen(seen, seen.edges, tensors["selected"].numpy())
    return model


def _graph_of(folder: Path, fingerprint: str) -> Graph:
    """The graph stored with a model; the training graph, if it was trained on a split."""
    graph = read_graph(folder / GRAPH)
    if graph.fingerprint != fingerprint and (folder / SPLIT).exists():
        return Split.load(folder / SPLIT, graph).train
    return graph

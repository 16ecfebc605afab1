"""Predictors by name: made new, or opened from the folder of a run."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gelato.datasets.loading import is_stored
from gelato.errors import InputError, deprecated
from gelato.graph import Graph
from gelato.io import read_graph
from gelato.methods.method import HEURISTIC
from gelato.methods.table import METHODS
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.storage import identity_of
from gelato.runs.files import CONFIG, GRAPH, SPLIT, check_entries, check_format, read_json
from gelato.runs.folder import resume_sentence
from gelato.splits import Split


def make(method: str, **settings: Any) -> LinkPredictor:
    """A predictor of the method of this name, with these settings as keyword arguments.

    Example:
        >>> import gelato
        >>> gelato.make("ac", steps=2)
        Autocovariance(steps=2)
        >>> gelato.make("ac", steps=2).fit(gelato.load("debian-sample")).suggest(3, repeats=0).pairs.shape
        (3, 2)
    """
    entry = METHODS[method]
    model = entry.predictor().of(entry.check(method, settings))
    if entry.make == HEURISTIC:  # which has no class of its own to know the method by
        model.method = method
    return model


def new_predictor(method: str, **settings: Any) -> LinkPredictor:
    """``make`` under its former name, for one release."""
    deprecated("gelato.new_predictor", "gelato.make")
    return make(method, **settings)


def columns_of(path: str | os.PathLike[str]) -> list[str] | None:
    """Names of the attributes of the graph in the folder of a run, by which another table is read alike."""
    if is_stored(Path(path)):
        check_entries(Path(path))
    names = read_graph(Path(path) / GRAPH).attribute_names if is_stored(Path(path)) else None
    return None if names is None else list(map(str, names.tolist()))


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """A finished run.

    Attributes:
        folder: where it lies.
        model: as it was trained: for the training links of a split, or for all links of a graph.
        split: what was hidden; no test links, if a whole graph was given.
    """

    folder: Path
    model: LinkPredictor
    split: Split

    @property
    def graph(self) -> Graph:
        """All links."""
        return self.split.graph

    def whole(self) -> LinkPredictor:
        """The model for all links of the graph."""
        return self.model if self.model.graph_.fingerprint == self.graph.fingerprint else self.model.on(self.graph)


def open_run(path: str | os.PathLike[str], device: str | None = None) -> OpenedRun:
    """Open the folder that ``gelato fit`` or ``gelato predict`` wrote, to run on ``device``."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"open_run takes the folder of a run, got {type(path).__name__}")
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder; give one that 'gelato fit --out' or 'gelato predict' wrote")
    check_entries(folder)
    if not (folder / SPLIT).exists():
        kind = "a saved model, which has no links hidden to test it on" if is_stored(folder) else "no run"
        raise InputError(f"{folder}: holds {kind}; give a folder that 'gelato fit --out' or 'gelato predict' wrote")
    graph = read_graph(folder / GRAPH)
    split = Split.load(folder / SPLIT, graph)
    model = _class_of(folder).load(folder)
    return OpenedRun(folder, _on(model, device), split)


def open_model(path: str | os.PathLike[str], graph: Graph | None = None, device: str | None = None) -> LinkPredictor:
    """Open the model of a run or of ``save``, for ``graph`` or for all links of its own graph, to run on ``device``."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"open_model takes the folder of a run or a model, got {type(path).__name__}")
    folder = Path(path)
    run = open_run(folder, device) if (folder / SPLIT).exists() else None
    model = _on(_class_of(folder).load(folder), device) if run is None else run.model
    if graph is None:
        return model if run is None else run.whole()
    return model if identity_of(model, graph) == identity_of(model, model.graph_) else model.on(graph)


def load_model(path: Path, graph: Graph) -> LinkPredictor:
    """The model of a folder, which must be for ``graph``."""
    return _on(_class_of(path).load(path, graph), None)


def method_of(path: Path) -> str:
    """The method of the run or model that a folder holds."""
    config = read_json(path / CONFIG)
    check_format(config, path / CONFIG)
    method = config.get("method")
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"{path / CONFIG}: unknown method {method!r}; known: {', '.join(sorted(METHODS))}")
    return method


def describe_checkpoint(path: Path) -> str | None:
    """What the folder of a stopped run keeps, in a sentence; ``None`` if that is nothing."""
    return resume_sentence(path, METHODS[method_of(path)].unit) if (path / CONFIG).exists() else None


def _class_of(folder: Path) -> type[LinkPredictor]:
    return METHODS[method_of(folder)].predictor()


def _on(model: LinkPredictor, device: str | None) -> LinkPredictor:
    """The model on a device; by default on that it was trained on, or on any if that is not available."""
    trained_on = model.get_params().get("device")
    if trained_on is None or (device is None and trained_on == "auto"):
        return model
    if device is None:
        from gelato.training.trained_predictor import device_of

        try:
            device_of(trained_on)
        except InputError:
            device = "auto"
    return model if device is None else model.set_params(device=device)

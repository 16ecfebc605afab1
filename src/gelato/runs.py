"""Runs on disk, opened again: their graph, what was hidden of it, and their model for all of its links."""

import os
from dataclasses import dataclass
from pathlib import Path

from gelato.datasets.loading import is_stored
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import read_graph
from gelato.methods.gelato.build import device_of
from gelato.methods.gelato.model import Gelato
from gelato.splits import Split
from gelato.training.run import GRAPH, SPLIT


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """A finished run.

    Attributes:
        folder: where it lies.
        model: as it was trained: for the training links of a split, or for all links of a graph.
        split: what was hidden; no test links, if a whole graph was given.
    """

    folder: Path
    model: Gelato
    split: Split

    @property
    def graph(self) -> Graph:
        """All links."""
        return self.split.graph

    def whole(self) -> Gelato:
        """The model for all links of the graph."""
        return self.model if self.model.graph_.fingerprint == self.graph.fingerprint else self.model.applied(self.graph)


def open_run(path: str | os.PathLike[str], device: str | None = None) -> OpenedRun:
    """Open the folder that ``gelato fit`` or ``gelato predict`` wrote, to run on ``device``."""
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder; give one that 'gelato fit --out' or 'gelato predict' wrote")
    if not (folder / SPLIT).exists():
        kind = "a saved model, which has no links hidden to test it on" if is_stored(folder) else "no run"
        raise InputError(f"{folder}: holds {kind}; give a folder that 'gelato fit --out' or 'gelato predict' wrote")
    graph = read_graph(folder / GRAPH)
    split = Split.load(folder / SPLIT, graph)
    whole = len(split.test) == 0
    model = Gelato.load(folder, graph if whole else split.train)
    return OpenedRun(folder, _on(model, device), split)


def open_model(path: str | os.PathLike[str], graph: Graph | None = None, device: str | None = None) -> Gelato:
    """The model of a run or of ``Gelato.save`` for ``graph``, or for all links of its own, to run on ``device``."""
    folder = Path(path)
    run = open_run(folder, device) if (folder / SPLIT).exists() else None
    model = _on(Gelato.load(folder), device) if run is None else run.model
    if graph is None:
        return model if run is None else run.whole()
    return model if model.config(graph) == model.config(model.graph_) else model.applied(graph)


def _on(model: Gelato, device: str | None) -> Gelato:
    """The model on a device; by default on that it was trained on, or on any if that is not there."""
    if device is None:
        try:
            device_of(model.device)
        except InputError:
            device = "auto"
    return model if device is None else model.set_params(device=device)

"""Runs on disk, opened again: their graph, what was hidden of it, and their model for all of its links."""

import os
from dataclasses import dataclass
from pathlib import Path

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import read_graph
from gelato.model import Gelato
from gelato.splits import Split
from gelato.storage import MODEL
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


def is_run(path: str | os.PathLike[str]) -> bool:
    """Whether a path is the folder of a run or of a saved model."""
    return (Path(path) / MODEL).exists() or (Path(path) / SPLIT).exists()


def open_run(path: str | os.PathLike[str]) -> OpenedRun:
    """Open the folder that ``gelato fit`` or ``gelato predict`` wrote."""
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder; give one that 'gelato fit --out' or 'gelato predict' wrote")
    if not is_run(folder):
        raise InputError(f"{folder}: holds no run; give a folder that 'gelato fit --out' or 'gelato predict' wrote")
    graph = read_graph(folder / GRAPH)
    split = Split.load(folder / SPLIT, graph)
    whole = len(split.test) == 0
    return OpenedRun(folder, Gelato.load(folder, graph if whole else split.train), split)


def open_model(path: str | os.PathLike[str], graph: Graph | None = None, device: str | None = None) -> Gelato:
    """The model of a run or of ``Gelato.save`` for ``graph``, or for all links of its own, to run on ``device``."""
    folder = Path(path)
    stored = open_run(folder) if (folder / SPLIT).exists() else None
    model = Gelato.load(folder) if stored is None else stored.model
    if device is not None:
        model.set_params(device=device)
    if stored is not None:
        model = stored.whole()
    if graph is None:
        return model
    same = model.config(graph) == model.config(model.graph_)
    return model if same else model.applied(graph)

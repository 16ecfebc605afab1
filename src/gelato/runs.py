"""Runs on disk, opened again: their graph, what was hidden of it, and their model for all of its links."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def open_model(path: str | os.PathLike[str], graph: Graph | None = None) -> Gelato:
    """The model of a run or of ``Gelato.save`` for ``graph``, or for all links of its own."""
    folder = Path(path)
    model = open_run(folder).whole() if (folder / SPLIT).exists() else Gelato.load(folder)
    if graph is None:
        return model
    same = model.config(graph) == model.config(model.graph_) and _called(graph) == _called(model.graph_)
    return model if same else model.applied(graph)


def _called(graph: Graph) -> list[Any]:
    """What the nodes and attributes of a graph are called."""
    return [None if names is None else names.tolist() for names in (graph.names, graph.attribute_names)]

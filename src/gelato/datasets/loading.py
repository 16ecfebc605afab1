"""Graphs by name, checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gelato.datasets.catalog import DATASETS
from gelato.datasets.dataset import Dataset
from gelato.datasets.download import Progress, fetch
from gelato.datasets.locations import Folder, cache_folder, data_folder, dataset_location, file_stem, npz_names
from gelato.errors import InputError, MissingDependency
from gelato.graph import Graph
from gelato.io import read_graph
from gelato.io.formats import read_graph_and_notes
from gelato.io.npz import read_npz
from gelato.io.stored_files import check_regular

STORED = ("graph.npz", "config.json")
"""Files that every folder of a run holds; the first is its graph."""


def load(name: str, *, data_root: Folder = None, cache: Folder = None, progress: Progress | None = None) -> Graph:
    """The graph of this name, from a folder, the package, the cache or the network, checked against what was published.

    Args:
        name: a name in ``DATASETS``, or of an npz file in the data folder.
        data_root: folder of npz files to use instead of downloading; by default ``$GELATO_DATA``, if set.
        cache: folder for downloads; by default ``$GELATO_CACHE``, else ``gelato`` in the user's cache.
        progress: called with the bytes so far and in total while a file is downloaded.

    >>> load("debian-sample")
    Graph(3,727 nodes, 7,283 links, 1,258 attributes)
    """
    place = dataset_location(name, data_root, cache)
    if place.kind == "folder" and place.path is not None:
        graph = read_npz(place.path)
        if name in DATASETS:
            DATASETS[name].check(graph, str(place.path))
        return graph
    dataset, root = DATASETS[name], data_folder(data_root)
    if dataset.embedded:
        graph = dataset.reader(Path())
        dataset.check(graph, "the sample in the package")
        return graph
    if root is not None:
        raise InputError(
            f"{root} does not contain {file_stem(name)}.npz; it has {npz_names(root)}; "
            "add the file, or unset GELATO_DATA and leave out data_root to download it"
        )
    return _from_files(dataset, cache_folder(cache) / name, progress)


@dataclass(frozen=True)
class OpenedGraph:
    """A graph, its name, and what was read of it from tables, in words, where that was so."""

    name: str
    graph: Graph
    reading: list[str] | None = None

    def remarks(self, spec: str) -> list[str]:
        """What is worth telling: what was read or, where only the graph tells, what was dropped."""
        if self.reading is not None:
            return self.reading
        dropped = self.graph.dropped
        return [f"{spec}: {dropped}"] if dropped.loops or dropped.repeats else []


def open_graph(
    spec: str, *, data_root: Folder = None, progress: Progress | None = None, **reading: Any
) -> tuple[str, Graph]:
    """The name and the graph of a dataset or of a file.

    Args:
        spec: the name of a dataset, a file for ``gelato.io.read_graph``, or the folder of a run, which holds its graph.
        data_root, progress: as in ``load``.
        reading: how to read a file, as in ``gelato.io.read_graph``; not allowed with the name of a dataset.

    >>> open_graph("debian-sample")
    ('debian-sample', Graph(3,727 nodes, 7,283 links, 1,258 attributes))
    """
    opened = open_graph_and_notes(spec, data_root=data_root, progress=progress, **reading)
    return opened.name, opened.graph


def open_graph_and_notes(
    spec: str, *, data_root: Folder = None, progress: Progress | None = None, **reading: Any
) -> OpenedGraph:
    """As ``open_graph``, with what was read in words."""
    path = Path(spec)
    given = {key: value for key, value in reading.items() if value is not None and (key, value) != ("directed", False)}
    if spec in DATASETS or not (path.suffix or path.exists() or len(path.parts) > 1):
        _refuse(given, f"{spec!r} is a dataset, not a file")
        return OpenedGraph(spec, load(spec, data_root=data_root, progress=progress))
    if is_stored(path):
        _refuse(given, f"{spec} is the folder of a run, which holds its graph")
        check_regular(path / STORED[0], own=True)
        return OpenedGraph(path.resolve().name.removesuffix(".run"), read_graph(path / STORED[0]))
    graph, notes = read_graph_and_notes(path, **given)
    return OpenedGraph(path.name.partition(".")[0], graph, notes)


def _refuse(given: Mapping[str, Any], reason: str) -> None:
    options = [f"{name} (--{'kind' if name == 'kinds' else name})" for name in given if name != "isolated"]
    if options:
        raise InputError(f"{reason}: leave out {' and '.join(options)}")


def is_stored(path: Path) -> bool:
    """Whether a path is the folder of a run or of a saved model, which hold their graph."""
    return all((path / name).is_file() for name in STORED)


def _from_files(dataset: Dataset, folder: Path, progress: Progress | None) -> Graph:
    if dataset.extra is not None and find_spec(dataset.extra) is None:  # before a long download rather than after it
        raise MissingDependency(f"dataset {dataset.name}", dataset.extra, dataset.extra)
    otherwise = f"try again, or put {file_stem(dataset.name)}.npz into a folder and set GELATO_DATA to that folder"
    for remote in dataset.files:
        fetch(remote, folder, progress=progress, otherwise=otherwise)
    try:
        graph = dataset.reader(folder)
        dataset.check(graph, str(folder))
    except InputError:
        for remote in dataset.files:
            if remote.sha256 is None:  # only its content shows that it is not the published file
                (folder / remote.name).unlink(missing_ok=True)
        raise
    return graph

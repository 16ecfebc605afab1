"""Link prediction sets of the Open Graph Benchmark, read by the ``ogb`` package."""

import contextlib
import gzip
import io
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gelato.datasets.torch_files import read_torch
from gelato.errors import InputError, MissingDependency
from gelato.graph import Graph

MOST_BYTES = 2 << 30
"""Largest size of an archive, unpacked, and of the tables in it."""

DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""What reading a damaged or encrypted zip archive raises."""


def read_ogb(folder: Path, *, name: str) -> Graph:
    """The whole graph of an ``ogbl-*`` set: its training, validation and test links.

    The folder holds the downloaded ``<archive>.zip``, or the folder ``ogbl_*`` that ``ogb`` unpacks from it.
    """
    try:
        from ogb.linkproppred import LinkPropPredDataset
    except ImportError as error:
        raise MissingDependency(f"dataset {name}", "ogb", "ogb") from error
    _unpack(folder, name)
    place = folder / name.replace("-", "_")
    _check_sizes(place)
    try:
        processed = place / "processed" / "data_processed"  # ogb pickles it, and current versions of torch refuse it
        processed.unlink(missing_ok=True)
        with contextlib.redirect_stdout(io.StringIO()):  # ogb prints what it does
            dataset = LinkPropPredDataset(name, root=str(folder))
        processed.unlink(missing_ok=True)
        split = place / "split" / str(dataset.meta_info["split"])
        return from_ogb(dataset[0], {phase: read_torch(split / f"{phase}.pt") for phase in ("train", "valid", "test")})
    except MemoryError:
        raise
    except Exception as error:  # a damaged folder can fail in any way
        raise InputError(f"{place} is not a readable OGB folder: {error}; delete it to unpack it again") from error


def from_ogb(graph: Mapping[str, Any], split: Mapping[str, Mapping[str, Any]]) -> Graph:
    """A Graph from the two dictionaries of ``ogb``: ``dataset[0]`` and ``dataset.get_edge_split()``.

    A link that occurs in several years is kept once, with its first year. The numbers of papers, which OGB gives as
    weights, are left out.
    """
    phases = [split[phase] for phase in ("train", "valid", "test")]
    edges = np.concatenate([np.asarray(phase["edge"]) for phase in phases])
    times, attributes = None, graph.get("node_feat")
    if all("year" in phase for phase in phases):
        times = np.concatenate([np.asarray(phase["year"], dtype=np.float64).ravel() for phase in phases])
    if attributes is not None:
        attributes = np.asarray(attributes, dtype=np.float32)
    return Graph.from_edges(edges, int(graph["num_nodes"]), times=times, attributes=attributes)


def _unpack(folder: Path, name: str) -> None:
    """Unpack the archive into the folder ``ogb`` looks for, completely or not at all."""
    target = folder / name.replace("-", "_")
    archives = sorted(folder.glob("*.zip"))
    if target.exists() and archives and archives[0].stat().st_mtime > target.stat().st_mtime:
        shutil.rmtree(target)  # the archive was downloaded again
    if target.exists():
        if not any(target.glob("RELEASE_v*.txt")):  # ogb would ask on the terminal
            raise InputError(f"{target} is not a complete OGB folder: RELEASE_v1.txt is missing; delete the folder")
        return
    if not archives:
        raise InputError(
            f"{folder} contains neither the archive of {name} nor its folder {target.name}; download it again"
        )
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        try:
            with zipfile.ZipFile(archives[0]) as archive:
                if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
                    raise InputError(f"{archives[0]} unpacks to more than {MOST_BYTES:,} bytes; delete it")
                archive.extractall(scratch)
        except DAMAGED_ZIP as error:
            raise InputError(f"{archives[0]} is not a zip archive: {error}; delete it to download it again") from error
        inner = [path for path in Path(scratch).iterdir() if path.is_dir() and any(path.glob("RELEASE_v*.txt"))]
        if len(inner) != 1:
            raise InputError(f"{archives[0]} does not contain exactly one OGB folder; delete it to download it again")
        (inner[0] / "processed").mkdir(exist_ok=True)  # ogb writes there
        inner[0].replace(target)


def _check_sizes(folder: Path) -> None:
    """Refuse a folder whose compressed tables would fill the memory."""
    total = 0
    for path in sorted(folder.glob("raw/*.csv.gz")):
        try:
            with gzip.open(path) as unpacked:
                while chunk := unpacked.read(1 << 20):
                    total += len(chunk)
                    if total > MOST_BYTES:
                        raise InputError(f"{path} unpacks to more than {MOST_BYTES:,} bytes; delete {folder}")
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{folder} is not a readable OGB folder: {path.name}: {error}; delete it") from error

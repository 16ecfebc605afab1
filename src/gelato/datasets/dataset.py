"""What is known about a dataset before it is downloaded: its files, its reader and the expected graph."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gelato.datasets.download import Remote
from gelato.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from gelato.graph import Graph
    from gelato.sparse.row_bands import Matrix


@dataclass(frozen=True)
class Dataset:
    """One entry of ``DATASETS``.

    Attributes:
        name: its name in ``load``.
        files: the files to download.
        reader: reads the graph from the folder of the files.
        nodes, links, attributes: how many it has.
        source, licence: where it comes from, and the licence there, or what is known about it.
        content_sha256: ``content_sha256`` of the graph, or ``None`` where it is not known.
        embedded: whether it is part of the package.
        extra: the extra, and package of the same name, that the reader needs.
        repeats: whether ``links`` counts a pair once for every time it was linked, so that the graph has fewer.
    """

    name: str
    files: tuple[Remote, ...]
    reader: "Callable[[Path], Graph]"
    nodes: int
    links: int
    attributes: int
    source: str
    licence: str
    content_sha256: str | None = None
    embedded: bool = False
    extra: str | None = None
    repeats: bool = False

    def check(self, graph: "Graph", place: str) -> None:
        """Refuse a graph from ``place`` that is not the published one."""
        for rule, actual in (("nodes", graph.n), ("links", graph.m), ("attributes", graph.f)):
            expected = getattr(self, rule)
            if actual != expected and not (rule == "links" and self.repeats and actual < expected):
                raise InputError(f"{place} is not {self.name}: {expected:,} {rule} expected, got {actual:,}")
        if self.content_sha256 is not None and (found := content_sha256(graph)) != self.content_sha256:
            raise InputError(f"{place} is not {self.name}: expected content sha256 {self.content_sha256}, got {found}")


def content_sha256(graph: "Graph") -> str:
    """SHA-256 of the content of a graph, whatever its file format: links, attributes and labels.

    Links are hashed as int64, attributes as CSR without stored zeros (int64 positions, float32 values), labels as
    int64 if they are integers and as text if not; weights, times and names do not count.

    >>> from gelato import Graph
    >>> graph = Graph.from_edges([[0, 1], [1, 2]])
    >>> content_sha256(graph) == content_sha256(Graph.from_edges([[2, 1], [1, 0]], names=["a", "b", "c"]))
    True
    """
    import numpy as np

    from gelato.sparse.row_bands import hash_bands, spans

    digest = hashlib.sha256(f"gelato content {graph.n} {graph.m} {graph.f} {graph.directed}".encode())
    for rows in spans(graph.edges):
        digest.update(graph.edges[rows].astype("<i8").tobytes())
    if graph.attributes is not None:
        hash_bands(digest, partial(_single, graph.attributes), index="<i8", data="<f4")
    if graph.labels is not None:
        integers = np.issubdtype(graph.labels.dtype, np.integer)
        text = "" if integers else "\0".join(str(label) for label in graph.labels.tolist())
        digest.update(graph.labels.astype("<i8").tobytes() if integers else text.encode())
    return digest.hexdigest()


def _single(attributes: "Matrix") -> "Iterator[csr_array]":
    """Attributes in single precision, without stored zeros."""
    import numpy as np
    from scipy.sparse import csr_array

    from gelato.sparse.row_bands import bands

    for band in bands(attributes):
        single = csr_array(band.astype(np.float32))
        single.eliminate_zeros()
        single.sort_indices()
        yield single

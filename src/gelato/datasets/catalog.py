"""The table of datasets: where each one comes from, and the expected sizes; ``checksums.txt`` has the hashes."""

from functools import partial
from pathlib import Path

from gelato.datasets.dataset import Dataset
from gelato.datasets.download import Remote
from gelato.lazy import LazyFunction
from gelato.registry import Registry

PLANETOID = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
BENCHMARK = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"
OGB = "https://snap.stanford.edu/ogb/data/linkproppred"
PLANETOID_PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
"""The files are ``ind.<name>.<part>``; ``x`` and ``y`` are the first rows of ``allx`` and ``ally``."""
PLANETOID_MOST, BENCHMARK_MOST, OGB_MOST = 32 << 20, 64 << 20, 256 << 20
"""Bytes that a file of each source has at most: a download that does not end is given up."""

_HELD = Path(__file__).with_name("checksums.txt").read_text(encoding="ascii").split()
CHECKSUMS = dict(zip(_HELD[1::2], _HELD[::2], strict=True))
"""SHA-256 of files by their names, and of the content of graphs (``content_sha256``) by the names of their datasets."""

Sizes = tuple[int, int, int]
"""How many nodes, links and attributes a dataset has."""


def _planetoid(name: str, sizes: Sizes) -> Dataset:
    paths = [f"ind.{name}.{part}" for part in PLANETOID_PARTS]
    files = tuple(Remote(path, f"{PLANETOID}/{path}", CHECKSUMS[path], PLANETOID_MOST) for path in paths)
    reader = partial(LazyFunction("gelato.datasets.published:read_planetoid"), name=name)
    source = "Planetoid release, github.com/kimiyoung/planetoid"
    return Dataset(name, files, reader, *sizes, source, "MIT", CHECKSUMS[name])


def _benchmark(name: str, file: str, sizes: Sizes) -> Dataset:
    files = (Remote(file, f"{BENCHMARK}/{file}", CHECKSUMS[file], BENCHMARK_MOST),)
    reader = partial(LazyFunction("gelato.datasets.published:read_benchmark"), file=file)
    source = "gnn-benchmark, github.com/shchur/gnn-benchmark"
    return Dataset(name, files, reader, *sizes, source, "MIT", CHECKSUMS[name])


def _ogb(name: str, archive: str, sizes: Sizes, licence: str, repeats: bool = False) -> Dataset:
    files = (Remote(archive, f"{OGB}/{archive}", most=OGB_MOST),)
    reader = partial(LazyFunction("gelato.datasets.ogb:read_ogb"), name=name)
    source = "Open Graph Benchmark, ogb.stanford.edu"
    return Dataset(name, files, reader, *sizes, source, licence, CHECKSUMS.get(name), extra="ogb", repeats=repeats)


_SAMPLE = LazyFunction("gelato.datasets.sample:debian_sample")
_TABLE = (
    _planetoid("cora", (2_708, 5_278, 1_433)),
    _planetoid("citeseer", (3_327, 4_552, 3_703)),
    _planetoid("pubmed", (19_717, 44_324, 500)),
    _benchmark("photo", "amazon_electronics_photo.npz", (7_650, 119_081, 745)),
    _benchmark("computers", "amazon_electronics_computers.npz", (13_752, 245_861, 767)),
    _benchmark("coauthor-cs", "ms_academic_cs.npz", (18_333, 81_894, 6_805)),
    _ogb("ogbl-ddi", "ddi.zip", (4_267, 1_334_889, 0), "CC-0"),
    _ogb("ogbl-collab", "collab.zip", (235_868, 1_285_465, 128), "ODC-BY", repeats=True),
    Dataset(
        name="debian-sample",
        files=(),
        reader=lambda _: _SAMPLE(),
        nodes=3_727,
        links=7_283,
        attributes=1_258,
        source="package metadata of Debian 12; a sample inside gelato",
        licence="facts about packages; the source states no licence",
        embedded=True,
    ),
)

DATASETS: Registry[Dataset] = Registry("dataset", {dataset.name: dataset for dataset in _TABLE})

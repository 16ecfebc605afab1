"""The table of datasets: where each one comes from, the hashes of its files, and the expected sizes."""

from functools import partial
from pathlib import Path

from gelato.datasets.amazon import read_benchmark
from gelato.datasets.dataset import Dataset
from gelato.datasets.download import Remote
from gelato.datasets.ogb import read_ogb
from gelato.datasets.planetoid import PARTS, read_planetoid
from gelato.graph import Graph
from gelato.registry import Registry

PLANETOID = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
BENCHMARK = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"
OGB = "https://snap.stanford.edu/ogb/data/linkproppred"
PLANETOID_MOST, BENCHMARK_MOST, OGB_MOST = 32 << 20, 64 << 20, 256 << 20
"""Bytes that a file of each source has at most: a download that does not end is given up."""


def _planetoid(name: str, nodes: int, links: int, attributes: int, content: str, hashes: dict[str, str]) -> Dataset:
    return Dataset(
        name=name,
        files=tuple(
            Remote(f"ind.{name}.{part}", f"{PLANETOID}/ind.{name}.{part}", hashes[part], PLANETOID_MOST)
            for part in PARTS
        ),
        reader=partial(read_planetoid, name=name),
        nodes=nodes,
        links=links,
        attributes=attributes,
        source="Planetoid release, github.com/kimiyoung/planetoid",
        licence="MIT",
        content_sha256=content,
    )


def _benchmark(name: str, file: str, nodes: int, links: int, attributes: int, content: str, sha256: str) -> Dataset:
    return Dataset(
        name=name,
        files=(Remote(file, f"{BENCHMARK}/{file}", sha256, BENCHMARK_MOST),),
        reader=partial(read_benchmark, file=file),
        nodes=nodes,
        links=links,
        attributes=attributes,
        source="gnn-benchmark, github.com/shchur/gnn-benchmark",
        licence="MIT",
        content_sha256=content,
    )


def _ogb(
    name: str,
    archive: str,
    nodes: int,
    links: int,
    attributes: int,
    licence: str,
    content: str | None = None,
    repeats: bool = False,
) -> Dataset:
    return Dataset(
        name=name,
        files=(Remote(archive, f"{OGB}/{archive}", most=OGB_MOST),),
        reader=partial(read_ogb, name=name),
        nodes=nodes,
        links=links,
        attributes=attributes,
        source="Open Graph Benchmark, ogb.stanford.edu",
        licence=licence,
        content_sha256=content,
        extra="ogb",
        repeats=repeats,
    )


def _sample(_: Path) -> Graph:
    from gelato.datasets.sample import debian_sample

    return debian_sample()


_TABLE = (
    _planetoid(
        "cora",
        2_708,
        5_278,
        1_433,
        "6f3ef7b2fcfab3b8b6f5d329574f3ce7c7a777262cb3ac32ef05aff33fea581f",
        {
            "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
            "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
            "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
            "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
            "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
            "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
            "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
            "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
        },
    ),
    _planetoid(
        "citeseer",
        3_327,
        4_552,
        3_703,
        "39a2e8e92a0b735d2ee9195e8fc7bf7148dea039ed31931c4b9120e8820a80b1",
        {
            "x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
            "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
            "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
            "y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
            "ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
            "ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
            "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
            "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
        },
    ),
    _planetoid(
        "pubmed",
        19_717,
        44_324,
        500,
        "18a558aa39bd553633d76f1c6e60520eb84bb938508b4efa3267c50337a5748c",
        {
            "x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
            "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
            "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
            "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
            "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
            "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
            "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
            "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
        },
    ),
    _benchmark(
        "photo",
        "amazon_electronics_photo.npz",
        7_650,
        119_081,
        745,
        "8c4629f71eb9e5f01641a51c5c75b42221007230d5c109056787a9bfdc31c4b0",
        "bdb1feb8e6ff42ee44024b04479145029c563fd42fc31bff80af20887ba0439a",
    ),
    _benchmark(
        "computers",
        "amazon_electronics_computers.npz",
        13_752,
        245_861,
        767,
        "0a9c017c595a3232c3c9d83a730e84be0abc8825b1cd36f3668e542c1c24291b",
        "736ba1d9fd85eac2da83a5ad25c463f04b0031a6ca01563f90a7099d9e8ffb2c",
    ),
    _benchmark(
        "coauthor-cs",
        "ms_academic_cs.npz",
        18_333,
        81_894,
        6_805,
        "de81db188ea4ecd88493b1083582963ea136f601c36fc1fce49474a2c662dedb",
        "933c745734e78908c7eb77172a673fee0503f30e26e5a99b36814d88534c42e3",
    ),
    _ogb(
        "ogbl-ddi",
        "ddi.zip",
        4_267,
        1_334_889,
        0,
        "CC-0",
        "af8cebf5ea38be20262829c283bf9fb9611645074c6312e3126a3efd94098128",
    ),
    _ogb("ogbl-collab", "collab.zip", 235_868, 1_285_465, 128, "ODC-BY", repeats=True),
    Dataset(
        name="debian-sample",
        files=(),
        reader=_sample,
        nodes=3_727,
        links=7_283,
        attributes=1_258,
        source="package metadata of Debian 12; a sample inside gelato",
        licence="facts about packages; the source states no licence",
        embedded=True,
    ),
)

DATASETS: Registry[Dataset] = Registry("dataset", {dataset.name: dataset for dataset in _TABLE})

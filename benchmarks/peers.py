"""Which alternative does what on which graphs, and what Gelato does beside it; run by ``measure.in_fresh_process``."""

import importlib.util
import json
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import alternatives as other
from gelato.graph import Graph
from gelato.kernels.threads import default_threads
from gelato.memory.usage import available_memory
from gelato.methods import HEURISTICS
from gelato.ranking.engines import ENGINES
from gelato.ranking.metrics import average_precision
from gelato.ranking.rank import compile_kernels_for, rank
from gelato.ranking.top import top
from gelato.regimes import unbiased
from gelato.splits import Split, split
from generated import graph_of
from measure import best_of

REPEATS, BUDGET = 5, 3.0
"""Calls that are timed, and seconds after which no further one is made."""

REAL = ("cora", "pubmed", "computers")
SMALL = ("cora", "pubmed")
ALL = (*REAL, "collab-size")


@dataclass(frozen=True)
class Peer:
    """One alternative at its own work, and what Gelato does at the same time.

    Attributes:
        name: of the software.
        work: what it does, in words.
        module: what must be importable.
        prepare: graph to the call that is timed.
        gelato: ``rank METHOD`` (the whole exact evaluation) or ``top METHOD`` (the best partners of each node).
        graphs: where it is measured.
        parallel: whether it uses all cores; Gelato gets as many threads as it does.
        cuda: whether it runs on a GPU.
    """

    name: str
    work: str
    module: str
    prepare: Callable[[Graph], other.Call]
    gelato: str
    graphs: tuple[str, ...] = ALL
    parallel: bool = True
    cuda: bool = False

    @property
    def threads(self) -> int:
        """How many threads each side gets."""
        return default_threads() if self.parallel else 1

    @property
    def engine(self) -> str:
        """What runs Gelato: the GPU beside an alternative on a GPU, where there is an engine for it."""
        return "cuda" if self.cuda and "cuda" in ENGINES else "threads"

    def missing(self) -> str | None:
        """Why it cannot run here."""
        if importlib.util.find_spec(self.module) is None:
            return f"{self.module} is not installed"
        if self.cuda:
            import torch

            return None if torch.cuda.is_available() else "no CUDA device"
        return None


PEERS = {
    "dense": Peer("dense form", "n × n matrix, sorted", "scipy", other.dense_sorted, "rank ac", SMALL, parallel=False),
    "scipy-cn": Peer("SciPy", "A·A", "scipy", other.scipy_square, "rank cn", parallel=False),
    "scipy-ac": Peer("SciPy", "A·Q·Q", "scipy", other.scipy_cube, "rank ac", parallel=False),
    "mkl-cn": Peer("MKL", "A·A", "sparse_dot_mkl", other.mkl_square, "rank cn"),
    "mkl-ac": Peer("MKL", "A·Q·Q", "sparse_dot_mkl", other.mkl_cube, "rank ac"),
    "graphblas-cn": Peer("GraphBLAS", "A·A, masked", "graphblas", other.graphblas_square, "rank cn"),
    "graphblas-ac": Peer("GraphBLAS", "A·Q·Q, masked", "graphblas", other.graphblas_cube, "rank ac"),
    "networkx": Peer(
        "networkx", "AA of all pairs", "networkx", other.networkx_aa, "rank aa", ("cora",), parallel=False
    ),
    "networkit": Peer("NetworKit", "CN of all pairs", "networkit", other.networkit_cn, "rank cn", ("cora",)),
    "scikit-network": Peer(
        "scikit-network",
        "10 nearest by cosine",
        "sknetwork",
        other.scikit_network_nearest,
        "top cosine",
        SMALL,
        parallel=False,
    ),
    "implicit": Peer("implicit", "10 best by CN", "implicit", other.implicit_nearest, "top cn"),
    "torch-dense": Peer("torch dense", "A·Q·Q", "torch", other.torch_dense, "rank ac", ("cora",)),
    "torch-cuda": Peer("torch dense, GPU", "A·Q·Q", "torch", other.torch_dense_cuda, "rank ac", REAL, cuda=True),
    "cusparse-cn": Peer("cuSPARSE", "A·A", "torch", other.cusparse_square, "rank cn", cuda=True),
    "cusparse-ac": Peer("cuSPARSE", "A·Q·Q", "torch", other.cusparse_cube, "rank ac", cuda=True),
}


def theirs(name: str, dataset: str) -> dict[str, Any]:
    """Time and memory of an alternative, on the training graph."""
    peer = PEERS[name]
    call = peer.prepare(split(graph_of(dataset)).train)
    return _measured_on_gpu(call) if peer.cuda else _measured(call)


def ours(name: str, dataset: str) -> dict[str, Any]:
    """Time and memory of Gelato beside an alternative, with everything made from the training graph included."""
    peer = PEERS[name]
    what, method = peer.gelato.split()
    call = gelato_call(what, method, split(graph_of(dataset)), peer.threads, peer.engine)
    if peer.engine != "cuda":
        return _measured(call)
    call()  # kernels of the device are compiled
    return _measured_on_gpu(call)


def gelato_call(what: str, method: str, parts: Split, threads: int, engine: str = "threads") -> other.Call:
    """Rank the hidden links among all pairs, or find the best partners of each node, by a method."""
    graph = parts.train
    if method == "cosine":  # of neighbourhoods: the links of a node are its attributes
        graph = Graph.from_edges(graph.edges, graph.n, attributes=graph.pattern)
    score = HEURISTICS[method]
    compile_kernels_for(score(graph))
    if what == "top":
        top(score(graph), graph, 1, per_node=True, nodes=[0], threads=1)  # compiled
        return lambda: top(score(graph), graph, other.NEAREST, per_node=True, threads=threads, engine=engine)
    return lambda: average_precision(rank(score(graph), unbiased(parts), threads=threads, engine=engine))


def _measured(call: other.Call, bounded: bool = True) -> dict[str, Any]:
    """The best of some calls, whose results are dropped at once; memory is bounded, so that the machine stays alive."""
    free = available_memory() if bounded else None
    if free is not None:
        most = int(0.6 * free) + 2**32  # libraries map some memory that they never use
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))

    def dropped() -> None:
        call()

    return best_of(dropped, REPEATS, BUDGET)


def _measured_on_gpu(call: other.Call) -> dict[str, Any]:
    """The same with the memory of the device."""
    import torch

    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    return _measured(call, bounded=False) | {"memory": torch.cuda.max_memory_allocated() - before}


if __name__ == "__main__":
    print(json.dumps({"theirs": theirs, "ours": ours}[sys.argv[1]](*sys.argv[2:])))

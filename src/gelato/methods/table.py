"""METHODS: one table for everything that ``--method`` can name. A new method is one line here."""

import numpy as np
from scipy.sparse import csr_array, issparse

from gelato.graph import Graph
from gelato.methods import heuristics
from gelato.methods.auto.settings import AutoSettings
from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.buddy.settings import BuddySettings, ElphSettings, buddy_unfit, elph_unfit
from gelato.methods.gae.settings import GaeSettings
from gelato.methods.gae.settings import unfit as gae_unfit
from gelato.methods.gcn.settings import GcnSettings, gcn_unfit
from gelato.methods.gelato.settings import GRID as GELATO_GRID
from gelato.methods.gelato.settings import GelatoSettings
from gelato.methods.heuristics.cosine import needs_attributes
from gelato.methods.heuristics.cosine import space as cosine_space
from gelato.methods.heuristics.simrank import needs_a_small_graph
from gelato.methods.method import Method, heuristic
from gelato.methods.mlp.settings import MlpSettings, mlp_unfit
from gelato.methods.ncn.settings import NcncSettings, NcnSettings, ncn_unfit, ncnc_unfit
from gelato.methods.neo_gnn.settings import NeoGnnSettings, neo_gnn_unfit
from gelato.methods.parity import needs_common_neighbors, needs_odd_steps, needs_three_steps
from gelato.methods.seal.settings import SealSettings, seal_unfit
from gelato.methods.spectral.choice import GRID as SPECTRAL_GRID
from gelato.methods.spectral.settings import SpectralSettings
from gelato.registry import Registry
from gelato.training.settings import needs_values

DEFAULT = "gelato"
"""What ``fit`` and ``tune`` take unless told otherwise, and the method of settings files and runs that name none."""

PREDICTING = "auto"
"""What ``predict`` takes unless told otherwise."""

REFERENCE = "ac"
"""What reports hold every model against, and what explains a pair where no model is given."""

TRAIN = ("train", "torch")
"""The extra that trained methods need, and the package that tells whether it is installed."""

QUICK_NETWORK = {"hidden": 64, "epochs": 8}
"""Networks on pairs, trained on the spot."""

PAGERANK_TERMS = 86


def _cosine_work(graph: Graph) -> float:
    """Products that the cosine of all pairs takes."""
    if not issparse(graph.attributes):
        return float(graph.n) ** 2 * graph.f
    nodes = np.diff(csr_array(graph.attributes).tocsc().indptr).astype(float)
    return float((nodes**2).sum())


def _pagerank_work(graph: Graph) -> float:
    return float(PAGERANK_TERMS) * graph.n * graph.adjacency.nnz


METHODS: Registry[Method] = Registry(
    "method",
    {
        "cn": heuristic(
            heuristics.common_neighbors, "common neighbours", compared=True, blind=needs_common_neighbors
        ),
        "aa": heuristic(
            heuristics.adamic_adar, "Adamic-Adar", compared=True, cites="Adamic & Adar 2003",
            blind=needs_common_neighbors,
        ),
        "ra": heuristic(
            heuristics.resource_allocation, "resource allocation", compared=True, cites="Zhou et al. 2009",
            blind=needs_common_neighbors,
        ),
        "jaccard": heuristic(heuristics.jaccard, "Jaccard", cites="Jaccard 1901", blind=needs_common_neighbors),
        "pa": heuristic(heuristics.preferential_attachment, "preferential attachment", cites="Barabási & Albert 1999"),
        "katz": heuristic(
            heuristics.katz, "Katz", cites="Katz 1953", blind=needs_three_steps,
            grid={"beta": (0.001, 0.005, 0.02, 0.05), "steps": (2, 3, 4, 5)},
        ),
        "katz-full": heuristic(heuristics.katz_full, "full Katz", cites="Katz 1953"),
        "ppr": heuristic(
            heuristics.personalized_pagerank, "PageRank", cites="Page et al. 1999",
            grid={"damping": (0.5, 0.7, 0.85, 0.95)}, compared=True, work=_pagerank_work,
        ),
        "simrank": heuristic(
            heuristics.simrank, "SimRank", cites="Jeh & Widom 2002", unfit=needs_a_small_graph,
            blind=needs_common_neighbors,
            grid={"decay": (0.6, 0.8, 0.9)},
        ),
        "cosine": heuristic(
            heuristics.cosine, "cosine of attributes", unfit=needs_attributes, compared=True, work=_cosine_work,
            space=cosine_space,
        ),
        "ac": heuristic(
            heuristics.autocovariance, "autocovariance", cites="Delvenne et al. 2010", compared=True,
            blind=needs_odd_steps,
            grid={"steps": (2, 3, 4, 5), "self_loops": ("isolated", "all")},
        ),
        "spectral": Method(
            "gelato.methods.spectral.model:Spectral", SpectralSettings, "spectral shrinkage",
            "Shrunken eigenvectors of the degree-scaled adjacency, D^a U f(l) U^T D^a.", grid=SPECTRAL_GRID,
        ),
        "boosted": Method(
            "gelato.methods.boosted.model:Boosted", BoostedSettings, "boosted trees",
            "Trees, trained on hidden links, that re-rank the best candidates of several methods.",
            trains=True, extra=("boosted", "lightgbm"), quick={"effort": "quick"},
        ),
        "gelato": Method(
            "gelato.methods.gelato.model:Gelato", GelatoSettings, "Gelato",
            "Autocovariance of the graph with link weights learned from attributes.",
            cites="Mattos et al., KDD 2025", trains=True, extra=TRAIN, grid=GELATO_GRID, unfit=needs_values,
            quick={"epochs": 100, "patience": 10},
        ),
        "gae": Method(
            "gelato.methods.gae.model:GAE", GaeSettings, "graph auto-encoder",
            "Inner products of graph convolutions, trained to reconstruct all n^2 entries of the adjacency.",
            cites="Kipf & Welling 2016", trains=True, extra=TRAIN, unfit=gae_unfit,
            grid={"hidden": (16, 32, 64), "width": (8, 16, 32), "dropout": (0.0, 0.2, 0.5)},
        ),
        "gcn": Method(
            "gelato.methods.gcn.model:GCN", GcnSettings, "GCN with a pair MLP",
            "An MLP on products of graph convolutions.",
            cites="Li et al., NeurIPS 2023", trains=True, extra=TRAIN, unfit=gcn_unfit, quick=QUICK_NETWORK,
            grid={"hidden": (64, 128, 256), "layers": (1, 2, 3), "dropout": (0.1, 0.3, 0.5)},
        ),
        "ncn": Method(
            "gelato.methods.ncn.model:NCN", NcnSettings, "neural common neighbours",
            "MLPs on products of propagated attributes and on their sums over common neighbours.",
            cites="Wang et al., ICLR 2024", trains=True, extra=TRAIN, unfit=ncn_unfit, quick=QUICK_NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.05, 0.3, 0.5)},
        ),
        "ncnc": Method(
            "gelato.methods.ncn.model:NCNC", NcncSettings, "neural common neighbours, completed",
            "NCN that also counts neighbours of one end only, by how likely they link to the other end.",
            cites="Wang et al., ICLR 2024", trains=True, extra=TRAIN, unfit=ncnc_unfit, quick=QUICK_NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.05, 0.3, 0.5)},
        ),
        "neo-gnn": Method(
            "gelato.methods.neo_gnn.model:NeoGNN", NeoGnnSettings, "Neo-GNN",
            "Learned weights of shared neighbours, mixed with an MLP on products of graph convolutions.",
            cites="Yun et al., NeurIPS 2021", trains=True, extra=TRAIN, unfit=neo_gnn_unfit, quick=QUICK_NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.1, 0.3, 0.5), "beta": (0.0, 0.1)},
        ),
        "mlp": Method(
            "gelato.methods.mlp.model:MLP", MlpSettings, "pair MLP",
            "An MLP on sums and differences of the attributes of two nodes, without links.",
            cites="Mattos et al., KDD 2025", trains=True, extra=TRAIN, unfit=mlp_unfit, quick=QUICK_NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.1, 0.3, 0.5)},
        ),
        "buddy": Method(
            "gelato.methods.buddy.model:BUDDY", BuddySettings, "BUDDY",
            "Layers on counts of the nodes around a pair and on products of propagated attributes.",
            cites="Chamberlain et al., ICLR 2023", trains=True, extra=TRAIN, unfit=buddy_unfit, quick=QUICK_NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.1, 0.3, 0.5)},
        ),
        "elph": Method(
            "gelato.methods.buddy.model:ELPH", ElphSettings, "ELPH",
            "Layers on counts of the nodes around a pair and on products of graph convolutions.",
            cites="Chamberlain et al., ICLR 2023", trains=True, extra=TRAIN, unfit=elph_unfit, quick=QUICK_NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.1, 0.3, 0.5)},
        ),
        "seal": Method(
            "gelato.methods.seal.model:SEAL", SealSettings, "SEAL",
            "Graph convolutions on the subgraph around a pair, with nodes labelled by their distances to both ends.",
            cites="Zhang & Chen, NeurIPS 2018", trains=True, extra=TRAIN, unfit=seal_unfit, quick=QUICK_NETWORK,
            grid={"hidden": (16, 32, 64), "attributes": (True, False), "hops": (1, 2)},
        ),
        "auto": Method(
            "gelato.methods.auto.model:Auto", AutoSettings, "automatic choice",
            "The best of several methods, compared on hidden links within a time budget.", compares=True,
        ),
    },
)  # fmt: skip
"""Everything that ``--method`` can name, heuristics first."""

HEURISTICS = Registry("method", {name: each.score for name, each in METHODS.items() if each.score is not None})
"""The functions from a graph and options to scores, by name."""

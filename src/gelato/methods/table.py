"""METHODS: one table for everything that ``--method`` can name. A new method is one line here."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from gelato.lazy import LazyFunction
from gelato.methods.applicability import attributes_for, needs_common_neighbors, needs_odd_steps, needs_three_steps
from gelato.methods.auto.settings import AutoSettings
from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.bscnets.settings import BscnetsSettings
from gelato.methods.buddy.settings import BuddySettings, ElphSettings
from gelato.methods.gae.settings import GaeSettings
from gelato.methods.gcn.settings import GcnSettings
from gelato.methods.gelato.settings import GRID as GELATO_GRID
from gelato.methods.gelato.settings import GelatoSettings
from gelato.methods.hgcn.settings import HgcnSettings
from gelato.methods.lgcn.settings import LgcnSettings
from gelato.methods.method import Method, heuristic
from gelato.methods.mlp.settings import MlpSettings, mlp_unfit
from gelato.methods.nbfnet.settings import NbfnetSettings
from gelato.methods.ncn.settings import NcncSettings, NcnSettings
from gelato.methods.neo_gnn.settings import NeoGnnSettings
from gelato.methods.seal.settings import SealSettings
from gelato.methods.spectral.settings import GRID as SPECTRAL_GRID
from gelato.methods.spectral.settings import SpectralSettings
from gelato.methods.tlc_gnn.settings import TlcGnnSettings
from gelato.methods.walkpool.settings import WalkPoolSettings
from gelato.networks.pairwise.settings import symmetric_only
from gelato.registry import Registry
from gelato.training.settings import needs_undirected, needs_values

if TYPE_CHECKING:
    from gelato.scores import Scores

DEFAULT = "gelato"
"""What ``fit`` and ``tune`` take unless told otherwise, and the method of settings files that name none."""

PREDICTING = "auto"
"""What ``predict`` takes unless told otherwise."""

REFERENCE = "ac"
"""What reports hold every model against, and what explains a pair where no model is given."""

TRAIN = ("train", "torch")
"""The extra that trained methods need, and the package that tells whether it is installed."""

NETWORK: dict[str, Any] = {"trains": True, "extra": TRAIN, "quick": {"hidden": 64, "epochs": 8}}
"""What networks on pairs have in common."""

HERE = "gelato.methods.heuristics"
"""Where the heuristics are; they are loaded when first used."""


METHODS: Registry[Method] = Registry(
    "method",
    {
        "cn": heuristic(
            f"{HERE}.neighborhood:common_neighbors", "common neighbours", name="CommonNeighbors", compared=True,
            blind=needs_common_neighbors,
        ),
        "aa": heuristic(
            f"{HERE}.neighborhood:adamic_adar", "Adamic-Adar", name="AdamicAdar", compared=True,
            cites="Adamic & Adar 2003", blind=needs_common_neighbors,
        ),
        "ra": heuristic(
            f"{HERE}.neighborhood:resource_allocation", "resource allocation", name="ResourceAllocation", compared=True,
            cites="Zhou et al. 2009", blind=needs_common_neighbors,
        ),
        "jaccard": heuristic(
            f"{HERE}.neighborhood:jaccard", "Jaccard", name="Jaccard", cites="Jaccard 1901",
            blind=needs_common_neighbors,
        ),
        "pa": heuristic(
            f"{HERE}.neighborhood:preferential_attachment", "preferential attachment", name="PreferentialAttachment",
            cites="Barabási & Albert 1999",
        ),
        "katz": heuristic(
            f"{HERE}.neighborhood:katz", "Katz", name="Katz", cites="Katz 1953", blind=needs_three_steps,
            grid={"beta": (0.001, 0.005, 0.02, 0.05), "steps": (2, 3, 4, 5)},
        ),
        "katz-full": heuristic(f"{HERE}.diffusion:katz_full", "full Katz", name="FullKatz", cites="Katz 1953"),
        "ppr": heuristic(
            f"{HERE}.diffusion:personalized_pagerank", "PageRank", name="PersonalizedPageRank",
            cites="Page et al. 1999", grid={"damping": (0.5, 0.7, 0.85, 0.95)}, compared=True,
            work=LazyFunction(f"{HERE}.diffusion:pagerank_work"),
        ),
        "simrank": heuristic(
            f"{HERE}.simrank:simrank", "SimRank", name="SimRank", cites="Jeh & Widom 2002",
            blind=needs_common_neighbors, unfit=LazyFunction(f"{HERE}.simrank:needs_a_small_graph"),
            grid={"decay": (0.6, 0.8, 0.9)},
        ),
        "cosine": heuristic(
            f"{HERE}.cosine:cosine", "cosine of attributes", name="Cosine", unfit=attributes_for("cosine"),
            compared=True, work=LazyFunction(f"{HERE}.cosine:work"), space=LazyFunction(f"{HERE}.cosine:space"),
        ),
        "ac": heuristic(
            "gelato.scores.autocovariance:autocovariance", "autocovariance", name="Autocovariance",
            cites="Delvenne et al. 2010", compared=True, blind=needs_odd_steps,
            grid={"steps": (2, 3, 4, 5), "self_loops": ("isolated", "all")},
        ),
        "spectral": Method(
            "gelato.methods.spectral.model:Spectral", SpectralSettings, "spectral shrinkage",
            "Shrunken eigenvectors of the degree-scaled adjacency, D^a U f(l) U^T D^a.", grid=SPECTRAL_GRID,
        ),
        "boosted": Method(
            "gelato.methods.boosted.model:Boosted", BoostedSettings, "boosted trees",
            "Trees, trained on hidden links, that re-rank the best candidates of several methods.", trains=True,
            extra=("boosted", "lightgbm"), quick={"effort": "quick"}, unit="fold",
        ),
        "gelato": Method(
            "gelato.methods.gelato.model:Gelato", GelatoSettings, "Gelato",
            "Autocovariance of the graph with link weights learned from attributes.", cites="Mattos et al., KDD 2025",
            trains=True, extra=TRAIN, grid=GELATO_GRID, unfit=needs_values, quick={"epochs": 100, "patience": 10},
        ),
        "gae": Method(
            "gelato.methods.gae.model:GAE", GaeSettings, "graph auto-encoder",
            "Inner products of graph convolutions, trained to reconstruct all n^2 entries of the adjacency.",
            cites="Kipf & Welling 2016", trains=True, extra=TRAIN, takes="seconds", unfit=symmetric_only("gae"),
            grid={"hidden": (16, 32, 64), "width": (8, 16, 32), "dropout": (0.0, 0.2, 0.5)},
        ),
        "gcn": Method(
            "gelato.methods.gcn.model:GCN", GcnSettings, "GCN with a pair MLP",
            "An MLP on products of graph convolutions.", cites="Li et al., NeurIPS 2023", unfit=symmetric_only("gcn"),
            takes="seconds", **NETWORK,
            grid={"hidden": (64, 128, 256), "layers": (1, 2, 3), "dropout": (0.1, 0.3, 0.5)},
        ),
        "ncn": Method(
            "gelato.methods.ncn.model:NCN", NcnSettings, "neural common neighbours",
            "MLPs on products of propagated attributes and on their sums over common neighbours.",
            cites="Wang et al., ICLR 2024", unfit=symmetric_only("ncn"), **NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.05, 0.3, 0.5)},
        ),
        "ncnc": Method(
            "gelato.methods.ncn.model:NCNC", NcncSettings, "neural common neighbours, completed",
            "NCN that also counts neighbours of one end only, by how likely they link to the other end.",
            cites="Wang et al., ICLR 2024", unfit=symmetric_only("ncnc"), **NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.05, 0.3, 0.5)},
        ),
        "neo-gnn": Method(
            "gelato.methods.neo_gnn.model:NeoGNN", NeoGnnSettings, "Neo-GNN",
            "Learned weights of shared neighbours, mixed with an MLP on products of graph convolutions.",
            cites="Yun et al., NeurIPS 2021", unfit=symmetric_only("neo-gnn"), **NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.1, 0.3, 0.5), "beta": (0.0, 0.1)},
        ),
        "mlp": Method(
            "gelato.methods.mlp.model:MLP", MlpSettings, "pair MLP",
            "An MLP on sums and differences of the attributes of two nodes, without links.",
            cites="Mattos et al., KDD 2025", unfit=mlp_unfit, **NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.1, 0.3, 0.5)},
        ),
        "buddy": Method(
            "gelato.methods.buddy.model:BUDDY", BuddySettings, "BUDDY",
            "Layers on counts of the nodes around a pair and on products of propagated attributes.",
            cites="Chamberlain et al., ICLR 2023", unfit=symmetric_only("buddy"), **NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.1, 0.3, 0.5)},
        ),
        "elph": Method(
            "gelato.methods.buddy.model:ELPH", ElphSettings, "ELPH",
            "Layers on counts of the nodes around a pair and on products of graph convolutions.",
            cites="Chamberlain et al., ICLR 2023", unfit=symmetric_only("elph"), **NETWORK,
            grid={"hidden": (64, 128, 256), "dropout": (0.1, 0.3, 0.5)},
        ),
        "seal": Method(
            "gelato.methods.seal.model:SEAL", SealSettings, "SEAL",
            "Graph convolutions on the subgraph around a pair, with nodes labelled by their distances to both ends.",
            cites="Zhang & Chen, NeurIPS 2018", unfit=symmetric_only("seal"), **NETWORK,
            grid={"hidden": (16, 32, 64), "attributes": (True, False), "hops": (1, 2)},
        ),
        "nbfnet": Method(
            "gelato.methods.nbfnet.model:NBFNet", NbfnetSettings, "NBFNet",
            "Learned Bellman-Ford iterations over walks of bounded length between two nodes, without attributes.",
            cites="Zhu et al., NeurIPS 2021", unfit=partial(needs_undirected, "nbfnet"), trains=True, extra=TRAIN,
            quick={"hidden": 16, "layers": 4, "epochs": 4},
            grid={"hidden": (16, 32), "layers": (4, 6), "aggregation": ("pna", "sum")},
        ),
        "walkpool": Method(
            "gelato.methods.walkpool.model:WalkPool", WalkPoolSettings, "WalkPool",
            "An MLP on walks by learned link weights around a pair, with and without the pair's own link.",
            cites="Pan et al., ICLR 2022", unfit=symmetric_only("walkpool"), **NETWORK,
            grid={"hidden": (32, 128, 256), "hops": (1, 2), "attribute_dropout": (0.0, 0.5, 0.7)},
        ),
        "hgcn": Method(
            "gelato.methods.hgcn.model:HGCN", HgcnSettings, "hyperbolic GCN",
            "Distances in the Poincaré ball, between nodes that graph convolutions place in it.",
            cites="Chami et al., NeurIPS 2019", unfit=symmetric_only("hgcn"), **NETWORK,
            grid={"hidden": (16, 32, 64), "dropout": (0.0, 0.2, 0.5)},
        ),
        "lgcn": Method(
            "gelato.methods.lgcn.model:LGCN", LgcnSettings, "Lorentzian GCN",
            "Distances on the hyperboloid, between nodes that centroids of their neighbours place on it.",
            cites="Zhang et al., WWW 2021", unfit=symmetric_only("lgcn"), takes="seconds", **NETWORK,
            grid={"hidden": (16, 32, 64), "dropout": (0.0, 0.2, 0.5)},
        ),
        "tlc-gnn": Method(
            "gelato.methods.tlc_gnn.model:TLCGNN", TlcGnnSettings, "TLC-GNN",
            "Graph convolutions, and persistence images of the graph around a pair with curvature as length.",
            cites="Yan et al., ICML 2021", unfit=symmetric_only("tlc-gnn"), **NETWORK,
            grid={"hidden": (50, 100, 200), "dropout": (0.2, 0.5, 0.8), "hops": (1, 2)},
        ),
        "bscnets": Method(
            "gelato.methods.bscnets.model:BScNets", BscnetsSettings, "BScNets",
            "Distances of graph convolutions, and of attributes mapped by Hodge Laplacians of links and triangles.",
            cites="Chen et al., AAAI 2022", unfit=symmetric_only("bscnets"), **NETWORK,
            grid={"hidden": (32, 64, 128), "width": (16, 32, 64), "dropout": (0.0, 0.2, 0.5)},
        ),
        "auto": Method(
            "gelato.methods.auto.model:Auto", AutoSettings, "automatic choice",
            "The best of several methods, compared on hidden links within a time budget.", compares=True,
        ),
    },
)  # fmt: skip
"""Everything that ``--method`` can name, heuristics first."""

HEURISTICS: "Mapping[str, Callable[..., Scores]]" = METHODS.view(lambda method: method.score)
"""The functions from a graph and options to scores, by name; those registered later included."""

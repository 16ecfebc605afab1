"""Heuristics: from a graph to Scores, with nothing to train."""

from collections.abc import Callable

from gelato.methods.heuristics.autocovariance import autocovariance as autocovariance
from gelato.methods.heuristics.cosine import cosine as cosine
from gelato.methods.heuristics.diffusion import katz_full as katz_full
from gelato.methods.heuristics.diffusion import personalized_pagerank as personalized_pagerank
from gelato.methods.heuristics.katz import katz as katz
from gelato.methods.heuristics.neighborhood import adamic_adar as adamic_adar
from gelato.methods.heuristics.neighborhood import common_neighbors as common_neighbors
from gelato.methods.heuristics.neighborhood import jaccard as jaccard
from gelato.methods.heuristics.neighborhood import preferential_attachment as preferential_attachment
from gelato.methods.heuristics.neighborhood import resource_allocation as resource_allocation
from gelato.methods.heuristics.simrank import simrank as simrank
from gelato.registry import Registry
from gelato.scores import Scores

HEURISTICS: Registry[Callable[..., Scores]] = Registry(
    "method",
    {
        "cn": common_neighbors,
        "aa": adamic_adar,
        "ra": resource_allocation,
        "jaccard": jaccard,
        "pa": preferential_attachment,
        "katz": katz,
        "katz-full": katz_full,
        "ppr": personalized_pagerank,
        "simrank": simrank,
        "cosine": cosine,
        "ac": autocovariance,
    },
)

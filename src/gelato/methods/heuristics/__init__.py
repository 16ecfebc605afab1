"""Heuristics: from a graph to Scores, with nothing to train."""

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

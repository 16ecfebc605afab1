"""The parts of a model, put together from its settings."""

import torch
from torch import nn

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.gelato.enhance.enhancer import Enhancer
from gelato.methods.gelato.enhance.links import EnhancedLinks, enhanced_links
from gelato.methods.gelato.pair_scorer import PairScorer
from gelato.methods.gelato.scorer import Scorer, WalkScorer
from gelato.methods.gelato.settings import GelatoSettings
from gelato.methods.gelato.shrunk.scorer import SpectralScorer
from gelato.splits import Split


def enhancer_of(graph: Graph, settings: GelatoSettings, device: torch.device, newcomers: int = 0) -> Enhancer:
    """What gives weights to the enhanced links of ``graph``, initialised by ``settings.random_state``.

    ``newcomers`` is how many similar nodes a node without links is joined to.
    """
    assert settings.eta is not None
    links = enhanced_links(graph, settings.eta, settings.similarity, newcomers)
    return enhancer_for(graph, links, settings, device)


def enhancer_for(graph: Graph, links: EnhancedLinks, settings: GelatoSettings, device: torch.device) -> Enhancer:
    """What gives weights to enhanced links that are known."""
    alpha, beta = settings.alpha, settings.beta
    assert alpha is not None and beta is not None
    if graph.f == 0 and alpha < 1:
        raise InputError(
            f"alpha {alpha} gives weight to attributes, but the graph has none; give --attributes, or alpha 1 and eta 0"
        )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(settings.random_state)
        enhancer = Enhancer(
            graph.attributes,
            links,
            alpha=alpha,
            beta=beta,
            encoder=settings.encoder,
            hidden=settings.hidden,
            dropout=settings.dropout,
            learn_mixing=settings.learn_mixing,
            threads=settings.threads,
            device=device,
            degree=settings.degree if settings.heuristic == "spectral" else None,
        )
    if settings.heuristic == "spectral" and enhancer.net is not None:
        for parameter in enhancer.net.last.parameters():  # training starts from equal weights
            nn.init.zeros_(parameter)
    return enhancer


def scorer_of(split: Split, enhancer: Enhancer, settings: GelatoSettings) -> Scorer:
    """What is trained: the walk, or with heuristic ``none`` the pair MLP alone."""
    links = enhancer.links
    if enhancer.net is not None and len(links.pairs) < 2:
        raise InputError(
            f"training needs at least two links, but the training graph has {len(links.pairs)}; hide fewer"
        )
    if settings.heuristic == "none":
        return PairScorer(split, enhancer, settings)
    if settings.heuristic == "spectral":
        return SpectralScorer(split, enhancer, settings)
    return WalkScorer(split, links, enhancer, settings)

"""The cheap automatic choice of eta, alpha, beta and self-loops for a graph nobody has tuned.

First without training: autocovariance of the graph with similar pairs added, over the grid of ``eta``, ``alpha`` and
self-loops, on validation links. Then the best of these with half or all of its attribute weight learned, and the
paper's choice for larger graphs (all weight learned, nothing added), are trained for a few epochs each.
"""

from dataclasses import replace
from itertools import product
from typing import Any

import torch

from gelato.enhance.links import enhanced_links
from gelato.graph import Graph
from gelato.heuristics import autocovariance
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.ranking.ranks import Ranks
from gelato.regimes import unbiased
from gelato.settings import Settings
from gelato.splits import Split
from gelato.training.build import enhancer_of, scorer_of
from gelato.training.scorer import enhanced_graph
from gelato.training.trainer import Trainer

PLAIN: dict[str, Any] = {"eta": 0.0, "alpha": 1.0, "beta": 0.0, "self_loops": "isolated"}
"""Autocovariance of the graph as it is."""

LEARNED: dict[str, Any] = {"eta": 0.0, "alpha": 0.0, "beta": 1.0, "self_loops": "isolated"}
"""All weight learned, nothing added: the paper's choice for PubMed, Photo and Computers."""

ETAS, ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0), (0.0, 0.25, 0.5, 0.75)
"""The paper's grid, searched without training."""

TRIAL_EPOCHS = 10


def choose(parts: Split, settings: Settings, device: torch.device) -> dict[str, Any]:
    """Values for those of eta, alpha, beta and self_loops that are ``None``, with those given."""
    given = {name: getattr(settings, name) for name in PLAIN}
    free = [name for name, value in given.items() if value is None]
    if not free:
        return given

    def fixed(values: dict[str, Any]) -> dict[str, Any]:
        return {name: values[name] if given[name] is None else given[name] for name in PLAIN}

    if parts.train.f == 0:
        return fixed(PLAIN)
    grids: dict[str, tuple[Any, ...]] = {"eta": ETAS, "alpha": ALPHAS, "self_loops": ("isolated", "all")}
    etas, alphas, loops = (grid if given[name] is None else (given[name],) for name, grid in grids.items())
    best, highest = dict(PLAIN), -1.0
    for eta in etas:
        links = enhanced_links(parts.train, eta, settings.similarity)
        for alpha, self_loops in product(alphas, loops):
            graph = enhanced_graph(parts.train, links, alpha * links.observed + (1 - alpha) * links.similar)
            found = metric("ap", _ranks(graph, parts, settings.steps, self_loops))
            if found > highest:
                best, highest = {"eta": eta, "alpha": alpha, "self_loops": self_loops}, found
    trials = [fixed({**best, "beta": 0.5}), fixed({**best, "beta": 1.0}), fixed(LEARNED)]
    unlike = [trial for i, trial in enumerate(trials) if trial not in trials[:i]]
    if settings.epochs == 0 or len(unlike) == 1:
        return unlike[0]
    return max(unlike, key=lambda trial: _trained(parts, replace(settings, **trial), device))


def plain_precision(parts: Split, steps: int) -> float:
    """Validation precision@100% of plain autocovariance."""
    return metric("precision@100%", _ranks(parts.train, parts, steps, "isolated"))


def _ranks(graph: Graph, parts: Split, steps: int, self_loops: str) -> Ranks:
    loops: Any = self_loops
    return rank(autocovariance(graph, steps=steps, self_loops=loops), unbiased(parts, "valid"))


def _trained(parts: Split, settings: Settings, device: torch.device) -> float:
    """Best validation precision of a few epochs."""
    short = replace(settings, epochs=min(settings.epochs, TRIAL_EPOCHS))
    enhancer, links = enhancer_of(parts.train, short, device)
    scorer = scorer_of(parts, links, enhancer, short)
    return scorer.validate() if enhancer.net is None else Trainer(enhancer, scorer, short, device).run().precision

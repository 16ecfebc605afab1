"""The cheap automatic choice of eta, alpha, beta and self-loops for a graph nobody has tuned.

First without training: autocovariance of the graph with similar pairs added, searched for ``eta`` and self-loops, then
for ``alpha``. Then the best of these with a quarter of its attribute weight learned, and the paper's choice for larger
graphs (all weight learned, nothing added), are trained for a few epochs each. Average precision on validation links
decides: precision at a few hundred links is too coarse to compare settings by.
"""

from functools import cache, partial
from itertools import product
from typing import Any

import torch

from gelato.graph import Graph
from gelato.methods.gelato.enhance.enhancer import new_enhancer
from gelato.methods.gelato.settings import GRID, GelatoSettings
from gelato.methods.gelato.task import new_task
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.ranking.ranks import Ranks
from gelato.regimes import unbiased
from gelato.runs.search_log import SearchLog
from gelato.scores.autocovariance import autocovariance
from gelato.similarity.enhanced_links import EnhancedLinks, enhanced_graph, links_with
from gelato.similarity.similar_pairs import most_similar_by_share
from gelato.splits import Split
from gelato.training.loop import Loop, torch_threads

PLAIN: dict[str, Any] = {"eta": 0.0, "alpha": 1.0, "beta": 0.0, "self_loops": "isolated"}
"""Autocovariance of the graph as it is."""

ALL_LEARNED: dict[str, Any] = {"eta": 0.0, "alpha": 0.0, "beta": 1.0, "self_loops": "isolated"}
"""All weight learned, nothing added: the paper's choice for PubMed, Photo and Computers."""

MIDDLE = 0.5
"""The ``alpha`` with which ``eta`` is searched."""

BETA = 0.25
"""Weight of what is learned in the best of the untrained graphs; more was no better on any dataset tried."""

TRIAL_EPOCHS = 5

RANKINGS = 2 * (len(GRID["eta"]) + len(GRID["alpha"]) - 1)
"""Rankings of the search without training, with and without self-loops on all nodes."""

MARGIN = 1.1
"""How much better all weight learned must be to be taken: it varies more from one training to the next."""


def choose_untrained(
    split: Split, settings: GelatoSettings, device: torch.device, trials: SearchLog | None = None
) -> dict[str, Any]:
    """Values for those of eta, alpha, beta and self_loops that are ``None``, with those given.

    ``trials`` keeps the validation AP of all that is tried, and is told the progress.
    """
    given = {name: value for name, value in settings.as_dict().items() if name in PLAIN}
    free = [name for name, value in given.items() if value is None]
    if not free:
        return given

    def fixed(values: dict[str, Any]) -> dict[str, Any]:
        return {name: values[name] if given[name] is None else given[name] for name in PLAIN}

    if split.train.f == 0:
        return fixed(PLAIN)
    trials = SearchLog() if trials is None else trials
    cases = [fixed({**untrained_choice(split, settings, trials), "beta": BETA}), fixed(ALL_LEARNED)]
    if settings.epochs and cases[0] != cases[1]:
        mixed, learned = (
            trials.figure(case | {"learned": True}, partial(_trained, split, settings.replaced(**case), device))
            for case in cases
        )
        cases = cases[::-1] if learned > MARGIN * mixed else cases
    trials.end()
    return cases[0]


def untrained_choice(split: Split, settings: GelatoSettings, trials: SearchLog | None = None) -> dict[str, Any]:
    """The eta, alpha and self_loops of the highest validation AP with nothing learned: eta first, then alpha."""
    given = {name: getattr(settings, name) for name in ("eta", "alpha", "self_loops")}
    etas, alphas, loops = (GRID[name] if value is None else (value,) for name, value in given.items())
    middle = MIDDLE if settings.alpha is None else settings.alpha
    kept = SearchLog() if trials is None else trials
    kept.begin(len(loops) * (len(etas) + len(alphas) - (middle in alphas)) + 2)  # with the two trainings that follow

    @cache
    def links() -> dict[float, EnhancedLinks]:
        added = most_similar_by_share(split.train, etas, similarity=settings.similarity)
        return {
            eta: links_with(split.train, pairs, settings.similarity) for eta, pairs in zip(etas, added, strict=True)
        }

    def ap(eta: float, alpha: float, self_loops: str) -> float:
        weights = alpha * links()[eta].observed + (1 - alpha) * links()[eta].similar
        if not (weights > 0).any():  # such as with alpha 0 where linked nodes have no attributes in common
            return 0.0
        graph = enhanced_graph(split.train, links()[eta], weights)
        return metric("ap", _ranks(graph, split, settings.steps, self_loops))

    @cache
    def quality(eta: float, alpha: float, self_loops: str) -> float:
        case = {"eta": eta, "alpha": alpha, "self_loops": self_loops, "learned": False}
        return kept.figure(case, partial(ap, eta, alpha, self_loops))

    eta, self_loops = max(product(etas, loops), key=lambda case: quality(case[0], middle, case[1]))
    alpha, self_loops = max(product(alphas, loops), key=lambda case: quality(eta, *case))
    return {"eta": eta, "alpha": alpha, "self_loops": self_loops}


def plain_ranks(split: Split, steps: int) -> Ranks:
    """Ranks of the validation links by plain autocovariance."""
    return _ranks(split.train, split, steps, "isolated")


def _ranks(graph: Graph, split: Split, steps: int, self_loops: Any) -> Ranks:
    return rank(autocovariance(graph, steps=steps, self_loops=self_loops), unbiased(split, "valid"))


def _trained(split: Split, settings: GelatoSettings, device: torch.device) -> float:
    """Validation AP of the best of a few epochs."""
    short = settings.replaced(epochs=min(settings.epochs, TRIAL_EPOCHS))
    enhancer = new_enhancer(split.train, short, device)
    task = new_task(enhancer, split, short)
    if enhancer.net is not None:
        with torch_threads(1 if device.type == "cpu" else None):
            enhancer.load_state_dict(Loop(task, short, device).run().best)
    return metric("ap", task.ranks())

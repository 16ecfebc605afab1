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
from gelato.methods.gelato.build import enhancer_of, scorer_of
from gelato.methods.gelato.enhance.augmentation import most_similar_by_share
from gelato.methods.gelato.enhance.links import EnhancedLinks, enhanced_graph, links_with
from gelato.methods.gelato.settings import GRID, GelatoSettings
from gelato.methods.gelato.task import GelatoTask
from gelato.methods.heuristics import autocovariance
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.ranking.ranks import Ranks
from gelato.regimes import unbiased
from gelato.runs.trials import Trials
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


def choose(
    split: Split, settings: GelatoSettings, device: torch.device, trials: Trials | None = None
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
    trials = Trials() if trials is None else trials
    trials.begin(_rankings(settings) + 2)
    cases = [fixed({**untrained_choice(split, settings, trials), "beta": BETA}), fixed(ALL_LEARNED)]
    if settings.epochs and cases[0] != cases[1]:
        mixed, learned = (
            trials.figure(case | {"learned": True}, partial(_trained, split, settings.replaced(**case), device))
            for case in cases
        )
        best = cases[1] if learned > MARGIN * mixed else cases[0]
    else:
        best = cases[0]
    trials.end()
    return best


def untrained_choice(split: Split, settings: GelatoSettings, trials: Trials | None = None) -> dict[str, Any]:
    """The eta, alpha and self_loops of the highest validation AP with nothing learned: eta first, then alpha."""
    etas, alphas, loops = _untrained(settings)
    kept = Trials() if trials is None else trials

    @cache
    def links() -> dict[float, EnhancedLinks]:
        added = most_similar_by_share(split.train, etas, similarity=settings.similarity)
        return {
            eta: links_with(split.train, pairs, settings.similarity) for eta, pairs in zip(etas, added, strict=True)
        }

    def ap(eta: float, alpha: float, self_loops: str) -> float:
        weights = alpha * links()[eta].observed + (1 - alpha) * links()[eta].similar
        graph = enhanced_graph(split.train, links()[eta], weights)
        return metric("ap", _ranks(graph, split, settings.steps, self_loops))

    @cache
    def quality(eta: float, alpha: float, self_loops: str) -> float:
        case = {"eta": eta, "alpha": alpha, "self_loops": self_loops, "learned": False}
        return kept.figure(case, partial(ap, eta, alpha, self_loops))

    middle = MIDDLE if settings.alpha is None else settings.alpha
    eta, self_loops = max(product(etas, loops), key=lambda case: quality(case[0], middle, case[1]))
    alpha, self_loops = max(product(alphas, loops), key=lambda case: quality(eta, *case))
    return {"eta": eta, "alpha": alpha, "self_loops": self_loops}


def _untrained(settings: GelatoSettings) -> tuple[tuple[Any, ...], ...]:
    """The values of eta, alpha and self_loops to try."""
    given = {name: getattr(settings, name) for name in ("eta", "alpha", "self_loops")}
    return tuple(GRID[name] if value is None else (value,) for name, value in given.items())


def _rankings(settings: GelatoSettings) -> int:
    """How many rankings the choice without training takes."""
    etas, alphas, loops = _untrained(settings)
    middle = MIDDLE if settings.alpha is None else settings.alpha
    return len(loops) * (len(etas) + len(alphas) - (middle in alphas))


def plain_ranks(split: Split, steps: int) -> Ranks:
    """Ranks of the validation links by plain autocovariance."""
    return _ranks(split.train, split, steps, "isolated")


def _ranks(graph: Graph, split: Split, steps: int, self_loops: str) -> Ranks:
    loops: Any = self_loops
    return rank(autocovariance(graph, steps=steps, self_loops=loops), unbiased(split, "valid"))


def _trained(split: Split, settings: GelatoSettings, device: torch.device) -> float:
    """Validation AP of the best of a few epochs."""
    short = settings.replaced(epochs=min(settings.epochs, TRIAL_EPOCHS))
    enhancer = enhancer_of(split.train, short, device)
    task = GelatoTask(enhancer, scorer_of(split, enhancer, short), short)
    if enhancer.net is not None:
        with torch_threads(1 if device.type == "cpu" else None):
            enhancer.load_state_dict(Loop(task, short, device).run().best)
    return metric("ap", task.ranks())

"""Gelato: learn the weights of an enhanced graph, rank all pairs by its autocovariance."""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gelato.costs.estimates import FitCost
from gelato.errors import InputError
from gelato.formatting import against, higher, percent
from gelato.graph import Graph, pair_keys
from gelato.io.untrusted import check_range, check_values, checked_array
from gelato.methods.gelato.enhance.enhancer import Enhancer, enhancer_on_links, new_enhancer
from gelato.methods.gelato.enhance.evidence import EnhancedLinkEvidence
from gelato.methods.gelato.settings import GRID, GelatoSettings
from gelato.methods.gelato.task import GelatoTask, new_task, pair_scores
from gelato.methods.gelato.untrained_choice import PLAIN, RANKINGS, TRIAL_EPOCHS, choose_untrained, plain_ranks
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.runs.files import Tensors, parsing
from gelato.runs.records import check_type, read_fact
from gelato.runs.search_log import SearchLog
from gelato.scores import Scores
from gelato.scores.autocovariance import autocovariance_with, loops_of
from gelato.similarity.enhanced_links import EnhancedLinks, enhanced_graph
from gelato.similarity.similar_pairs import most_similar_by_share
from gelato.splits import Split
from gelato.training.trained_predictor import TrainedPredictor, check_shapes, device_of, load_state

NEWCOMERS = 10
"""How many similar nodes a node without links is joined to, when a model is applied to it."""

NEWCOMER_WEIGHT = 1e-3
"""Weight of these links relative to others: small enough to leave the ranking of all other pairs as it is."""

PROBE: dict[str, Any] = {"eta": 0.25, "alpha": 0.5, "beta": 0.25, "self_loops": "all"}
"""Settings of the epoch that is timed."""

FEW = 30
"""With fewer validation links, sentences say how few there are."""

LINKS = ("pairs", "observed", "similar", "added")
"""Fields of the enhanced links that are saved."""


class Gelato(TrainedPredictor):
    """Attribute-enhanced similarity ranking for sparse link prediction (KDD 2025).

    A pair MLP learns the weights of links from node attributes, with similar pairs added as links,

        ``A~_uv = alpha A_uv + (1 - alpha) (beta w_uv + (1 - beta) max(S_uv, 0))``

    and the autocovariance of the enhanced graph ranks all pairs; both are trained end to end with a ranking loss over
    all pairs [method 3-6].

    The parameters are those of ``GelatoSettings``. ``eta``, ``alpha``, ``beta`` and ``self_loops`` are chosen on
    validation links unless given; such a model is never worse there than plain autocovariance, since it falls back to
    it.

    Attributes:
        chosen_: the values of ``eta``, ``alpha``, ``beta`` and ``self_loops`` that were used.
        links_, weights_: the enhanced links and their weights.
        scale_: what each weight was multiplied by in the end; less than 1 for links that join new nodes.
        fallback_: whether plain autocovariance was better on validation links, so that this model is just that.
        aps_: validation AP of the trained model and of plain autocovariance, where both were ranked.

    Example:
        >>> from gelato import Gelato, evaluate, load, split
        >>> hidden = split(load("debian-sample"))
        >>> model = Gelato(eta=0.25, alpha=0.5, beta=0.5, epochs=1).fit(hidden)
        >>> evaluate(hidden, model).metric("ap") > 0.01
        True
    """

    Settings = GelatoSettings
    method = "gelato"
    one_thread = True
    chooses = tuple(PLAIN)

    settings: GelatoSettings
    links_: EnhancedLinks
    weights_: NDArray[np.float64]
    scale_: NDArray[np.float64]
    fallback_: bool = False
    aps_: tuple[float, float] | None = None
    _device = torch.device("cpu")

    def choose(self, split: Split, device: torch.device, trials: SearchLog) -> dict[str, Any]:
        return choose_untrained(split, self.settings, device, trials)

    def network(self, graph: Graph, settings: GelatoSettings, device: torch.device) -> Enhancer:
        return new_enhancer(graph, settings, device)

    def trainable(self, network: Enhancer) -> bool:
        return network.net is not None

    def task(self, network: Enhancer, split: Split, settings: GelatoSettings) -> GelatoTask:
        return new_task(network, split, settings)

    def selected(self, task: GelatoTask, split: Split) -> None:
        """Fall back to what needs no training where settings were left open and that is better on validation links."""
        given = self.settings
        self.fallback_, self.aps_ = False, None
        if given.heuristic == "none" and not self._automatic:
            return  # to rank all pairs by a network takes long
        plain = plain_ranks(split, given.steps)
        self.aps_ = metric("ap", task.ranks()), metric("ap", plain)
        self.fallback_ = self._automatic and self.aps_[1] > self.aps_[0]
        if self.fallback_:
            self.chosen_, self.precision_ = dict(PLAIN), metric("precision@100%", plain)
            self.state_.clear()
            self._weigh(split.train)

    @property
    def _automatic(self) -> bool:
        """Whether any setting was left open."""
        return any(getattr(self.settings, name) is None for name in PLAIN)

    @property
    def plain(self) -> bool:
        """Whether the scores are those of plain autocovariance: attributes have no part in any weight."""
        if self.settings.heuristic == "none" and not self.fallback_:
            return False
        return bool(self.chosen_["alpha"] == 1 and self.chosen_["self_loops"] == PLAIN["self_loops"])

    @property
    def trained(self) -> bool:
        """Whether any weight was learned."""
        return bool(self.state_)

    def adopt(self, network: Enhancer, graph: Graph) -> None:
        super().adopt(network, graph)
        self.links_ = network.links
        self.scale_ = np.ones(len(self.links_.pairs))
        with torch.no_grad():
            self.weights_ = network().cpu().numpy()
        if network.mixing is not None:
            alpha, beta = network.mixing.detach().double().sigmoid().tolist()
            self.chosen_ = {**self.chosen_, "alpha": alpha, "beta": beta}

    def adapt(self, graph: Graph) -> None:
        """Give the enhanced links of ``graph`` the weights that were learned; join its nodes without links."""
        self._weigh(graph, NEWCOMERS)
        alone = np.setdiff1d(np.arange(graph.n), graph.edges)
        theirs = np.isin(self.links_.pairs, alone).any(axis=1)
        own = np.where(self.weights_ > 0, self.weights_, self.links_.similar)  # where attributes weigh nothing
        self.scale_ = np.where(theirs, NEWCOMER_WEIGHT, 1.0)
        self.weights_ = np.where(theirs, NEWCOMER_WEIGHT * own, self.weights_)

    def _weigh(self, graph: Graph, newcomers: int = 0) -> None:
        enhancer = new_enhancer(graph, self._kept, device_of(self.settings.device), newcomers)
        load_state(enhancer, self.state_)
        self.adopt(enhancer, graph)

    @property
    def _kept(self) -> GelatoSettings:
        """The settings of the network that was kept."""
        kept: GelatoSettings = self.used.replaced(learn_mixing="mixing" in self.state_)
        return kept

    def evidence(self) -> EnhancedLinkEvidence:
        self._check_fitted()
        made = {"alpha": self.chosen_["alpha"], "beta": self.chosen_["beta"], "similarity": self.settings.similarity}
        net = self._live_network().net if self.trained else None
        return EnhancedLinkEvidence(self._graph, self.links_, self.weights_, net=net, scale=self.scale_, **made)

    def enhanced_graph(self) -> Graph:
        """The graph with learned weights and added links; links whose weight is 0 are left out."""
        self._check_fitted()
        return enhanced_graph(self._graph, self.links_, self.weights_)

    def compute_scores(self) -> Scores:
        """Scores of all pairs: the autocovariance of the enhanced graph, or the pair MLP alone."""
        self._check_fitted()
        if self.settings.heuristic == "none" and not self.fallback_:
            return self.scores_of(self._live_network(), self._graph)
        graph = self.enhanced_graph()
        own = np.zeros(graph.n)  # a node all of whose links are scaled has a self-loop of the same scale
        np.maximum.at(own, self.links_.pairs, self.scale_[:, None])
        own = np.where(own > 0, own, 1.0)
        return autocovariance_with(graph, own * loops_of(graph, self.chosen_["self_loops"]), steps=self.settings.steps)

    def scores_of(self, network: Enhancer, graph: Graph) -> Scores:
        """Scores of the pair MLP alone (heuristic ``none``)."""
        return pair_scores(network, graph)

    def move(self, device: torch.device) -> None:
        """Make the network on a device, when it is next needed."""
        self._device = device
        vars(self).pop("_network", None)

    def _live_network(self) -> Enhancer:
        """The network; that of a loaded model is made when it is first needed."""
        if "_network" not in vars(self):
            make = partial(enhancer_on_links, self._graph, self.links_, self._kept)
            check_shapes(lambda: make(torch.device("meta")), self.state_)
            self._network = make(self._device)
            load_state(self._network, self.state_)
            self._network.eval()
        network: Enhancer = self._network
        return network

    def typical(self) -> dict[str, Any]:
        return {name: value for name, value in PROBE.items() if getattr(self.settings, name) is None}

    def cost(self, split: Split) -> FitCost:
        """Time one epoch; where settings are open, also what their choice takes."""
        given = self.settings
        if not split.train.f:
            return FitCost.timed("train", lambda: Gelato(**{**given.as_dict(), "epochs": 0}).fit(split))
        cost = super().cost(split)
        if not self._automatic:
            return cost
        begin = time.perf_counter()
        etas = GRID["eta"] if given.eta is None else (given.eta,)
        most_similar_by_share(split.train, etas, similarity=given.similarity)
        similar = time.perf_counter()
        rank(cost.ready.scores(), unbiased(split, "valid"), threads=given.threads)
        ranking = time.perf_counter() - similar
        epoch = sum(each.seconds for each in cost.ready.history_)
        trial = cost.ready.timings()["prepare"] + min(given.epochs, TRIAL_EPOCHS) * epoch + ranking
        choice = similar - begin + RANKINGS * ranking + 2 * trial
        return replace(cost, parts={"choose settings": choice, **cost.parts})

    def starts(self, split: Split, trials: SearchLog | None = None) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Plain autocovariance, and the automatic choice."""
        if split.train.f == 0:
            raise InputError("tuning needs node attributes; give an attribute table (--attributes FILE)")
        steps = {"steps": self.settings.steps}
        choice = choose_untrained(split, self.settings, device_of(self.settings.device), trials)
        return [{**PLAIN, **steps}], {**choice, **steps}

    def tuned(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All settings; with an alpha of 1 there is nothing to learn."""
        plain = {"learn_mixing": False, "heuristic": "autocovariance"} if values["alpha"] == 1 else {}
        return {**super().tuned(values), **plain}

    def facts(self) -> dict[str, Any]:
        """Whether this model is plain autocovariance, and the validation AP of both."""
        trained, plain = (None, None) if self.aps_ is None else self.aps_
        return {"plain_autocovariance": self.plain, "validation_ap": trained, "validation_ap_plain": plain}

    def sentences(self) -> list[str]:
        links = f"on {'the' if len(self.valid_) >= FEW else 'only'} {len(self.valid_):,} validation links"
        figures = "" if self.aps_ is None else f" ({against(*self.aps_)})"
        which = "all scores" if (self.scale_ == 1).all() else "all scores, except those of nodes without links,"
        if self.fallback_:
            return [f"Training did not improve on plain autocovariance {links}{figures}: {which} are those of ac."]
        if self.plain:
            why = "No weight depends on attributes" if self._graph.f else "The graph has no attributes"
            return [f"{why}, so there was nothing to train: {which} are those of plain autocovariance (ac)."]
        if self.aps_ is None or higher(*self.aps_):
            return []
        if higher(*reversed(self.aps_)):
            return [
                f"Plain autocovariance did better than the trained model {links} (AP {percent(self.aps_[1])}% against"
                f" {percent(self.aps_[0])}%); leave {', '.join(PLAIN)} unset to fall back to it."
            ]
        return [f"The trained model did no better than plain autocovariance {links}{figures}."]

    def learned(self) -> dict[str, Any]:
        links = {"n": self.links_.n, "directed": self.links_.directed}
        return {**super().learned(), **links, "fallback_": self.fallback_, "aps_": self.aps_}

    def tensors(self) -> Tensors:
        links = {f"links.{name}": getattr(self.links_, name) for name in LINKS}
        return {**super().tensors(), **links, "weights": self.weights_, "scale": self.scale_}

    def restore(self, learned: Mapping[str, Any], tensors: Tensors, graph: Graph) -> None:
        """Be as it was saved; the network itself waits until it is needed."""
        with parsing():
            self.restore_facts(learned, tensors)
            fields = {name: tensors[f"links.{name}"] for name in LINKS}
            self.links_ = EnhancedLinks(read_fact(learned, "n", int), read_fact(learned, "directed", bool), **fields)
            pairs = checked_array(fields, "pairs", np.int64, (None, 2))
            check_range("pairs", pairs, 0, graph.n)
            keys = pair_keys(pairs, graph.n)
            check_values("pairs", bool((np.diff(keys) > 0).all() and (pairs[:, 0] != pairs[:, 1]).all()))
            check_values("pairs", (self.links_.n, self.links_.directed) == (graph.n, graph.directed))
            checked_array(fields, "added", np.bool_, pairs.shape[:1])
            arrays = {**fields, "weights": tensors["weights"], "scale": tensors["scale"]}
            for name in ("observed", "similar", "weights", "scale"):
                array = checked_array(arrays, name, np.float64, pairs.shape[:1])
                check_values(name, bool((np.isfinite(array) & (array >= 0)).all()))
            self.weights_, self.scale_ = tensors["weights"], tensors["scale"]
            self.fallback_, self._graph = read_fact(learned, "fallback_", bool), graph
            aps = learned.get("aps_")  # which earlier releases did not keep
            check_type("aps_", aps, list[float] | None)
            self.aps_ = None if aps is None else (aps[0], aps[1])

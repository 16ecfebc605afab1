"""Gelato: learn the weights of an enhanced graph, rank all pairs by its autocovariance."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.figures import higher, percent, versus
from gelato.graph import Graph
from gelato.methods.gelato.build import enhancer_for, enhancer_of, scorer_of
from gelato.methods.gelato.choice import PLAIN, RANKINGS, TRIAL_EPOCHS, choose, plain_ranks
from gelato.methods.gelato.enhance.augmentation import most_similar_by_share
from gelato.methods.gelato.enhance.enhancer import Enhancer
from gelato.methods.gelato.enhance.evidence import Evidence
from gelato.methods.gelato.enhance.links import EnhancedLinks, enhanced_graph
from gelato.methods.gelato.pair_scorer import pair_scores
from gelato.methods.gelato.settings import GRID, GelatoSettings
from gelato.methods.gelato.shrunk.choice import CHOSEN, LEARNED, UNTRAINED, spectral_settings
from gelato.methods.gelato.shrunk.choice import choose as choose_shrunk
from gelato.methods.gelato.shrunk.scores import loops_like_links, polynomial_scores, rows_of
from gelato.methods.gelato.task import GelatoTask
from gelato.methods.heuristics.autocovariance import autocovariance_with, loops_of
from gelato.methods.spectral.forecast import spectral_seconds
from gelato.ranking.metrics import metric
from gelato.ranking.rank import rank
from gelato.regimes import unbiased
from gelato.runs.cost import FitCost
from gelato.runs.files import Tensors
from gelato.runs.trials import Trials
from gelato.scores import Scores
from gelato.splits import Split
from gelato.training.predictor import TrainedPredictor, device_of
from gelato.training.settings import TrainingSettings

NEWCOMERS = 10
"""How many similar nodes a node without links is joined to, when a model is applied to it."""

WHISPER = 1e-3
"""What these links weigh, as a share of others: a newcomer's own ranking stays as it is, and no other one changes."""

PROBE: dict[str, Any] = {"eta": 0.25, "alpha": 0.5, "beta": 0.25, "self_loops": "all"}
"""Settings of the epoch that is timed."""

FEW = 30
"""With fewer validation links, sentences say that there are only so many."""

LINKS = ("pairs", "observed", "similar", "added")
"""Fields of the enhanced links that are saved."""


class Gelato(TrainedPredictor):
    """Attribute-enhanced similarity ranking for sparse link prediction (KDD 2025).

    A pair MLP learns the weights of links from node attributes, with similar pairs added as links,

        ``A~_uv = alpha A_uv + (1 - alpha) (beta w_uv + (1 - beta) max(S_uv, 0))``

    and the autocovariance of the enhanced graph ranks all pairs; both are trained end to end with a ranking loss over
    all pairs [method 3-6].

    With ``heuristic="spectral"`` a polynomial filter of its spectrum ranks the pairs instead.

    The parameters are those of ``GelatoSettings``. ``eta``, ``alpha``, ``beta`` and ``self_loops`` are chosen on
    validation links unless given; such a model is never worse there than plain autocovariance, since it falls back to
    it.

    Attributes:
        chosen_: the values of ``eta``, ``alpha``, ``beta`` and ``self_loops`` that were used.
        links_, weights_: the enhanced links and their weights.
        scale_: what each weight was multiplied by in the end; less than 1 for links that join new nodes.
        fallback_: whether plain autocovariance was better on validation links, so that this model is just that.
        aps_: validation AP of the trained model and of plain autocovariance, where both were ranked.
        history_, best_epoch_, precision_, skipped_: as of every ``TrainedPredictor``.
        valid_: the validation links that selected the model.
        columns_: names of the attributes it learned from, if they have names.
        remarks_: what is worth knowing about the graph it was applied to, such as attributes that it lacks.

    Example:
        >>> from gelato import Gelato, evaluate, load, split
        >>> hidden = split(load("debian-sample"))
        >>> model = Gelato(eta=0.25, alpha=0.5, beta=0.5, epochs=1).fit(hidden)
        >>> evaluate(hidden, "gelato", scores=model.scores()).metric("ap") > 0.01
        True
    """

    Settings: ClassVar[type[TrainingSettings]] = GelatoSettings
    method = "gelato"
    format_3 = True
    one_thread = True

    settings: GelatoSettings
    links_: EnhancedLinks
    weights_: NDArray[np.float64]
    scale_: NDArray[np.float64]
    fallback_: bool = False
    aps_: tuple[float, float] | None = None

    def choose(self, split: Split, device: torch.device, trials: Trials) -> dict[str, Any]:
        """Values for eta, alpha, beta and self_loops; for a shrunk spectrum, power too."""
        if self._shrunk:
            return choose_shrunk(split, self.settings, trials)
        return choose(split, self.settings, device, trials)

    def check_graph(self, graph: Graph) -> None:
        """Refuse a directed graph for a shrunk spectrum, whose matrix must be symmetric."""
        super().check_graph(graph)
        if self._shrunk and graph.directed:
            raise InputError(
                "heuristic 'spectral' needs an undirected graph, and this one is directed; use 'autocovariance'"
            )

    def unshared(self) -> str | None:
        """Parts are what processes share, and only walks have them."""
        given = self.settings
        if given.regime != "partitioned":
            return f"regime {given.regime!r} trains in one process; use regime=partitioned, or start without torchrun"
        return None

    def network(self, graph: Graph, settings: GelatoSettings, device: torch.device) -> Enhancer:
        """What gives weights to the enhanced links of ``graph``."""
        return enhancer_of(graph, settings, device)

    def trainable(self, network: Enhancer) -> bool:
        """Whether weights are learned at all."""
        return network.net is not None

    def task(self, network: Enhancer, split: Split, settings: GelatoSettings) -> GelatoTask:
        """The ranking loss of walks on the enhanced graph."""
        return GelatoTask(network, scorer_of(split, network, settings), settings)

    def selected(self, task: GelatoTask, split: Split) -> None:
        """Fall back to what needs no training where settings were left open and that is better on validation links."""
        given = self.settings
        self.fallback_, self.aps_ = False, None
        if self._shrunk:
            self._selected_shrunk(task, split)
            return
        if given.heuristic == "none" and not self._automatic:
            return  # to rank all pairs by a network takes long
        plain = plain_ranks(split, given.steps)
        self.aps_ = metric("ap", task.ranks()), metric("ap", plain)
        self.fallback_ = self._automatic and self.aps_[1] > self.aps_[0]
        if self.fallback_:
            self.chosen_, self.precision_ = dict(PLAIN), metric("precision@100%", plain)
            self.state_.clear()
            self._weigh(split.train)

    def _selected_shrunk(self, task: GelatoTask, split: Split) -> None:
        """The same for a shrunk spectrum, which is held against that of the graph as it is."""
        if not self.trained:
            return
        settings = self.used.replaced(**UNTRAINED, learn_mixing=False)
        network = enhancer_of(split.train, settings, device_of(self.settings.device))
        plain = scorer_of(split, network, settings).ranks()
        self.aps_ = metric("ap", task.ranks()), metric("ap", plain)
        self.fallback_ = self._automatic and self.aps_[1] > self.aps_[0]
        if self.fallback_:
            self.chosen_, self.precision_ = {**self.chosen_, **UNTRAINED}, metric("precision@100%", plain)
            self.adopt(network, split.train)

    @property
    def _shrunk(self) -> bool:
        """Whether a shrunk spectrum ranks the pairs."""
        return self.settings.heuristic == "spectral"

    @property
    def _automatic(self) -> bool:
        """Whether any setting was left open."""
        names = CHOSEN if self._shrunk else PLAIN
        return any(getattr(self.settings, name) is None for name in names)

    @property
    def plain(self) -> bool:
        """Whether the scores are those of plain autocovariance: attributes have no part in any weight."""
        if self._shrunk or (self.settings.heuristic == "none" and not self.fallback_):
            return False
        return bool(self.chosen_["alpha"] == 1 and self.chosen_["self_loops"] == PLAIN["self_loops"])

    @property
    def trained(self) -> bool:
        """Whether any weight was learned."""
        return any(name != "filter" for name in self.state_)

    def adopt(self, network: Enhancer, graph: Graph) -> None:
        """Take over what was learned, for ``graph``."""
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
        self.scale_ = np.where(theirs, WHISPER, 1.0)
        self.weights_ = np.where(theirs, WHISPER * own, self.weights_)

    def _weigh(self, graph: Graph, newcomers: int = 0) -> None:
        enhancer = enhancer_of(graph, self._kept, device_of(self.settings.device), newcomers)
        enhancer.load_state_dict(self.state_)
        self.adopt(enhancer, graph)

    @property
    def _kept(self) -> GelatoSettings:
        """The settings of the network that was kept."""
        kept: GelatoSettings = self.used.replaced(learn_mixing="mixing" in self.state_)
        return kept

    def evidence(self) -> Evidence:
        """What the enhanced links are made of."""
        self._check_fitted()
        return Evidence(
            self._graph,
            self.links_,
            self.weights_,
            alpha=self.chosen_["alpha"],
            beta=self.chosen_["beta"],
            similarity=self.settings.similarity,
            net=self._living().net if self.trained else None,
            scale=self.scale_,
        )

    def enhanced_graph(self) -> Graph:
        """The graph with learned weights and added links; links whose weight is 0 are left out."""
        self._check_fitted()
        return enhanced_graph(self._graph, self.links_, self.weights_)

    def scores(self) -> Scores:
        """Scores of all pairs, for everything in ``ranking``, by the heuristic on the enhanced graph."""
        self._check_fitted()
        if self.settings.heuristic == "none" and not self.fallback_:
            return self.scores_of(self._living(), self._graph)
        graph = self.enhanced_graph()
        own = np.zeros(graph.n)  # a node all of whose links are scaled has a self-loop of the same scale
        np.maximum.at(own, self.links_.pairs, self.scale_[:, None])
        own = np.where(own > 0, own, 1.0)
        if self._shrunk:
            loops = own * loops_like_links(self.weights_[self.scale_ == 1], graph.n, self.chosen_["self_loops"])
            return polynomial_scores(rows_of(graph, loops, self.chosen_["power"], self.state_["filter"].numpy()))
        return autocovariance_with(graph, own * loops_of(graph, self.chosen_["self_loops"]), steps=self.settings.steps)

    def scores_of(self, network: Enhancer, graph: Graph) -> Scores:
        """Scores of the pair MLP alone (heuristic ``none``)."""
        return pair_scores(network, graph)

    def _living(self) -> Enhancer:
        """The network; that of a loaded model is made when it is first needed."""
        if "_network" not in vars(self):
            self._network = enhancer_for(self._graph, self.links_, self._kept, torch.device("cpu"))
            self._network.load_state_dict(self.state_)
            self._network.eval()
        network: Enhancer = self._network
        return network

    def typical(self) -> dict[str, Any]:
        """Values of open settings for the epoch that is timed."""
        probe = {**PROBE, **LEARNED, "power": 0.25} if self._shrunk else PROBE
        return {name: value for name, value in probe.items() if getattr(self.settings, name) is None}

    def cost(self, split: Split) -> FitCost:
        """Time one epoch; where settings are open, also what their choice takes."""
        given = self.settings
        if not split.train.f:
            begin = time.perf_counter()
            ready = Gelato(**{**given.as_dict(), "epochs": 0}).fit(split)
            return FitCost({"train": time.perf_counter() - begin}, ready)
        cost = super().cost(split)
        if not self._automatic:
            return cost
        if self._shrunk:
            searched = spectral_seconds(split.train, spectral_settings(split.train, given))
            return replace(cost, parts={"choose settings": searched, **cost.parts})
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

    def starts(self, split: Split, trials: Trials | None = None) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Plain autocovariance, and the automatic choice."""
        if split.train.f == 0:
            raise InputError("tuning needs node attributes; give an attribute table (--attributes FILE)")
        steps = {"steps": self.settings.steps}
        if self._shrunk:
            chosen = {**choose_shrunk(split, self.settings, trials), **steps}
            return [{**chosen, **UNTRAINED}], chosen
        return [{**PLAIN, **steps}], {**choose(split, self.settings, device_of(self.settings.device), trials), **steps}

    def tuned(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All settings; with an alpha of 1 there is nothing to learn."""
        heuristic = "spectral" if self._shrunk else "autocovariance"
        plain = {"learn_mixing": False, "heuristic": heuristic} if values["alpha"] == 1 else {}
        return {**super().tuned(values), **plain}

    def facts(self) -> dict[str, Any]:
        """Whether this model is plain autocovariance, and the validation AP of both."""
        trained, plain = (None, None) if self.aps_ is None else self.aps_
        return {"plain_autocovariance": self.plain, "validation_ap": trained, "validation_ap_plain": plain}

    def sentences(self) -> list[str]:
        """The same in words."""
        links = f"on {'the' if len(self.valid_) >= FEW else 'only'} {len(self.valid_):,} validation links"
        figures = "" if self.aps_ is None else f" ({versus(*self.aps_)})"
        which = "all scores" if (self.scale_ == 1).all() else "all scores, except those of nodes without links,"
        base, short = ("equal link weights", "the untrained filter") if self._shrunk else ("plain autocovariance", "ac")
        if self.fallback_:
            return [f"Training did not improve on {base} {links}{figures}: {which} are those of {short}."]
        if self.plain or (self._shrunk and not self.trained):
            why = "No weight depends on attributes" if self._graph.f else "The graph has no attributes"
            of = short if self._shrunk else f"{base} ({short})"
            return [f"{why}, so there was nothing to train: {which} are those of {of}."]
        if self.aps_ is None or higher(*self.aps_):
            return []
        if higher(*reversed(self.aps_)):
            names = ", ".join(CHOSEN if self._shrunk else PLAIN)
            return [
                f"{base.capitalize()} did better than the trained model {links} (AP {percent(self.aps_[1])}% against"
                f" {percent(self.aps_[0])}%); leave {names} unset to fall back to it."
            ]
        return [f"The trained model did no better than {base} {links}{figures}."]

    def learned(self) -> dict[str, Any]:
        """What was learned besides the parameters."""
        links = {"n": self.links_.n, "directed": self.links_.directed}
        return {**super().learned(), **links, "fallback_": self.fallback_, "aps_": self.aps_}

    def tensors(self) -> Tensors:
        """Parameters, and the enhanced links with their weights."""
        links = {f"links.{name}": getattr(self.links_, name) for name in LINKS}
        return {**super().tensors(), **links, "weights": self.weights_, "scale": self.scale_}

    def restore(self, learned: Mapping[str, Any], tensors: Tensors, graph: Graph) -> None:
        """Be as it was saved; the network itself waits until it is needed."""
        self.restore_facts(learned, tensors)
        fields = {name: tensors[f"links.{name}"] for name in LINKS}
        self.links_ = EnhancedLinks(learned["n"], learned["directed"], **fields)
        self.weights_, self.scale_ = tensors["weights"], tensors["scale"]
        self.fallback_, self._graph = learned["fallback_"], graph
        aps = learned.get("aps_")  # which earlier releases did not keep
        self.aps_ = None if aps is None else (aps[0], aps[1])

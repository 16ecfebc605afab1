"""Gelato: learn the weights of an enhanced graph, rank all pairs by its autocovariance."""

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import align_attributes
from gelato.methods.gelato.build import device_of, enhancer_for, enhancer_of, scorer_of
from gelato.methods.gelato.choice import PLAIN, choose, plain_ranks
from gelato.methods.gelato.enhance.enhancer import Enhancer
from gelato.methods.gelato.enhance.evidence import Evidence
from gelato.methods.gelato.enhance.links import EnhancedLinks
from gelato.methods.gelato.pair_scorer import pair_scores
from gelato.methods.gelato.scorer import enhanced_graph
from gelato.methods.gelato.settings import Settings
from gelato.methods.heuristics.autocovariance import autocovariance_with, loops_of
from gelato.prediction.predictor import LinkPredictor
from gelato.ranking.metrics import metric
from gelato.scores import Scores
from gelato.splits import Split, split
from gelato.storage import MODEL, read_model, write_model
from gelato.training.run import CONFIG, FORMAT, GRAPH, Run, write_json, write_plain
from gelato.training.seen import Seen
from gelato.training.trainer import Epoch, Trainer

HIDDEN_SHARE = 0.05
"""Share of the links hidden for validation when a whole graph is given."""

NEWCOMERS = 10
"""How many similar nodes a node without links is joined to, when a model is applied to it."""

WHISPER = 1e-3
"""What these links weigh, as a share of others: a newcomer's own ranking stays as it is, and no other one changes."""

Report = Callable[[Epoch], None]


@dataclass(eq=False)
class Gelato(LinkPredictor, Settings):
    """Attribute-enhanced similarity ranking for sparse link prediction (KDD 2025).

    A pair MLP learns the weights of links from node attributes, with similar pairs added as links; autocovariance of
    the enhanced graph ranks all pairs; both are trained end to end with a ranking loss over all pairs [method 3-6].

    The parameters are those of ``Settings``. ``eta``, ``alpha``, ``beta`` and ``self_loops`` are chosen on validation
    links unless given; such a model is never worse there than plain autocovariance, since it falls back to it.

    Attributes:
        chosen_: the values of ``eta``, ``alpha``, ``beta`` and ``self_loops`` that were used.
        links_, weights_: the enhanced links and their weights.
        scale_: what each weight was multiplied by in the end; less than 1 for links that join new nodes.
        history_: every ``Epoch`` of the training.
        best_epoch_, precision_: the epoch that was kept, and its validation precision@100%.
        skipped_: steps left out since their gradient was not finite.
        fallback_: whether plain autocovariance was better on validation, and is what this model is.
        valid_: the validation links that selected the model.
        columns_: names of the attributes it learned from, if they had any.
        remarks_: what is worth knowing of the graph it was applied to, such as attributes that it lacks.

    Example:
        >>> from gelato import Gelato, evaluate, load, split
        >>> parts = split(load("debian-sample"))
        >>> model = Gelato(eta=0.25, alpha=0.5, beta=0.5, epochs=1).fit(parts)
        >>> evaluate(parts, "gelato", scores=model.scores()).metric("ap") > 0.01
        True
    """

    def fit(
        self,
        data: Graph | Split,
        *,
        run: str | os.PathLike[str] | None = None,
        report: Report | None = None,
        callbacks: Iterable[Report] = (),
    ) -> Self:
        """Train on a split, or on a graph of which a twentieth is hidden for validation.

        Args:
            data: a split's training links are learned from and its validation links select the model; a graph's
                links are all used for the scores in the end.
            run: a folder for checkpoints, metrics and the model; the same call goes on where a stopped one ended.
            report: called after every epoch.
            callbacks: called after every epoch too, such as ``TensorBoard`` of ``gelato.training.callbacks``.
        """
        begin = time.perf_counter()
        self.check()
        if not isinstance(data, Graph | Split):
            raise InputError(
                f"fit takes a Graph or a Split, got {type(data).__name__}; gelato.load gives a Graph by name"
            )
        parts = data if isinstance(data, Split) else _hidden(data, self.random_state)
        if len(parts.valid) == 0:
            raise InputError("the split hides no validation links; a model is selected on them: hide a share")
        folder = None if run is None else Run(run, {**self.config(parts.train), "valid": _digest(parts.valid)})
        device = device_of(self.device)
        if folder is not None and (folder.folder / MODEL).exists():
            vars(self).pop("_enhancer", None)
            found = self.load(folder.folder, data if isinstance(data, Graph) else parts.train)
            vars(self).update(vars(found) | self.as_dict())
            return self
        self.chosen_ = (folder and folder.chosen()) or choose(parts, self.settings(), device)
        made = replace(self.settings(), **self.chosen_)
        enhancer, links = enhancer_of(parts.train, made, device)
        scorer = scorer_of(parts, links, enhancer, made)
        trainer = Trainer(enhancer, scorer, made, device)
        if folder is not None:
            folder.describe(parts, self.chosen_)
            folder.resume(trainer)
        prepared = time.perf_counter()

        def after(trainer: Trainer, epoch: Epoch) -> None:
            if folder is not None:
                folder.keep(trainer, epoch)
            for each in (*([report] if report else []), *callbacks):
                each(epoch)

        if enhancer.net is not None:
            trainer.run(after)
        state = trainer.state
        if state.best:
            enhancer.load_state_dict(state.best)
        self.history_, self.best_epoch_, self.skipped_ = state.history, state.best_epoch, state.skipped
        self.precision_ = state.precision if state.history else scorer.validate()
        automatic = None in (self.eta, self.alpha, self.beta, self.self_loops)
        plain = plain_ranks(parts, self.steps)
        self.fallback_ = automatic and metric("ap", plain) > metric("ap", scorer.ranks())
        self._adopt(enhancer, links, parts.train)
        if self.fallback_:
            self.chosen_, self.precision_ = dict(PLAIN), metric("precision@100%", plain)
            self.state_.clear()
        names = parts.graph.attribute_names
        self.valid_, self.remarks_, self.columns_ = parts.valid, [], None if names is None else names.tolist()
        known = data.edges if isinstance(data, Graph) else np.concatenate([parts.train.edges, parts.valid])
        self._seen = Seen(parts.graph, known, parts.valid)
        if isinstance(data, Graph):
            self._apply(data, NEWCOMERS)
        elif self.fallback_:
            self._apply(parts.train)
        if folder is not None:
            write_model(self, folder.folder)
            done = time.perf_counter()
            folder.finish({"prepare": prepared - begin, "train": done - prepared, "all": done - begin})
        return self

    def _adopt(self, enhancer: Enhancer, links: EnhancedLinks, graph: Graph) -> None:
        """Take over what was learned, for ``graph``."""
        enhancer.eval()
        self._enhancer = enhancer
        self.links_, self._graph, self.graph_hash_ = links, graph, graph.fingerprint
        self.scale_ = np.ones(len(links.pairs))
        with torch.no_grad():
            self.weights_: NDArray[np.float64] = enhancer().cpu().numpy()
        self.state_ = {name: value.detach().cpu() for name, value in enhancer.state_dict().items()}
        if enhancer.mixing is not None:
            alpha, beta = enhancer.mixing.detach().double().sigmoid().tolist()
            self.chosen_ = {**self.chosen_, "alpha": alpha, "beta": beta}

    def _apply(self, graph: Graph, newcomers: int = 0) -> None:
        """Give the enhanced links of ``graph`` the weights that were learned."""
        made = replace(self.settings(), **self.chosen_, learn_mixing="mixing" in self.state_)
        enhancer, links = enhancer_of(graph, made, device_of(self.device), newcomers)
        enhancer.load_state_dict(self.state_)
        self._adopt(enhancer, links, graph)
        if newcomers:
            alone = np.setdiff1d(np.arange(graph.n), graph.edges)
            theirs = np.isin(links.pairs, alone).any(axis=1)
            own = np.where(self.weights_ > 0, self.weights_, links.similar)  # where attributes weigh nothing
            self.scale_ = np.where(theirs, WHISPER, 1.0)
            self.weights_ = np.where(theirs, WHISPER * own, self.weights_)

    def applied(self, graph: Graph) -> Self:
        """The same model for another graph with the same attributes, without training.

        The graph may have other links, new nodes, or be another altogether. Attributes go by the names of their
        columns: those that ``graph`` lacks count as 0, those that the model does not know are left out, and
        ``remarks_`` says so. A node without links is joined to the nodes most similar to it.
        """
        self._check_fitted()
        if graph.directed != self.links_.directed:
            kinds = ("undirected", "directed")
            raise InputError(
                f"the model was trained on {kinds[self.links_.directed]} links, the graph's are"
                f" {kinds[graph.directed]}; train a model for it"
            )
        if self.columns_ is None and self.state_ and graph.f != self._graph.f:
            raise InputError(f"the model learned from {self._graph.f:,} attributes, the graph has {graph.f:,}")
        twin = copy(self)
        twin.remarks_, twin.valid_ = [], self._seen.selected_in(graph)
        if self.columns_ is not None and (self.state_ or graph.f):
            graph, alignment = align_attributes(graph, self.columns_)
            if alignment.missing or alignment.unknown:
                twin.remarks_ = [str(alignment)]
        twin._apply(graph, NEWCOMERS)
        return twin

    def unseen(self, graph: Graph) -> NDArray[np.bool_]:
        """``(m,)`` which links of ``graph`` the model has neither learned from nor was selected on."""
        self._check_fitted()
        return ~self._seen.among(graph, graph.edges)

    def rehearse(self, parts: Split, run: Path | None = None) -> Scores:
        """Scores of ``parts.graph`` without its test links, by a model that has not seen these.

        That is this model where it can be so. Otherwise one with the same settings is trained without the test links,
        and selected on the validation links of ``parts``, for as many epochs as this one was.
        """
        rest = parts.graph.without(parts.test)
        if not self.state_ or not self._seen.among(parts.graph, parts.test).any():
            return self.applied(rest).scores()
        settings = {**self.as_dict(), **self.chosen_, "epochs": max(1, self.best_epoch_), "patience": None}
        twin = type(self)(**settings)
        if len(parts.valid) == 0:  # none of those that selected this model are in the graph: others must
            return twin.fit(rest, run=run).scores()
        return twin.fit(parts, run=run).applied(rest).scores()

    def evidence(self) -> Evidence:
        """What the enhanced links are made of."""
        self._check_fitted()
        if self.state_ and not hasattr(self, "_enhancer"):
            self._restore()
        net = self._enhancer.net if self.state_ else None
        return Evidence(
            self._graph,
            self.links_,
            self.weights_,
            alpha=self.chosen_["alpha"],
            beta=self.chosen_["beta"],
            similarity=self.similarity,
            net=net,
            scale=self.scale_,
        )

    @property
    def graph_(self) -> Graph:
        """The graph whose pairs are scored."""
        self._check_fitted()
        return self._graph

    def enhanced_graph(self) -> Graph:
        """The graph with learned weights and added links; links whose weight is 0 are left out."""
        self._check_fitted()
        return enhanced_graph(self._graph, self.links_, self.weights_)

    def scores(self) -> Scores:
        """Scores of all pairs, for everything in ``ranking``: autocovariance of the enhanced graph."""
        self._check_fitted()
        if self.heuristic == "none" and not self.fallback_:
            if not hasattr(self, "_enhancer"):
                self._restore()
            return pair_scores(self._enhancer, self._graph)
        graph = self.enhanced_graph()
        loops = loops_of(graph, self.chosen_["self_loops"])
        own = np.zeros(graph.n)  # a node all of whose links are scaled has a self-loop of the same scale
        np.maximum.at(own, self.links_.pairs, self.scale_[:, None])
        return autocovariance_with(graph, np.where(own > 0, own, 1.0) * loops, steps=self.steps)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model and its graph to a folder: ``config.json``, ``model.safetensors`` and ``graph.npz``."""
        self._check_fitted()
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: cannot be made a folder: {error.strerror or error}") from None
        write_model(self, folder)
        write_plain(self._graph, folder / GRAPH)
        write_json(folder / CONFIG, {"format": FORMAT, **self.config(self._graph)})

    @classmethod
    def load(cls, path: str | os.PathLike[str], graph: Graph | None = None) -> Self:
        """Read a model that ``save`` or a finished run wrote; ``graph``, if given, must be the one it is for.

        ``applied`` then takes it to another graph.
        """
        return read_model(cls, Path(path), graph)

    def _restore(self) -> None:
        """Bring the network of a loaded model to life."""
        made = replace(self.settings(), **self.chosen_, learn_mixing="mixing" in self.state_)
        self._enhancer = enhancer_for(self._graph, self.links_, made, torch.device("cpu"))
        self._enhancer.load_state_dict(self.state_)
        self._enhancer.eval()

    def check_split(self, parts: Split) -> None:
        """Refuse to be tested on a split with other validation links: its test links may have selected this model."""
        self._check_fitted()
        if not np.array_equal(parts.valid, self.valid_):
            raise InputError("the model was selected on other validation links than this split hides; train one for it")

    def settings(self) -> Settings:
        """The settings alone."""
        return Settings(**self.as_dict())

    def digest(self) -> str:
        """A short hash of the enhanced links and their weights, to tell models apart."""
        self._check_fitted()
        told = repr((self.steps, self.chosen_["self_loops"], self.heuristic, self.fallback_))
        network = [value.numpy() for value in self.state_.values()] if self.heuristic == "none" else []
        return _digest(np.frombuffer(told.encode(), np.uint8), self.links_.pairs, self.weights_, *network)[:12]

    def config(self, graph: Graph) -> dict[str, Any]:
        """What a training is known by: settings that shape the result, and the graph with its attributes."""
        settings = {name: value for name, value in self.as_dict().items() if name not in ("threads", "device")}
        attributes = None
        if graph.attributes is not None:
            X = csr_array(graph.attributes)
            attributes = _digest(np.array(X.shape), X.indptr, X.indices, X.data)
        called = repr([None if part is None else part.tolist() for part in (graph.names, graph.attribute_names)])
        names = hashlib.sha256(called.encode()).hexdigest()
        return {"settings": settings, "graph": graph.fingerprint, "attributes": attributes, "names": names}

    def _check_fitted(self) -> None:
        if not hasattr(self, "weights_"):
            raise InputError("the model is not trained; call fit first")


def _digest(*arrays: NDArray[Any]) -> str:
    """SHA-256 of some arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _hidden(graph: Graph, seed: int) -> Split:
    """A graph with some links hidden for validation, and none for testing."""
    if graph.m < 3:
        raise InputError(f"a graph of {graph.m} links is too small to train on; use a heuristic, such as ac")
    parts = split(graph, seed % 2**32, (0.0, max(HIDDEN_SHARE, 1.001 / graph.m)))
    return Split(graph, parts.train, parts.test, np.empty((0, 2), np.int64), f"validation {seed}")

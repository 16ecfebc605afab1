"""Gelato: learn the weights of an enhanced graph, rank all pairs by its autocovariance."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.enhance.enhancer import Enhancer
from gelato.enhance.links import EnhancedLinks
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.heuristics import autocovariance
from gelato.scores import Scores
from gelato.settings import Settings
from gelato.splits import Split, split
from gelato.training.build import device_of, enhancer_of, scorer_of
from gelato.training.choice import PLAIN, choose, plain_precision
from gelato.training.pair_scorer import pair_scores
from gelato.training.run import CONFIG, FORMAT, Run, load_tensors, save_tensors, write_json
from gelato.training.scorer import enhanced_graph
from gelato.training.trainer import Epoch, Trainer

MODEL = "model.safetensors"
HIDDEN_SHARE = 0.05
"""Share of the links hidden for validation when a whole graph is given."""

LINKS = ("pairs", "observed", "similar", "added")
"""Fields of the enhanced links that are saved."""

LEARNED = ("chosen_", "best_epoch_", "precision_", "skipped_", "fallback_", "graph_hash_", "selected_on_")
"""What a model learned besides its weights."""

Report = Callable[[Epoch], None]


@dataclass(eq=False)
class Gelato(Settings):
    """Attribute-enhanced similarity ranking for sparse link prediction (KDD 2025).

    A pair MLP learns the weights of links from node attributes, with similar pairs added as links; autocovariance of
    the enhanced graph ranks all pairs; both are trained end to end with a ranking loss over all pairs [method 3-6].

    The parameters are those of ``Settings``. ``eta``, ``alpha``, ``beta`` and ``self_loops`` are chosen on validation
    links unless given; such a model is never worse there than plain autocovariance, since it falls back to it.

    Attributes:
        chosen_: the values of ``eta``, ``alpha``, ``beta`` and ``self_loops`` that were used.
        links_, weights_: the enhanced links and their weights.
        history_: every ``Epoch`` of the training.
        best_epoch_, precision_: the epoch that was kept, and its validation precision@100%.
        skipped_: steps left out since their gradient was not finite.
        fallback_: whether plain autocovariance was better on validation, and is what this model is.
        selected_on_: a hash of the validation links.

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
        self.chosen_ = choose(parts, self.settings(), device)
        made = replace(self.settings(), **self.chosen_)
        enhancer, links = enhancer_of(parts.train, made, device)
        scorer = scorer_of(parts, links, enhancer, made)
        trainer = Trainer(enhancer, scorer, made, device)
        if folder is not None:
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
        plain = plain_precision(parts, self.steps)
        self.fallback_ = None in (self.eta, self.alpha, self.beta, self.self_loops) and plain > self.precision_
        graph = parts.train if isinstance(data, Split) else data
        if self.fallback_:
            self.chosen_, self.precision_ = dict(PLAIN), plain
            made = replace(made, **PLAIN, learn_mixing=False)
        if self.fallback_ or graph is not parts.train:
            learned = enhancer.state_dict()
            enhancer, links = enhancer_of(graph, made, device)
            if not self.fallback_:
                enhancer.load_state_dict(learned)
        self._adopt(enhancer, links, graph)
        self.selected_on_ = _digest(parts.valid)
        if folder is not None:
            self._write(folder.folder)
            done = time.perf_counter()
            folder.finish({"prepare": prepared - begin, "train": done - prepared, "all": done - begin})
        return self

    def _adopt(self, enhancer: Enhancer, links: EnhancedLinks, graph: Graph) -> None:
        """Take over what was learned, for ``graph``."""
        enhancer.eval()
        self._enhancer = enhancer
        self.links_, self._graph, self.graph_hash_ = links, graph, graph.fingerprint
        with torch.no_grad():
            self.weights_: NDArray[np.float64] = enhancer().cpu().numpy()
        self.state_ = {name: value.detach().cpu() for name, value in enhancer.state_dict().items()}
        if enhancer.mixing is not None:
            alpha, beta = enhancer.mixing.detach().double().sigmoid().tolist()
            self.chosen_ = {**self.chosen_, "alpha": alpha, "beta": beta}

    def enhanced_graph(self) -> Graph:
        """The graph with learned weights and added links; links whose weight is 0 are left out."""
        self._check_fitted()
        return enhanced_graph(self._graph, self.links_, self.weights_)

    def scores(self) -> Scores:
        """Scores of all pairs, for everything in ``ranking``: autocovariance of the enhanced graph."""
        self._check_fitted()
        if self.heuristic == "none" and not self.fallback_:
            return pair_scores(self._enhancer, self._graph)
        return autocovariance(self.enhanced_graph(), steps=self.steps, self_loops=self.chosen_["self_loops"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a folder: ``config.json`` and ``model.safetensors``."""
        self._check_fitted()
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: cannot be made a folder: {error.strerror or error}") from None
        self._write(folder)
        write_json(folder / CONFIG, {"format": FORMAT, **self.config(self._graph)})

    def _write(self, folder: Path) -> None:
        links = {name: torch.as_tensor(getattr(self.links_, name)) for name in LINKS}
        tensors = {f"net.{name}": value for name, value in self.state_.items()}
        about = {name: getattr(self, name) for name in LEARNED} | {"n": self.links_.n, "directed": self.links_.directed}
        about["history_"] = [asdict(epoch) for epoch in self.history_]
        save_tensors(
            folder / MODEL,
            tensors
            | {f"links.{name}": value for name, value in links.items()}
            | {"weights": torch.as_tensor(self.weights_)},
            {"format": FORMAT, "learned": json.dumps(about), "settings": json.dumps(self.as_dict())},
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], graph: Graph | None = None) -> Self:
        """Read a model that ``save`` or a finished run wrote; ``graph``, if given, must be the one it is for.

        Without the graph a model has scores and the enhanced graph, without names and attributes; a model that ranks
        by the MLP alone needs it.
        """
        folder = Path(path)
        if not (folder / MODEL).exists() and (folder / CONFIG).exists():
            raise InputError(f"{folder}: the run is not finished; the same 'gelato fit' command goes on with it")
        tensors, about = load_tensors(folder / MODEL)
        if about.get("format") != FORMAT:
            raise InputError(f"{folder / MODEL}: is no model of this version of gelato; train again")
        model = cls(**json.loads(about["settings"]))
        learned = json.loads(about["learned"])
        for name in LEARNED:
            setattr(model, name, learned[name])
        model.history_ = [Epoch(**epoch) for epoch in learned["history_"]]
        parts = {name: tensors[f"links.{name}"].numpy() for name in LINKS}
        model.links_ = EnhancedLinks(learned["n"], learned["directed"], **parts)
        model.weights_ = tensors["weights"].numpy()
        model.state_ = {name.removeprefix("net."): value for name, value in tensors.items() if name.startswith("net.")}
        if graph is None:
            observed = model.links_.observed
            graph = Graph.from_edges(
                model.links_.pairs[observed > 0],
                learned["n"],
                weights=observed[observed > 0],
                directed=learned["directed"],
            )
        if graph.fingerprint != model.graph_hash_:
            raise InputError(
                f"{folder}: the model was made for another graph or another split of it; train one for this graph"
            )
        model._graph = graph
        if model.heuristic == "none" and not model.fallback_:
            if graph.f == 0:
                raise InputError(f"{folder}: the model ranks by attributes; give its graph: Gelato.load(path, graph)")
            made = replace(model.settings(), **model.chosen_)
            model._enhancer, _ = enhancer_of(graph, made, torch.device("cpu"))
            model._enhancer.load_state_dict(model.state_)
        return model

    def check_split(self, parts: Split) -> None:
        """Refuse to be tested on a split with other validation links: its test links may have selected this model."""
        self._check_fitted()
        if _digest(parts.valid) != self.selected_on_:
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
        settings = {name: value for name, value in self.as_dict().items() if name != "threads"}
        attributes = None
        if graph.attributes is not None:
            X = csr_array(graph.attributes)
            attributes = _digest(np.array(X.shape), X.indptr, X.indices, X.data)
        return {"settings": settings, "graph": graph.fingerprint, "attributes": attributes}

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
    if graph.m * HIDDEN_SHARE < 1:
        raise InputError(f"a graph of {graph.m} links is too small to hide a twentieth; give a split that hides more")
    parts = split(graph, seed % 2**32, (0.0, HIDDEN_SHARE))
    return Split(graph, parts.train, parts.test, np.empty((0, 2), np.int64), f"validation {seed}")

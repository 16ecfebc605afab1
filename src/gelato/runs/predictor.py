"""Predictors that are kept in run folders: fit, resume, save, load and apply, written once for every method."""

import json
import os
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError, wrong_kind
from gelato.graph import Graph
from gelato.io import align_attributes, read_graph
from gelato.io.alignment import rescaled
from gelato.prediction.predictor import LinkPredictor
from gelato.ranking.rank import Progress
from gelato.runs.cost import FitCost
from gelato.runs.files import (
    CONFIG,
    FORMAT,
    GRAPH,
    MODEL,
    SEEN,
    SPLIT,
    Tensors,
    format_of,
    read_tensors,
    sha256_of,
    unedited,
    write_json,
    write_plain,
    write_tensors,
)
from gelato.runs.folder import RunFolder, check_place, opened, training_graph
from gelato.runs.followed import shared
from gelato.runs.inputs import check_inputs
from gelato.runs.processes import world
from gelato.runs.seen import Seen
from gelato.runs.trials import Trials
from gelato.scores import Scores
from gelato.splits import Split, split

HIDDEN_SHARE = 0.05
"""Share of the links hidden for validation when a whole graph is given."""

FEWEST_LINKS = 3
"""A graph with fewer has none to hide."""

Report = Callable[[Any], None]
"""Called with every ``Epoch`` of a training."""


class StoredPredictor(LinkPredictor):
    """What ``fit`` does for every method, with what differs left to five hooks.

    Attributes:
        format_3: whether runs of format 3, which name no method, are of this one.
        history_: every ``Epoch`` of a training; empty where nothing is trained.
        best_epoch_: the epoch that was kept.
        columns_: names of the attributes that were learned from, if they have any.
    """

    format_3: ClassVar[bool] = False
    history_: list[Any] = []  # noqa: RUF012 - replaced, never changed
    best_epoch_: int = 0
    columns_: list[str] | None = None
    _graph: Graph
    _seen: Seen

    @abstractmethod
    def learn(self, split: Split, folder: RunFolder | None, report: Callable[[Any], None], progress: Progress) -> None:
        """Learn from ``split.train``, select on ``split.valid``, and be ready to score the pairs of ``split.train``."""

    @abstractmethod
    def adapt(self, graph: Graph) -> None:
        """Be ready to score the pairs of ``graph`` with what was learned."""

    def learned(self) -> dict[str, Any]:
        """What was learned as plain values, ready for ``json.dumps``."""
        return {}

    def tensors(self) -> Tensors:
        """What was learned as arrays."""
        return {}

    def restore(self, learned: Mapping[str, Any], tensors: Tensors, graph: Graph) -> None:
        """Be as ``learned`` and ``tensors`` were written, for ``graph``."""
        self.adapt(graph)

    def check_graph(self, graph: Graph) -> None:
        """Refuse a graph that the method does not fit."""

    def unshared(self) -> str | None:
        """Why several processes cannot share ``fit``, and what to do instead; ``None`` where they can."""
        return f"{self.method} is fitted in one process; start it without torchrun"

    @property
    def selects(self) -> bool:
        """Whether ``fit`` needs validation links, to choose settings or to select a model by them."""
        return True

    @property
    def trained(self) -> bool:
        """Whether hiding further links means to train again; what is only computed from a graph is not trained."""
        return False

    @property
    def uses_attributes(self) -> bool:
        """Whether what was learned is of use only where the attributes are those it was learned from."""
        return self.trained

    @property
    def graph_(self) -> Graph:
        """The graph whose pairs are scored."""
        self._check_fitted()
        return self._graph

    @property
    def fitted(self) -> bool:
        """Whether it has a graph to score the pairs of."""
        return "_graph" in vars(self)

    def _check_fitted(self) -> None:
        if not self.fitted:
            raise InputError("the model is not trained; call fit first")

    def fit(
        self,
        data: Graph | Split,
        *,
        run: str | os.PathLike[str] | None = None,
        report: Report | None = None,
        callbacks: Iterable[Report] = (),
        progress: Progress | None = None,
    ) -> Self:
        """Learn from a split, or from a graph of which a twentieth is hidden for validation where that is needed.

        Args:
            data: a split's training links are learned from and its validation links select the model; a graph's
                links are all used for the scores in the end.
            run: a folder for checkpoints, metrics and the model; resume a stopped run by the same call.
            report: called after every epoch.
            callbacks: called after every epoch too, such as ``TensorBoard`` of ``gelato.training.callbacks``.
            progress: called with the trials of settings done and in total, while open settings are chosen; and with the
                steps of methods that have no epochs.

        A call that fails or is interrupted leaves the predictor as it was.
        """
        before = dict(vars(self))
        try:
            return self._fit(data, run, (*([report] if report else []), *callbacks), progress)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _fit(
        self,
        data: Graph | Split,
        run: str | os.PathLike[str] | None,
        reports: Iterable[Report],
        progress: Progress | None,
    ) -> Self:
        begin = time.perf_counter()
        if not isinstance(data, Graph | Split):
            raise wrong_kind("fit", "Graph or a Split", data)
        if world().size > 1 and (problem := self.unshared()) is not None:
            raise InputError(f"{world().size} processes were started, but {problem}")
        links = data if isinstance(data, Split) else self._hiding(data)
        self.check_graph(links.train)
        self._check_hidden(links)

        def each(epoch: Any) -> None:
            for call in reports:
                call(epoch)

        with self._folder(run, links) as folder:
            if folder is not None and folder.finished:
                ready = self.load(folder.path, data if isinstance(data, Graph) else links.train)
                own = {name: value for name, value in vars(self).items() if name in ("settings", "options")}
                vars(self).clear()  # of an earlier fit nothing may stay
                vars(self).update(vars(ready) | own)
                return self
            if folder is not None:
                folder.describe(links)
            names = links.graph.attribute_names
            self.valid_, self.remarks_, self.columns_ = links.valid, [], None if names is None else names.tolist()
            self.learn(links, folder, each, progress or (lambda done, total: None))
            known = data.edges if isinstance(data, Graph) else np.concatenate([links.train.edges, links.valid])
            self._seen = Seen(links.graph, known, links.valid)
            if isinstance(data, Graph) and self.selects:
                self.adapt(data)
            if folder is not None and folder.writes:
                folder.keep_timings({**self.timings(), "all": time.perf_counter() - begin})
                self._write(folder.path)  # last: a run with a model is finished
        return self

    def _check_hidden(self, links: Split) -> None:
        """Refuse a split without the validation links that ``learn`` needs."""
        if self.selects and len(links.valid) == 0:
            raise InputError("the split hides no validation links to select the model on; hide a share of the links")

    def seconds_to_fit(self, split: Split) -> float | None:
        """Seconds that ``fit`` will take, told in a small part of them; ``None`` where there is no way to tell."""
        return None

    def cost(self, split: Split) -> FitCost:
        """Time what ``fit`` will take; by default all of it."""
        begin = time.perf_counter()
        ready = copy(self).fit(split)
        return FitCost({"fit": time.perf_counter() - begin}, ready)

    def starts(self, split: Split, trials: Trials | None = None) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Settings that a search must not be worse than, and those it starts from; ``trials`` keeps what is tried."""
        return [], {}

    def tuned(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All settings, with the values that a search tries."""
        return {**self.settings.as_dict(), **values}

    def set_params(self, **params: Any) -> Self:
        """Change some parameters; where they shape the scores, ``fit`` must be called again."""
        before = self.settings.identity()
        super().set_params(**params)
        if self.settings.identity() != before:
            vars(self).pop("_graph", None)
        return self

    def timings(self) -> dict[str, float]:
        """Seconds that parts of ``fit`` took."""
        return {}

    def _hiding(self, graph: Graph) -> Split:
        """A graph with some links hidden for validation, and none for testing."""
        none = np.empty((0, 2), np.int64)
        if not self.selects:
            return Split(graph, graph, none, none, "nothing hidden")
        if graph.m < FEWEST_LINKS:
            raise InputError(f"a graph of {graph.m} links is too small to train on; use a heuristic, such as ac")
        seed = int(getattr(self.settings, "random_state", 0))
        hiding = split(graph, seed % 2**32, (0.0, max(HIDDEN_SHARE, 1.001 / graph.m)))
        return Split(graph, hiding.train, hiding.test, none, f"validation {seed}")

    @contextmanager
    def _folder(self, run: str | os.PathLike[str] | None, links: Split) -> Iterator[RunFolder | None]:
        if run is None:
            yield None
            return
        valid = np.ascontiguousarray(links.valid)
        older = {"method": self.method if self.format_3 else None, "settings": type(self.settings)().identity()}
        identity = {**self.config(links.train), "valid": sha256_of(valid)}
        with (opened if world().size == 1 else shared)(run, identity, older) as folder:
            yield folder

    def config(self, graph: Graph) -> dict[str, Any]:
        """What a run is known by: the method, settings that shape the result, and the graph with its attributes."""
        return {
            "method": self.method,
            "settings": self.settings.identity(),
            "graph": graph.fingerprint,
            "attributes": graph.attribute_fingerprint,
            "names": graph.name_fingerprint,
        }

    def applied(self, graph: Graph) -> Self:
        """The same model for another graph with the same attributes, without training.

        The graph may have other links, new nodes, or be a different one altogether. Attributes are matched by the
        names of their columns: those that ``graph`` lacks count as 0, those that the model does not know are left
        out, and ``remarks_`` says so.
        """
        self._check_fitted()
        if not isinstance(graph, Graph):
            raise wrong_kind("applied", "Graph", graph)
        if graph.directed != self._graph.directed:
            kinds = ("undirected", "directed")
            raise InputError(
                f"the model was trained on {kinds[self._graph.directed]} links, but the links of the"
                f" graph are {kinds[graph.directed]}; train a model for it"
            )
        if self.columns_ is None and self.uses_attributes:
            check_inputs(graph, self._graph.f)
        twin = copy(self)
        twin.remarks_, twin.valid_ = [], self._seen.selected_in(graph)
        if self.columns_ is not None and self.uses_attributes:
            graph, alignment = align_attributes(graph, self.columns_, self._graph.scaling)
            if alignment.missing or alignment.unknown:
                twin.remarks_ = [str(alignment)]
        elif self.uses_attributes and graph.f:
            graph = rescaled(graph, self._graph.scaling)
        twin.adapt(graph)
        return twin

    def unseen(self, graph: Graph) -> NDArray[np.bool_]:
        """``(m,)`` which links of ``graph`` the model has neither learned from nor was selected on."""
        self._check_fitted()
        return ~self._seen.among(graph, graph.edges) if self.selects else np.ones(graph.m, dtype=bool)

    def rehearse(self, split: Split, run: Path | None = None) -> Scores:
        """Scores of ``split.graph`` without its test links, by a model that has not seen these.

        That is this model where possible. Otherwise one with the same settings is trained without the test links,
        and selected on the validation links of ``split``, for as many epochs as this one was.
        """
        rest = split.graph.without(split.test)
        if not self.trained or not self._seen.among(split.graph, split.test).any():
            return self.applied(rest).scores()
        twin = type(self)(**self.twin_settings())
        if len(split.valid) == 0:  # none of those that selected this model are in the graph: others must
            return twin.fit(rest, run=run).scores()
        return twin.fit(split, run=run).applied(rest).scores()

    def twin_settings(self) -> dict[str, Any]:
        """Settings of a model that is trained as this one was, on other links."""
        return {**self.settings.as_dict(), **self.chosen_}

    def check_split(self, split: Split) -> None:
        """Refuse to be tested on a split with other validation links: its test links may have selected this model."""
        self._check_fitted()
        if self.selects and not np.array_equal(split.valid, self.valid_):
            raise InputError(
                "the model was selected on validation links other than those of this split; train one for it"
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model and its graph to a folder: ``config.json``, ``model.safetensors`` and ``graph.npz``."""
        self._check_fitted()
        folder = Path(path)
        check_place(folder)
        if (folder / SPLIT).exists():
            raise InputError(f"{path}: holds a run, which has its model already; save to another folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: this folder cannot be created: {error.strerror or error}") from None
        self._write(folder)
        write_plain(self._graph, folder / GRAPH)
        write_json(folder / CONFIG, {"format": FORMAT, **self.config(self._graph)})

    def _write(self, folder: Path) -> None:
        """Write what was learned, and from which links."""
        if self.selects:
            seen = self._seen
            write_plain(
                Graph.from_edges(seen.pairs, seen.graph.n, directed=seen.graph.directed, names=seen.graph.names),
                folder / SEEN,
            )
        about = {
            **self.learned(),
            "chosen_": dict(self.chosen_),
            "columns_": self.columns_,
            "graph_hash_": self._graph.fingerprint,
            "attribute_hash_": self._graph.attribute_fingerprint,
        }
        tensors = {**self.tensors(), "valid": self.valid_, "selected": self._seen.selected}
        words = {"method": self.method, "learned": json.dumps(about), "settings": json.dumps(self.settings.as_dict())}
        write_tensors(folder / MODEL, tensors, words)

    @classmethod
    def load(cls, path: str | os.PathLike[str], graph: Graph | None = None) -> Self:
        """Read a model that ``save`` or a finished run wrote; ``graph``, if given, must be the one it is for.

        ``applied`` then takes it to another graph.
        """
        with unedited(Path(path)):
            return cls._load(Path(path), graph)

    @classmethod
    def _load(cls, folder: Path, graph: Graph | None) -> Self:
        if not (folder / MODEL).exists() and (folder / CONFIG).exists():
            raise InputError(f"{folder}: the run is not finished; resume it by running the same command again")
        tensors, words = read_tensors(folder / MODEL)
        format_of(words, folder / MODEL)
        model = cls._of(
            words.get("method", cls.method if cls.format_3 else "another method"), json.loads(words["settings"]), folder
        )
        learned = json.loads(words["learned"])
        stored = training_graph(folder, learned["graph_hash_"]) if graph is None else graph
        if stored.fingerprint != learned["graph_hash_"]:
            raise InputError(
                f"{folder}: the model was made for another graph or another split of it; give what it was trained"
                " with, or train a model for this one"
            )
        if stored.attribute_fingerprint != learned.get("attribute_hash_", stored.attribute_fingerprint):
            raise InputError(
                f"{folder}: the attributes of this graph differ from those the model was trained with; give the "
                "attribute table it was trained with, or train a model for this one"
            )
        model.chosen_, model.columns_, model.remarks_ = learned["chosen_"], learned["columns_"], []
        model.valid_, selected = tensors["valid"], tensors["selected"]
        model._check_restored(selected)
        seen = read_graph(folder / SEEN) if model.selects else stored
        model._seen = Seen(seen, seen.edges, selected)
        model.restore(learned, tensors, stored)
        return model

    def _check_restored(self, selected: NDArray[Any]) -> None:
        """Refuse words and links that no training writes."""
        if not isinstance(self.chosen_, dict) or not set(self.chosen_) <= set(self.settings.names()):
            raise TypeError(f"the chosen settings are {self.chosen_!r}")
        if not (self.columns_ is None or isinstance(self.columns_, list)):
            raise TypeError(f"the attribute names are {self.columns_!r}")
        for links in (self.valid_, selected):
            if links.ndim != 2 or links.shape[1] != 2 or links.dtype.kind not in "iu":
                raise TypeError(f"links are {links.dtype} of shape {links.shape}")

    @classmethod
    def _of(cls, method: str, settings: dict[str, Any], folder: Path) -> Self:
        """A fresh predictor for what a folder holds."""
        if method != cls.method:
            raise InputError(f"{folder}: holds a model of {method}, not of {cls.method}; gelato.open_model opens any")
        return cls(**settings)

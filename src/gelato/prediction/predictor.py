"""What every method of this package can do: learn from a graph, score pairs, suggest links, explain, be saved."""

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError, deprecated, wrong_kind
from gelato.explain.contract import PairExplanation, pair_ranks
from gelato.graph import Graph, Pairs
from gelato.notebook import facts_html
from gelato.prediction.deprecated import DeprecatedNames
from gelato.prediction.fitting import Report, fit_predictor
from gelato.prediction.node_names import chosen_pairs, pairs_of
from gelato.prediction.options import Settings, check_names
from gelato.prediction.precision import REPEATS, SHARE
from gelato.prediction.storage import load_predictor, save_predictor
from gelato.prediction.suggest import Stage, check_min_chance, completed_links, ranked_links
from gelato.prediction.suggestions import Suggestions
from gelato.prediction.transfer import predictor_on, trial_scores
from gelato.ranking.metrics import metric
from gelato.ranking.rank import Progress, rank
from gelato.regimes import unbiased
from gelato.runs.files import naming
from gelato.runs.training_links import TrainingLinks
from gelato.scores import Scores
from gelato.splits import Split, check_fraction

PORTION = 64
"""Pairs that are explained together, between two reports of progress."""

CACHED = "_cached_scores"
"""Where a predictor keeps its scores; neither copied nor pickled."""


class LinkPredictor(DeprecatedNames):
    """Link prediction with scikit-learn's conventions: parameters, ``fit``, then ``score_pairs``, ``suggest``.

    Nodes are given by name, as the graph calls them (by index where it has no names), or by index with ``index=True``.
    What a method writes of its own stands in ``MethodHooks``.

    Attributes:
        valid_, chosen_: links that selected the predictor, and settings that were chosen on them.
        remarks_: what is worth knowing of the graph it is fitted on.
        history_, best_epoch_: every ``Epoch`` of a training, none where nothing is trained, and which one was kept.
        columns_: names of the attributes that were learned from, if they have any.
    """

    Settings: ClassVar[type[Settings]] = Settings
    method: str  # its name in METHODS, by which its runs are known
    fits_without_validation: ClassVar[bool] = False
    """Whether it can be fitted where no links are hidden to select it by, though it ``selects``."""
    chooses: ClassVar[Sequence[str]] = ()
    """Settings that ``chosen_`` always holds, once it is fitted."""

    valid_: Pairs = np.empty((0, 2), np.int64)
    remarks_: Sequence[str] = ()
    chosen_: Mapping[str, Any] = MappingProxyType({})
    history_: list[Any] = []  # noqa: RUF012 - replaced, never changed
    best_epoch_: int = 0
    columns_: list[str] | None = None
    _graph: Graph
    _seen: TrainingLinks

    def __init__(self, **settings: Any) -> None:
        check_names(settings, self.Settings.names(), "parameter", type(self).__name__)
        self.settings = self.Settings(**settings)

    @classmethod
    def of(cls, settings: Any) -> Self:
        """A predictor with settings that have been checked already."""
        predictor = cls.__new__(cls)
        predictor.settings = settings
        return predictor

    def __init_subclass__(cls, **rest: Any) -> None:
        """Show the settings as the parameters of the class."""
        super().__init_subclass__(**rest)
        shown = inspect.signature(cls.Settings)
        if "__init__" in vars(cls):
            own = inspect.signature(cls.__init__)
            shown = own.replace(parameters=list(own.parameters.values())[1:])
        cls.__signature__ = shown  # type: ignore[attr-defined]

    def __sklearn_tags__(self) -> Any:
        """Refuse scikit-learn's searches, which split rows: a graph has none. ``sklearn.base.clone`` works."""
        raise InputError(
            "scikit-learn's searches and cross-validation split rows of a table, and a graph has none;"
            " use gelato.tune (or 'gelato tune'), which hides links"
        )

    def __repr__(self) -> str:
        usual = type(self.settings)().as_dict()
        given = self.get_params()
        changed = [f"{name}={value!r}" for name, value in given.items() if name not in usual or value != usual[name]]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        fitted = vars(self).get("_graph")
        return facts_html(repr(self), {**self.get_params(), "fitted on": None if fitted is None else repr(fitted)})

    def __getstate__(self) -> dict[str, Any]:
        """All but the kept scores, which a copy may need of another graph."""
        return {name: value for name, value in vars(self).items() if name != CACHED}

    @property
    def threads(self) -> int | None:
        """How many threads to use; ``None``: all cores."""
        return self.settings.threads

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
        callbacks: Report | Iterable[Report] = (),
        progress: Progress | None = None,
        report: Report | None = None,
    ) -> Self:
        """Learn from a split, or from a graph of which a twentieth is hidden for validation where that is needed.

        Args:
            data: a split's training links are learned from and its validation links select the model; a graph's
                links are all used for the scores in the end.
            run: a folder for checkpoints, metrics and the model; resume a stopped run by the same call.
            callbacks: one or several, called with every ``Epoch`` of a training, such as ``TensorBoard`` of
                ``gelato.training.callbacks``; ``auto`` calls them with those of the methods that it trains.
            progress: called with what is done and in total: the trials of settings, while open settings are chosen, and
                the steps of methods that have no epochs.
            report: deprecated; one of the ``callbacks``.

        A call that fails or is interrupted leaves the predictor as it was.
        """
        called = [callbacks] if callable(callbacks) else list(callbacks)
        if report is not None:
            deprecated("fit(report=...)", "fit(callbacks=...)")
            called = [report, *called]
        before = dict(vars(self))
        try:
            self.forget_scores()
            fit_predictor(self, data, run, called, progress)
            self.forget_scores()
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model and its graph to a folder: ``config.json``, ``model.safetensors`` and ``graph.npz``."""
        save_predictor(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], graph: Graph | None = None) -> Self:
        """Read a model that ``save`` or a finished run wrote; ``graph``, if given, must be the one it is for.

        ``on`` then takes it to another graph.
        """
        with naming(Path(path)):
            return load_predictor(cls, Path(path), graph)

    @classmethod
    def _of(cls, method: str, settings: dict[str, Any], folder: Path) -> Self:
        """A fresh predictor for what a folder holds."""
        if method != cls.method:
            raise InputError(f"{folder}: holds a model of {method}, not of {cls.method}; gelato.open_model opens any")
        return cls(**cls.Settings.of_saved(settings))

    def on(self, graph: Graph) -> Self:
        """The same model for another graph with the same attributes, without training.

        The graph may have other links, new nodes, or be a different one altogether. Attributes are matched by the
        names of their columns: those that ``graph`` lacks count as 0, those that the model does not know are left
        out, and ``remarks_`` says so.
        """
        return predictor_on(self, graph)

    def unseen(self, graph: Graph) -> NDArray[np.bool_]:
        """``(m,)`` which links of ``graph`` the model has neither learned from nor was selected on."""
        self._check_fitted()
        return ~self._seen.among(graph, graph.edges) if self.selects else np.ones(graph.m, dtype=bool)

    def trial_scores(self, split: Split, run: Path | None = None) -> Scores:
        """Scores of ``split.graph`` without its test links, by a model that has not seen these.

        That is this model where possible. Otherwise one with the same settings is trained without the test links,
        and selected on the validation links of ``split``, for as many epochs as this one was.
        """
        return trial_scores(self, split, run)

    def check_split(self, split: Split) -> None:
        """Refuse to be tested on a split with other validation links: its test links may have selected this model."""
        self._check_fitted()
        if not self.selects or np.array_equal(split.valid, self.valid_):
            return
        raise InputError("the model was selected on validation links other than those of this split; train one for it")

    def scores(self) -> Scores:
        """Scores of all pairs, for ``rank`` and ``top``; computed once, until ``fit`` or ``set_params`` is called."""
        graph = self.graph_
        kept = vars(self).get(CACHED)
        if kept is None or kept[0] is not graph:
            kept = vars(self)[CACHED] = (graph, self.compute_scores())
        scores: Scores = kept[1]
        return scores

    def score_pairs(self, pairs: Any, *, index: bool = False) -> NDArray[np.float64]:
        """``(p,)`` scores of some pairs of nodes.

        Args:
            pairs: ``(p, 2)`` pairs as a list, an array or a frame with two columns.
            index: whether nodes are given by index rather than by name.
        """
        return self.scores().pairs(pairs_of(self.graph_, pairs, index=index))

    def suggest(
        self,
        k: int = 100,
        per_node: bool = False,
        *,
        nodes: Any = None,
        between: tuple[Any, Any] | None = None,
        exclude: Any = None,
        min_score: float | None = None,
        min_chance: float | None = None,
        index: bool = False,
        share: float = SHARE,
        repeats: int = REPEATS,
        seed: int = 0,
        run: Path | None = None,
        reasons: bool = True,
        progress: Progress | None = None,
        stage: Stage | None = None,
    ) -> Suggestions:
        """The ``k`` best pairs that are not linked yet, of all pairs, exactly; ties in the order of the nodes.

        With the precision to expect of them, for which links are hidden ``repeats`` times (methods that train are
        trained again on the rest), and the reason for each. ``repeats=0, reasons=False`` only ranks.

        Args:
            k: how many; fewer are returned if there are not enough.
            per_node: the ``k`` best partners of each node instead.
            nodes: only pairs with one of these nodes.
            between: two lists of nodes; only pairs with one end in each.
            exclude, min_score: pairs to leave out, and the score below which pairs are left out.
            min_chance: the chance of being right, from 0 to 1, below which pairs are left out.
            index: whether nodes and pairs are given by index rather than by name.
            share, repeats, seed: how many of the known links to hide, how often, and the seed that picks them.
            run: folder for the trainings that the precision needs; stopped ones are resumed from there.
            reasons: whether to give the reason for each link.
            progress: called with what is done and in total, for each of the three stages.
            stage: instead of ``progress``, called with the title of each stage and the unit it counts in; returns a
                context that yields its progress callback.

        Example:
            >>> from gelato import CommonNeighbors, Graph
            >>> graph = Graph.from_edges([(0, 2), (2, 1), (0, 3), (3, 1)], names=["ann", "bob", "cat", "dan"])
            >>> links = CommonNeighbors().fit(graph).suggest(1, repeats=0)
            >>> list(links), links.reasons
            ([('ann', 'bob', 2.0)], ['both linked to cat (50% of the walks)'])
        """
        chosen = chosen_pairs(self.graph_, nodes, between, exclude, lambda given: index)
        chosen |= {"per_node": per_node, "min_score": min_score}
        hiding = {"share": share, "repeats": repeats, "seed": seed, "run": run}
        shown = stage or (lambda *_: nullcontext(progress))
        check_fraction(share)
        check_min_chance(min_chance, repeats)
        ranked = ranked_links(self, k, chosen, shown)
        return completed_links(self, k, ranked, hiding, min_chance=min_chance, reasons=reasons, stage=shown)

    def explain(
        self, u: Any, v: Any, *, index: bool = False, limit: int = 5, with_rank: bool = True
    ) -> PairExplanation:
        """Why a pair has its score: the walks or neighbours that add most, and its rank among all unlinked pairs."""
        return self.explain_pairs([(u, v)], index=index, limit=limit, with_rank=with_rank)[0]

    def explain_pairs(
        self,
        pairs: Any,
        *,
        index: bool = False,
        limit: int = 5,
        with_rank: bool = False,
        progress: Progress | None = None,
    ) -> list[PairExplanation]:
        """An explanation of each of some pairs.

        Args:
            pairs: ``(p, 2)`` pairs of nodes.
            index: whether nodes are given by index rather than by name.
            limit: how many parts to list for each, such as walks, the heaviest.
            with_rank: whether to rank them among all unlinked pairs, in one pass over all, however many there are.
            progress: called with the number of pairs explained, and of all.
        """
        graph = self.graph_
        listed = pairs_of(graph, pairs, index=index, sort=False)
        for u in listed[listed[:, 0] == listed[:, 1], 0].tolist():
            raise InputError(f"a link joins two different nodes, got {graph.name_of(u)!r} twice; replace one of them")
        explain, explained = self.explainer(), list[PairExplanation]()
        for begin in range(0, len(listed), PORTION):
            explained += explain(listed[begin : begin + PORTION], limit)
            if progress is not None:
                progress(len(explained), len(listed))
        if not with_rank or not explained:
            return explained
        ranks = pair_ranks(self.scores(), graph, listed, self.threads)
        return [each.with_pair_rank(its) for each, its in zip(explained, ranks, strict=True)]

    def score(self, split: Split) -> float:
        """Average precision of the test links of a split against all non-links; fit on the split first."""
        if not isinstance(split, Split):
            raise wrong_kind("score", "Split", split)
        if self.graph_.fingerprint != split.train.fingerprint:
            raise InputError("the model was not fitted on this split's training links; call fit(split) first")
        return metric("ap", rank(self.scores(), unbiased(split), threads=self.threads))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self.settings, name) for name in self.settings.names()}

    def set_params(self, **params: Any) -> Self:
        """Change some parameters; where they shape the scores, ``fit`` must be called again."""
        check_names(params, list(self.get_params()), "parameter", type(self).__name__)
        before = self.settings.identity()
        self.settings = self.settings.replaced(**params)
        self.forget_scores()
        if self.settings.identity() != before:
            vars(self).pop("_graph", None)
        return self

    def forget_scores(self) -> None:
        """Compute the scores anew when they are next asked for."""
        vars(self).pop(CACHED, None)

"""What every estimator of this package can do once it is fitted: predict, suggest, explain, be tested."""

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gelato.errors import InputError, wrong_kind
from gelato.explain.evidence import LinkEvidence
from gelato.explain.explanation import explain_all
from gelato.explain.pair import Explainer, PairExplanation
from gelato.explain.standing import standings_of
from gelato.graph import Graph, Pairs, check_nodes
from gelato.prediction.settings import Settings, check_names
from gelato.prediction.suggestions import Suggestions
from gelato.ranking.metrics import metric
from gelato.ranking.rank import Progress, rank
from gelato.ranking.top import top
from gelato.regimes import unbiased
from gelato.scores import Scores
from gelato.splits import Split

EXPLAINED = 64
"""Pairs that are explained together, between two reports of progress."""


class LinkPredictor(ABC):
    """scikit-learn's conventions for link prediction: parameters, ``fit``, then ``predict`` and the rest.

    Nodes are given by their names. An array of integers holds indices, as everywhere in this package, unless the names
    are integers themselves.
    """

    Settings: ClassVar[type[Settings]] = Settings
    method: str  # its name in METHODS, by which its runs are known
    valid_: Pairs = np.empty((0, 2), np.int64)  # links that selected the predictor
    remarks_: Sequence[str] = ()  # worth knowing of the graph it is fitted on
    chosen_: Mapping[str, Any] = MappingProxyType({})  # settings that were chosen on validation links

    def __init__(self, **settings: Any) -> None:
        check_names(settings, self.Settings.names(), "parameter", type(self).__name__)
        self.settings = self.Settings(**settings)

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
            " use gelato.evaluation.tune.tune (or 'gelato tune'), which hides links"
        )

    def __repr__(self) -> str:
        given = self.get_params()
        plain = inspect.signature(type(self)).parameters
        changed = [f"{name}={value!r}" for name, value in given.items() if value != plain[name].default]
        return f"{type(self).__name__}({', '.join(changed)})"

    @property
    def threads(self) -> int | None:
        """How many threads to use; ``None``: all cores."""
        return self.settings.threads

    @property
    @abstractmethod
    def graph_(self) -> Graph:
        """The graph whose pairs are scored."""

    @abstractmethod
    def fit(self, data: Graph | Split) -> Self:
        """Learn from a graph, or from the training links of a split, selected on its validation links."""

    @abstractmethod
    def scores(self) -> Scores:
        """Scores of all pairs."""

    @abstractmethod
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the predictor and its graph to a folder."""

    @classmethod
    @abstractmethod
    def load(cls, path: str | os.PathLike[str], graph: Graph | None = None) -> Self:
        """Read a predictor that ``save`` or a finished run wrote; ``graph``, if given, must be the one it is for."""

    @abstractmethod
    def applied(self, graph: Graph) -> Self:
        """The same predictor for another graph, without training."""

    @abstractmethod
    def rehearse(self, split: Split, run: Path | None = None) -> Scores:
        """Scores of ``split.graph`` without its test links, by a predictor that has not seen these."""

    @abstractmethod
    def unseen(self, graph: Graph) -> NDArray[np.bool_]:
        """``(m,)`` which links of ``graph`` had no part in making this predictor."""

    def evidence(self) -> LinkEvidence | None:
        """What the links that walks use are made of, where that is more than the graph."""
        return None

    @property
    def explains(self) -> bool:
        """Whether pairs can be explained; by default where scores are sums over walks along links."""
        walked = self.scores().walks()
        return walked is not None and bool(walked.on_graph)

    def explainer(self) -> Explainer:
        """How pairs are explained; by default by the walks that join them, and refused where there are none.

        A method whose scores arise otherwise gives its own, and says so by ``explains``.
        """
        scores, graph, evidence = self.scores(), self.graph_, self.evidence()
        return lambda pairs, limit: explain_all(scores, graph, pairs, evidence=evidence, limit=limit, with_rank=False)

    def facts(self) -> dict[str, Any]:
        """What is worth knowing of this predictor besides its settings, ready for ``json.dumps``."""
        return {}

    def sentences(self) -> list[str]:
        """The same in words."""
        return []

    def predict(self, pairs: Any) -> NDArray[np.float64]:
        """``(p,)`` scores of some pairs of nodes."""
        return self.scores().pairs(self.pairs_of(pairs))

    def predict_top(
        self,
        k: int = 100,
        per_node: bool = False,
        *,
        nodes: Any = None,
        between: tuple[Any, Any] | None = None,
        exclude: Any = None,
        min_score: float | None = None,
        progress: Progress | None = None,
    ) -> Suggestions:
        """The ``k`` best pairs that are not linked yet, exactly, of all pairs; ties in the order of the nodes.

        Args:
            k: how many; fewer are returned if there are not enough.
            per_node: the ``k`` best partners of each node instead.
            nodes: only pairs with one of these nodes.
            between: two lists of nodes; only pairs with one end in each.
            exclude: pairs to leave out.
            min_score: leave out pairs with a lower score.
            progress: called with the pairs done and in total.
        """
        chosen: dict[str, Any] = {"per_node": per_node, "min_score": min_score}
        if nodes is not None:
            chosen["nodes"] = self.nodes_of(nodes)
        if between is not None:
            chosen["between"] = tuple(map(self.nodes_of, between))
        if exclude is not None:
            chosen["exclude"] = self.pairs_of(exclude)
        graph = self.graph_
        links = top(self.scores(), graph, k, threads=self.threads, progress=progress, **chosen)
        return Suggestions(graph, links.pairs, links.score, per_node=per_node, chosen=chosen)

    def explain(self, u: Any, v: Any, *, limit: int = 5, with_rank: bool = True) -> PairExplanation:
        """Why a pair has its score: the walks or neighbours that add most, and its rank among all unlinked pairs."""
        first, second = self.graph_.index_of([u, v])
        return self.explain_pair(int(first), int(second), limit=limit, with_rank=with_rank)

    def explain_pair(self, u: int, v: int, *, limit: int = 5, with_rank: bool = True) -> PairExplanation:
        """The same of two indices."""
        return self.explanations([(u, v)], limit=limit, with_rank=with_rank)[0]

    def explanations(
        self, pairs: ArrayLike, *, limit: int = 5, with_rank: bool = False, progress: Progress | None = None
    ) -> list[PairExplanation]:
        """An explanation of each of some pairs.

        Args:
            pairs: ``(p, 2)`` node indices.
            limit: how many parts to list for each, such as walks, the heaviest.
            with_rank: whether to rank them among all unlinked pairs, which takes one pass over all pairs, however many
                there are.
            progress: called with the number of pairs explained, and of all.
        """
        listed = np.asarray(pairs, np.int64).reshape(-1, 2)
        check_nodes(listed, self.graph_.n)
        for u in listed[listed[:, 0] == listed[:, 1], 0].tolist():
            raise InputError(
                f"a link joins two different nodes, got {self.graph_.name_of(u)!r} twice; replace one of them"
            )
        explain, explained = self.explainer(), list[PairExplanation]()
        for begin in range(0, len(listed), EXPLAINED):
            explained += explain(listed[begin : begin + EXPLAINED], limit)
            if progress is not None:
                progress(len(explained), len(listed))
        if not with_rank or not explained:
            return explained
        standings = standings_of(self.scores(), self.graph_, listed, self.threads)
        return [each.with_standing(standing) for each, standing in zip(explained, standings, strict=True)]

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
        """Change some parameters."""
        check_names(params, list(self.get_params()), "parameter", type(self).__name__)
        self.settings = self.settings.replaced(**params)
        return self

    def nodes_of(self, nodes: Any) -> NDArray[np.int64]:
        """``(q,)`` indices of nodes given by name, or of an array of indices."""
        if hasattr(nodes, "to_numpy"):
            nodes = nodes.to_numpy().tolist()  # a column of names
        if self._are_indices(nodes):
            found: NDArray[np.int64] = nodes.astype(np.int64).ravel()
            check_nodes(np.column_stack([found, found]), self.graph_.n)
            return found
        if isinstance(nodes, str) or not isinstance(nodes, Sequence | Set | np.ndarray):
            nodes = [nodes]
        return self.graph_.index_of(list(nodes))

    def pairs_of(self, pairs: Any) -> Pairs:
        """``(p, 2)`` indices of pairs given by name, or of an array of indices; ``u < v`` unless directed."""
        given = pairs.to_numpy().tolist() if hasattr(pairs, "to_numpy") else pairs  # a frame of names
        if not self._are_indices(given):
            rows = [tuple(pair) if np.iterable(pair) else (pair,) for pair in given]
            if any(len(row) != 2 for row in rows):
                raise InputError("pairs must be pairs of nodes, such as [('ann', 'bob'), ('ann', 'cat')]")
            given = self.graph_.index_of([node for row in rows for node in row]).reshape(-1, 2)
        if given.ndim != 2 or given.shape[1] != 2:
            raise InputError(f"pairs must have shape (p, 2), got {given.shape}")
        check_nodes(given, self.graph_.n)
        return np.asarray(given if self.graph_.directed else np.sort(given, axis=1), dtype=np.int64)

    def _are_indices(self, given: Any) -> bool:
        names = self.graph_.names
        named = names is not None and all(isinstance(name, int | np.integer) for name in names[:1].tolist())
        return isinstance(given, np.ndarray) and given.dtype.kind in "iu" and not named

"""Boosted trees over the best candidates of several first stages, as a predictor."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.explain.explanation import explain_all
from gelato.explain.pair import Explainer
from gelato.figures import share, versus
from gelato.graph import Graph, Pairs, pair_keys
from gelato.methods.boosted.attributes import AttributeViews, views_of
from gelato.methods.boosted.features import PairFeatures
from gelato.methods.boosted.folds import Rows, hidden_folds, keep_rows, kept_rows, rows_of
from gelato.methods.boosted.forecast import boosted_seconds, network_seconds, tree_seconds
from gelato.methods.boosted.reasons import Contributions, FeatureExplainer, alone
from gelato.methods.boosted.second import TREES, SecondStage, has_torch, learned
from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.boosted.stages import FirstStages
from gelato.methods.heuristics import autocovariance
from gelato.methods.making import new_predictor
from gelato.methods.table import METHODS
from gelato.prediction.settings import Settings
from gelato.ranking.engines import elsewhere, mapped
from gelato.ranking.rank import Progress
from gelato.runs.cost import FitCost
from gelato.runs.files import Tensors
from gelato.runs.folder import RunFolder
from gelato.runs.nested import kept_inside, restored_inside
from gelato.runs.predictor import StoredPredictor
from gelato.scores import LiftedScores, Scores, WalkScores
from gelato.splits import Split

EXPLAINED = 10_000
"""Best candidates whose features are kept."""

NEAR, DEPTH = 0.98, 1000
"""Share of the best possible average precision from which on it says no more, and non-links to look past then."""

PROBE_TREES = 20
"""Trees of the model that is timed."""


class Boosted(StoredPredictor):
    """A second stage: boosted trees rank the best candidates of several first stages anew.

    Candidates are the union of the exact ``K`` best pairs by autocovariance (plain, lazy, and with similar pairs
    added), by shrunken eigenvectors and by the cosine of attributes. The trees learn from training links that are
    hidden fold by fold, with everything computed anew without the fold; on graphs with many links small networks learn
    from them too, and their scores are averaged with those of the trees. All other pairs keep the order of
    autocovariance, below the candidates, so that ranks over all pairs stay exact. The validation links decide whether
    the trees rank, or both, or a single feature if that is better than either, and ``sentences`` says so. The
    parameters are those of ``BoostedSettings``.

    Attributes:
        second_: the trees and the networks.
        features_: names of the features, in the order in which they were learned from.
        recall_: share of the hidden links that were among the candidates, fold by fold.
        validation_: average precision on validation links of the trees, of trees and networks, and of each feature.
        others_: the further methods, fitted.
        listed_, listed_score_: ``(l, 2)`` the candidates, and ``(l,)`` their scores, log-odds.

    Example:
        >>> from gelato import load, new_predictor, split
        >>> hidden = split(load("debian-sample"))
        >>> model = new_predictor("boosted", effort="quick", folds=1, trees=20, rank=32, candidates=5000).fit(hidden)
        >>> model.score(hidden) > 0.01
        True
    """

    Settings: ClassVar[type[Settings]] = BoostedSettings
    method = "boosted"

    settings: BoostedSettings
    second_: SecondStage
    features_: list[str]
    recall_: list[float]
    validation_: dict[str, float]
    others_: dict[str, StoredPredictor]
    listed_: Pairs
    listed_score_: NDArray[np.float64]
    _best: NDArray[np.int64]
    _best_features: NDArray[np.float32]

    @property
    def trained(self) -> bool:
        """The trees have learned from the training links."""
        return True

    def learn(self, split: Split, folder: RunFolder | None, report: Callable[[Any], None], progress: Progress) -> None:
        """Hide folds, grow the trees, score the candidates of the training graph, and compare."""
        begin = time.perf_counter()
        graph, views = split.train, views_of(split.train, self.settings.random_state)
        hidden = hidden_folds(graph, self.settings)
        steps = len(hidden) + 2
        progress(0, steps)
        done = [] if folder is None else kept_rows(folder)
        folds = range(len(done), len(hidden))
        one = self if not elsewhere(len(folds)) else Boosted(**self.settings.replaced(threads=1).as_dict())
        of_fold, gpu = partial(one._fold_rows, split, hidden, views), bool(self.settings.further)
        for fold, rows_of_fold in zip(folds, mapped(of_fold, folds, threads=self.threads, gpu=gpu), strict=True):
            done.append(rows_of_fold)
            if folder is not None:
                keep_rows(folder, done)
            progress(fold + 1, steps)
        rows = time.perf_counter()
        self.recall_, self.features_ = [each.recall for each in done], done[0].names
        settings = self.settings.replaced(bags=self.settings.bag_count(graph))
        self.second_ = learned(done, settings.network_count(graph), settings)
        trees = time.perf_counter()
        progress(len(hidden) + 1, steps)
        self.others_ = self._fitted(split)
        self._lift(split, self._stages(graph, views, self.others_))
        progress(steps, steps)
        end = time.perf_counter()
        self._timings = {"rows": rows - begin, "learning": trees - rows, "candidates": end - trees}

    def _fitted(self, split: Split) -> dict[str, StoredPredictor]:
        """The further methods, fitted on a split."""
        fitted = {}
        for name in self.settings.further:
            given = {"threads": self.settings.threads, "random_state": self.settings.random_state}
            known = METHODS[name].settings.names()
            options = {key: value for key, value in given.items() if key in known}
            fitted[name] = new_predictor(name, **{**METHODS[name].quick, **options}).fit(split)
        return fitted

    def _fold_rows(self, split: Split, hidden: list[Pairs], views: AttributeViews | None, fold: int) -> Rows:
        """The rows of a fold."""
        stages = partial(self._fold_stages, split, hidden[fold], views)
        most = self.settings.usual.rows / len(hidden)
        return rows_of(split.train, hidden[fold], stages, self.settings, fold, most)

    def _fold_stages(self, split: Split, hidden: Pairs, views: AttributeViews | None, rest: Graph) -> FirstStages:
        """First stages of the training graph without a fold; the fold and the test links are no links at all."""
        if not self.settings.further:
            return self._stages(rest, views, {})
        gone = np.concatenate([hidden, split.test])
        none = np.empty((0, 2), np.int64)
        return self._stages(
            rest, views, self._fitted(Split(split.graph.without(gone), rest, split.valid, none, split.name))
        )

    def _stages(self, graph: Graph, views: AttributeViews | None, others: Mapping[str, StoredPredictor]) -> FirstStages:
        settings = self.settings
        scores = {name: each.scores() for name, each in others.items()}
        return FirstStages(
            graph,
            views,
            settings.rank_of(graph),
            settings.usual.iterations,
            settings.random_state,
            settings.threads,
            scores,
        )

    def check_graph(self, graph: Graph) -> None:
        """Refuse further methods that are unknown, or do not fit the graph."""
        super().check_graph(graph)
        for name in self.settings.further:
            if name == self.method or METHODS[name].compares:
                raise InputError(f"stages must name methods that rank by themselves, got {name!r}")
            if (problem := METHODS[name].unfit(graph)) is not None:
                raise InputError(problem)

    def adapt(self, graph: Graph) -> None:
        """Score the candidates of a graph with what was learned."""
        if (graph.sides is None) != (self._graph.sides is None):
            kinds = {True: "one kind of nodes", False: "two kinds of nodes"}
            raise InputError(
                f"the model was trained on a graph with {kinds[self._graph.sides is None]}, but this graph has"
                f" {kinds[graph.sides is None]}; train a model for it"
            )
        self.others_ = {name: each.applied(graph) for name, each in self.others_.items()}
        features = self._listed(self._stages(graph, views_of(graph, self.settings.random_state), self.others_))
        self._rank(graph, features)

    def _listed(self, first: FirstStages) -> NDArray[np.float32]:
        """List the candidates of a graph; ``(l, c)`` their features, in the order that the trees know."""
        self.listed_, _ = first.candidates(self.settings.candidate_count(first.graph))
        return PairFeatures(first).matrix(self.listed_, self.features_)[0]

    def _rank(self, graph: Graph, features: NDArray[np.float32]) -> None:
        """Score the candidates of a graph, and keep the features of the best, by which suggestions are explained."""
        if self.ranker in self.features_:
            self.listed_score_ = features[:, self.features_.index(self.ranker)].astype(np.float64)
        else:
            self.listed_score_ = self.second_.scores(features, self.settings.threads)[self.ranker]
        self._best = np.sort(np.argsort(-self.listed_score_, kind="stable")[:EXPLAINED])
        self._best_features = features[self._best]
        self._graph = graph

    @property
    def ranker(self) -> str:
        """What ranks the candidates: the trees, both, or a feature."""
        return str(self.chosen_["ranker"])

    def _lift(self, split: Split, first: FirstStages) -> None:
        """Score the candidates of the training graph; the validation links decide what ranks."""
        graph = split.train
        features = self._listed(first)
        del first  # its eigenpairs
        sought = np.isin(pair_keys(self.listed_, graph.n), pair_keys(split.valid, graph.n))
        found = float(sought.sum()) / max(1, len(split.valid))
        scored = self.second_.scores(features, self.settings.threads)
        columns: dict[str, NDArray[Any]] = dict(zip(self.features_, features.T, strict=True))
        self.validation_ = {name: found * average_precision(each, sought) for name, each in (scored | columns).items()}
        ranker = self.settings.ranker
        if ranker is None:
            ceiling = len(split.valid) / max(1, len(split.valid) + len(split.test))
            ranker = best_ranker(self.validation_, scored | columns, sought, ceiling)
        if ranker not in self.validation_:
            raise InputError(f"ranker must be one of {', '.join(self.validation_)}, got {ranker!r}")
        self.chosen_ = {"ranker": ranker}
        self._rank(graph, features)

    @property
    def explains(self) -> bool:
        """Every pair has walks, and every candidate features."""
        return True

    def explainer(self) -> Explainer:
        """Candidates by what the second stage saw and by walks that join them, other pairs by walks alone."""
        base, graph = self._base(), self.graph_

        def walks(pairs: Pairs, limit: int) -> list[Any]:
            return explain_all(base, graph, pairs, limit=limit, with_rank=False)

        single = self.ranker in self.features_
        added: Contributions = (
            partial(alone, self.features_.index(self.ranker))
            if single
            else partial(self.second_.contributions, self.ranker)
        )
        return FeatureExplainer(
            graph,
            added,
            self.features_,
            self.listed_,
            self.listed_score_,
            self._features_of,
            walks,
            "" if single else "log-odds",
        )

    def _features_of(self, pairs: Pairs) -> NDArray[np.float32]:
        """``(p, c)`` features of candidates: those that are kept, or else computed anew."""
        n = self._graph.n
        keys, wanted = pair_keys(self.listed_[self._best], n), pair_keys(pairs, n)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        kept = keys[place] == wanted
        features = self._best_features[place]
        if not kept.all():
            first = self._stages(self._graph, views_of(self._graph, self.settings.random_state), self.others_)
            features[~kept] = PairFeatures(first).matrix(pairs[~kept], self.features_)[0]
        return features

    def timings(self) -> dict[str, float]:
        """Seconds of the rows to learn from, of learning, and of the candidates."""
        return self._timings if "_timings" in vars(self) else {}

    def scores(self) -> Scores:
        """Scores of all pairs: the candidates above all others, which stand by autocovariance."""
        self._check_fitted()
        return LiftedScores(self._base(), self.listed_, self.listed_score_)

    def _base(self) -> WalkScores:
        """What ranks all other pairs."""
        return autocovariance(self._graph)

    def twin_settings(self) -> dict[str, Any]:
        """The same ranker, learned with less effort: links are hidden several times to say what to expect."""
        networks = 0 if self.second_.network is None else 1  # also where fewer links are left than usually ask for one
        return {**super().twin_settings(), "effort": "quick", "networks": networks}

    def facts(self) -> dict[str, Any]:
        """How many hidden links the candidates include, and what ranks them."""
        return {
            "candidates": len(self.listed_),
            "candidate_recall": float(np.mean(self.recall_)),
            "ranker": self.ranker,
            "validation_ap": self.validation_[self.ranker],
        }

    def sentences(self) -> list[str]:
        """The same in words."""
        recall = share(float(np.mean(self.recall_)))
        held = f"Its {len(self.listed_):,} candidates include {recall} of the hidden links."
        if self.second_.network is None and self.settings.network_count(self._graph) and not has_torch():
            held += " No networks were trained in addition to the trees, because torch is not installed."
        if self.ranker not in self.features_:
            return [held]
        if self.settings.ranker is not None:
            return [held, f"They are ranked by {self.ranker}, as requested."]
        figures = versus(self.validation_[self.ranker], self.validation_[TREES])
        return [held, f"One feature, {self.ranker}, ranks them at least as well as the trees ({figures})."]

    def seconds_to_fit(self, split: Split) -> float:
        """Predicted from timed products and rows of walks, and from what a row of a tree usually takes."""
        return boosted_seconds(split, self.settings)

    def cost(self, split: Split) -> FitCost:
        """Time one fold, and one with quick effort for the trials; trees and networks are forecast."""
        parts, probe = _probed(split, self.settings)
        quick = self.settings.replaced(effort="quick", networks=min(1, self.settings.network_count(split.train)))
        again = parts if self.settings.effort == "quick" else _probed(split, quick)[0]
        return FitCost(parts, probe, again=(sum(again.values()), 0.0))

    def learned(self) -> dict[str, Any]:
        """What was learned besides the trees."""
        facts = {name: getattr(self, name) for name in ("features_", "recall_", "validation_")}
        return {**facts, "others": {name: kept_inside(each, "")[0] for name, each in self.others_.items()}}

    def tensors(self) -> Tensors:
        """The trees and networks, and the candidates with their scores."""
        best: Tensors = {"best": self._best, "best_features": self._best_features}
        for name, each in self.others_.items():
            best |= kept_inside(each, f"stage.{name}.")[1]
        return {**self.second_.tensors(), "listed": self.listed_, "listed_score": self.listed_score_, **best}

    def restore(self, learned: Mapping[str, Any], tensors: Tensors, graph: Graph) -> None:
        """Be as it was saved, without ranking the candidates again."""
        self.features_, self.recall_, self.validation_ = (
            learned[name] for name in ("features_", "recall_", "validation_")
        )
        self.second_ = SecondStage.of(tensors)
        self.listed_, self.listed_score_, self._graph = tensors["listed"], tensors["listed_score"], graph
        self._best, self._best_features = tensors["best"], tensors["best_features"]
        outer = (graph, self.valid_, self._seen)
        self.others_ = {
            name: restored_inside(about, tensors, f"stage.{name}.", new_predictor, outer)
            for name, about in learned["others"].items()
        }


def _probed(split: Split, settings: BoostedSettings) -> tuple[dict[str, float], Boosted]:
    """Seconds of a fit by what they are for, and the model of one fold and a few trees that they were taken from."""
    few = settings.replaced(folds=1, trees=PROBE_TREES, bags=1, networks=0, ranker=None)
    probe = Boosted(**few.as_dict()).fit(split)
    times = probe.timings()
    parts = {
        "hide links": settings.fold_count(split.train) * times["rows"],
        "grow trees": tree_seconds(split.train, settings),
        "train networks": network_seconds(split.train, settings),
        "rank candidates": times["candidates"],
    }
    return parts, probe


def best_ranker(
    precision: Mapping[str, float], scored: Mapping[str, NDArray[Any]], sought: NDArray[np.bool_], ceiling: float
) -> str:
    """The name of the best ranker by average precision on validation links; of equals, the first.

    Test links are among the non-links, so no ranker can be expected to pass the ``ceiling``, the share of validation
    links in all hidden ones. Rankers that come near to it are told apart by the validation links that stand above all
    but ``DEPTH`` pairs that are not hidden links: where ``k`` pairs hold ``h`` validation links, about ``k - h /
    ceiling``.
    """
    best = max(precision, key=lambda name: precision[name])
    near = [name for name, value in precision.items() if value >= NEAR * ceiling]
    if precision[best] < NEAR * ceiling:
        return best

    def found(name: str) -> int:
        order = np.argsort(-scored[name], kind="stable")
        hits, score = np.cumsum(sought[order]), scored[name][order]
        last = np.append(np.flatnonzero(score[1:] != score[:-1]), len(score) - 1)  # of pairs that tie
        hits = hits[last][last + 1 - hits[last] / ceiling <= DEPTH]
        return int(hits.max(initial=0))

    return max(near, key=lambda name: (found(name), precision[name]))


def average_precision(score: NDArray[Any], sought: NDArray[np.bool_]) -> float:
    """Mean over the sought of ``(p,)`` scored pairs of the share of sought ones among those at least as good.

    >>> average_precision(np.array([3.0, 2.0, 1.0]), np.array([True, False, True])) == (1 + 2 / 3) / 2
    True
    """
    ascending, hits = np.sort(score), np.sort(score[sought])
    if len(hits) == 0:
        return 0.0
    better = len(ascending) - np.searchsorted(ascending, hits)
    return float(np.mean((len(hits) - np.searchsorted(hits, hits)) / better))

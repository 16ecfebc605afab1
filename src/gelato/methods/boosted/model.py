"""Boosted trees over the best candidates of several first stages, as a predictor."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gelato.costs.estimates import FitCost
from gelato.errors import InputError
from gelato.explain.contract import Explainer, PairExplanation
from gelato.explain.explanation import explain_all
from gelato.formatting import against, percentage
from gelato.graph import Graph, Pairs, pair_keys, positions_of
from gelato.io.untrusted import DamagedData, check_range, check_values, checked_array
from gelato.methods.boosted.attributes import AttributeViews, attribute_views
from gelato.methods.boosted.feature_words import feature_words
from gelato.methods.boosted.features import features_named
from gelato.methods.boosted.first_stages import FirstStages
from gelato.methods.boosted.fold_rows import FoldRows, fold_rows, hidden_folds, load_fold_rows, save_fold_rows
from gelato.methods.boosted.forecast import boosted_seconds, network_seconds, tree_seconds
from gelato.methods.boosted.ranker_choice import choose_ranker
from gelato.methods.boosted.reasons import FeatureReasons, check_features, most_asked_for
from gelato.methods.boosted.rehearsed_folds import RehearsedFold, times_counted
from gelato.methods.boosted.scale import CandidateScale
from gelato.methods.boosted.second_stage import BOTH, TREES, Learners, SecondStage, has_torch, learn_second_stage
from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.factory import make
from gelato.methods.table import METHODS
from gelato.prediction.hidden_link_trials import Trial
from gelato.prediction.precision import REPEATS
from gelato.prediction.predictor import LinkPredictor
from gelato.prediction.storage import dump_inner_model, load_inner_model
from gelato.ranking.engines import map_tasks, runs_remotely
from gelato.ranking.rank import Progress
from gelato.runs.files import Tensors, parsing
from gelato.runs.folder import RunFolder
from gelato.runs.records import read_fact
from gelato.scores import LiftedScores, Scores, WalkScores
from gelato.scores.autocovariance import autocovariance
from gelato.splits import Split

PROBE_TREES = 20
"""Trees of the model that is timed."""


class Boosted(LinkPredictor):
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
        listed_, listed_score_: ``(l, 2)`` the candidates, and ``(l,)`` what ranks them: log-odds, or a feature.
        folds_: folds of training links, ranked by what has not learned from them.

    Example:
        >>> from gelato import load, make, split
        >>> hidden = split(load("debian-sample"))
        >>> model = make("boosted", effort="quick", folds=1, trees=20, rank=32, candidates=5000).fit(hidden)
        >>> model.score(hidden) > 0.01
        True
    """

    Settings = BoostedSettings
    method = "boosted"

    settings: BoostedSettings
    second_: SecondStage
    features_: list[str]
    recall_: list[float]
    validation_: dict[str, float]
    others_: dict[str, LinkPredictor]
    listed_: Pairs
    listed_score_: NDArray[np.float64]
    folds_: list[RehearsedFold]
    rehearsed_for_: str | None
    _best: NDArray[np.int64]
    _best_features: NDArray[np.float32]
    _all_features: NDArray[np.float32] | None = None

    @property
    def trained(self) -> bool:
        """The trees have learned from the training links."""
        return True

    def set_params(self, **params: Any) -> Self:
        """Change some parameters; the further methods move to another ``device`` too."""
        if self.fitted and "device" in params:
            for each in self.others_.values():
                if "device" in each.get_params():
                    each.set_params(device=params["device"])
        return super().set_params(**params)

    def learn(self, split: Split, folder: RunFolder | None, report: Callable[[Any], None], progress: Progress) -> None:
        """Hide folds, grow the trees, score the candidates of the training graph, and compare."""
        begin = time.perf_counter()
        graph, views = split.train, attribute_views(split.train, self.settings.random_state)
        hidden = hidden_folds(graph, self.settings)
        steps = len(hidden) + 2
        progress(0, steps)
        done = [] if folder is None else load_fold_rows(folder)
        folds = range(len(done), len(hidden))
        one = self if not runs_remotely(len(folds)) else Boosted(**self.settings.replaced(threads=1).as_dict())
        of_fold, gpu = partial(one._fold_rows, split, hidden, views), bool(self.settings.further)
        for fold, rows_of_fold in zip(folds, map_tasks(of_fold, folds, threads=self.threads, gpu=gpu), strict=True):
            done.append(rows_of_fold)
            if folder is not None:
                save_fold_rows(folder, fold, rows_of_fold)
            progress(fold + 1, steps)
        rows = time.perf_counter()
        self.recall_, self.features_ = [each.recall for each in done], done[0].names
        settings, apart = self.settings.replaced(bags=self.settings.bag_count(graph)), self.settings.cross_fits(graph)
        learners = learn_second_stage(done, settings.network_count(graph), settings, apart)
        self.second_ = learners.together()
        trees = time.perf_counter()
        progress(len(hidden) + 1, steps)
        self.others_ = self._fitted(split)
        self._lift(split, self._stages(graph, views, self.others_))
        self.folds_, self.rehearsed_for_ = [], graph.attribute_fingerprint
        for fold in range(settings.rehearsed_count(graph)):
            self.folds_.append(self._rehearsed(learners, hidden[fold], done[fold], fold, len(hidden)))
        progress(steps, steps)
        end = time.perf_counter()
        self._timings = {"rows": rows - begin, "learning": trees - rows, "candidates": end - trees}

    def _rehearsed(self, learners: Learners, hidden: Pairs, rows: FoldRows, fold: int, folds: int) -> RehearsedFold:
        """A fold as it is ranked by what has not learned from it, in the way that suggestions are."""
        score = self._scored(learners.without(fold), rows.features)[self.ranker].astype(np.float64)
        counts = learners.counts(self.ranker)
        counted = times_counted(pair_keys(rows.pairs, self._graph.n), fold, folds, counts)
        return RehearsedFold(hidden, rows.pairs, score, counted)

    def _fitted(self, split: Split) -> dict[str, LinkPredictor]:
        """The further methods, fitted on a split."""
        fitted = {}
        for name in self.settings.further:
            given = {"threads": self.settings.threads, "random_state": self.settings.random_state}
            known = METHODS[name].settings.names()
            options = {key: value for key, value in given.items() if key in known}
            fitted[name] = make(name, **{**METHODS[name].quick, **options}).fit(split)
        return fitted

    def _fold_rows(self, split: Split, hidden: list[Pairs], views: AttributeViews | None, fold: int) -> FoldRows:
        """The rows of a fold; the fold and the test links are no links at all to the further methods."""
        gone, none = np.concatenate([hidden[fold], split.test]), np.empty((0, 2), np.int64)

        def stages(rest: Graph) -> FirstStages:
            if not self.settings.further:
                return self._stages(rest, views, {})
            left = Split(split.graph.without(gone), rest, split.valid, none, split.name)
            return self._stages(rest, views, self._fitted(left))

        most = self.settings.usual.rows / len(hidden)
        return fold_rows(split.train, hidden[fold], stages, self.settings, fold, most)

    def _stages(self, graph: Graph, views: AttributeViews | None, others: Mapping[str, LinkPredictor]) -> FirstStages:
        return FirstStages(graph, views, self.settings, {name: each.scores() for name, each in others.items()})

    def _stages_of(self, graph: Graph) -> FirstStages:
        """The first stages of the graph that is scored."""
        return self._stages(graph, attribute_views(graph, self.settings.random_state), self.others_)

    def check_graph(self, graph: Graph) -> None:
        """Refuse further methods that are unknown, or do not fit the graph."""
        for name in self.settings.further:
            if name == self.method or METHODS[name].compares:
                raise InputError(f"stages must name methods that rank by themselves, got {name!r}")
            if (problem := METHODS[name].unfit(graph)) is not None:
                raise InputError(problem)

    def adapt(self, graph: Graph) -> None:
        if (graph.sides is None) != (self._graph.sides is None):
            kinds = {True: "one kind of nodes", False: "two kinds of nodes"}
            raise InputError(
                f"the model was trained on a graph with {kinds[self._graph.sides is None]}, but this graph has"
                f" {kinds[graph.sides is None]}; train a model for it"
            )
        self.others_ = {name: each.on(graph) for name, each in self.others_.items()}
        features = self._listed(self._stages_of(graph))
        self._rank(graph, features, self._scored(self.second_, features)[self.ranker])

    def _listed(self, first: FirstStages) -> NDArray[np.float32]:
        """List the candidates of a graph; ``(l, c)`` their features, in the order that the trees know."""
        self.listed_, _ = first.candidates(self.settings.candidate_count(first.graph))
        return features_named(first, self.listed_, self.features_)

    def _scored(self, second: SecondStage, features: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
        """``(l,)`` scores of candidates by all that may rank them: the trees, trees and networks, and each feature."""
        return second.scores(features, self.settings.threads) | dict(zip(self.features_, features.T, strict=True))

    def _rank(self, graph: Graph, features: NDArray[np.float32], score: NDArray[Any]) -> None:
        """Rank the candidates of a graph, and keep the features of those that are likely to be explained."""
        self.listed_score_ = score.astype(np.float64)
        self._best = most_asked_for(self.listed_, self.listed_score_)
        self._best_features, self._all_features = features[self._best], None
        self._graph = graph

    @property
    def _scale(self) -> CandidateScale:
        """From what ranks the candidates to their scores."""
        return CandidateScale.of(self.listed_score_, log_odds=self.ranker not in self.features_)

    @property
    def ranker(self) -> str:
        """What ranks the candidates: the trees, both, or a feature."""
        return str(self.chosen_["ranker"])

    def _lift(self, split: Split, first: FirstStages) -> None:
        """Score the candidates of the training graph; the validation links decide what ranks."""
        features = self._listed(first)
        del first  # its eigenpairs
        scored = self._scored(self.second_, features)
        ranker, self.validation_ = choose_ranker(self.listed_, scored, split, self.settings.ranker)
        self.chosen_ = {"ranker": ranker}
        self._rank(split.train, features, scored[ranker])

    @property
    def explains(self) -> bool:
        """Every pair has walks, and every candidate features."""
        return True

    def explainer(self) -> Explainer:
        """Candidates by what the second stage saw and by walks that join them, other pairs by walks alone.

        Where no walk of the base joins a candidate, walks that may pause do if its nodes have a neighbour in common.
        """
        base, graph, scale = self._base(), self.graph_, self._scale
        pausing = cache(partial(autocovariance, graph, self_loops="all"))
        reasons = FeatureReasons(graph, self.features_, "" if self.ranker in self.features_ else "log-odds")

        def explain(pairs: Pairs, limit: int) -> Sequence[PairExplanation]:
            walks = explain_all(base, graph, pairs, limit=limit)
            ends = pairs if graph.directed else np.sort(pairs, axis=1)
            place = positions_of(pair_keys(self.listed_, graph.n), pair_keys(ends, graph.n))
            mine = np.flatnonzero(place >= 0)
            if len(mine) == 0:
                return walks
            apart = [i for i in mine.tolist() if walks[i].number_of_walks == 0]
            if apart:
                again = explain_all(pausing(), graph, pairs[apart], limit=limit)
                walks = [again.pop(0) if i in apart else each for i, each in enumerate(walks)]
            explained: list[PairExplanation] = [*walks]
            added = scale.unit * self._contributions(self._features_of(ends[mine]))
            added[:, -1] += scale(np.zeros(1))
            scores = scale(self.listed_score_[place[mine]]).tolist()
            for i, score, parts in zip(mine.tolist(), scores, added, strict=True):
                explained[i] = reasons.explanation(walks[i], score, parts)
            return explained

        return explain

    def _contributions(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """``(p, c + 1)`` what each of ``(p, c)`` features adds to the score, and last what all pairs begin with."""
        if self.ranker not in self.features_:
            return self.second_.contributions(self.ranker, features)
        added, place = np.zeros((len(features), len(self.features_) + 1)), self.features_.index(self.ranker)
        added[:, place] = features[:, place]
        return added

    def _features_of(self, pairs: Pairs) -> NDArray[np.float32]:
        """``(p, c)`` features of candidates.

        Those of all are computed anew, once, when one is asked for that is not kept: most of the work is for the whole
        graph, however few they are.
        """
        listed, wanted = (pair_keys(each, self._graph.n) for each in (self.listed_, pairs))
        place = positions_of(listed[self._best], wanted)
        if (place >= 0).all():
            return self._best_features[place]
        if self._all_features is None:
            self._all_features = features_named(self._stages_of(self._graph), self.listed_, self.features_)
        return self._all_features[positions_of(listed, wanted)]

    def compute_scores(self) -> Scores:
        """Scores of all pairs: the candidates from 1 on, above all others, which stand by autocovariance."""
        return LiftedScores(self._base(), self.listed_, self._scale(self.listed_score_))

    def _base(self) -> WalkScores:
        """What ranks all other pairs."""
        return autocovariance(self._graph)

    def twin_settings(self) -> dict[str, Any]:
        """The same ranker, learned with less effort: links are hidden several times to say what to expect."""
        networks = 0 if self.second_.network is None else 2  # also where fewer links are left than usually ask for them
        return {**super().twin_settings(), "effort": "quick", "networks": networks}

    def rehearsals(self, share: float, repeats: int, run: Path | None) -> list[Trial] | None:
        """Folds of the training links; of a twin with less effort, where it is this one that leaves none out."""
        known = self.graph_
        if known.times is not None or share != self.settings.hidden_share or repeats > REPEATS:
            return None
        if known.attribute_fingerprint != self.rehearsed_for_ or not self._seen.holds(known):
            return None
        learned = known.without(known.edges[np.isin(pair_keys(known.edges, known.n), pair_keys(self.valid_, known.n))])
        if not self.folds_:
            twin = BoostedSettings(**self.twin_settings())
            if not twin.cross_fits(learned):
                return None
            valid = Split(known, learned, self.valid_, np.empty((0, 2), np.int64), "as the model")
            self.folds_ = Boosted.of(twin).fit(valid, run=run and run / "rehearsal").folds_
        return [fold.trial(known, learned) for fold in self.folds_[:repeats]]

    def facts(self) -> dict[str, Any]:
        """How many hidden links the candidates include, and what ranks them."""
        return {
            "candidates": len(self.listed_),
            "candidate_recall": float(np.mean(self.recall_)),
            "ranker": self.ranker,
            "validation_ap": self.validation_[self.ranker],
        }

    def sentences(self) -> list[str]:
        recall = percentage(float(np.mean(self.recall_)))
        held = f"Its {len(self.listed_):,} candidates include {recall} of the hidden links."
        if self.second_.network is None and self.settings.network_count(self._graph) and not has_torch():
            held += " No networks were trained in addition to the trees, because torch is not installed."
        if self.ranker not in self.features_:
            return [held]
        if self.settings.ranker is not None:
            return [held, f"They are ranked by {self.ranker}, as requested."]
        figures = against(self.validation_[self.ranker], self.validation_[TREES])
        words = feature_words(self.ranker)
        return [held, f"One measure, {words}, ranks them at least as well as the trees ({figures})."]

    def seconds_to_fit(self, split: Split) -> float:
        """Predicted from timed products and rows of walks, and from what a row of a tree usually takes."""
        return boosted_seconds(split, self.settings)

    def cost(self, split: Split) -> FitCost:
        """Time one fold, and one with quick effort if trials are made of its folds; trees and networks are forecast."""
        parts, probe = _probed(split, self.settings)
        quick = self.settings.replaced(effort="quick", networks=2 * (self.settings.network_count(split.train) > 0))
        twin = parts if self.settings.effort == "quick" else _probed(split, quick)[0]
        if not quick.cross_fits(split.train):
            return FitCost(parts, probe, again=(sum(twin.values()), 0.0))
        return FitCost(parts, probe, rehearsed=0.0 if twin is parts else sum(twin.values()))

    def learned(self) -> dict[str, Any]:
        """What was learned besides the trees."""
        facts = {name: getattr(self, name) for name in ("features_", "recall_", "validation_", "rehearsed_for_")}
        return {**facts, "others": {name: dump_inner_model(each, "")[0] for name, each in self.others_.items()}}

    def tensors(self) -> Tensors:
        """The trees and networks, and the candidates with their scores."""
        best: Tensors = {"best": self._best, "best_features": self._best_features}
        for name, each in self.others_.items():
            best |= dump_inner_model(each, f"stage.{name}.")[1]
        for i, fold in enumerate(self.folds_):
            best |= {f"fold.{i}.{name}": array for name, array in vars(fold).items()}
        return {**self.second_.tensors(), "listed": self.listed_, "listed_score": self.listed_score_, **best}

    def restore(self, learned: Mapping[str, Any], tensors: Tensors, graph: Graph) -> None:
        """Be as it was saved, without ranking the candidates again."""
        with parsing():
            self.features_ = read_fact(learned, "features_", list[str])
            self.recall_ = read_fact(learned, "recall_", list[float])
            self.validation_ = read_fact(learned, "validation_", dict[str, float])
            compared = {self.ranker} if self.settings.ranker is not None else {self.ranker, TREES}
            if not self.recall_ or not compared <= set(self.validation_):
                raise DamagedData("what was measured on validation links is incomplete")
            check_features(self.features_)
            self.rehearsed_for_ = read_fact({"rehearsed_for_": None, **learned}, "rehearsed_for_", str | None)
            count = len(self.features_)
            self.second_ = SecondStage.of(tensors, count)
            if self.ranker not in {TREES, *self.features_} | ({BOTH} if self.second_.network is not None else set()):
                raise DamagedData(f"nothing that ranks is called {self.ranker!r:.100}")
            self.listed_ = checked_array(tensors, "listed", np.int64, (None, 2))
            check_range("listed", self.listed_, 0, graph.n)
            self.listed_score_ = checked_array(tensors, "listed_score", np.float64, self.listed_.shape[:1])
            check_values("listed_score", bool(np.isfinite(self.listed_score_).all()))
            self._best = checked_array(tensors, "best", np.int64, (None,))
            check_range("best", self._best, 0, len(self.listed_))
            self._best_features = checked_array(tensors, "best_features", np.float32, (len(self._best), count))
            self.folds_ = RehearsedFold.all_of(tensors, graph.n)
            others = read_fact(learned, "others", dict[str, dict[str, Any]])
        outer, self._graph = (graph, self.valid_, self._seen), graph
        self.others_ = {
            name: load_inner_model(about, tensors, f"stage.{name}.", make, outer) for name, about in others.items()
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

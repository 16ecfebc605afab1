"""The second stage: trees, and on larger graphs networks beside them."""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gelato.methods.boosted.fold_rows import FoldRows
from gelato.methods.boosted.network import FeatureNetwork
from gelato.methods.boosted.ranker import grow_bags
from gelato.methods.boosted.settings import BoostedSettings, leaves_out
from gelato.methods.boosted.trees import Forest

TREES, BOTH = "trees", "trees and networks"
"""The rankers that are learned."""

Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SecondStage:
    """What was learned: trees, and networks or ``None``; both give log-odds."""

    forest: Forest
    network: FeatureNetwork | None

    def scores(self, features: Matrix, threads: int | None) -> dict[str, Floats]:
        """``(p,)`` scores of ``(p, c)`` rows by the name of the ranker; the two together are the mean of both."""
        trees = self.forest.scores(features, threads)
        if self.network is None:
            return {TREES: trees}
        return {TREES: trees, BOTH: (trees + self.network.scores(features)) / 2}

    def contributions(self, ranker: str, features: Matrix) -> Floats:
        """``(p, c + 1)`` what each feature adds to the score by a ranker, and last what all rows begin with."""
        trees = self.forest.contributions(features)
        if ranker == TREES or self.network is None:
            return trees
        return (trees + self.network.contributions(features)) / 2

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        parts: dict[str, Forest | FeatureNetwork] = {"trees": self.forest}
        if self.network is not None:
            parts["network"] = self.network
        return {f"{part}.{name}": array for part, each in parts.items() for name, array in each.tensors().items()}

    @classmethod
    def of(cls, tensors: Mapping[str, NDArray[Any]], features: int) -> Self:
        """From the arrays by name; refused if they do not fit the number of features."""

        def below(part: str) -> dict[str, NDArray[Any]]:
            return {name.removeprefix(part): array for name, array in tensors.items() if name.startswith(part)}

        network = below("network.")
        return cls(Forest.of(below("trees."), features), FeatureNetwork.of(network, features) if network else None)


@dataclass(frozen=True, eq=False)
class Learners:
    """Each bag of trees, and the networks, apart; with cross-fitting each of them has left out some folds."""

    bags: list[Forest]
    network: FeatureNetwork | None

    def together(self) -> SecondStage:
        """All of them."""
        return SecondStage(Forest.mean(self.bags), self.network)

    def counts(self, ranker: str) -> list[int]:
        """How many learners of each kind a ranker is made of; none if it is a feature."""
        trees, networks = [len(self.bags)], [] if self.network is None else [len(self.network.last)]
        return {TREES: trees, BOTH: trees + networks}.get(ranker, [])

    def without(self, fold: int) -> SecondStage:
        """Those that have not learned from a fold."""

        def leaving_it_out(learners: int) -> list[int]:
            return [i for i in range(learners) if leaves_out(i, np.array([fold]), learners)[0]]

        bags = [self.bags[i] for i in leaving_it_out(len(self.bags))]
        network = self.network and self.network.among(leaving_it_out(len(self.network.last)))
        return SecondStage(Forest.mean(bags), network)


def learn_second_stage(done: Sequence[FoldRows], networks: int, settings: BoostedSettings, apart: bool) -> Learners:
    """Trees and ``networks`` from the rows of all folds; ``apart`` if each of them is to leave out some folds.

    Where torch is not installed, there are no networks.
    """
    learned = [rows.weights > 0 for rows in done]
    labels, weights, features = (
        np.concatenate([getattr(rows, name)[chosen] for rows, chosen in zip(done, learned, strict=True)])
        for name in ("labels", "weights", "features")
    )
    folds = np.repeat(np.arange(len(done)), [chosen.sum() for chosen in learned]) if apart else None
    bags = grow_bags(features, labels, weights, settings, folds)
    if not networks or not has_torch():
        return Learners(bags, None)
    from gelato.methods.boosted.training import train_networks

    return Learners(bags, train_networks(features, labels, weights, networks, settings, folds))


def has_torch() -> bool:
    """Whether networks can be trained."""
    return importlib.util.find_spec("torch") is not None

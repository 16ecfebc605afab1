"""The second stage: trees, and on larger graphs networks beside them."""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gelato.methods.boosted.folds import Rows
from gelato.methods.boosted.network import PairNetwork
from gelato.methods.boosted.ranker import grown
from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.boosted.trees import Forest

TREES, BOTH = "trees", "trees and networks"
"""The rankers that are learned."""

Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SecondStage:
    """What was learned: trees, and networks or ``None``; both give log-odds."""

    forest: Forest
    network: PairNetwork | None

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
        parts: dict[str, Forest | PairNetwork] = {"trees": self.forest}
        if self.network is not None:
            parts["network"] = self.network
        return {f"{part}.{name}": array for part, each in parts.items() for name, array in each.tensors().items()}

    @classmethod
    def of(cls, tensors: Mapping[str, NDArray[Any]]) -> Self:
        """From the arrays by name."""

        def below(part: str) -> dict[str, NDArray[Any]]:
            return {name.removeprefix(part): array for name, array in tensors.items() if name.startswith(part)}

        network = below("network.")
        return cls(Forest.of(below("trees.")), PairNetwork.of(network) if network else None)


def learned(done: list[Rows], networks: int, settings: BoostedSettings) -> SecondStage:
    """Trees and ``networks`` from the rows of all folds, which are used up: ``done`` is empty then.

    Where torch is not installed, there are no networks.
    """
    labels, weights = (np.concatenate([getattr(rows, name) for rows in done]) for name in ("labels", "weights"))
    features = np.concatenate([rows.features for rows in done])
    done.clear()
    forest = grown(features, labels, weights, settings)
    if not networks or not has_torch():
        return SecondStage(forest, None)
    from gelato.methods.boosted.training import trained

    return SecondStage(forest, trained(features, labels, weights, networks, settings))


def has_torch() -> bool:
    """Whether networks can be trained."""
    return importlib.util.find_spec("torch") is not None

"""The features of listed pairs of one graph."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from gelato.graph import Pairs
from gelato.methods.boosted.attributes import AttributeFeatures, attribute_features
from gelato.methods.boosted.stages import FirstStages
from gelato.methods.boosted.structure import STRENGTH, end_columns, node_values
from gelato.ranking.listed import score_pairs

Floats = NDArray[np.float64]
Matrix = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PairFeatures:
    """Features of pairs from all first stages of a graph, its attributes and its degrees."""

    stages: FirstStages

    @cached_property
    def _attributes(self) -> AttributeFeatures | None:
        views = self.stages.views
        return None if views is None else attribute_features(self.stages.graph, views)

    def columns(self, pairs: Pairs) -> Iterator[tuple[str, Floats]]:
        """``(p,)`` values of ``(p, 2)`` pairs by the name of the feature, in a fixed order."""
        stages, graph = self.stages, self.stages.graph
        u, v = pairs.T
        out: Floats = graph.adjacency.sum(axis=1)
        into: Floats = graph.adjacency.sum(axis=0)
        chance = out[u] * into[v]
        for name, scores in stages.walks.items():
            value = self._scores(scores, pairs)
            yield name, value
            yield f"{name} against chance", np.divide(value, chance, out=np.zeros_like(value), where=chance > 0)
        others = ((f"score of {name}", scores) for name, scores in stages.others.items())
        for name, scores in chain(stages.paths.items(), stages.spectra(), others):
            yield name, self._scores(scores, pairs)
        if self._attributes is not None:
            yield from self._attributes.columns(pairs, stages.threads).items()
        yield from end_columns(graph, pairs, node_values(graph)).items()

    def _scores(self, scores: object, pairs: Pairs) -> Floats:
        return score_pairs(scores, pairs, threads=self.stages.threads).value  # type: ignore[arg-type]

    def matrix(
        self, pairs: Pairs, names: Sequence[str] | None = None, *, weighted: bool = True
    ) -> tuple[Matrix, list[str]]:
        """``(p, c)`` features, and their ``c`` names: those asked for, or all; those of weights only if ``weighted``.

        A feature that this graph does not have, such as a cosine without attributes, is 0.
        """
        if names is None:
            known = {name: values.astype(np.float32) for name, values in self.columns(pairs)}
            listed = [name for name in known if weighted or STRENGTH not in name]
            return np.column_stack([known[name] for name in listed]), listed
        places = {name: i for i, name in enumerate(names)}
        found = np.zeros((len(pairs), len(names)), np.float32)
        for name, values in self.columns(pairs):  # one copy only
            if name in places:
                found[:, places[name]] = values
        return found, list(names)

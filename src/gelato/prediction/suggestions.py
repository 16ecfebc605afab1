"""Suggestions: ranked missing links by the user's names, with reasons and the precision to expect."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.graph import Graph, Pairs
from gelato.io import links_to_pandas, links_to_polars, links_to_scipy, to_networkx, to_pyg, write_table
from gelato.prediction.precision import ExpectedPrecision

LINK_COLUMNS = ("rank", "source", "target", "score")
CHANCE_COLUMNS = ("chance", "chance_low", "chance_high")
"""Of each suggestion alone."""
PRECISION_COLUMNS = ("precision_to_rank", "precision_to_rank_low", "precision_to_rank_high")
"""Of all suggestions up to this one."""


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Pairs that are not linked yet, best first.

    Attributes:
        graph: the graph that lacks them.
        pairs: ``(k, 2)`` node indices; with ``per_node`` the node asked about comes first, and each has its own list.
        score: ``(k,)`` scores.
        per_node: whether each node has its own list.
        chosen: which pairs were allowed, as keywords of ``top``.
        precision: the precision to expect, if it was estimated.
        reasons: ``(k,)`` the strongest reason for each in words, if they were asked for.

    Example:
        >>> from gelato import Graph, Heuristic
        >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], names=["ann", "bob", "cat", "dan"])
        >>> links = Heuristic("cn").fit(graph).predict_top(2)
        >>> list(links)
        [('ann', 'cat', 1.0), ('bob', 'dan', 1.0)]
        >>> links.columns()["rank"], links.to_scipy().shape
        ([1, 2], (4, 4))
    """

    graph: Graph
    pairs: Pairs
    score: NDArray[np.float64]
    per_node: bool = False
    chosen: Mapping[str, Any] = field(default_factory=dict)
    precision: ExpectedPrecision | None = None
    reasons: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[Any, Any, float]]:
        """The names of the two nodes, and the score, of each suggestion."""
        for (u, v), score in zip(self._read_pairs().tolist(), self.score.tolist(), strict=True):
            yield self.graph.name_of(u), self.graph.name_of(v), score

    @property
    def rank(self) -> NDArray[np.int64]:
        """``(k,)`` ranks from 1, in the whole list or in the list of each node."""
        place = np.arange(len(self.pairs))
        if not self.per_node or not len(place):
            return place + 1
        begins = np.concatenate([[True], self.pairs[1:, 0] != self.pairs[:-1, 0]])
        return place - np.maximum.accumulate(np.where(begins, place, 0)) + 1

    def replaced(self, **values: Any) -> Self:
        """The same with other values, such as ``precision`` or ``reasons``."""
        return replace(self, **values)

    def words(self) -> list[str]:
        """The precision to expect of the first 10, 100, ... suggestions, in sentences."""
        last = int(self.rank.max(initial=0))
        cuts = [k for k in (10, 100, 1000, 10_000) if k < last]
        if self.precision is None or last == 0:
            return []
        return self.precision.words(*cuts, last)

    def columns(self) -> dict[str, list[Any]]:
        """The columns by name: ranks, node names, scores, and whatever else is known."""
        names = [(self.graph.name_of(u), self.graph.name_of(v)) for u, v in self._read_pairs().tolist()]
        values: dict[str, list[Any]] = dict(
            zip(
                LINK_COLUMNS,
                (self.rank.tolist(), [u for u, _ in names], [v for _, v in names], self.score.tolist()),
                strict=True,
            )
        )
        if self.precision is not None:
            for names_of, state in ((CHANCE_COLUMNS, self.precision.chance), (PRECISION_COLUMNS, self.precision.at)):
                at_rank = {k: state(k) for k in set(self.rank.tolist())}
                stated = [at_rank[k] for k in self.rank.tolist()]
                for name, value in zip(names_of, ("expected", "low", "high"), strict=True):
                    values[name] = [None if each is None else round(getattr(each, value), 4) for each in stated]
        if self.reasons is not None:
            values["reason"] = list(self.reasons)
        return values

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per suggestion."""
        columns = self.columns()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def write(self, path: str | os.PathLike[str], *, safe: bool = False) -> None:
        """Write a CSV, TSV, Parquet or JSON file, depending on the suffix, completely or not at all.

        ``safe`` puts an apostrophe before text that a spreadsheet would take for a formula, as in ``write_table``.
        """
        columns = self.columns()
        write_table(os.fspath(path), list(columns), zip(*columns.values(), strict=True), safe=safe)

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        return links_to_pandas(self.graph, self).assign(**self._beside())

    def to_polars(self) -> Any:
        """A Polars data frame."""
        frame = links_to_polars(self.graph, self)
        import polars  # the line above has reported it if it is missing

        return frame.with_columns(*(polars.Series(name, column) for name, column in self._beside().items()))

    def to_networkx(self) -> Any:
        """A networkx graph with the suggestions as further edges, marked ``predicted=True``, with score and rank."""
        return to_networkx(self.graph, predicted=self)

    def to_scipy(self) -> csr_array:
        """``(n, n)`` sparse matrix of the scores of these pairs; symmetric unless the graph is directed."""
        return links_to_scipy(self.graph, self)

    def to_pyg(self) -> Any:
        """The graph as PyTorch Geometric's ``Data``, with ``predicted_edge_index`` and ``predicted_score``."""
        return to_pyg(self.graph, predicted=self)

    def _read_pairs(self) -> Pairs:
        """``(k, 2)`` the pairs as they are shown: on a bipartite graph, the node of the first side comes first."""
        sides = self.graph.sides
        if sides is None or self.per_node:
            return self.pairs
        return np.where((sides[self.pairs[:, :1]] == 1), self.pairs[:, ::-1], self.pairs)

    def _beside(self) -> dict[str, list[Any]]:
        return {name: column for name, column in self.columns().items() if name != "score"}

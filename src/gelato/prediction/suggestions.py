"""Suggestions: ranked missing links by the user's names, with reasons and the precision to expect."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.graph import Graph, Pairs
from gelato.io import links_to_pandas, links_to_polars, links_to_scipy, to_networkx, to_pyg, write_table
from gelato.notebook import rows_html
from gelato.prediction.precision import ExpectedPrecision, PrecisionStatement

CHANCE_COLUMNS = ("chance", "chance_low", "chance_high")
"""Columns of the chance of each suggestion alone."""
PRECISION_COLUMNS = ("precision_to_rank", "precision_to_rank_low", "precision_to_rank_high")
"""Columns of the precision of all suggestions up to each one."""

SHOWN = 10
"""Suggestions that a list shows of itself."""


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Pairs that are not linked yet, best first.

    Attributes:
        graph: the graph that lacks them.
        pairs: ``(k, 2)`` node indices; with ``per_node`` the node asked about comes first, and each has its own list.
            Names are shown with a node that was asked for (``nodes``) in front.
        score, per_node: ``(k,)`` scores, and whether each node has its own list.
        chosen: which pairs were allowed, as keywords of ``top``.
        precision: the precision to expect, if it was estimated.
        reasons: ``(k,)`` the strongest reason for each in words, if they were asked for.
        method: what ranked them.

    Example:
        >>> from gelato import CommonNeighbors, Graph
        >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], names=["ann", "bob", "cat", "dan"])
        >>> links = CommonNeighbors().fit(graph).suggest(2, repeats=0)
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
    method: str | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[Any, Any, float]]:
        """The names of the two nodes, and the score, of each suggestion."""
        for (u, v), score in zip(self._read_pairs().tolist(), self.score.tolist(), strict=True):
            yield self.graph.name_of(u), self.graph.name_of(v), score

    def __repr__(self) -> str:
        first = self._first(SHOWN)
        lines = [f"{rank:>6,}  {u} - {v}  {score:.4g}" for rank, (u, v, score) in zip(first.rank, first, strict=True)]
        more = ["     …"] if len(first) < len(self) else []
        return "\n".join([f"Suggestions({len(self):,} links of {self.graph!r})", *lines, *more])

    def _repr_html_(self) -> str:
        columns = self._first(SHOWN).columns()
        title = f"{len(self):,} suggestions" + (f", the first {SHOWN}" if len(self) > SHOWN else "")
        return rows_html(title, list(columns), zip(*columns.values(), strict=True))

    def _first(self, count: int) -> Self:
        """The first ``count`` suggestions."""
        return self._some(np.arange(len(self)) < count)

    @property
    def rank(self) -> NDArray[np.int64]:
        """``(k,)`` ranks from 1, in the whole list or in the list of each node."""
        place = np.arange(len(self.pairs))
        if not self.per_node or not len(place):
            return place + 1
        begins = np.concatenate([[True], self.pairs[1:, 0] != self.pairs[:-1, 0]])
        return place - np.maximum.accumulate(np.where(begins, place, 0)) + 1

    def words(self) -> list[str]:
        """The precision to expect of the first 10, 100, ... suggestions, in sentences."""
        last = int(self.rank.max(initial=0))
        cuts = [k for k in (10, 100, 1000, 10_000) if k < last]
        if self.precision is None or last == 0:
            return []
        return self.precision.words(*cuts, last)

    def columns(self) -> dict[str, list[Any]]:
        """The columns by name: ranks, node names, chances, scores, and whatever else is known."""
        source, target = ([self.graph.name_of(node) for node in side] for side in self._read_pairs().T.tolist())
        values: dict[str, list[Any]] = {"rank": self.rank.tolist(), "source": source, "target": target}
        stated = self.precision
        values |= {} if stated is None else self._stated(CHANCE_COLUMNS, stated.chance)
        values["score"] = self.score.tolist()
        values |= {} if stated is None else self._stated(PRECISION_COLUMNS, stated.at)
        if self.reasons is not None:
            values["reason"] = list(self.reasons)
        return values if self.method is None else {**values, "method": [self.method] * len(self)}

    def _stated(
        self, names: Sequence[str], state: Callable[[int], PrecisionStatement | None]
    ) -> dict[str, list[float | None]]:
        """What is stated at each rank, its lower and its upper end, as columns of these names."""
        rank = self.rank.tolist()
        at_rank = {k: state(k) for k in set(rank)}
        return {
            name: [None if (each := at_rank[k]) is None else round(getattr(each, value), 4) for k in rank]
            for name, value in zip(names, ("expected", "low", "high"), strict=True)
        }

    def at_least(self, chance: float) -> Self:
        """Those with a chance that is no lower; none where no chance is stated."""
        if self.precision is None:
            return self._some(np.zeros(len(self), bool))
        stated = {k: self.precision.chance(k) for k in set(self.rank.tolist())}
        likely = {k for k, each in stated.items() if each is not None and each.expected >= chance}
        return self._some(np.isin(self.rank, list(likely)))

    def _some(self, kept: NDArray[np.bool_]) -> Self:
        reasons = None if self.reasons is None else [self.reasons[i] for i in np.flatnonzero(kept).tolist()]
        return replace(self, pairs=self.pairs[kept], score=self.score[kept], reasons=reasons)

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
        """``(k, 2)`` the pairs as they are shown.

        A node that was asked for comes first and, on a bipartite graph, else the node of the first side; on a directed
        graph, the order of a pair is that of its link.
        """
        if self.per_node or self.graph.directed:
            return self.pairs
        place = np.zeros(self.graph.n, np.int64) if self.graph.sides is None else self.graph.sides.astype(np.int64)
        if self.chosen.get("nodes") is not None:
            place[self.chosen["nodes"]] -= 2
        u, v = place[self.pairs].T
        return np.where((u > v)[:, None], self.pairs[:, ::-1], self.pairs)

    def _beside(self) -> dict[str, list[Any]]:
        return {name: column for name, column in self.columns().items() if name != "score"}

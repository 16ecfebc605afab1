"""Predicted links, checked against their graph, as matrices and as frames with its names."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError, optional
from gelato.graph import Graph, Pairs, check_nodes, pair_keys


class RankedLinks(Protocol):
    """Links in the order of their ranks, the best first, such as ``gelato.top`` returns."""

    @property
    def pairs(self) -> Pairs:
        """``(k, 2)`` indices of the nodes."""

    @property
    def score(self) -> NDArray[np.float64]:
        """``(k,)`` their scores."""


def links_to_scipy(graph: Graph, links: RankedLinks) -> csr_array:
    """``(n, n)`` the scores of predicted links, symmetric when the graph is undirected.

    A link that is listed more than once keeps the score of its best rank.
    """
    pairs, score = checked_links(graph, links)
    first = first_of_each(graph, pairs)
    (u, v), score = pairs[first].T, score[first]
    if not graph.directed:
        u, v, score = np.concatenate([u, v]), np.concatenate([v, u]), np.tile(score, 2)
    return csr_array((score, (u, v)), shape=(graph.n, graph.n))


def links_to_pandas(graph: Graph, links: RankedLinks) -> Any:
    """A frame of predicted links: rank (from 1), source and target by the names of the graph, and score."""
    return optional("pandas", purpose="links_to_pandas", extra="pandas").DataFrame(link_columns(graph, links))


def links_to_polars(graph: Graph, links: RankedLinks) -> Any:
    """A frame of predicted links: rank (from 1), source and target by the names of the graph, and score."""
    return optional("polars", purpose="links_to_polars", extra="polars").DataFrame(link_columns(graph, links))


def link_columns(graph: Graph, links: RankedLinks) -> dict[str, Any]:
    """The columns rank, source, target and score of predicted links."""
    pairs, score = checked_links(graph, links)
    names = range(graph.n) if graph.names is None else graph.names.tolist()
    source, target = ([names[node] for node in pairs[:, side].tolist()] for side in (0, 1))
    return {"rank": np.arange(1, len(pairs) + 1), "source": source, "target": target, "score": score}


def checked_links(graph: Graph, links: RankedLinks) -> tuple[Pairs, NDArray[np.float64]]:
    """``(k, 2)`` pairs of two nodes of the graph, and their ``(k,)`` scores."""
    pairs, score = np.asarray(links.pairs), np.asarray(links.score, dtype=np.float64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or score.shape != pairs.shape[:1]:
        raise InputError(f"predicted links must be (k, 2) pairs and (k,) scores, got {pairs.shape} and {score.shape}")
    if pairs.size and not np.issubdtype(pairs.dtype, np.integer):
        raise InputError(f"predicted links must be integer node indices, got {pairs.dtype}; see graph.index_of")
    pairs = pairs.astype(np.int64)
    check_nodes(pairs, graph.n)
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        name = graph.name_of(pairs[loops[0], 0])
        raise InputError(f"predicted link {loops[0] + 1} joins {name!r} with itself; leave it out")
    return pairs, score


def keys_of(graph: Graph, pairs: Pairs) -> NDArray[np.int64]:
    """``(k,)`` one integer for each pair, whatever its direction when the graph is undirected."""
    return pair_keys(pairs if graph.directed else np.sort(pairs, axis=1), graph.n)


def first_of_each(graph: Graph, pairs: Pairs) -> NDArray[np.intp]:
    """Positions of the pairs without repeats, in the order of ranks; of repeats the best rank stays."""
    return np.sort(np.unique(keys_of(graph, pairs), return_index=True)[1])

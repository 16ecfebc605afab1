"""The Graph: a frozen sparse graph with attributes and node names, checked once, here."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from gelato.attribute_scaling import Scaling
from gelato.errors import InputError
from gelato.name_lookup import close_names, question
from gelato.notebook import facts_html
from gelato.sparse import csr
from gelato.sparse.row_bands import bands, first_where, hash_bands
from gelato.validation import (
    check_name_lengths,
    check_size,
    checked_adjacency,
    checked_attributes,
    checked_direction,
    edge_array,
    first_of,
    node_count,
    real_numbers,
)

Pairs = NDArray[np.int64]
"""``(p, 2)`` node pairs; ``u < v`` when the graph is undirected."""


@dataclass(frozen=True)
class DroppedRows:
    """What ``Graph.from_edges`` left out: self-loops, and links given more than once."""

    loops: int = 0
    repeats: int = 0

    def __str__(self) -> str:
        return f"dropped {self.loops:,} self-loops and {self.repeats:,} repeated links"


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph without self-loops or repeated links.

    Attributes:
        adjacency: ``(n, n)`` float64, weights finite and positive, zero diagonal; symmetric unless ``directed``.
        attributes: ``(n, f)`` finite, sparse or dense, or ``None``.
        names: ``(n,)`` what the source called the nodes (any hashable), or ``None``.
        attribute_names: ``(f,)`` what the source called the attributes, or ``None``.
        labels: ``(n,)`` class of each node, or ``None``.
        times: ``(m,)`` when each link of ``edges`` appeared, or ``None``.
        directed: whether ``(u, v)`` and ``(v, u)`` are different links.
        sides: ``(n,)`` int8, 0 or 1, of a bipartite graph: every link joins a 0 and a 1, and only such pairs can be
            missing links. ``None``: one kind of node.
        dropped: self-loops and repeated links left out when the graph was built.
        scaling: how the attributes were scaled when a table was read, or ``None`` where they are raw values.
    """

    adjacency: "csr_array[np.float64]"
    attributes: NDArray[Any] | csr_array | None = None
    names: NDArray[Any] | None = None
    attribute_names: NDArray[Any] | None = None
    labels: NDArray[Any] | None = None
    times: NDArray[np.float64] | None = None
    directed: bool = False
    dropped: DroppedRows = DroppedRows()
    sides: NDArray[np.int8] | None = None
    scaling: Scaling | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "directed", checked_direction(self.directed))
        object.__setattr__(self, "adjacency", checked_adjacency(self.adjacency, self.directed))
        object.__setattr__(self, "attributes", checked_attributes(self.attributes, self.n))
        nodes, attributes, links = (self.n, "nodes"), (self.f, "attributes"), (self.m, "links")
        columns = {"names": nodes, "labels": nodes, "attribute_names": attributes, "times": links}
        for field, size in columns.items():
            if (given := getattr(self, field)) is not None:
                column = real_numbers(given, field).copy() if field == "times" else _column(given)
                _check_length(column, field, *size)
                object.__setattr__(self, field, _frozen(column))
        if self.times is not None and not np.isfinite(self.times).all():
            raise InputError(f"time of link {first_of(~np.isfinite(self.times))} is not finite; give every link a time")
        check_name_lengths(self.names, "node")
        check_name_lengths(self.attribute_names, "attribute")
        if self.names is not None:
            _check_names(self.names)
        if self.sides is not None:
            object.__setattr__(self, "sides", self._checked_sides(self.sides))
        if self.scaling is not None and len(self.scaling) != self.f:
            raise InputError(f"the scaling has {len(self.scaling):,} columns, but the graph has {self.f:,} attributes")

    def _checked_sides(self, given: ArrayLike) -> NDArray[np.int8]:
        sides = np.asarray(given)
        _check_length(sides, "sides", self.n, "nodes")
        if sides.dtype.kind not in "iub" or not np.isin(sides, (0, 1)).all():
            raise InputError(f"sides must be 0 or 1 for each node, got {sides.dtype} such as {sides[:3].tolist()}")
        if self.directed:
            raise InputError("a directed graph has no sides; read it without directed=True (--directed)")
        joined = joins_sides(self.edges, sides)
        if not joined.all():
            u, v = self.edges[first_of(~joined)]
            raise InputError(
                f"link ({self.name_of(u)}, {self.name_of(v)}) joins two nodes of side {sides[u]}, but every"
                " link of a bipartite graph joins its two sides; correct it, or leave sides out (--no-bipartite)"
            )
        return _frozen(sides.astype(np.int8))

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike,
        nodes: int | None = None,
        *,
        weights: ArrayLike | None = None,
        times: ArrayLike | None = None,
        directed: bool = False,
        **fields: Any,
    ) -> Self:
        """Build a graph from ``(e, 2)`` links in any order; loops and repeats are dropped and counted.

        If a link is repeated, the earliest one is kept (by time, else by position). ``fields`` are the other
        attributes of ``Graph``.

        Args:
            edges: ``(e, 2)`` node indices.
            nodes: number of nodes; by default one more than the largest index.
            weights: ``(e,)`` positive weights; all 1 by default.
            times: ``(e,)`` when each link appeared.
            directed: whether the order of a pair matters.

        >>> graph = Graph.from_edges([[0, 1], [1, 2], [2, 1], [2, 2]], names=["ann", "bob", "cem"])
        >>> graph.edges.tolist(), graph.name_of(2), str(graph.dropped)
        ([[0, 1], [1, 2]], 'cem', 'dropped 1 self-loops and 1 repeated links')
        """
        given = edge_array(edges)
        directed = checked_direction(directed)
        if given.size and not np.issubdtype(given.dtype, np.integer):
            raise InputError(f"edges must be integer node indices, got {given.dtype}; map names to indices first")
        n = node_count(nodes) if nodes is not None else int(given.max()) + 1 if given.size else 0
        check_size(n)
        check_nodes(given, n)
        weight = None if weights is None else real_numbers(weights, "weights")
        time = None if times is None else real_numbers(times, "times")
        for name, column in (("weights", weight), ("times", time)):
            if column is not None:
                _check_length(column, name, len(given), "links given")
        if weight is not None and weight.size and not (weight.min() > 0 and np.isfinite(weight.max())):
            i = first_of(~(np.isfinite(weight) & (weight > 0)))
            raise InputError(
                f"link {i} ({given[i, 0]}, {given[i, 1]}) has weight {weight[i]}; weights must be positive and finite"
            )
        key, loops = _proper_keys(given, n, directed)
        proper = len(key)
        if weight is None and time is None:
            key, kept = csr.sorted_unique(key), None
        else:
            kept = np.flatnonzero(given[:, 0] != given[:, 1])
            if time is not None:
                earlier = np.argsort(time[kept], kind="stable")
                key, kept = key[earlier], kept[earlier]
            key, first = np.unique(key, return_index=True)
            kept = kept[first]  # in the order of (u, v), as ``edges`` lists them
        adjacency = csr.from_keys(key, n, not directed, None if weight is None else weight[kept])
        time, dropped = None if time is None else time[kept], DroppedRows(loops, proper - len(key))
        return cls(adjacency, times=time, directed=directed, dropped=dropped, **fields)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    @property
    def m(self) -> int:
        """Number of links; both directions of an undirected link count once."""
        return int(self.adjacency.nnz) // (1 if self.directed else 2)

    @property
    def f(self) -> int:
        """Number of attributes, 0 without any."""
        return 0 if self.attributes is None else int(self.attributes.shape[1])

    @cached_property
    def weighted(self) -> bool:
        """Whether any weight differs from 1."""
        return not csr.is_unit(self.adjacency.data)

    @cached_property
    def pattern(self) -> "csr_array[np.float64]":
        """``(n, n)`` the adjacency with all weights 1."""
        A = self.adjacency
        return csr_array((csr.unit_array(A.nnz), A.indices, A.indptr), shape=A.shape) if self.weighted else A

    @cached_property
    def edges(self) -> Pairs:
        """``(m, 2)`` the links in the order of ``(u, v)``, with ``u < v`` when undirected."""
        return _frozen(csr.list_pairs(self.adjacency, both=self.directed))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the links, weights, direction and sides: what a split or a partition depends on."""
        digest = hashlib.sha256(f"gelato graph {self.n} {self.directed}".encode())
        for part, dtype in (("indptr", "<i8"), ("indices", "<i8"), ("data", "<f8")):
            array = getattr(self.adjacency, part)
            for i in range(0, len(array), csr.CHUNK):
                digest.update(array[i : i + csr.CHUNK].astype(dtype).tobytes())
        if self.sides is not None:
            digest.update(b"sides" + self.sides.tobytes())
        return digest.hexdigest()

    @cached_property
    def attribute_fingerprint(self) -> str | None:
        """SHA-256 of the attributes and their scaling, ``None`` without any."""
        if self.attributes is None:
            return None
        X = self.attributes
        digest = hashlib.sha256(np.array(X.shape).tobytes())
        hash_bands(digest, lambda: bands(X), index=X.indices.dtype if isinstance(X, csr_array) else None)
        for array in () if self.scaling is None else self.scaling.arrays().values():
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    @cached_property
    def name_fingerprint(self) -> str:
        """SHA-256 of the names of nodes and attributes."""
        names = repr([None if each is None else each.tolist() for each in (self.names, self.attribute_names)])
        return hashlib.sha256(names.encode()).hexdigest()

    def without(self, pairs: ArrayLike) -> Self:
        """The same graph with these ``(p, 2)`` links removed, in both directions when undirected."""
        try:
            gone = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        except (TypeError, ValueError):
            raise InputError("links to remove must be an array of node indices of shape (p, 2)") from None
        check_nodes(gone, self.n)
        gone = gone if self.directed else np.sort(gone, axis=1)
        at = csr.find_pairs(self.adjacency, gone)
        if (at < 0).any():
            u, v = gone[first_of(at < 0)]
            raise InputError(f"cannot remove ({self.name_of(u)}, {self.name_of(v)}): it is not a link of the graph")
        keep = np.ones(self.adjacency.nnz, bool)
        keep[at] = False
        if not self.directed:
            keep[csr.find_pairs(self.adjacency, gone[:, ::-1])] = False
        if not keep.any():
            raise InputError(f"removing all {self.m:,} links would leave none; keep at least one")
        times = self.times
        if times is not None:
            times = _frozen(times[keep if self.directed else keep[csr.upper_mask(self.adjacency)]])
        return self._rewired(csr.select_entries(self.adjacency, keep), times)

    def _rewired(self, adjacency: csr_array, times: NDArray[np.float64] | None) -> Self:
        """The same nodes with some of the links, which need no checks."""
        graph = object.__new__(type(self))
        held = [*(field.name for field in fields(self)), "position"]  # of what is computed only the places of names
        vars(graph).update((name, value) for name, value in vars(self).items() if name in held)
        vars(graph).update(adjacency=adjacency, times=times, dropped=DroppedRows())
        return graph

    def name_of(self, node: int | np.integer[Any]) -> Any:
        """What the source called this node, or its index."""
        name = node if self.names is None else self.names[node]
        return name.item() if isinstance(name, np.generic) else name

    @cached_property
    def position(self) -> Mapping[Any, int]:
        """The index of each name; made when it is first needed, and kept."""
        return {name: i for i, name in enumerate(range(self.n) if self.names is None else self.names.tolist())}

    def index_of(self, names: Sequence[Any]) -> NDArray[np.int64]:
        """``(len(names),)`` the indices of nodes given by name (by index when the graph has no names)."""
        if self.names is None:
            nodes = np.asarray(names)
            if nodes.size == 0 or (nodes.dtype.kind in "iu" and nodes.min() >= 0 and nodes.max() < self.n):
                return nodes.astype(np.int64)
        known = self.position
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None:
            raise InputError(self.unknown(unknown))
        return np.array([known[name] for name in names], dtype=np.int64)

    def unknown(self, name: Any) -> str:
        """The message on a name that no node has, with the names that are close to it."""
        texts = [str(each) for each in (range(self.n) if self.names is None else self.names.tolist())]
        close = question(close_names(name, texts)) or f"the graph has {self.n:,} nodes such as {self.name_of(0)!r}"
        return f"unknown node {name!r}; {close}"

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise InputError(
            "a Graph is not an array of rows: graph.edges lists its links, graph.adjacency is its matrix; to search"
            " settings use 'gelato tune' or gelato.tune"
        )

    def __repr__(self) -> str:
        kind = "".join(f"{name} " for name, holds in self._kinds.items() if holds)
        return f"Graph({kind}{self.n:,} nodes, {self.m:,} links, {self.f:,} attributes)"

    def _repr_html_(self) -> str:
        facts: dict[str, Any] = {"nodes": self.n, "links": self.m, "attributes": self.f, **self._kinds}
        if self.names is not None:
            facts["names"] = ", ".join(map(str, self.names[:3].tolist())) + (", …" if self.n > 3 else "")
        if self.times is not None:
            facts["times"] = f"{self.times.min():g} to {self.times.max():g}"
        return facts_html("Graph", facts)

    @property
    def _kinds(self) -> dict[str, bool]:
        return {"weighted": self.weighted, "directed": self.directed, "bipartite": self.sides is not None}


def joins_sides(pairs: Pairs, sides: NDArray[np.int8] | None) -> NDArray[np.bool_]:
    """``(p,)`` which pairs join the two sides of a bipartite graph; all do where there are no sides."""
    return np.ones(len(pairs), bool) if sides is None else sides[pairs[:, 0]] != sides[pairs[:, 1]]


def has_values(graph: Graph) -> bool:
    """Whether any attribute of any node differs from zero."""
    X = graph.attributes
    return X is not None and first_where(X.data if isinstance(X, csr_array) else X, lambda some: some != 0) is not None


def pair_keys(pairs: Pairs, n: int) -> NDArray[np.int64]:
    """``(p,)`` one integer for each ordered pair: ``u * n + v``."""
    key = np.empty(len(pairs), np.int64)
    for i in range(0, len(pairs), csr.CHUNK):
        key[i : i + csr.CHUNK] = pairs[i : i + csr.CHUNK, 0] * np.int64(n) + pairs[i : i + csr.CHUNK, 1]
    return key


def positions_of(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """``(p,)`` where keys are in an ascending array of keys; -1 if they are not.

    >>> positions_of(np.array([2, 5, 7]), np.array([7, 3])).tolist()
    [2, -1]
    """
    place = np.searchsorted(keys, wanted)
    return np.where(np.append(keys, -1)[place] == wanted, place, -1)


def check_nodes(pairs: Pairs, n: int) -> None:
    """Refuse ``(p, 2)`` pairs that name a node outside ``0..n-1``."""
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < n):
        u, v = pairs[first_of(np.asarray(((pairs < 0) | (pairs >= n)).any(axis=1)))]
        raise InputError(f"link ({u}, {v}) names a node outside 0..{n - 1}")


def _proper_keys(pairs: NDArray[Any], n: int, directed: bool) -> tuple[NDArray[np.int64], int]:
    """The keys of ``(e, 2)`` pairs but self-loops, the smaller node first unless directed; and the number of loops."""
    key, filled = np.empty(len(pairs), np.int64), 0
    for i in range(0, len(pairs), csr.CHUNK):
        some = pairs[i : i + csr.CHUNK].astype(np.int64)
        some = some[some[:, 0] != some[:, 1]]
        key[filled : filled + len(some)] = pair_keys(some if directed else np.sort(some, axis=1), n)
        filled += len(some)
    return key[:filled], len(pairs) - filled


def _check_length(column: NDArray[Any], name: str, length: int, of: str) -> None:
    if column.ndim != 1 or len(column) != length:
        raise InputError(f"{name} must have one entry for each of the {length:,} {of}, got shape {column.shape}")


def _check_names(names: NDArray[Any]) -> None:
    seen: dict[Any, int] = {}
    for i, name in enumerate(names.tolist()):
        if name == "" or name != name:
            raise InputError(f"node {i} has no name (got {name!r}); name every node, or none of them")
        if type(name).__hash__ is None:
            raise InputError(f"the name of node {i} is a {type(name).__name__}; give text, numbers or tuples")
        if name in seen:
            raise InputError(f"nodes {seen[name]} and {i} have the same name {name!r}; names must be unique")
        seen[name] = i


def _column(given: Any) -> NDArray[Any]:
    """A copy of a column; what is no array yet keeps its entries as they are, tuples and mixed types too."""
    if not isinstance(given, np.ndarray) and (isinstance(given, str) or not np.iterable(given)):
        raise InputError(f"names and labels must be lists with one entry per node or attribute, got {given!r}")
    return given.copy() if isinstance(given, np.ndarray) else np.fromiter(given, dtype=object)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array

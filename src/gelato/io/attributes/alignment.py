"""The attributes of one graph in the columns of another, such as the graph a model was trained on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.attribute_scaling import Scaling, to_scaling
from gelato.errors import InputError
from gelato.formatting import counted
from gelato.graph import Graph
from gelato.io.attributes.options import shortened_list

ENOUGH_COLUMNS = 0.5
"""Share of the columns that must be present; with fewer, the tables describe different things."""


@dataclass(frozen=True)
class Alignment:
    """How the columns of a table match those of a model.

    Attributes:
        missing: columns of the model that the table lacks; they count as 0.
        unknown: columns of the table that the model does not know; they are left out.
        same_order: whether the columns that both have are in the same order.
        total: how many columns the model has.
    """

    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    same_order: bool = True
    total: int = 0

    @property
    def exact(self) -> bool:
        """Whether the table has the columns of the model, and no others, in the same order."""
        return not self.missing and not self.unknown and self.same_order

    def __str__(self) -> str:
        sentences = [f"all {self.total:,} attribute columns of the model are in this table"]
        if self.missing:
            fate = "is not in this table and counts" if len(self.missing) == 1 else "are not in this table and count"
            columns = f"{len(self.missing):,} of the model's {self.total:,} attribute columns"
            sentences = [f"{columns} {fate} as 0: {shortened_list(self.missing)}"]
        if self.unknown:
            columns, are = counted(len(self.unknown), "column"), "is" if len(self.unknown) == 1 else "are"
            fate = f"{are} unknown to the model and {are} left out"
            sentences.append(f"{columns} of the table {fate}: {shortened_list(self.unknown)}")
        if not self.same_order:
            sentences.append("the columns are in another order and are rearranged to match the model")
        return "; ".join(sentences)


def align_attributes(graph: Graph, columns: Sequence[str], scaling: Scaling | None = None) -> tuple[Graph, Alignment]:
    """The graph with its attributes in these columns, scaled alike, and how well they matched.

    Columns are matched by name: one that the graph lacks becomes zeros, which is the mean where a column is
    standardised, and one that only the graph has is left out. A graph whose attributes have no names is taken as it is
    when their number fits. Attributes that were scaled in another way are brought back to raw values first. Sparse
    attributes stay sparse.

    Args:
        graph: a graph with attributes.
        columns: names of the attributes wanted, in their order, such as those of the graph a model was trained on.
        scaling: how the attributes wanted are scaled, such as that graph's ``scaling``; ``None`` for raw values.

    >>> graph = Graph.from_edges([[0, 1]], attributes=[[1, 2], [3, 4]], attribute_names=["b", "a"])
    >>> aligned, alignment = align_attributes(graph, ["a", "b", "c"])
    >>> aligned.attributes.tolist()
    [[2.0, 1.0, 0.0], [4.0, 3.0, 0.0]]
    >>> alignment.missing, alignment.same_order
    (('c',), False)
    """
    wanted = [str(name) for name in columns]
    if graph.attributes is None:
        raise InputError(
            f"the graph has no attributes, but {len(wanted):,} columns are needed, such as {shortened_list(wanted)}; "
            "give it an attribute table"
        )
    if graph.attribute_names is None:
        if graph.f != len(wanted):
            raise InputError(
                f"the graph has {graph.f:,} attributes without names, but {len(wanted):,} columns are needed, such as "
                f"{shortened_list(wanted)}; name its attributes, or give it exactly these"
            )
        return rescaled(graph, scaling), Alignment(total=len(wanted))
    held = [str(name) for name in graph.attribute_names.tolist()]
    if held == wanted:
        return rescaled(graph, scaling), Alignment(total=len(wanted))
    place, known = _places(wanted, "the columns wanted"), _places(held, "the attributes of the graph")
    missing = tuple(name for name in wanted if name not in known)
    unknown = tuple(name for name in held if name not in place)
    if len(wanted) - len(missing) < ENOUGH_COLUMNS * len(wanted) or not wanted:
        raise InputError(
            f"only {len(wanted) - len(missing):,} of {len(wanted):,} attribute columns are in the graph, fewer than "
            f"half: needed {shortened_list(missing)}; the graph has {shortened_list(unknown or held)}; "
            "use a table with the model's columns, or rename the columns"
        )
    there = np.array([place.get(name, -1) for name in held], dtype=np.int64)
    both = there[there >= 0]
    alignment = Alignment(missing, unknown, bool((np.diff(both) > 0).all()), len(wanted))
    raw = _moved(to_scaling(graph.attributes, graph.scaling, None), there, len(wanted))
    if scaling is not None:
        present = np.where(np.isin(np.arange(len(wanted)), both), np.arange(len(wanted)), -1)
        raw = scaling.rearranged(present, len(wanted)).apply(raw)
    return replace(graph, attributes=raw, attribute_names=np.array(wanted, object), scaling=scaling), alignment


def rescaled(graph: Graph, scaling: Scaling | None) -> Graph:
    """The same graph with its attributes scaled in this way."""
    assert graph.attributes is not None
    attributes = to_scaling(graph.attributes, graph.scaling, scaling)
    return graph if attributes is graph.attributes else replace(graph, attributes=attributes, scaling=scaling)


def _moved(x: NDArray[Any] | csr_array, there: NDArray[np.int64], width: int) -> NDArray[Any] | csr_array:
    """A matrix whose column ``i`` becomes column ``there[i]``, unless that is -1, and all others zeros."""
    held = np.flatnonzero(there >= 0)
    if isinstance(x, csr_array):
        return csr_array(x @ csr_array((np.ones(len(held), x.dtype), (held, there[held])), shape=(x.shape[1], width)))
    moved = np.zeros((x.shape[0], width), dtype=x.dtype)
    moved[:, there[held]] = x[:, held]
    return moved


def _places(names: Sequence[str], what: str) -> dict[str, int]:
    place: dict[str, int] = {}
    for i, name in enumerate(names):
        if place.setdefault(name, i) != i:
            raise InputError(f"two of {what} are called {name!r}; rename one")
    return place

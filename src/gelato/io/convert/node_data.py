"""What the nodes and links of NetworkX graphs have under their keys, as numbers and attributes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from gelato.errors import InputError
from gelato.io.attributes.options import AttributeOptions
from gelato.io.attributes.table import AttributeTable, attribute_table
from gelato.io.tables.column import FrameColumn
from gelato.io.tables.table import FrameTable
from gelato.validation import real_numbers


def attribute_fields(graph: Any, keys: Sequence[str]) -> dict[str, Any]:
    """The fields of the graph that hold what its nodes have under some keys."""
    if not keys:
        return {}
    if len(keys) == 1 and not _is_text(graph, keys[0]):
        return {"attributes": _vectors(graph, keys[0])}
    blocks: list[Any] = []
    labels: list[str] = []
    for key in keys:
        if _is_text(graph, key):
            values = [data.get(key) for _, data in graph.nodes(data=True)]
            table = _text_table(key, ["" if value is None else str(value) for value in values])
            block, own = csr_array(table.matrix), table.columns.tolist()
        else:
            block = csr_array(_vectors(graph, key))
            own = [key] if block.shape[1] == 1 else [f"{key}_{i}" for i in range(block.shape[1])]
        blocks.append(block)
        labels += own
    return {"attributes": csr_array(hstack(blocks)), "attribute_names": labels}


def _text_table(key: str, cells: list[str]) -> AttributeTable:
    """The attributes in a column of text."""
    count = len(cells)
    columns = {f"{key} ": FrameColumn(lambda: list(range(count)), count), key: FrameColumn(lambda: cells, count)}
    return attribute_table(
        FrameTable(columns, "the nodes of the NetworkX graph"), AttributeOptions(scale="none", key=0)
    )


def _is_text(graph: Any, key: str) -> bool:
    """Whether a node has text under a key."""
    return any(isinstance(data.get(key), str) for _, data in graph.nodes(data=True))


def _vectors(graph: Any, key: str) -> NDArray[np.float64]:
    rows: list[NDArray[np.float64]] = []
    for name, data in graph.nodes(data=True):
        rows.append(vector(data, key, f"node {name!r}", size=len(rows[0]) if rows else None))
    return np.array(rows)


def vector(data: Any, key: str, place: str, size: int | None) -> NDArray[np.float64]:
    """The numbers under a key, ``size`` of them."""
    if key not in data:
        raise InputError(f"{place} has no {key!r}; give it one, like the others")
    try:
        vector = real_numbers(data[key], key).ravel()
    except (TypeError, ValueError):  # InputError is a ValueError
        raise InputError(f"{place}: {key!r} is {data[key]!r}, which is not a list of numbers; correct it") from None
    if size is not None and len(vector) != size:
        raise InputError(f"{place}: {key!r} has {len(vector)} numbers, but others have {size}; make them equal")
    if not np.isfinite(vector).all():
        raise InputError(f"{place}: {key!r} is {data[key]!r}, which is not finite; fill missing values")
    return vector

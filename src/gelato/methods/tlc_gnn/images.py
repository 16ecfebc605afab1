"""Persistence images of all near pairs of a graph: made once, on all cores, and resumed after a kill."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, triu
from torch import Tensor

from gelato.datasets.locations import cache_folder
from gelato.errors import InputError
from gelato.graph import Pairs, pair_keys
from gelato.io.untrusted import DamagedData, checked_array
from gelato.kernels.extended_persistence import SIDE
from gelato.kernels.ricci_curvature import link_lengths
from gelato.kernels.threads import default_threads, run_blocks
from gelato.kernels.vicinity_images import vicinity_images
from gelato.ranking.checkpoint import NAMED, Checkpoint, remove_old
from gelato.scores import key_of
from gelato.torch_ops.row_intersection import DeviceRows

PIXELS = SIDE * SIDE
"""Numbers of an image."""

SPREAD = 1.0
"""Standard deviation of a point of an image, as its authors have it."""

MOST_PAIRS = 20_000_000
"""Images that are held, at most: 2 GB."""

LARGEST_PRODUCT = 2**26
"""Product of the degrees of two linked nodes, at most: transport between them holds tables of as many numbers."""

PAIRS_OF_BLOCK, ROWS_OF_BAND = 2048, 512


@dataclass(frozen=True, eq=False)
class DeviceImages:
    """Images on a device.

    Attributes:
        near: ``(n, n)`` pairs that have an image, both ways; the entry is which.
        pixels: ``(p, 25)``.
    """

    near: DeviceRows
    pixels: Tensor

    def listed(self, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Which of some pairs have an image, and their ``(q, 25)`` images."""
        hit, place = self.near.find(u, v)
        which = hit.nonzero()[:, 0]
        return which, self.pixels[self.near.values[place[which]]]

    def block(self, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
        """Which of the ``b c`` pairs of rows with columns have an image, row by row, and their ``(q, 25)`` images."""
        position = torch.full((self.near.n,), -1, device=columns.device)
        position[columns] = torch.arange(len(columns), device=columns.device)
        row, place = self.near.entries(rows)
        column = position[self.near.indices[place]]
        inside = column >= 0
        return (row * len(columns) + column)[inside], self.pixels[self.near.values[place[inside]]]


class VicinityImages:
    """Images of the pairs of a graph; all others have 0.

    Attributes:
        n: number of nodes.
        key: of all that the images depend on.
        pairs: ``(p, 2)`` those with an image, ``u < v``.
        pixels: ``(p, 25)`` float32.
    """

    def __init__(self, n: int, key: str, pairs: Pairs, pixels: NDArray[np.float32]) -> None:
        self.n, self.key, self.pairs, self.pixels = n, key, pairs, pixels
        self._on: dict[tuple[torch.device, torch.dtype], DeviceImages] = {}

    @classmethod
    def of(cls, adjacency: csr_array, hops: int) -> Self:
        """Make them, or read what is kept of an earlier run on the same graph; links count without weights.

        Of a linked pair the lengths of all links around are computed anew without its own. That takes most of the time,
        a few ms a link on sparse graphs, and hundreds of them where nodes have dozens of common neighbours.
        """
        key, A = image_key(adjacency, hops), sorted_rows(adjacency)
        check_degrees(A)
        pairs = np.concatenate([*near_pairs(A, hops), np.empty((0, 2), np.int64)])
        pixels = np.zeros((len(pairs), PIXELS), np.float32)
        _make(A, hops, key, pairs, pixels)
        some = pixels.any(axis=1)
        return cls(A.shape[0], key, pairs[some], pixels[some])

    def on(self, device: torch.device, dtype: torch.dtype) -> DeviceImages:
        """The images on a device, put there once."""
        if (device, dtype) not in self._on:
            both = np.concatenate([self.pairs, self.pairs[:, ::-1]])
            keys = pair_keys(both, self.n)
            order = np.argsort(keys)
            row, column = both[order].T
            indptr = np.searchsorted(row, np.arange(self.n + 1))
            which = order % max(len(self.pairs), 1)
            parts = [torch.as_tensor(part, device=device) for part in (indptr, column.copy(), which, keys[order])]
            pixels = torch.as_tensor(self.pixels, device=device).to(dtype)
            self._on[device, dtype] = DeviceImages(DeviceRows(*parts), pixels)
        return self._on[device, dtype]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing of it changes

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_on": {}}


def image_key(adjacency: csr_array, hops: int) -> str:
    """The key of the images of a graph."""
    A = sorted_rows(adjacency)
    return key_of("vicinity images 1", A.indptr.astype(np.int64), A.indices.astype(np.int64), hops, SPREAD)


def sorted_rows(adjacency: csr_array) -> csr_array:
    """An adjacency whose columns ascend in each row."""
    if adjacency.has_sorted_indices:
        return adjacency
    A = adjacency.copy()
    A.sort_indices()
    return A


def check_degrees(adjacency: csr_array) -> None:
    """Refuse links between hubs that are too large for exact transport."""
    degrees = np.diff(adjacency.indptr).astype(np.int64)
    product = np.repeat(degrees, degrees) * degrees[adjacency.indices]
    if len(product) and product.max() > LARGEST_PRODUCT:
        raise InputError(
            f"two linked nodes have degrees of product {product.max():,}, but curvature is computed up to "
            f"{LARGEST_PRODUCT:,}; use another method, or leave such hubs out"
        )


def near_pairs(adjacency: csr_array, hops: int) -> Iterator[Pairs]:
    """``(., 2)`` pairs ``u < v`` joined by two links, or with two hops by two or three: no others have an image."""
    A = csr_array((np.ones(adjacency.nnz, np.float32), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    count = 0
    for begin in range(0, A.shape[0], ROWS_OF_BAND):
        reached = csr_array(A[begin : begin + ROWS_OF_BAND] @ A)
        if hops == 2:
            reached.data[:] = 1
            reached = csr_array(reached + reached @ A)
        above = triu(reached, begin + 1, format="coo")
        count += above.nnz
        if count > MOST_PAIRS:
            raise InputError(
                f"more than {MOST_PAIRS:,} pairs of nodes are near enough for an image with hops={hops}; "
                + ("set hops to 1" if hops == 2 else "use another method, or a smaller graph")
            )
        order = np.lexsort((above.col, above.row))
        yield np.column_stack([above.row[order] + begin, above.col[order]]).astype(np.int64)


def _make(A: csr_array, hops: int, key: str, pairs: Pairs, pixels: NDArray[np.float32]) -> None:
    """Write the images of pairs into ``pixels``, but for those that are kept; what took long is kept."""
    folder, begun = cache_folder() / "images", time.monotonic()
    remove_old(folder)
    checkpoint = Checkpoint(folder / f"{key[:NAMED]}.npz", key)
    cuts = np.arange(0, len(pairs), PAIRS_OF_BLOCK)
    kept, done = checkpoint.start("images", len(cuts))
    try:
        if kept is not None:
            pixels[:] = checked_array(kept, "pixels", np.float32, pixels.shape)
    except DamagedData:
        done = checkpoint.discard()
    todo, threads = np.flatnonzero(~done).tolist(), default_threads()
    if not todo:
        return
    indptr, indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    lengths = np.zeros(len(indices))
    bands = list(range(0, A.shape[0], ROWS_OF_BAND))

    def measure(_: None, begin: int) -> None:
        link_lengths(indptr, indices, begin, min(begin + ROWS_OF_BAND, A.shape[0]), lengths)

    def draw(_: None, block: int) -> None:
        part = slice(cuts[block], cuts[block] + PAIRS_OF_BLOCK)
        pixels[part] = 0
        vicinity_images(indptr, indices, lengths, pairs[part], hops, SPREAD, pixels[part])

    def keep(_: None, block: int) -> None:
        if len(cuts) > 1:
            checkpoint.add(block, {"pixels": pixels})

    run_blocks(bands, lambda: None, measure, lambda _, begin: None, threads)
    run_blocks(todo, lambda: None, draw, keep, threads)
    if len(cuts) > 1 and time.monotonic() - begun > checkpoint.every:
        checkpoint.save()

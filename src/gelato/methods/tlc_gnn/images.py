"""Persistence images of all near pairs of a graph: made once, on all cores, and resumed after a kill."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from gelato.datasets.locations import cache_folder
from gelato.graph import Pairs, pair_keys
from gelato.io.untrusted import DamagedData, check_values, checked_array
from gelato.kernels.extended_persistence import SIDE
from gelato.kernels.ricci_curvature import link_lengths
from gelato.kernels.threads import default_threads, run_blocks
from gelato.kernels.vicinity_images import vicinity_images
from gelato.methods.tlc_gnn.workload import Sides, even_blocks, planned_pairs, transport_threads
from gelato.ranking.checkpoint import NAMED, Checkpoint, remove_old
from gelato.scores import key_of
from gelato.torch_ops.row_intersection import DeviceRows

PIXELS = SIDE * SIDE
"""Numbers of an image."""

SPREAD = 1.0
"""Standard deviation of a point of an image, as its authors have it."""

OF_BLOCK = 2.0**30
"""Steps of a block, about a second: Ctrl-C waits for no more, but for a single pair."""

KEPT_FROM = 60.0
"""Seconds of work from which images are kept."""

WRITTEN = 2.0**22
"""Bytes in a second between two writes, at most: little of the time goes into them."""


@dataclass(frozen=True, eq=False)
class DeviceImages:
    """Images on a device.

    Attributes:
        near: ``(n, n)`` pairs that have an image, both ways; the entry is which.
        pixels: ``(p, 25)`` float32.
        dtype: of the images that are given.
    """

    near: DeviceRows
    pixels: Tensor
    dtype: torch.dtype

    def listed(self, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Which of some pairs have an image, and their ``(q, 25)`` images."""
        hit, place = self.near.find(u, v)
        which = hit.nonzero()[:, 0]
        return which, self.pixels[self.near.values[place[which]]].to(self.dtype)

    def block(self, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
        """Which of the ``b c`` pairs of rows with columns have an image, row by row, and their ``(q, 25)`` images."""
        position = torch.full((self.near.n,), -1, device=columns.device)
        position[columns] = torch.arange(len(columns), device=columns.device)
        row, place = self.near.entries(rows)
        column = position[self.near.indices[place]]
        inside = column >= 0
        pixels = self.pixels[self.near.values[place[inside]]]
        return (row * len(columns) + column)[inside], pixels.to(self.dtype)


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
        self._on: dict[torch.device, DeviceImages] = {}

    @classmethod
    def of(cls, adjacency: csr_array, hops: int, sides: Sides = None, threads: int | None = None) -> Self:
        """Make them, or read what is kept of an earlier run on the same graph; links count without weights.

        Of a linked pair the lengths of all links around are computed anew without its own. That takes most of the time,
        a few ms a link on sparse graphs, and hundreds of them where nodes have dozens of common neighbours. A graph
        that would take hours is refused. Of a bipartite graph, given by its sides, pairs within one have none.
        """
        key, A = image_key(adjacency, hops, sides), sorted_rows(adjacency)
        threads = transport_threads(A, default_threads() if threads is None else threads)
        pairs, work, of_links = planned_pairs(A, hops, sides, threads)
        pixels = np.zeros((len(pairs), PIXELS), np.float32)
        indptr, indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)
        lengths = np.zeros(len(indices))

        def measure(_: None, part: slice) -> None:
            link_lengths(indptr, indices, part.start, part.stop, lengths)

        def draw(part: slice) -> None:
            pixels[part] = 0
            vicinity_images(indptr, indices, lengths, pairs[part], hops, SPREAD, pixels[part])

        bands = even_blocks(of_links, OF_BLOCK)
        prepare = partial(run_blocks, bands, lambda: None, measure, lambda _, part: None, threads)
        _fill(pixels, key, even_blocks(work, OF_BLOCK), prepare, draw, threads)
        some = pixels.any(axis=1)
        return cls(A.shape[0], key, pairs[some], pixels[some])

    def on(self, device: torch.device, dtype: torch.dtype) -> DeviceImages:
        """The images on a device, put there once for all types of numbers."""
        if device not in self._on:
            both = np.concatenate([self.pairs, self.pairs[:, ::-1]])
            keys = pair_keys(both, self.n)
            order = np.argsort(keys)
            row, column = both[order].T
            indptr = np.searchsorted(row, np.arange(self.n + 1))
            which = order % max(len(self.pairs), 1)
            parts = [torch.as_tensor(part, device=device) for part in (indptr, column.copy(), which, keys[order])]
            self._on[device] = DeviceImages(DeviceRows(*parts), torch.as_tensor(self.pixels, device=device), dtype)
        return replace(self._on[device], dtype=dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing of it changes

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_on": {}}


def image_key(adjacency: csr_array, hops: int, sides: Sides = None) -> str:
    """The key of the images of a graph."""
    A = sorted_rows(adjacency)
    links = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    return key_of("vicinity images 2", *links, hops, SPREAD, *(() if sides is None else (sides,)))


def sorted_rows(adjacency: csr_array) -> csr_array:
    """An adjacency whose columns ascend in each row."""
    if adjacency.has_sorted_indices:
        return adjacency
    A = adjacency.copy()
    A.sort_indices()
    return A


def _fill(
    pixels: NDArray[np.float32],
    key: str,
    blocks: list[slice],
    prepare: Callable[[], None],
    draw: Callable[[slice], None],
    threads: int,
) -> None:
    """Write ``pixels`` block by block, but for those that are kept; what took long is kept."""
    folder, begun = cache_folder() / "images", time.monotonic()
    remove_old(folder)
    every = KEPT_FROM + pixels.nbytes / WRITTEN
    checkpoint = Checkpoint(folder / f"{key[:NAMED]}.npz", key, every)
    kept, done = checkpoint.start(key_of(np.array([part.start for part in blocks])), len(blocks))
    try:
        if kept is not None:
            pixels[:] = _checked_pixels(kept, pixels.shape)
    except DamagedData:
        done = checkpoint.discard()
    todo = np.flatnonzero(~done).tolist()
    if not todo:
        return
    prepare()
    run_blocks(
        todo,
        lambda: None,
        lambda _, block: draw(blocks[block]),
        lambda _, block: checkpoint.add(block, {"pixels": pixels}),
        threads,
    )
    if time.monotonic() - begun > KEPT_FROM:
        checkpoint.save()


def _checked_pixels(kept: Mapping[str, NDArray[Any]], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """The pixels of a file: finite, and none below 0."""
    pixels = checked_array(kept, "pixels", np.float32, shape)
    check_values("pixels", bool(np.isfinite(pixels).all() and (pixels >= 0).all()))
    return pixels

"""Write a large generated graph to an npz file, by seed and in bounded memory.

    python benchmarks/large.py blocks blocks.npz --nodes 2000000 --links 20000000
    python benchmarks/large.py tail tail.npz --nodes 2000000 --links 20000000

``blocks`` is a block model of constant expected degree: communities of ``COMMUNITY`` nodes hold ``INSIDE`` of the
links, and all nodes are alike. ``tail`` draws both ends of a link with probabilities that fall as the square root of a
node's place, so that degrees follow a power law of exponent 3. Links come in no order, and those that are drawn twice
or join a node to itself are left in the file: reading drops them.
"""

import argparse
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

CHUNK = 1 << 20
"""Links drawn at a time."""
COMMUNITY = 1000
INSIDE = 0.8

Pairs = NDArray[np.int32]


def blocks(nodes: int, count: int, random: np.random.Generator) -> Pairs:
    """``(count, 2)`` links of the block model."""
    u = random.integers(nodes, size=count)
    begin = u - u % COMMUNITY
    near = begin + random.integers(np.minimum(COMMUNITY, nodes - begin))
    v = np.where(random.random(count) < INSIDE, near, random.integers(nodes, size=count))
    return np.column_stack([u, v]).astype(np.int32)


def tail(nodes: int, count: int, random: np.random.Generator) -> Pairs:
    """``(count, 2)`` links whose ends are drawn by place; places are scattered over the indices."""
    place = (nodes * random.random((count, 2)) ** 2).astype(np.int64)
    step = next(step for step in range(int(0.6180339887 * nodes), nodes) if np.gcd(step, nodes) == 1)
    return (place * step % nodes).astype(np.int32)


KINDS = {"blocks": blocks, "tail": tail}


def chunks(kind: str, nodes: int, links: int, seed: int) -> Iterator[Pairs]:
    """All links, some at a time."""
    random = np.random.default_rng(seed)
    for begin in range(0, links, CHUNK):
        yield KINDS[kind](nodes, min(CHUNK, links - begin), random)


def write(path: Path, kind: str, nodes: int, links: int, seed: int) -> None:
    """Write the arrays ``edges`` and ``num_nodes``, uncompressed."""
    with zipfile.ZipFile(path, "w") as archive:
        with archive.open("edges.npy", "w", force_zip64=True) as file:
            npy.write_array_header_1_0(file, {"descr": "<i4", "fortran_order": False, "shape": (links, 2)})
            for chunk in chunks(kind, nodes, links, seed):
                file.write(chunk.tobytes())
        with archive.open("num_nodes.npy", "w") as file:
            npy.write_array(file, np.array(nodes))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("path", type=Path)
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--links", type=int, default=20_000_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    write(given.path, given.kind, given.nodes, given.links, given.seed)

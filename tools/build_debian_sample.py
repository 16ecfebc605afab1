"""Cut the sample shipped with the package out of the dependency graph of Debian 12.

The rules look at sections, degrees and frequencies only, and are told in ``docs/sample.md``. The same input
gives the same bytes.
"""

import argparse
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Arrays = dict[str, NDArray[Any]]

SECTIONS = ("math", "python", "science")
MAX_NEIGHBOURS = 50  # in the whole graph; a package with more is a hub
MIN_PACKAGES = 3  # an attribute of fewer packages of the sample is dropped ...
MAX_SHARE = 1 / 3  # ... and so is one of a larger share of them
UNFILLED = "::TODO"  # a debtag that says that its facet was not filled in

NEEDED = ("edges", "num_nodes", "x_data", "x_indices", "x_indptr", "x_shape", "y", "names", "x_names", "y_names")
TIMESTAMP = (1980, 1, 1, 0, 0, 0)  # the earliest a zip file knows


def sample(whole: Mapping[str, NDArray[Any]]) -> Arrays:
    """The part of ``whole`` that the rules keep, in the same format and the same order of the nodes."""
    n = int(whole["num_nodes"])
    section = whole["y_names"].astype(str)[whole["y"]]
    degree = np.bincount(whole["edges"].ravel(), minlength=n)
    kept = _largest_component(_links(whole["edges"], n), np.isin(section, SECTIONS) & (degree <= MAX_NEIGHBOURS))
    position = np.full(n, -1, dtype=np.int32)
    position[kept] = np.arange(len(kept), dtype=np.int32)
    edges = position[whole["edges"]]
    edges = np.sort(edges[(edges >= 0).all(axis=1)], axis=1)
    words = csr_array((whole["x_data"], whole["x_indices"], whole["x_indptr"]), shape=tuple(whole["x_shape"]))[kept]
    word_names = whole["x_names"].astype(str)
    packages = np.bincount(words.indices, minlength=len(word_names))
    common = (packages >= MIN_PACKAGES) & (packages <= MAX_SHARE * len(kept))
    columns = np.flatnonzero(common & ~np.char.endswith(word_names, UNFILLED))
    words = words[:, columns]
    words.sort_indices()
    y_names, y = np.unique(section[kept], return_inverse=True)
    return {
        "edges": edges[np.lexsort((edges[:, 1], edges[:, 0]))],
        "num_nodes": np.array(len(kept), dtype=np.int64),
        "x_data": np.ones(words.nnz, dtype=np.float32),
        "x_indices": words.indices.astype(np.int32),
        "x_indptr": words.indptr.astype(np.int32),
        "x_shape": np.array(words.shape, dtype=np.int64),
        "y": y.astype(np.int16),
        "names": _tight(whole["names"].astype(str)[kept]),
        "x_names": _tight(word_names[columns]),
        "y_names": _tight(y_names),
    }


def statistics(part: Mapping[str, NDArray[Any]]) -> dict[str, str]:
    """What ``docs/sample.md`` tells about the sample, as text."""
    n, m, f = int(part["num_nodes"]), len(part["edges"]), int(part["x_shape"][1])
    degree = np.bincount(part["edges"].ravel(), minlength=n)
    links = _links(part["edges"], n)
    reached = links @ links @ links
    reached.setdiag(0)
    sections = zip(part["y_names"], np.bincount(part["y"]), strict=True)
    return {
        "nodes": f"{n:,} ({', '.join(f'{name} {count:,}' for name, count in sections)})",
        "links": f"{m:,}",
        "attributes": f"{f:,} ({np.char.startswith(part['x_names'], 'tag:').sum():,} debtags)",
        "attributes per node": f"{len(part['x_indices']) / n:.2f}",
        "nodes without attributes": f"{(np.diff(part['x_indptr']) == 0).sum():,}",
        "average degree": f"{2 * m / n:.2f}",
        "largest degree": f"{degree.max():,}",
        "nodes of degree 1": f"{(degree == 1).mean():.1%}",
        "linked pairs": f"{2 * m / (n * (n - 1)):.3%}",
        "pairs joined by a walk of three steps": f"{reached.count_nonzero() / (n * (n - 1)):.2%}",
    }


def write(part: Mapping[str, NDArray[Any]], target: Path) -> None:
    """Write a compressed npz file whose bytes depend on nothing but ``part``."""
    with zipfile.ZipFile(target, "w") as archive:
        for name, array in part.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=TIMESTAMP)
            entry.create_system = 3  # the platform's own mark would differ between platforms
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, buffer.getvalue(), compress_type=zipfile.ZIP_DEFLATED, compresslevel=9)


def _links(edges: NDArray[Any], n: int) -> csr_array:
    u, v = np.concatenate([edges, edges[:, ::-1]]).T
    return csr_array((np.ones(len(u)), (u, v)), shape=(n, n))


def _largest_component(links: csr_array, candidate: NDArray[np.bool_]) -> NDArray[np.int64]:
    nodes = np.flatnonzero(candidate)
    _, component = connected_components(links[nodes][:, nodes], directed=False)
    return np.asarray(nodes[component == np.bincount(component).argmax()], dtype=np.int64)


def _tight(texts: NDArray[np.str_]) -> NDArray[np.str_]:
    """The texts in the narrowest little-endian type that holds them."""
    return texts.astype(f"<U{np.char.str_len(texts).max()}")


def main(argv: Sequence[str] | None = None) -> int:
    """Build the sample and print its statistics."""
    parser = argparse.ArgumentParser(
        description="Cut the sample of the package out of the dependency graph of Debian 12 and print its statistics: "
        f"sections {', '.join(SECTIONS)}; packages with at most {MAX_NEIGHBOURS} neighbours in the whole graph; "
        "largest connected component. The same input gives the same bytes.",
        epilog="example: python tools/build_debian_sample.py debian_bookworm.npz src/gelato/datasets/debian_sample.npz",
    )
    parser.add_argument("input", metavar="INPUT.npz", type=Path, help="the whole graph (see docs/sample.md)")
    parser.add_argument("output", metavar="OUTPUT.npz", type=Path, help="file to write")
    args = parser.parse_args(argv)
    if not args.input.is_file():
        parser.error(f"{args.input} is not a file; give the npz file of the whole graph")
    with np.load(args.input, allow_pickle=False) as file:
        missing = [name for name in NEEDED if name not in file]
        if missing:
            parser.error(f"{args.input} has no array {missing[0]!r}; needed: {', '.join(NEEDED)}")
        part = sample({name: file[name] for name in NEEDED})
    write(part, args.output)
    for name, value in {**statistics(part), "bytes": f"{args.output.stat().st_size:,}"}.items():
        print(f"{name:<38} {value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

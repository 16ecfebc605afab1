"""The sample inside the package: packages of Debian 12 and their dependencies, available without a download."""

from importlib import resources

import numpy as np
from scipy.sparse import csr_array

from gelato.graph import Graph

SAMPLE_FILE = "debian_sample.npz"


def debian_sample() -> Graph:
    """Python, science and mathematics packages of Debian 12, linked by their dependencies.

    ===============  =====
    nodes            3,727
    links            7,283
    attributes       1,258
    average degree    3.91
    largest degree      41
    ===============  =====

    The largest connected part of the sections ``math``, ``python`` and ``science``, without the hubs (packages with
    more than 50 neighbours in the whole distribution). ``names`` are package names, ``labels`` sections, and
    ``attributes`` are binary: words of the one-line description, and debtags (``tag:...``).

    The source is the package metadata of Debian 12 "bookworm": names, sections, dependencies, descriptions and
    debtags. These are facts about packages and single words, not the packages or their descriptions; the file they
    came from states no licence. Package names reveal many links (``python3-reportlab`` and
    ``python3-reportlab-accel``) and nothing is published on this graph, so it is for trying things out and not for
    claims about accuracy. ``docs/sample.md`` has the rules, and says what is unknown about the source.

    Returns:
        An undirected, unweighted graph; the same one on every call.

    >>> debian_sample()
    Graph(3,727 nodes, 7,283 links, 1,258 attributes)
    """
    sample = resources.files("gelato.datasets").joinpath(SAMPLE_FILE)
    with sample.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        rows = (arrays["x_data"], arrays["x_indices"], arrays["x_indptr"])
        return Graph.from_edges(
            arrays["edges"],
            int(arrays["num_nodes"]),
            attributes=csr_array(rows, shape=tuple(arrays["x_shape"])),
            names=arrays["names"],
            attribute_names=arrays["x_names"],
            labels=arrays["y_names"][arrays["y"]],
        )

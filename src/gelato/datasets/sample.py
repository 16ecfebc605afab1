"""The sample inside the package: packages of Debian 12 and their dependencies, without a download."""

from importlib import resources

import numpy as np
from scipy.sparse import csr_array

from gelato.graph import Graph

SAMPLE = "debian_sample.npz"


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
    came from states no licence. Package names give many links away (``python3-reportlab`` and
    ``python3-reportlab-accel``) and nothing is published on this graph, so it is for trying things out and not for
    claims of accuracy. ``docs/sample.md`` has the rules and what is not known about the source.

    Returns:
        An undirected, unweighted graph; the same one on every call.
    """
    with (
        resources.files("gelato.datasets").joinpath(SAMPLE).open("rb") as file,
        np.load(file, allow_pickle=False) as part,
    ):
        return Graph.from_edges(
            part["edges"],
            int(part["num_nodes"]),
            attributes=csr_array((part["x_data"], part["x_indices"], part["x_indptr"]), shape=tuple(part["x_shape"])),
            names=part["names"],
            attribute_names=part["x_names"],
            labels=part["y_names"][part["y"]],
        )

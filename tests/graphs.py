"""Toy graphs with a name, and strategies that make random ones."""

import numpy as np
from hypothesis import strategies as st

from gelato.graph import Graph

WEIGHTS = (0.5, 1.0, 2.0, 3.0)
"""Exactly representable and few, so that weighted scores tie as well."""


def random_graph(seed: int, *, nodes: int = 12, weighted: bool = False, directed: bool = False) -> Graph:
    """A sparse graph with isolated nodes, a hub now and then, and small attributes."""
    random = np.random.default_rng(seed)
    n = int(random.integers(5, nodes + 1))
    density = random.choice([0.1, 0.2, 0.4])
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v and random.random() < density]
    pairs += [(0, v) for v in range(2, n) if random.random() < 0.3] + [(0, 1), (1, 2), (2, 3), (3, 4)]
    weights = random.choice(WEIGHTS, size=len(pairs)) if weighted else None
    attributes = random.integers(0, 2, size=(n, 3)).astype(float)
    return Graph.from_edges(pairs, n, weights=weights, directed=directed, attributes=attributes)


def random_bipartite(seed: int, *, nodes: int = 13, weighted: bool = False) -> Graph:
    """A sparse bipartite graph whose sides are mixed among the indices, with isolated nodes and small attributes."""
    random = np.random.default_rng(seed)
    n = int(random.integers(6, nodes + 1))
    sides = random.permutation(np.arange(n) < random.integers(2, n - 1)).astype(np.int8)
    one, other = np.flatnonzero(sides == 0), np.flatnonzero(sides == 1)
    density = random.choice([0.15, 0.3, 0.6])
    pairs = [(u, v) for u in one for v in other if random.random() < density]
    pairs += [(one[0], v) for v in other[:3]] + [(u, other[0]) for u in one[:3]]
    weights = random.choice(WEIGHTS, size=len(pairs)) if weighted else None
    attributes = random.integers(0, 2, size=(n, 3)).astype(float)
    return Graph.from_edges(pairs, n, weights=weights, attributes=attributes, sides=sides)


def complete_bipartite(a: int, b: int) -> Graph:
    """Nodes 0 to a - 1 linked to each of the next b: every pair across looks the same."""
    return Graph.from_edges([(u, a + v) for u in range(a) for v in range(b)], sides=[0] * a + [1] * b)


def path(nodes: int) -> Graph:
    """0 - 1 - 2 - ..."""
    return Graph.from_edges([(u, u + 1) for u in range(nodes - 1)], nodes)


def star(leaves: int) -> Graph:
    """Node 0 linked to all others: every pair of leaves looks the same."""
    return Graph.from_edges([(0, v) for v in range(1, leaves + 1)])


def cycle(nodes: int) -> Graph:
    """0 - 1 - ... - 0: every node looks the same."""
    return Graph.from_edges([(u, (u + 1) % nodes) for u in range(nodes)])


def graphs(**kinds: bool) -> st.SearchStrategy[Graph]:
    """Random graphs by seed; hypothesis shrinks the seed."""
    return st.integers(0, 10_000).map(lambda seed: random_graph(seed, **kinds))


def pairs_of(array):
    """The pairs of an array as a set."""
    return {tuple(pair) for pair in np.asarray(array).tolist()}


@st.composite
def graphs_of_ten_links(draw, directed=False):
    """At least ten links, so that one in ten can be hidden; directed ones without a link in both directions."""
    n = draw(st.integers(6, 12))
    every = [(u, v) for u in range(n) for v in range(u + 1, n)]
    links = draw(st.lists(st.sampled_from(every), min_size=10, unique=True))
    if directed:
        links = [link if draw(st.booleans()) else link[::-1] for link in links]
    return Graph.from_edges(links, n, directed=directed)

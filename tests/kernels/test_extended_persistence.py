"""Extended persistence of graphs: against GUDHI, and on graphs whose points are known."""

import numpy as np
import pytest
from gudhi import SimplexTree

from gelato.kernels.extended_persistence import persistence_points

LEAST = 1e-6
"""Points nearer to the diagonal weigh nothing; GUDHI scales values, so its own are not exact."""


def points_of(values, links):
    """Ordinary, component and loop points."""
    first, second = np.array(links, np.int64).reshape(-1, 2).T
    points, components, loops = persistence_points(np.array(values, float), first.copy(), second.copy())
    assert (points[:, 0] <= points[:, 1]).all()
    return points[:components], points[components:loops], points[loops:]


def by_gudhi(values, links):
    """The same of GUDHI; its loops come with the value on the way up first."""
    tree = SimplexTree()
    for node, value in enumerate(values):
        tree.insert([node], value)
    for a, b in links:
        tree.insert([a, b], max(values[a], values[b]))
    tree.extend_filtration()
    ordinary, _, components, loops = tree.extended_persistence(min_persistence=-1)
    return [[point for _, point in part] for part in (ordinary, components)] + [[p[::-1] for _, p in loops]]


def apart(points):
    """Points off the diagonal, in order."""
    points = np.array(points, float).reshape(-1, 2)
    points = points[points[:, 1] - points[:, 0] > LEAST].round(5) + 0.0
    return points[np.lexsort(points.T)]


def test_points_are_those_of_gudhi_on_random_graphs():
    """200 graphs, half of them with many equal values."""
    random, counts = np.random.default_rng(0), np.zeros(3)
    for trial in range(200):
        n, share = random.integers(1, 14), random.choice([0.15, 0.3, 0.6])
        links = [(a, b) for a in range(n) for b in range(a) if random.random() < share]
        values = (random.integers(0, 5, n) / 4 if trial % 2 else random.random(n)).tolist()
        for i, (ours, theirs) in enumerate(zip(points_of(values, links), by_gudhi(values, links), strict=True)):
            np.testing.assert_allclose(apart(ours), apart(theirs), atol=3e-5)
            counts[i] += len(apart(ours))
    assert (counts > 100).all()


def test_points_of_a_square_with_a_diagonal():
    """Two loops: one of each triangle, from its lowest to its highest node."""
    links = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    ordinary, components, loops = points_of([0.0, 0.25, 0.0, 1.0], links)
    assert components.tolist() == [[0, 1]] and sorted(loops.tolist()) == [[0, 0.25], [0, 1]]
    assert sorted(ordinary.tolist()) == [[0, 0], [0.25, 0.25], [1, 1]]


def test_a_tree_has_no_loop_and_each_component_a_point():
    ordinary, components, loops = points_of([0.0, 1.0, 0.5, 0.25], [(0, 1), (1, 2)])
    assert apart(ordinary).tolist() == [[0.5, 1]] and components.tolist() == [[0, 1], [0.25, 0.25]] and len(loops) == 0


@pytest.mark.parametrize("seed", range(20))
def test_points_do_not_depend_on_the_order_of_nodes_and_links(seed):
    random = np.random.default_rng(seed)
    values = random.integers(0, 4, 10) / 4
    links = np.array([(a, b) for a in range(10) for b in range(a) if random.random() < 0.4])
    new, shuffle = random.permutation(10), random.permutation(len(links))
    moved = np.empty(10)
    moved[new] = values
    for one, other in zip(points_of(values, links), points_of(moved, new[links[shuffle]][:, ::-1]), strict=True):
        np.testing.assert_array_equal(apart(one), apart(other))
        assert len(one) == len(other)

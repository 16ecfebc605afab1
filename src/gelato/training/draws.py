"""Non-links drawn for training."""

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Pairs, pair_keys


def drawn_pairs(
    wanted: int,
    n: int,
    directed: bool,
    links: NDArray[np.int64],
    random: np.random.Generator,
    sides: NDArray[np.int8] | None = None,
) -> Pairs:
    """``(wanted, 2)`` pairs drawn uniformly among those that are no links (sorted keys); one may come twice.

    With ``(n,)`` sides of a bipartite graph, among the pairs across.
    """
    nodes = None if sides is None else (np.flatnonzero(sides == 0), np.flatnonzero(sides == 1))
    every = n * (n - 1) // (1 if directed else 2) if nodes is None else len(nodes[0]) * len(nodes[1])
    if len(links) >= every:
        raise InputError("every pair of nodes is linked; there are no non-links to draw")
    drawn: list[Pairs] = []
    while sum(map(len, drawn)) < wanted:
        size = 2 * wanted + 16
        if nodes is None:
            pairs = random.integers(n, size=(size, 2))
        else:
            pairs = np.column_stack([side[random.integers(len(side), size=size)] for side in nodes])
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        pairs = pairs if directed else np.sort(pairs, axis=1)
        drawn.append(pairs[~np.isin(pair_keys(pairs, n), links)])
    return np.concatenate(drawn)[:wanted]

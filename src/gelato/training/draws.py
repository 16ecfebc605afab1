"""Non-links drawn for training."""

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError
from gelato.graph import Pairs, pair_keys


def drawn_pairs(wanted: int, n: int, directed: bool, links: NDArray[np.int64], random: np.random.Generator) -> Pairs:
    """``(wanted, 2)`` pairs drawn uniformly among those that are no links (sorted keys); one may come twice."""
    if len(links) >= (n * (n - 1) if directed else n * (n - 1) // 2):
        raise InputError("every pair of nodes is linked; there are no non-links to draw")
    drawn: list[Pairs] = []
    while sum(map(len, drawn)) < wanted:
        pairs = random.integers(n, size=(2 * wanted + 16, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        pairs = pairs if directed else np.sort(pairs, axis=1)
        drawn.append(pairs[~np.isin(pair_keys(pairs, n), links)])
    return np.concatenate(drawn)[:wanted]

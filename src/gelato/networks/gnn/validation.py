"""Validation during training on any device: precision@100% over all pairs, or hits against drawn non-links."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from gelato.errors import InputError
from gelato.graph import Pairs, pair_keys
from gelato.regimes import biased
from gelato.splits import Split

HITS = 100
"""Place among the drawn non-links that a link must be above, where selection is ``balanced``."""

UpperBlock = Callable[[int, int], Tensor]
"""From ``a, b`` to fresh ``(b - a, n - a)`` scores of the nodes ``a..b-1`` with the nodes ``a..n-1``."""


class PrecisionOfAllPairs:
    """Share of validation links among the ``k`` best pairs that are no training links, ``k`` being their number.

    Exact for the scores as they are given; pairs that tie at the cut share the places that are left. Memory is that of
    a block.

    Example:
        >>> from gelato import split
        >>> from gelato.datasets.generators import two_cliques
        >>> halves = split(two_cliques(8), ratios=(0.1, 0.1))  # hides 5 links for validation, 5 for testing
        >>> A = torch.tensor(halves.graph.adjacency.toarray())  # knows both, and cannot tell them apart
        >>> PrecisionOfAllPairs(halves, torch.device("cpu"))(lambda a, b: A[a:b, a:].clone(), block_rows=4)
        0.5
    """

    def __init__(self, split: Split, device: torch.device) -> None:
        if len(split.valid) == 0:
            raise InputError("there are no validation links to select a model by; hide at least one")
        self.n, self.k = split.train.n, len(split.valid)
        self._known = sorted_keys(split.train.edges, self.n, device)
        self._hidden = sorted_keys(split.valid, self.n, device)
        sides = split.train.sides
        self._sides = None if sides is None else torch.tensor(sides, device=device)

    def __call__(self, block: UpperBlock, block_rows: int) -> float:
        """Precision of the scores that ``block`` gives."""
        best: Tensor | None = None  # the k best scores so far
        beyond = 0  # how many others tie with the least of them
        hidden = []
        for a in range(0, self.n - 1, block_rows):
            b = min(a + block_rows, self.n)
            scores = block(a, b).contiguous()
            flat = scores.view(-1)
            hidden.append(flat[self._flat(self._hidden, a, b)])
            square = scores[:, : b - a]
            square.masked_fill_(torch.ones_like(square, dtype=torch.bool).tril(), -torch.inf)
            flat[self._flat(self._known, a, b)] = -torch.inf
            if self._sides is not None:  # only pairs across count
                scores.masked_fill_(self._sides[a:b, None] == self._sides[a:], -torch.inf)
            before = -torch.inf if best is None else float(best[-1])
            pool = flat[flat > before] if before == -torch.inf else flat[flat >= before]
            pool = pool if best is None else torch.cat([best, pool])
            if len(pool) < self.k:
                pool = torch.cat([pool, pool.new_full((self.k - len(pool),), -torch.inf)])
            best = pool.topk(self.k).values
            tied = int((pool == best[-1]).sum() - (best == best[-1]).sum())
            beyond = tied + (beyond if float(best[-1]) == before else 0)
        assert best is not None
        score, cut = torch.cat(hidden), best[-1]
        above, tied, places = (int(part.sum()) for part in (score > cut, score == cut, best == cut))
        return (above + tied * places / (places + beyond)) / self.k

    def _flat(self, keys: Tensor, a: int, b: int) -> Tensor:
        """Places of the pairs of a block in its scores."""
        first, last = torch.searchsorted(keys, torch.tensor([a * self.n, b * self.n], device=keys.device)).tolist()
        mine = keys[first:last]
        return (mine // self.n - a) * (self.n - a) + mine % self.n - a


class DrawnHits:
    """Share of validation links above all but 99 of as many drawn non-links: hits@100 of a balanced test.

    With fewer than 100 drawn non-links, the share of pairs of a link and a non-link that are in order.
    """

    def __init__(self, split: Split, seed: int, device: torch.device) -> None:
        candidates = biased(split, 1, seed, "valid")
        assert candidates.sampled is not None
        self._pairs = [torch.as_tensor(each, device=device) for each in (split.valid, candidates.sampled)]

    def __call__(self, score: Callable[[Tensor], Tensor]) -> float:
        """Hits of the scores that ``score`` gives to ``(p, 2)`` pairs."""
        linked, drawn = (score(pairs) for pairs in self._pairs)
        if len(drawn) < HITS:
            return float((linked[:, None] > drawn).double().mean())
        return float((linked > drawn.topk(HITS).values[-1]).double().mean())


def sorted_keys(pairs: Pairs, n: int, device: torch.device) -> Tensor:
    """Ascending keys ``u n + v`` of pairs."""
    return torch.as_tensor(np.sort(pair_keys(pairs, n)), device=device)

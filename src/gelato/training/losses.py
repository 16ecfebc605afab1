"""Ranking losses of a batch: scores of links against scores of non-links.

Every loss takes the same tensors. Non-links come in two forms: ``negative`` lists scores one by one, and
``background``, if there is one, scores and how many pairs each stands for: pairs that no walk joins are never listed.

====================  ==============================================================================================
n-pair                ``sum_i log(1 + sum_{j in N_i} exp(s_j - s_i)) / (p + q)``                            [method 6]
cross-entropy         ``(sum_i log(1 + exp(-s_i)) + sum_j log(1 + exp(s_j))) / (p + q)`` on a learned ``a s + b``
precision             ``1 - mean_i sigmoid((s_i - s_(p)) / TEMPERATURE)``, ``s_(p)`` the ``p``-th best of the batch
pairwise-hinge        ``sum_i sum_{j in N_i} max(0, 1 - (s_i - s_j)) / (p + q)``
pairwise-exponential  ``log(mean over i, j in N_i of exp(-(s_i - s_j)))``
pairwise-logistic     ``sum_i sum_{j in N_i} log(1 + exp(-(s_i - s_j))) / (p + q)``
====================  ==============================================================================================

``p`` positives and ``q`` negatives in all. Every positive ``i`` has its own share ``N_i`` of the negatives: listed
negative ``j`` goes to positive ``j mod p`` (so shuffle first), and of the background each gets the ``p``-th part.
Then the sum inside the logarithm of n-pair is right in expectation over groupings, with less variance, and the loss
differs from the enumerated one by Jensen's inequality only: about ``var / (2 (1 + mean)^2)`` of that sum over
groupings. The other losses (of pairwise-exponential, its exponential) are sums over pairs, so their expectation is the
same; precision does not group at all.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from gelato.errors import InputError
from gelato.registry import Registry

NOTHING = -1e30
"""A logarithm that adds nothing to a sum; unlike minus infinity it has a gradient, which is 0."""

TEMPERATURE = 1.0
"""Width of the smooth step of ``precision``, in standard deviations of the scores."""


def n_pair(positive: Tensor, negative: Tensor, *background: Tensor) -> Tensor:
    """N-pair loss: every positive against the sum over its own share of the negatives.

    Args:
        positive: ``(p,)`` scores of links.
        negative: ``(q,)`` scores of listed non-links.
        background: nothing, or ``(k,)`` scores that stand for several non-links each, and ``(k,)`` how many.
    """
    p = _count(positive)
    total = _grouped(negative, p).logsumexp(dim=0)
    if background:
        total = torch.logaddexp(total, _weighed(*background).logsumexp(dim=0) - math.log(p))
    return F.softplus(total - positive).sum() / _pairs(positive, negative, *background)


def cross_entropy(positive: Tensor, negative: Tensor, *background: Tensor) -> Tensor:
    """Binary cross-entropy of scores taken as logits; arguments as of ``n_pair``."""
    _count(positive)
    total = F.softplus(-positive).sum() + F.softplus(negative).sum()
    if background:
        total = total + (background[1] * F.softplus(background[0])).sum()
    return total / _pairs(positive, negative, *background)


def precision(positive: Tensor, negative: Tensor, *background: Tensor) -> Tensor:
    """One minus a smooth precision at ``p``: the share of positives above the ``p``-th best score of the batch.

    The gradient flows through that score too, which pushes down whoever holds it.

    Arguments as of ``n_pair``. Where scores of the background are among the ``p`` best, they count as many times as
    they stand for.
    """
    p, score = _count(positive), torch.cat([positive, negative])
    if not background:
        bound = score.topk(p).values[-1]
    else:
        times = torch.cat([torch.ones_like(score), background[1]])
        score = torch.cat([score, background[0]])
        order = score.argsort(descending=True)
        last = torch.searchsorted(times[order].cumsum(0), torch.full((), p, dtype=times.dtype, device=times.device))
        bound = score[order[last.clamp(max=len(order) - 1)]]
    return 1 - torch.sigmoid((positive - bound) / TEMPERATURE).mean()


def pairwise(of: Callable[[Tensor], Tensor], positive: Tensor, negative: Tensor, *background: Tensor) -> Tensor:
    """A function of the margins between each positive and its share of the negatives; others as of ``n_pair``."""
    p = _count(positive)
    owner = torch.arange(len(negative), device=negative.device) % p
    total = of(negative - positive[owner]).sum()
    if background:
        total = total + (of(background[0] - positive[:, None]) @ background[1]).sum() / p
    return total / _pairs(positive, negative, *background)


def pairwise_exponential(positive: Tensor, negative: Tensor, *background: Tensor) -> Tensor:
    """Logarithm of the mean exponential loss of the margins; arguments as of ``n_pair``.

    The logarithm moves no minimum and keeps scores of any size finite.
    """
    p = _count(positive)
    total = (_grouped(negative, p) - positive).flatten().logsumexp(dim=0)
    if background:
        mean = (-positive).logsumexp(dim=0) - math.log(p)
        total = torch.logaddexp(total, _weighed(*background).logsumexp(dim=0) + mean)
    elif len(negative) == 0:
        raise InputError("pairwise-exponential needs at least one negative, got none")
    pairs = _pairs(positive, negative, *background) - p
    return total - (pairs.log() if isinstance(pairs, Tensor) else math.log(pairs))


def _grouped(negative: Tensor, p: int) -> Tensor:
    """``(rounds, p)``: negative ``j`` in column ``j mod p``, the rest filled with ``NOTHING``."""
    rounds = max(1, -(-len(negative) // p))
    return F.pad(negative, (0, rounds * p - len(negative)), value=NOTHING).view(rounds, p)


def _weighed(background: Tensor, count: Tensor) -> Tensor:
    """``(k,)`` logarithms of ``count exp(background)``; ``NOTHING`` where the count is 0."""
    return (background + count.log()).masked_fill(count <= 0, NOTHING)


def _pairs(positive: Tensor, negative: Tensor, *background: Tensor) -> Tensor | int:
    listed = len(positive) + len(negative)
    return listed + background[1].sum() if background else listed


def _count(positive: Tensor) -> int:
    if len(positive) == 0:
        raise InputError("a loss needs at least one positive, got none")
    return len(positive)


@dataclass(frozen=True)
class Loss:
    """A loss, and whether it sees the scores through a learned line ``a s + b``."""

    of: Callable[..., Tensor]
    affine: bool = False


LOSSES: Registry[Loss] = Registry(
    "loss",
    {
        "n-pair": Loss(n_pair),
        "cross-entropy": Loss(cross_entropy, affine=True),
        "precision": Loss(precision),
        "pairwise-hinge": Loss(partial(pairwise, lambda margin: F.relu(1 + margin))),
        "pairwise-exponential": Loss(pairwise_exponential),
        "pairwise-logistic": Loss(partial(pairwise, F.softplus)),
    },
)

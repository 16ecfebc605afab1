"""Slow oracles of the losses, on lists of floats, with loops and ``math``; they share no line with the package.

``counted`` lists ``(score, times)``: scores that stand for several non-links each.
"""

import math
import statistics


def shares(positives, negatives, counted=()):
    """For each positive, its share of the negatives as ``(score, times)``: every p-th, and a p-th of the counted."""
    p = len(positives)
    dealt = [[] for _ in range(p)]
    turn = 0
    for x in negatives:
        dealt[turn].append((x, 1.0))
        turn = turn + 1 if turn + 1 < p else 0
    return [mine + [(x, times / p) for x, times in counted] for mine in dealt]


def everything(positives, negatives, counted=()):
    """Number of pairs in all."""
    return len(positives) + len(negatives) + sum(times for _, times in counted)


def n_pair(positives, negatives, counted=()):
    total = 0.0
    for s, mine in zip(positives, shares(positives, negatives, counted), strict=True):
        total += math.log(1 + sum(times * math.exp(x - s) for x, times in mine))
    return total / everything(positives, negatives, counted)


def cross_entropy(positives, negatives, counted=()):
    total = 0.0
    for s in positives:
        total -= math.log(1 / (1 + math.exp(-s)))
    for x, times in [*((x, 1) for x in negatives), *counted]:
        total -= times * math.log(1 - 1 / (1 + math.exp(-x)))
    return total / everything(positives, negatives, counted)


def precision(positives, negatives, counted=()):
    """The bound is the highest score that, with all that are as high, makes up the number of positives."""
    entries = [*((s, 1) for s in positives), *((x, 1) for x in negatives), *counted]
    enough = [s for s, _ in entries if sum(times for x, times in entries if x >= s) >= len(positives)]
    return 1 - sum(1 / (1 + math.exp(max(enough) - s)) for s in positives) / len(positives)


def pairwise(penalty):
    """A mean of penalties of margins ``s_i - s_j`` between each positive and its share."""

    def loss(positives, negatives, counted=()):
        total = 0.0
        for s, mine in zip(positives, shares(positives, negatives, counted), strict=True):
            for x, times in mine:
                total += times * penalty(s - x)
        return total / everything(positives, negatives, counted)

    return loss


def pairwise_exponential(positives, negatives, counted=()):
    total = pairwise(lambda margin: math.exp(-margin))(positives, negatives, counted)
    pairs = everything(positives, negatives, counted)
    return math.log(total * pairs / (pairs - len(positives)))


ORACLES = {
    "n-pair": n_pair,
    "cross-entropy": cross_entropy,
    "precision": precision,
    "pairwise-hinge": pairwise(lambda margin: 1 - margin if margin < 1 else 0.0),
    "pairwise-exponential": pairwise_exponential,
    "pairwise-logistic": pairwise(lambda margin: math.log(1 + math.exp(-margin))),
}


def jensen(positives, listed, background):
    """By how much dealing the background out, too, lowers the sum of the logarithms of n-pair: to second order.

    With ``T_i`` the sum over the share of positive ``i``, ``log(1 + T_i)`` is lower in the mean over groupings by about
    ``var(T_i) / (2 (1 + mean(T_i))^2)``. Both ways ``T_i`` has the same mean; its variance is that of the sum of ``g``
    numbers drawn without replacement, of all negatives or of those listed.
    """
    p, total = len(positives), 0.0
    for s in positives:
        all_of, some = ([math.exp(x - s) for x in numbers] for numbers in ([*listed, *background], listed))
        mean = sum(all_of) / p
        total += (dealt_variance(all_of, p) - dealt_variance(some, p)) / (2 * (1 + mean) ** 2)
    return total


def dealt_variance(numbers, p):
    """Variance of the sum of a ``p``-th of the numbers, drawn without replacement."""
    return len(numbers) / p * statistics.variance(numbers) * (1 - 1 / p)

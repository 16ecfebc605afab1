"""Slow oracles, written from the definitions with loops and sets; they share no line with the package.

Scores are exact where they can be (fractions), so that two pairs are tied here exactly when they are tied in truth.
"""

import math
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np


def matrix(graph, links_only=False):
    """The adjacency as nested lists of fractions."""
    A = graph.adjacency.toarray()
    return [[Fraction(int(x != 0)) if links_only else Fraction(x) for x in row] for row in A.tolist()]


def product(A, B):
    columns = list(zip(*B, strict=True))
    return [
        [sum((x * y for x, y in zip(row, column, strict=True) if x and y), Fraction(0)) for column in columns]
        for row in A
    ]


def neighbors(graph, u):
    """Where the links of ``u`` lead."""
    return {v for v in range(graph.n) if graph.adjacency[u, v] != 0}


def degree(graph, u):
    """Number of links of ``u``, in both directions."""
    into = {v for v in range(graph.n) if graph.adjacency[v, u] != 0}
    return len(neighbors(graph, u)) + (len(into) if graph.directed else 0)


def common(graph, u, v):
    return [k for k in range(graph.n) if graph.adjacency[u, k] != 0 and graph.adjacency[k, v] != 0]


def cn(graph):
    return lambda u, v: Fraction(len(common(graph, u, v)))


def aa(graph):
    """fsum rounds once, so the same degrees in another order give the same number."""
    return lambda u, v: math.fsum(1 / math.log(degree(graph, k)) for k in common(graph, u, v) if degree(graph, k) > 1)


def ra(graph):
    return lambda u, v: sum((Fraction(1, degree(graph, k)) for k in common(graph, u, v)), Fraction(0))


def jaccard(graph):
    def score(u, v):
        into = {k for k in range(graph.n) if graph.adjacency[k, v] != 0}
        either = neighbors(graph, u) | into
        return Fraction(len(neighbors(graph, u) & into), len(either)) if either else Fraction(0)

    return score


def pa(graph):
    into = [sum(1 for k in range(graph.n) if graph.adjacency[k, v] != 0) for v in range(graph.n)]
    return lambda u, v: Fraction(len(neighbors(graph, u)) * into[v])


def katz(graph, beta=0.005, steps=3):
    A = matrix(graph)
    total = [[Fraction(0)] * graph.n for _ in range(graph.n)]
    power, worth = A, Fraction(beta)
    for _ in range(steps):
        total = [[t + worth * x for t, x in zip(*rows, strict=True)] for rows in zip(total, power, strict=True)]
        power, worth = product(power, A), worth * Fraction(beta)
    return lambda u, v: total[u][v]


def ac(graph, steps=3, self_loops="isolated"):
    A = matrix(graph)
    for u in range(graph.n):
        if self_loops == "all" or not any(A[u]):
            A[u][u] += 1
    d = [sum(row) for row in A]
    vol = sum(d)
    P = [[x / d[u] for x in A[u]] for u in range(graph.n)]
    power = P
    for _ in range(steps - 1):
        power = product(power, P)
    return lambda u, v: d[u] / vol * power[u][v] - d[u] * d[v] / vol**2


def katz_full(graph, beta):
    A = graph.adjacency.toarray()
    return np.linalg.inv(np.eye(graph.n) - beta * A) - np.eye(graph.n)


def ppr(graph, damping=0.85):
    A = graph.adjacency.toarray()
    d = A.sum(axis=1)
    P = A / np.where(d > 0, d, 1)[:, None]
    pi = (1 - damping) * np.linalg.inv(np.eye(graph.n) - damping * P)
    return pi if graph.directed else pi + pi.T


def simrank(graph, decay=0.8, iterations=5):
    before = {(u, v): float(u == v) for u in range(graph.n) for v in range(graph.n)}
    into = [[k for k in range(graph.n) if graph.adjacency[k, v] != 0] for v in range(graph.n)]
    for _ in range(iterations):
        after = {}
        for u, v in before:
            size = len(into[u]) * len(into[v])
            total = sum(before[a, b] for a in into[u] for b in into[v])
            after[u, v] = 1.0 if u == v else decay * total / size if size else 0.0
        before = after
    return np.array([[before[u, v] for v in range(graph.n)] for u in range(graph.n)])


def cosine(graph):
    X = graph.attributes if isinstance(graph.attributes, np.ndarray) else graph.attributes.toarray()
    out = np.zeros((graph.n, graph.n))
    for u in range(graph.n):
        for v in range(graph.n):
            size = math.sqrt(sum(x * x for x in X[u])) * math.sqrt(sum(x * x for x in X[v]))
            out[u, v] = sum(x * y for x, y in zip(X[u], X[v], strict=True)) / size if size else 0.0
    return out


def all_pairs(n, directed, sides=None):
    pairs = list(permutations(range(n), 2)) if directed else list(combinations(range(n), 2))
    return pairs if sides is None else [(u, v) for u, v in pairs if {sides[u], sides[v]} == {0, 1}]


def ranks(score, positives, negatives):
    """For each positive: how many negatives score higher, and how many the same."""
    values = [score(u, v) for u, v in negatives]
    above, tied = [], []
    for u, v in positives:
        mine = score(u, v)
        above.append(sum(1 for x in values if x > mine))
        tied.append(sum(1 for x in values if x == mine))
    return above, tied


def labels_and_scores(score, positives, negatives):
    """What scikit-learn takes: labels, and the place of each score among the distinct ones."""
    values = [score(u, v) for u, v in [*positives, *negatives]]
    place = {value: i for i, value in enumerate(sorted(set(values)))}
    return [1] * len(positives) + [0] * len(negatives), [float(place[value]) for value in values]


def expected_positives_at(score, positives, negatives, k):
    """Expected number of positives among the k best, ties at the cut broken at random."""
    values = [(score(u, v), True) for u, v in positives] + [(score(u, v), False) for u, v in negatives]
    total, left = Fraction(0), k
    for value in sorted({value for value, _ in values}, reverse=True):
        group = [good for x, good in values if x == value]
        taken = min(left, len(group))
        total += Fraction(sum(group) * taken, len(group))
        left -= taken
        if left == 0:
            break
    return float(total)


def hits_at(score, positives, negatives, k):
    """Positives strictly above the k-th best negative."""
    kth = sorted((score(u, v) for u, v in negatives), reverse=True)[k - 1]
    return sum(score(u, v) > kth for u, v in positives)


def filtered(graph, filter, power, loop=0.0):
    """``D^a f(M / l_max) D^a`` with ``M = D^-a (A + loop I) D^-a``, by all its eigenvectors."""
    A = graph.adjacency.toarray() + loop * np.eye(graph.n)
    degree = A.sum(axis=1)
    scale = np.array([d**power if d > 0 else 0.0 for d in degree])
    inverse = np.array([1 / s if s > 0 else 0.0 for s in scale])
    values, vectors = np.linalg.eigh(inverse[:, None] * A * inverse)
    weighed = vectors * [filter(value / values[-1]) for value in values]
    dense = scale[:, None] * (weighed @ vectors.T) * scale
    return lambda u, v: dense[u, v]

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


def neighbors(graph):
    """Where the links of each node lead, and where those into it come from."""
    out, into = ([set() for _ in range(graph.n)] for _ in range(2))
    for u, row in enumerate(graph.adjacency.toarray().tolist()):
        for v, weight in enumerate(row):
            if weight != 0:
                out[u].add(v)
                into[v].add(u)
    return out, into


def degrees(graph):
    """Number of links of each node, in both directions."""
    out, into = neighbors(graph)
    return [len(out[u]) + (len(into[u]) if graph.directed else 0) for u in range(graph.n)]


def common(graph):
    """The nodes on the walks of two links between two nodes, in order."""
    out, into = neighbors(graph)
    return lambda u, v: [k for k in range(graph.n) if k in out[u] and k in into[v]]


def cn(graph):
    between = common(graph)
    return lambda u, v: Fraction(len(between(u, v)))


def aa(graph):
    """fsum rounds once, so the same degrees in another order give the same number."""
    between, degree = common(graph), degrees(graph)
    return lambda u, v: math.fsum(1 / math.log(degree[k]) for k in between(u, v) if degree[k] > 1)


def ra(graph):
    between, degree = common(graph), degrees(graph)
    return lambda u, v: sum((Fraction(1, degree[k]) for k in between(u, v)), Fraction(0))


def jaccard(graph):
    out, into = neighbors(graph)

    def score(u, v):
        either = out[u] | into[v]
        return Fraction(len(out[u] & into[v]), len(either)) if either else Fraction(0)

    return score


def pa(graph):
    out, into = neighbors(graph)
    return lambda u, v: Fraction(len(out[u]) * len(into[v]))


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


def katz_full(graph, beta=None):
    A = graph.adjacency.toarray()
    beta = min(0.005, 0.5 / np.linalg.norm(A, 2)) if beta is None else beta
    return np.linalg.inv(np.eye(graph.n) - beta * A) - np.eye(graph.n)


def ppr(graph, damping=0.85):
    A = graph.adjacency.toarray()
    d = A.sum(axis=1)
    P = A / np.where(d > 0, d, 1)[:, None]
    pi = (1 - damping) * np.linalg.inv(np.eye(graph.n) - damping * P)
    return pi if graph.directed else pi + pi.T


def simrank(graph, decay=0.8, iterations=5):
    before = {(u, v): float(u == v) for u in range(graph.n) for v in range(graph.n)}
    into = [sorted(nodes) for nodes in neighbors(graph)[1]]
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

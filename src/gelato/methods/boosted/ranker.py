"""Growing the trees: LightGBM, or scikit-learn's histogram gradient boosting where it cannot be loaded."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import MissingDependency
from gelato.kernels.threads import default_threads, run_long
from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.boosted.trees import Forest, Tree, joined

PER_LEAF, RIDGE, COLUMNS = 50, 5.0, 0.5
"""Rows of a leaf at least, L2 penalty of its value, and the share of features that a tree sees."""

FEWEST_ROWS = 10
"""Rows that a tree sees at least, where there are as many."""

ROWS_OF_A_THREAD = 20_000
"""With fewer rows, threads wait for each other more than they grow."""

THREADS_OF_A_BAG = 4
"""With more of them, further bags are grown at the same time."""

Matrix = NDArray[np.float32]
Labels = NDArray[np.bool_]
Weights = NDArray[np.float64]


def grown(features: Matrix, labels: Labels, weights: Weights, settings: BoostedSettings) -> Forest:
    """Trees for ``(p, c)`` features of ``(p,)`` labelled rows; the rows count as often as their weights say."""
    grow = _lightgbm if _loads("lightgbm") else _histograms
    if grow is _histograms and not _loads("sklearn"):
        raise MissingDependency("boosted trees", "lightgbm", "boosted")
    bags = settings.bags or 1
    trees: list[Tree] = []
    start = 0.0
    for more, begin in grow(
        features, labels, weights, settings, range(settings.random_state, settings.random_state + bags)
    ):
        trees += [(*tree[:4], tree[4] / bags, tree[5]) for tree in more]
        start += begin / bags
    return joined(trees, start)


def row_share(bags: int) -> float:
    """Share of the rows that a tree of so many bags sees: fewer where there are many, which then differ more.

    >>> [row_share(bags) for bags in (1, 3, 6, 12)]
    [0.8, 0.8, 0.4, 0.3]
    """
    return round(min(0.8, max(0.3, 2.4 / bags)), 3)


def _loads(package: str) -> bool:
    """Whether a package is installed, with the libraries of the system that it needs."""
    try:
        __import__(package)
    except (ImportError, OSError):
        return False
    return True


def _per_leaf(labels: Labels) -> int:
    return min(PER_LEAF, max(1, int(labels.sum()) // 4))


def _lightgbm(
    features: Matrix, labels: Labels, weights: Weights, settings: BoostedSettings, seeds: range
) -> Iterator[tuple[list[Tree], float]]:
    import lightgbm

    threads, most = settings.threads or default_threads(), 1 + len(labels) // ROWS_OF_A_THREAD
    at_once = max(1, min(threads // min(most, THREADS_OF_A_BAG), len(seeds)))
    parameters = {
        "objective": "binary",
        "learning_rate": settings.learning_rate,
        "num_leaves": settings.leaves,
        "min_data_in_leaf": _per_leaf(labels),
        "lambda_l2": RIDGE,
        "feature_fraction": COLUMNS,
        "bagging_fraction": max(row_share(len(seeds)), min(1.0, FEWEST_ROWS / len(labels))),
        "bagging_freq": 1,
        "num_threads": min(threads // at_once, most),
        "deterministic": True,
        "force_col_wise": True,
        "verbose": -1,
    }
    data = lightgbm.Dataset(features, labels.astype(np.float32), weight=weights, params=parameters).construct()

    def bag(seed: int, stopped: Callable[[], bool]) -> list[Tree]:
        def unless_stopped(state: object) -> None:
            if stopped():
                raise KeyboardInterrupt

        own = parameters | {"bagging_seed": seed % 2**31, "feature_fraction_seed": (seed + 1) % 2**31}
        model = lightgbm.train(own, data, settings.trees or settings.usual.trees, callbacks=[unless_stopped])
        return [_tree(list(_nodes(each["tree_structure"]))) for each in model.dump_model()["tree_info"]]

    for trees in run_long(bag, seeds, at_once):
        yield trees, 0.0


def _nodes(node: dict[str, Any], place: int = 0) -> Iterator[tuple[int, float, int, int, float, int]]:
    """A tree as LightGBM tells it, node by node, parents first."""
    if "split_feature" not in node:
        yield -1, 0.0, 0, 0, float(node["leaf_value"]), int(node.get("leaf_count", 0))
        return
    left = list(_nodes(node["left_child"], place + 1))
    right = list(_nodes(node["right_child"], place + 1 + len(left)))
    yield int(node["split_feature"]), float(node["threshold"]), place + 1, place + 1 + len(left), 0.0, 0
    yield from left
    yield from right


def _tree(nodes: list[tuple[int, float, int, int, float, int]]) -> Tree:
    feature, threshold, left, right, value, count = map(np.array, zip(*nodes, strict=True))
    for node in range(len(feature) - 1, -1, -1):  # rows of an inner node are those below it
        if feature[node] >= 0:
            count[node] = count[left[node]] + count[right[node]]
    return feature, threshold, left, right, value, count


def _histograms(
    features: Matrix, labels: Labels, weights: Weights, settings: BoostedSettings, seeds: range
) -> Iterator[tuple[list[Tree], float]]:
    for seed in seeds:
        yield _histogram_trees(features, labels, weights, settings, seed)


def _histogram_trees(
    features: Matrix, labels: Labels, weights: Weights, settings: BoostedSettings, seed: int
) -> tuple[list[Tree], float]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    share = row_share(settings.bags or 1) if len(labels) > FEWEST_ROWS else 1.0
    rows = (np.random.default_rng((seed, 1)).random(len(labels)) < share) | labels
    model = HistGradientBoostingClassifier(
        learning_rate=settings.learning_rate,
        max_iter=settings.trees or settings.usual.trees,
        max_leaf_nodes=settings.leaves,
        min_samples_leaf=_per_leaf(labels),
        l2_regularization=RIDGE,
        max_features=COLUMNS,
        early_stopping=False,
        random_state=seed % 2**32,
    ).fit(features[rows], labels[rows], sample_weight=weights[rows])
    trees: list[Tree] = []
    for stage in model._predictors:
        nodes = stage[0].nodes
        feature = np.where(nodes["is_leaf"].astype(bool), -1, nodes["feature_idx"])
        children = (nodes["left"].astype(np.int64), nodes["right"].astype(np.int64))
        trees.append((feature, nodes["num_threshold"], *children, nodes["value"], nodes["count"]))
    return trees, float(model._baseline_prediction.item())

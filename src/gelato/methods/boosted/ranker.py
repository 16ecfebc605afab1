"""Growing the trees: scikit-learn's histogram gradient boosting on the rows of all folds."""

import numpy as np
from numpy.typing import NDArray

from gelato.methods.boosted.settings import BoostedSettings
from gelato.methods.boosted.trees import Forest, Tree, joined

PER_LEAF, RIDGE, COLUMNS, ROWS = 50, 5.0, 0.5, 0.8
"""Rows of a leaf at least, L2 penalty of its value, and the share of features and of rows that a tree sees."""


def grown(
    features: NDArray[np.float32], labels: NDArray[np.bool_], weights: NDArray[np.float64], settings: BoostedSettings
) -> Forest:
    """Trees for ``(p, c)`` features of ``(p,)`` labelled rows; the rows count as often as their weights say."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]

    bags = settings.bags or settings.usual.bags
    trees: list[Tree] = []
    start = 0.0
    for bag in range(bags):
        seed = settings.random_state + bag
        rows = np.random.default_rng((seed, 1)).random(len(labels)) < (ROWS if bags > 1 else 1.0)
        rows |= labels
        model = HistGradientBoostingClassifier(
            learning_rate=settings.learning_rate,
            max_iter=settings.trees or settings.usual.trees,
            max_leaf_nodes=settings.leaves,
            min_samples_leaf=min(PER_LEAF, max(1, int(labels.sum()) // 4)),
            l2_regularization=RIDGE,
            max_features=COLUMNS,
            early_stopping=False,
            random_state=seed % 2**32,
        ).fit(features[rows], labels[rows], sample_weight=weights[rows])
        start += float(model._baseline_prediction.item()) / bags
        for stage in model._predictors:
            nodes = stage[0].nodes
            leaf = nodes["is_leaf"].astype(bool)
            trees.append(
                (
                    np.where(leaf, -1, nodes["feature_idx"]),
                    nodes["num_threshold"],
                    nodes["left"].astype(np.int64),
                    nodes["right"].astype(np.int64),
                    nodes["value"] / bags,
                    nodes["count"],
                )
            )
    return joined(trees, start)

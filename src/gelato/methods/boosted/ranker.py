"""Growing the trees by LightGBM."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.errors import InputError, MissingDependency
from gelato.kernels.threads import default_threads, run_long
from gelato.methods.boosted.settings import BoostedSettings, leaves_out
from gelato.methods.boosted.trees import Forest

PER_LEAF, RIDGE, COLUMNS = 50, 5.0, 0.5
"""Rows of a leaf at least, L2 penalty of its value, and the share of features that a tree sees."""

FEWEST_ROWS = 10
"""Rows that a tree sees at least, where there are as many."""

ROWS_OF_A_THREAD = 20_000
"""With fewer rows, threads wait for each other more than they grow."""

THREADS_OF_A_BAG = 4
"""With more of them, further bags are grown at the same time."""

NODE = np.dtype(
    {"names": ["feature", "threshold", "left", "right", "value"], "formats": ["i4", "f8", "i8", "i8", "f8"]}
)
"""A node of a tree, as in ``Forest``; its children stand where they do in the tree, of which it is a part."""

Matrix = NDArray[np.float32]
Labels = NDArray[np.bool_]
Weights = NDArray[np.float64]
Folds = NDArray[np.int64]


def grow_bags(
    features: Matrix, labels: Labels, weights: Weights, settings: BoostedSettings, folds: Folds | None = None
) -> list[Forest]:
    """Bags of trees for ``(p, c)`` features of ``(p,)`` labelled rows, which count as often as their weights say.

    If the ``(p,)`` folds of the rows are given, each bag learns from none that it ``leaves_out``.
    """
    seeds = range(settings.random_state, settings.random_state + (settings.bags or 1))
    return [_forest(bag) for bag in _bags(features, labels, weights, settings, seeds, folds)]


def _forest(trees: list[NDArray[np.void]]) -> Forest:
    """Trees as one forest: their nodes one after the other."""
    sizes = [len(tree) for tree in trees]
    root, nodes = np.cumsum([0, *sizes])[:-1], np.concatenate(trees)
    for side in ("left", "right"):
        nodes[side] += np.repeat(root, sizes)
    arrays = {name: np.ascontiguousarray(nodes[name]) for name in NODE.names or ()}
    return Forest(root=root, start=np.zeros(1), **arrays)


def bagging_fraction(bags: int) -> float:
    """Share of the rows that each tree sees, smaller with many bags, so that they differ more.

    >>> [bagging_fraction(bags) for bags in (1, 3, 6, 12)]
    [0.8, 0.8, 0.4, 0.3]
    """
    return round(min(0.8, max(0.3, 2.4 / bags)), 3)


def _lightgbm() -> Any:
    """LightGBM; refused where it or a library of the system that it needs is missing."""
    try:
        import lightgbm
    except ImportError:
        raise MissingDependency("boosted trees", "lightgbm", "boosted") from None
    except OSError as error:
        raise InputError(
            f"lightgbm cannot be loaded ({error}); install the library that is missing, or use another method, such as"
            " spectral"
        ) from None
    return lightgbm


def _bags(
    features: Matrix, labels: Labels, weights: Weights, settings: BoostedSettings, seeds: range, folds: Folds | None
) -> Iterator[list[NDArray[np.void]]]:
    """The trees of each bag, in the order of the seeds."""
    lightgbm = _lightgbm()
    threads, most = settings.threads or default_threads(), 1 + len(labels) // ROWS_OF_A_THREAD
    at_once = max(1, min(threads // min(most, THREADS_OF_A_BAG), len(seeds)))
    parameters = {
        "objective": "binary",
        "learning_rate": settings.learning_rate or settings.usual.rate,
        "num_leaves": settings.leaves,
        "min_data_in_leaf": min(PER_LEAF, max(1, int(labels.sum()) // 4)),
        "lambda_l2": RIDGE,
        "feature_fraction": COLUMNS,
        "bagging_fraction": max(bagging_fraction(len(seeds)), min(1.0, FEWEST_ROWS / len(labels))),
        "bagging_freq": 1,
        "num_threads": min(threads // at_once, most),
        "deterministic": True,
        "force_col_wise": True,
        "verbose": -1,
    }
    data = lightgbm.Dataset(features, labels.astype(np.float32), weight=weights, params=parameters).construct()

    def bag(seed: int, stopped: Callable[[], bool]) -> list[NDArray[np.void]]:
        def unless_stopped(state: object) -> None:
            if stopped():
                raise KeyboardInterrupt

        own = parameters | {"bagging_seed": seed % 2**31, "feature_fraction_seed": (seed + 1) % 2**31}
        rows = data
        if folds is not None:
            rows = data.subset(np.flatnonzero(~leaves_out(seed - seeds[0], folds, len(seeds))), params=own)
        model = lightgbm.train(own, rows, settings.trees or settings.usual.trees, callbacks=[unless_stopped])
        return [_tree(each["tree_structure"]) for each in model.dump_model()["tree_info"]]

    yield from run_long(bag, seeds, at_once)


def _tree(root: dict[str, Any]) -> NDArray[np.void]:
    """A tree as LightGBM tells it, node by node, parents first; the value of an inner node is the mean of its rows."""
    nodes: list[tuple[int, float, int, int, float]] = []

    def add(node: dict[str, Any]) -> tuple[int, int]:
        """Add a node and those below it; its place, and its rows."""
        place = len(nodes)
        if "split_feature" not in node:
            nodes.append((-1, 0.0, 0, 0, node["leaf_value"]))
            return place, max(1, int(node.get("leaf_count", 1)))
        nodes.append((-1, 0.0, 0, 0, 0.0))  # its children come first
        (left, some), (right, others) = add(node["left_child"]), add(node["right_child"])
        mean = (some * nodes[left][-1] + others * nodes[right][-1]) / (some + others)
        nodes[place] = node["split_feature"], node["threshold"], left, right, mean
        return place, some + others

    add(root)
    return np.array(nodes, NODE)

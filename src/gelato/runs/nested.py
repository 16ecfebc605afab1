"""Predictors inside predictors: what one has learned, kept among what another has."""

from collections.abc import Callable, Mapping
from typing import Any

from gelato.graph import Graph, Pairs
from gelato.runs.files import Tensors
from gelato.runs.predictor import StoredPredictor
from gelato.runs.seen import Seen


def kept_inside(inner: StoredPredictor, prefix: str) -> tuple[dict[str, Any], Tensors]:
    """What a predictor has learned, as plain values and as tensors whose names begin with ``prefix``."""
    about = {
        "method": inner.method,
        "settings": inner.settings.as_dict(),
        "chosen_": dict(inner.chosen_),
        "columns_": inner.columns_,
        "learned": inner.learned(),
    }
    return about, {prefix + name: value for name, value in inner.tensors().items()}


def restored_inside(
    about: Mapping[str, Any],
    tensors: Tensors,
    prefix: str,
    make: Callable[..., StoredPredictor],
    outer: tuple[Graph, Pairs, Seen],
) -> StoredPredictor:
    """The predictor that ``kept_inside`` told of; ``outer`` holds the graph, validation links and links seen."""
    inner = make(about["method"], **about["settings"])
    inner.chosen_, inner.columns_, inner.remarks_ = about["chosen_"], about["columns_"], []
    graph, inner.valid_, inner._seen = outer
    own = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    inner.restore(about["learned"], own, graph)
    return inner

"""Layers of a trained MLP in double precision, without torch: for blocks of scores that can be pickled."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Layer = tuple[NDArray[np.float64], NDArray[np.float64]]
"""``(h', h)`` weight and ``(h',)`` bias."""


def layer_of(linear: Any) -> Layer:
    """The numbers of a ``torch.nn.Linear``, from any device."""
    return linear.weight.detach().cpu().double().numpy(), linear.bias.detach().cpu().double().numpy()


def through(h: NDArray[np.float64], layers: tuple[Layer, ...]) -> NDArray[np.float64]:
    """``(p,)`` what ``layers`` make of ``(p, h)``, relu before each of them, the last of width 1; overwrites ``h``.

    Example:
        >>> h = np.array([[1.0, -2.0], [3.0, 4.0]])
        >>> through(h, ((np.array([[1.0, 10.0]]), np.array([0.5])),)).tolist()
        [1.5, 43.5]
    """
    for weight, bias in layers:
        np.maximum(h, 0, out=h)
        h = h @ weight.T
        h += bias
    column: NDArray[np.float64] = h[:, 0]
    return column

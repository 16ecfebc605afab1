"""From what a walk reached to a score: explicit entries, and the background of all other pairs.

linear:   ``s_uv = scale * W_uv + sign * g_u * g_v``      background ``sign * g_u * g_v``
jaccard:  ``s_uv = W_uv / (g_u + g_v - W_uv)``            background 0
"""

from typing import NamedTuple

from numba import njit

LINEAR, JACCARD = 0, 1


class Form(NamedTuple):
    """How a walk becomes a score; ``sign`` is -1, 0 or 1."""

    kind: int
    scale: float
    sign: float


@njit(nogil=True, cache=True, inline="always", error_model="numpy")
def score_of(reached, g_u, g_v, form):  # type: ignore[no-untyped-def]
    """Score of a pair that the walk reached."""
    if form.kind == JACCARD:
        return reached / (g_u + g_v - reached)
    return form.scale * reached + form.sign * (g_u * g_v)

"""Consumer: what walks reach at listed pairs."""

import numpy as np

from gelato.kernels.walk import advance, apply_node_weights, edge_value
from gelato.sparse.compiled import kernel, part


@kernel
def reached_pairs(sources, targets, walk, back_indptr, back_indices, back_data, space, out):  # type: ignore[no-untyped-def]
    """``W_uv`` of ``(p,)`` pairs sorted by ``u`` into ``out``; ``back_*`` is the transpose of ``inner``.

    Costs one walk of ``t - 1`` steps for each distinct ``u`` and the degree of each ``v``. The terms are added in the
    order of ``v``'s neighbours: equal to the row kernels up to rounding, which the tolerance of the levels absorbs.
    """
    before_last, listed_nodes = space.reached, space.touched  # where walks of every length stand before their last step
    listed = np.int64(0)
    for k in range(len(sources)):
        u = sources[k]
        # pairs come sorted by source: what was walked from it serves all its targets
        if k == 0 or u != sources[k - 1]:
            listed = _stand(u, walk, space)
        v = targets[k]
        # numba would take a plain 0 for an integer and compile the loop for two types
        value = np.float64(0)
        for j in range(back_indptr[v], back_indptr[v + 1]):
            stand = before_last[back_indices[j]]
            if stand != 0:
                value += edge_value(stand, back_data, j, walk.tiny)
        out[k] = value
        if k + 1 == len(sources) or u != sources[k + 1]:
            for i in range(listed):
                before_last[listed_nodes[i]] = 0


@part
def _stand(u, walk, space):  # type: ignore[no-untyped-def]
    """Leave in ``space.reached`` where the walks from ``u`` stand before their last step; returns how many nodes."""
    here, here_nodes = space.here, space.here_nodes
    there, there_nodes = space.there, space.there_nodes
    reached, touched = space.reached, space.touched
    here[u] = 1
    here_nodes[0] = u
    count, listed = np.int64(1), np.int64(0)
    for step in range(walk.steps):
        last = step == walk.steps - 1
        if walk.every_length or last:
            for i in range(count):
                b = here_nodes[i]
                if reached[b] == 0:
                    touched[listed] = b
                    listed += 1
                reached[b] += here[b]
        if not last:
            count = advance(walk, step, here, here_nodes, count, there, there_nodes)
            here, there = there, here
            here_nodes, there_nodes = there_nodes, here_nodes
            count = apply_node_weights(here, here_nodes, count, walk.weight, walk.tiny)
    for i in range(count):
        here[here_nodes[i]] = 0
    return listed

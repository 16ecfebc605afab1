"""Dropout by place: the same entries whatever the tiles, each with its chance."""

import numpy as np
import pytest

from gelato.kernels.layers import CHANCES, draw


@pytest.mark.parametrize("columns", [5, 64, 130])
def test_rows_that_are_drawn_apart_are_those_that_are_drawn_together(columns):
    whole = np.empty((20, columns), np.float32)
    draw(100, 7, 1, CHANCES // 3, whole)
    for row in range(20):
        part = np.empty((1, columns), np.float32)
        draw(100 + row, 7, 1, CHANCES // 3, part)
        assert (part[0] == whole[row]).all()


@pytest.mark.parametrize("kept", [CHANCES, CHANCES // 2, CHANCES // 3, 1])
def test_what_is_kept_is_scaled_so_that_the_mean_stays(kept):
    factors = np.empty((400, 128), np.float32)
    draw(0, 3, 0, kept, factors)
    assert set(np.unique(factors)) <= {np.float32(0), np.float32(CHANCES / kept)}
    share = kept / CHANCES
    assert abs((factors > 0).mean() - share) <= 5 * (share * (1 - share) / factors.size) ** 0.5

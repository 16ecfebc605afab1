"""Blocks of rows, joined and cut anew."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gelato.scores.pair_ranges import blocks_of, cut_blocks_at


def rows_of(blocks):
    return [row for block in blocks for row in range(*block)]


@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 20), st.data())
def test_blocks_cut_anew_hold_the_same_rows_and_end_where_others_do(n, size, other, data):
    blocks, limits = blocks_of(0, n, size), blocks_of(0, n, other)
    chosen = [block for block in blocks if data.draw(st.booleans())]
    found = cut_blocks_at(chosen, limits)
    assert rows_of(found) == rows_of(chosen)
    assert all(begin // other == (end - 1) // other for begin, end in found)
    for one, next_one in pairwise(found):  # as large as may be
        assert one[1] < next_one[0] or one[1] % other == 0
    assert cut_blocks_at(chosen, blocks) == chosen

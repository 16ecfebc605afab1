"""Numbers in cells are what Python's ``float`` reads, to the last bit."""

import math
import struct

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelato.io import read_attributes
from gelato.io.tables.column import number, parse_floats

ODD = ["nan", "-inf", "infinity", "1e400", "-1e-400", "", "-0.0", "+1.5", ".5", "5.", "1_000", "0x10", "1,5", "1.5 x"]
ODD += [
    " 1.5 ",
    "\u00a02.5",
    "١٢",
    "NULL",
    "true",
    "- 1",
    "nan(ind)",
    "2.2250738585072011e-308",
    "9" * 40,
    "1d5",
    "0\0",
]


def bits(values):
    return [struct.pack("<d", value) if math.isfinite(value) else None for value in values]


def read(cells):
    """The numbers in some cells, which pyarrow holds in two chunks."""
    half = len(cells) // 2
    return parse_floats(pyarrow.chunked_array([cells[:half], cells[half:]], pyarrow.string()))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.decimals(-9, 9, places=8).map(str)))
def test_plain_numbers_are_equal_to_the_last_bit(cells):
    assert bits(read(cells)) == bits(float(cell) for cell in cells)


@given(st.lists(st.sampled_from(ODD) | st.floats().map(repr) | st.text("0123456789+-._eE xinfa", max_size=12)))
def test_odd_cells_are_what_float_says(cells):
    assert bits(read(cells)) == bits(number(cell) for cell in cells)


@pytest.mark.parametrize("cell", ODD)
def test_every_odd_cell_alone_and_among_numbers(cell):
    assert bits(read([cell])) == bits([number(cell)])
    assert bits(read(["1", cell, "2.5"])) == bits([1, number(cell), 2.5])


def test_one_bad_cell_among_many_decimals_is_refused_with_its_line(tmp_path):
    values = np.random.default_rng(0).standard_normal((40, 30))
    lines = ["node," + ",".join(f"x{i}" for i in range(30))]
    lines += [f"n{i}," + ",".join(f"{value:.9f}" for value in row) for i, row in enumerate(values)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    assert np.array_equal(read_attributes(path, scale="none").matrix, np.round(values, 9))
    path.write_text("\n".join([*lines[:21], lines[21].replace("n20,", "n20,oops"), *lines[22:]]))
    with pytest.raises(ValueError, match=r"table\.csv: .*'x0' \(1 cell, the first 'oops.*' in line 22"):
        read_attributes(path)

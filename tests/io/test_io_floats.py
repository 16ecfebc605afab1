"""Numbers of many cells at once are what Python's ``float`` reads, with pyarrow and without it."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelato.io import floats, read_attributes
from gelato.io.blocks import number
from gelato.io.floats import parse_floats

ODD = ["nan", "-inf", "infinity", "1e400", "-1e-400", "", "-0.0", "+1.5", ".5", "5.", "1_000", "0x10", "1,5", "1.5 x"]
ODD += [" 1.5 ", "\u00a02.5", "١٢", "NULL", "true", "- 1", "nan(ind)", "2.2250738585072011e-308", "9" * 40]


@pytest.fixture(params=["pyarrow", "float"], autouse=True)
def parser(request, monkeypatch):
    """Either parser, also for few cells."""
    monkeypatch.setattr(floats, "ENOUGH_CELLS", 1)
    if request.param == "float":
        monkeypatch.setattr(floats, "_pyarrow", lambda: None)
    else:
        pytest.importorskip("pyarrow")
    return request.param


def parsed(cells):
    """The cells of a text, every one between two semicolons."""
    raw = [cell.encode() for cell in cells]
    ends = np.cumsum([len(cell) + 1 for cell in raw])
    starts = ends - [len(cell) for cell in raw]
    return parse_floats(b";" + b";".join(raw) + b";", starts, ends, number)


def bits(values):
    return [struct.pack("<d", value) if math.isfinite(value) else None for value in values]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.decimals(-9, 9, places=8).map(str)))
def test_plain_numbers_are_equal_to_the_last_bit(cells):
    assert bits(parsed(cells)) == bits(float(cell) for cell in cells)


@given(st.lists(st.sampled_from(ODD) | st.floats().map(repr) | st.text("0123456789+-._eE xinfa", max_size=12)))
def test_odd_cells_are_what_float_says(cells):
    assert bits(parsed(cells)) == bits(number(cell) for cell in cells)


@pytest.mark.parametrize("cell", ODD)
def test_every_odd_cell_alone(cell):
    assert bits(parsed([cell])) == bits([number(cell)])


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

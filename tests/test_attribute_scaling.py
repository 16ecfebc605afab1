"""Scalings: what they do to columns, that they can be undone, and that a model repeats its own on other nodes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse
from scipy.stats import rankdata

from gelato.attribute_scaling import AS_IS, Scaling, to_scaling
from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import align_attributes, read_attributes, read_graph, write_graph
from gelato.io.attributes.scales import SCALES, column_statistics

DECIMALS = st.decimals(-(10**6), 10**6, places=4).map(float)
COUNTS = st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.0, 7.0])
SIGNED = st.sampled_from([0.0, 0.0, 0.0, -1.5, 2.0])
FLAGS = st.sampled_from([0.0, 1.0])
COLUMNS = st.sampled_from([DECIMALS, COUNTS, SIGNED, FLAGS, st.just(7.5)])


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 12))
    kinds = draw(st.lists(COLUMNS, min_size=1, max_size=5))
    return np.column_stack([draw(st.lists(kind, min_size=n, max_size=n)) for kind in kinds])


def dense(x):
    return x.toarray() if issparse(x) else x


def fitted(x, how):
    return SCALES[how](x, column_statistics(x))


@given(x=matrices(), how=st.sampled_from(["standard", "rank"]), sparse=st.booleans())
def test_a_scaling_is_undone_exactly_on_decimals(x, how, sparse):
    scaling = fitted(csr_array(x) if sparse else x, how)
    scaled = scaling.apply(csr_array(x) if sparse else x)
    assert issparse(scaled) == sparse
    np.testing.assert_array_equal(dense(scaling.undo(scaled)), x)
    np.testing.assert_array_equal(dense(scaled), fitted(x, how).apply(x))


@given(x=matrices())
def test_standard_columns_have_mean_0_and_deviation_1_unless_they_keep_their_zeros(x):
    scaled = fitted(x, "standard").apply(x)
    for before, after in zip(x.T, scaled.T, strict=True):
        if np.isin(before, [0, 1]).all():
            np.testing.assert_array_equal(after, before)
        elif (before == before[0]).all():
            assert not after.any()
        elif 2 * (before == 0).sum() > len(before):
            np.testing.assert_allclose(after, before / before.std())
        else:
            np.testing.assert_allclose(after, (before - before.mean()) / before.std(), atol=1e-6)
            assert after.mean() == pytest.approx(0, abs=1e-9)
            assert after.std() == pytest.approx(1)


@given(x=matrices())
def test_ranks_are_average_ranks_from_minus_1_to_1(x):
    scaled = fitted(x, "rank").apply(x)
    assert (np.abs(scaled[:, ~np.isin(x, [0, 1]).all(axis=0)]) <= 1).all()
    for before, after in zip(x.T, scaled.T, strict=True):
        if np.isin(before, [0, 1]).all():
            continue
        if 2 * (before == 0).sum() > len(before):
            np.testing.assert_array_equal(after == 0, before == 0)
            np.testing.assert_array_equal(np.sign(after), np.sign(before))
            positive = before > 0
            if positive.any():
                np.testing.assert_allclose(after[positive], rankdata(before[positive]) / positive.sum())
        else:
            n = len(before)
            np.testing.assert_allclose(after, (2 * rankdata(before) - n - 1) / max(n - 1, 1), atol=1e-12)


def test_ranks_of_other_values_lie_between_and_stay_within():
    scaling = fitted(np.array([[1.0], [2.0], [5.0]]), "rank")
    assert scaling.apply(np.array([[0.0], [1.5], [3.5], [9.0]])).ravel().tolist() == [-1, -0.5, 0.5, 1]


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e155, 1e307])
def test_standard_columns_do_not_depend_on_their_unit(unit):
    x = np.array([[1.0, 3], [2, -4], [5, 8], [-7, 2]])
    np.testing.assert_allclose(fitted(unit * x, "standard").apply(unit * x), fitted(x, "standard").apply(x))


def test_a_wide_table_of_counts_stays_sparse(tmp_path):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.05, (200, 300))
    path = tmp_path / "a.csv"
    lines = [",".join(["node", *(f"w{i}" for i in range(300))])]
    path.write_text("\n".join(lines + [",".join([f"n{i}", *map(str, row)]) for i, row in enumerate(counts.tolist())]))
    table = read_attributes(path)
    assert issparse(table.matrix)
    assert table.matrix.nnz == np.count_nonzero(counts)
    np.testing.assert_array_equal(table.scaling.undo(table.matrix).toarray(), counts)


def train_and_new(tmp_path, how, new="node,pay,size,city\nx,3,5,Rome\ny,11.5,0,Oslo\nz,-2.25,5,Rome\n"):
    rng = np.random.default_rng(1)
    table = "node,pay,size,city\n" + "".join(
        f"n{i},{rng.normal(50, 20):.3f},{rng.poisson(0.5) * 2},{'Rome' if i % 3 else 'Oslo'}\n" for i in range(30)
    )
    (tmp_path / "old.csv").write_text(table)
    (tmp_path / "new.csv").write_text(new)
    (tmp_path / "links.csv").write_text("".join(f"n{i},n{i + 1}\n" for i in range(29)))
    (tmp_path / "few.csv").write_text("x,y\ny,z\n")
    old = read_graph(tmp_path / "links.csv", attributes=read_attributes(tmp_path / "old.csv", scale=how))
    return old, read_graph(tmp_path / "few.csv", attributes=read_attributes(tmp_path / "new.csv", scale=how))


@pytest.mark.parametrize("how", ["standard", "rank", "none"])
def test_new_nodes_are_scaled_as_the_graph_of_the_model_was(tmp_path, how):
    old, new = train_and_new(tmp_path, how)
    raw = np.array([[3, 5, 0, 1], [11.5, 0, 1, 0], [-2.25, 5, 0, 1]])
    expected = raw if old.scaling is None else old.scaling.apply(raw)
    got, alignment = align_attributes(new, old.attribute_names.tolist(), old.scaling)
    assert alignment.exact
    np.testing.assert_array_equal(dense(got.attributes), expected)
    unscaled, _ = align_attributes(new, old.attribute_names.tolist())
    np.testing.assert_array_equal(dense(unscaled.attributes), raw)
    assert unscaled.scaling is None
    again, _ = align_attributes(unscaled, old.attribute_names.tolist(), old.scaling)
    np.testing.assert_array_equal(dense(again.attributes), expected)


def test_one_new_node_is_scaled_too_and_a_missing_column_counts_as_its_mean(tmp_path):
    one = "node,size,city,extra\nx,4,Rome,2.5\ny,4,Rome,2.5\nz,4,Rome,2.5\n"
    old, new = train_and_new(tmp_path, "standard", one)
    assert not dense(new.attributes)[:, 0].any()
    got, alignment = align_attributes(new, old.attribute_names.tolist(), old.scaling)
    assert alignment.missing == ("pay", "city=Oslo")
    size = old.scaling.apply(np.array([[0.0, 4, 0, 0]]))[0, 1]
    np.testing.assert_array_equal(dense(got.attributes), [[0, size, 0, 1]] * 3)
    assert got.scaling is old.scaling


@pytest.mark.parametrize("how", ["standard", "rank"])
def test_a_scaling_lives_in_the_file_of_its_graph(tmp_path, how):
    old, _ = train_and_new(tmp_path, how)
    write_graph(old, tmp_path / "graph.npz")
    got = read_graph(tmp_path / "graph.npz")
    assert got.scaling.equals(old.scaling)
    assert got.attribute_fingerprint == old.attribute_fingerprint
    assert to_scaling(old.attributes, old.scaling, got.scaling) is old.attributes


def test_a_damaged_scaling_is_refused(tmp_path):
    old, _ = train_and_new(tmp_path, "rank")
    write_graph(old, tmp_path / "graph.npz")
    with np.load(tmp_path / "graph.npz") as archive:
        arrays = dict(archive)
    for change in (
        {"scaling_scale": np.zeros(4)},
        {"scaling_starts": np.arange(5)},
        {"scaling_center": np.full(4, np.nan)},
    ):
        np.savez(tmp_path / "bad.npz", **arrays | change)
        with pytest.raises(InputError, match=r"bad\.npz: the scaling of the attributes is damaged"):
            read_graph(tmp_path / "bad.npz")
    np.savez(tmp_path / "bad.npz", **{name: array for name, array in arrays.items() if name != "scaling_knots"})
    with pytest.raises(InputError, match=r"bad\.npz: there is no array scaling_knots"):
        read_graph(tmp_path / "bad.npz")
    with pytest.raises(InputError, match="the scaling has 3 columns, but the graph has 2 attributes"):
        Graph.from_edges([[0, 1]], attributes=np.eye(2), scaling=Scaling.none(3))


def test_columns_move_with_their_scaling():
    x = np.array([[1.0, 10, 0], [2, 30, 1], [4, 20, 1]])
    for how in ("standard", "rank"):
        scaling = fitted(x, how)
        moved = scaling.rearranged(np.array([2, -1, 0]), 4)
        got = moved.apply(np.column_stack([x[:, 2], x[:, 1], x[:, 0], x[:, 1]]))
        expected = scaling.apply(x)
        np.testing.assert_array_equal(got, np.column_stack([expected[:, 2], x[:, 1], expected[:, 0], x[:, 1]]))
        assert moved.kind[[1, 3]].tolist() == [AS_IS, AS_IS]
        np.testing.assert_array_equal(scaling.of_column(0).apply(x[:, [0]]), expected[:, [0]])

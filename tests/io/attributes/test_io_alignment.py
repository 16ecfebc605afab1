"""Attributes put into the columns that a model knows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.io import Alignment, align_attributes


def graph_of(columns, x=None, sparse=False, dtype=np.float64):
    x = np.arange(1.0, 1 + 3 * len(columns)).reshape(3, -1) if x is None else np.asarray(x)
    x = x.astype(dtype)
    names = None if columns is None else np.fromiter(columns, dtype=object, count=len(columns))
    return Graph.from_edges([[0, 1], [1, 2]], attributes=csr_array(x) if sparse else x, attribute_names=names)


def dense(graph):
    return graph.attributes.toarray() if issparse(graph.attributes) else graph.attributes


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_are_ordered_filled_and_left_out_by_name(sparse, dtype):
    graph = graph_of(["a", "x", "b", "c"], sparse=sparse, dtype=dtype)
    got, alignment = align_attributes(graph, ["c", "new", "a", "b"])
    assert dense(got).tolist() == [[4, 0, 1, 3], [8, 0, 5, 7], [12, 0, 9, 11]]
    assert got.attribute_names.tolist() == ["c", "new", "a", "b"]
    assert got.attributes.dtype == dtype
    assert issparse(got.attributes) == sparse
    assert not sparse or got.attributes.has_canonical_format
    assert alignment == Alignment(("new",), ("x",), False, 4)
    assert not alignment.exact
    assert got.fingerprint == graph.fingerprint
    assert dense(graph).tolist()[0] == [1, 2, 3, 4]


def test_the_same_columns_leave_the_graph_as_it_is():
    graph = graph_of(["a", "b"])
    got, alignment = align_attributes(graph, ["a", "b"])
    assert got is graph
    assert alignment == Alignment(total=2)
    assert alignment.exact


@pytest.mark.parametrize("sparse", [False, True])
def test_the_same_columns_in_another_order_change_places(sparse):
    got, alignment = align_attributes(graph_of(["a", "b", "c"], sparse=sparse), ["c", "a", "b"])
    assert dense(got).tolist() == [[3, 1, 2], [6, 4, 5], [9, 7, 8]]
    assert alignment == Alignment(same_order=False, total=3)


@st.composite
def matched(draw):
    held = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True))
    extra = draw(st.lists(st.sampled_from("pqrs"), unique=True, max_size=len(held)))
    wanted = draw(st.permutations([*draw(st.permutations(held))[: max(len(extra), 1)], *extra]))
    x = draw(
        st.lists(
            st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.5]), min_size=len(held), max_size=len(held)),
            min_size=3,
            max_size=3,
        )
    )
    return held, wanted, x


@given(case=matched(), sparse=st.booleans())
def test_every_value_stays_with_the_name_of_its_column(case, sparse):
    held, wanted, x = case
    got, alignment = align_attributes(graph_of(held, x, sparse), wanted)
    for i, row in enumerate(dense(got).tolist()):
        assert row == [dict(zip(held, x[i], strict=True)).get(name, 0.0) for name in wanted]
    assert alignment.missing == tuple(name for name in wanted if name not in held)
    assert alignment.unknown == tuple(name for name in held if name not in wanted)
    both = [name for name in held if name in wanted]
    assert alignment.same_order == (both == [name for name in wanted if name in held])


def test_an_alignment_is_told_in_plain_words():
    names = tuple("abcdefg")
    assert str(Alignment(names[:3], ("x", "y"), True, 1258)) == (
        "3 of the model's 1,258 attribute columns are not in this table and count as 0: a, b, c; "
        "2 columns of the table are unknown to the model and are left out: x, y"
    )
    assert str(Alignment(("a",), ("x",), True, 9)) == (
        "1 of the model's 9 attribute columns is not in this table and counts as 0: a; "
        "1 column of the table is unknown to the model and is left out: x"
    )
    assert str(Alignment(names, (), True, 20)).endswith("count as 0: a, b, c, d, e and 2 more")
    assert str(Alignment(total=1258)) == "all 1,258 attribute columns of the model are in this table"
    assert str(Alignment(same_order=False, total=2)) == (
        "all 2 attribute columns of the model are in this table; "
        "the columns are in another order and are rearranged to match the model"
    )


def test_attributes_without_names_are_taken_as_they_are_when_there_are_as_many():
    graph = graph_of(None, np.eye(3))
    got, alignment = align_attributes(graph, ["a", "b", "c"])
    assert got is graph
    assert alignment.exact
    with pytest.raises(InputError, match="3 attributes without names, but 2 columns are needed, such as a, b; name"):
        align_attributes(graph, ["a", "b"])


@pytest.mark.parametrize(
    ("columns", "wanted", "expected"),
    [
        (
            ["A", "B", "c"],
            ["a", "b", "c"],
            "only 1 of 3 attribute columns are in the graph, fewer than half: needed a, b; "
            "the graph has A, B; use a table with the model's columns, or rename the columns",
        ),
        (["a", "b"], [], "only 0 of 0 attribute columns are in the graph"),
        (["a", "a"], ["a", "b"], "two of the attributes of the graph are called 'a'; rename one"),
        (["a", "b"], ["a", "a"], "two of the columns wanted are called 'a'; rename one"),
    ],
)
def test_columns_that_are_not_those_of_the_model_are_refused(columns, wanted, expected):
    with pytest.raises(InputError) as caught:
        align_attributes(graph_of(columns), wanted)
    assert str(caught.value).startswith(expected)


def test_half_of_the_columns_are_enough():
    got, alignment = align_attributes(graph_of(["a", "z"]), ["a", "b"])
    assert dense(got).tolist() == [[1, 0], [3, 0], [5, 0]]
    assert alignment == Alignment(("b",), ("z",), True, 2)


def test_a_graph_without_attributes_is_refused():
    with pytest.raises(InputError, match="has no attributes, but 2 columns are needed, such as a, b; give it"):
        align_attributes(Graph.from_edges([[0, 1]]), ["a", "b"])

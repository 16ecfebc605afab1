"""The Graph is checked once, at its door, and frozen behind it."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from gelato.errors import GelatoError
from gelato.graph import DroppedRows, Graph, pair_keys
from refusals import refusal

SQUARE = [[0, 1], [1, 2], [2, 3], [3, 0]]


def matrix(rows):
    return csr_array(np.array(rows, dtype=float))


@st.composite
def link_lists(draw):
    """A number of nodes and links among them, some repeated, some loops, at least one proper."""
    n = draw(st.integers(2, 8))
    node = st.integers(0, n - 1)
    links = draw(st.lists(st.tuples(node, node), min_size=1, max_size=20))
    return n, [*links, (0, 1)]


# Building


def test_links_are_listed_by_their_nodes_with_the_smaller_first():
    graph = Graph.from_edges([[3, 1], [2, 0], [0, 1]])
    assert graph.edges.tolist() == [[0, 1], [0, 2], [1, 3]]
    assert graph.edges.dtype == np.int64


def test_links_of_a_directed_graph_keep_their_direction():
    graph = Graph.from_edges([[3, 1], [1, 3], [2, 0]], directed=True)
    assert graph.edges.tolist() == [[1, 3], [2, 0], [3, 1]]
    assert graph.m == 3
    assert graph.adjacency.toarray()[2, 0] == 1
    assert graph.adjacency.toarray()[0, 2] == 0


def test_loops_and_repeats_are_dropped_and_counted():
    graph = Graph.from_edges([[0, 1], [1, 1], [1, 0], [0, 1], [2, 1], [2, 2], [0, 0]])
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.dropped == DroppedRows(loops=3, repeats=2)
    assert str(graph.dropped) == "dropped 3 self-loops and 2 repeated links"


def test_the_two_directions_of_a_directed_link_are_no_repeats():
    assert Graph.from_edges([[0, 1], [1, 0]], directed=True).dropped == DroppedRows()
    assert Graph.from_edges([[0, 1], [1, 0]]).dropped == DroppedRows(repeats=1)


def test_of_a_repeated_link_the_earliest_in_time_is_kept_with_its_weight():
    graph = Graph.from_edges([[0, 1], [1, 2], [1, 0]], weights=[5, 6, 7], times=[30, 20, 10])
    assert graph.times.tolist() == [10, 20]
    assert graph.adjacency[0, 1] == graph.adjacency[1, 0] == 7


def test_of_a_repeated_link_without_times_the_first_is_kept():
    graph = Graph.from_edges([[1, 0], [0, 1], [1, 2]], weights=[5, 6, 7])
    assert graph.adjacency[0, 1] == 5


def test_of_repeats_at_the_same_time_the_first_is_kept():
    graph = Graph.from_edges([[1, 0], [0, 1], [0, 1]], weights=[5, 6, 7], times=[2, 1, 1])
    assert graph.adjacency[0, 1] == 6


def test_times_stand_beside_the_links_they_belong_to():
    graph = Graph.from_edges([[2, 3], [0, 3], [1, 0]], times=[1.5, 2.5, 3.5])
    assert dict(zip(map(tuple, graph.edges.tolist()), graph.times.tolist(), strict=True)) == {
        (2, 3): 1.5,
        (0, 3): 2.5,
        (0, 1): 3.5,
    }


def test_nodes_without_a_link_exist_when_they_are_asked_for():
    assert Graph.from_edges([[0, 1]]).n == 2
    assert Graph.from_edges([[0, 1]], 5).n == 5


def test_duplicate_entries_of_a_given_matrix_become_one_link():
    doubled = coo_array(([1.0, 1, 1, 1], ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    assert Graph(doubled).m == 1


@given(link_lists(), st.randoms(use_true_random=False))
def test_an_undirected_graph_does_not_depend_on_the_order_or_direction_of_its_links(case, random):
    n, links = case
    weights = {frozenset(link): 1 + i for i, link in enumerate(links)}  # one weight a pair, so that repeats agree
    turned = [link if random.random() < 0.5 else link[::-1] for link in links]
    random.shuffle(turned)
    one, other = (
        Graph.from_edges(given, n, weights=[weights[frozenset(link)] for link in given]) for given in (links, turned)
    )
    np.testing.assert_array_equal(one.edges, other.edges)
    np.testing.assert_array_equal(one.adjacency.toarray(), other.adjacency.toarray())
    assert one.fingerprint == other.fingerprint
    assert one.dropped == other.dropped


@given(link_lists(), st.booleans())
def test_every_given_link_is_kept_once_or_counted_as_dropped(case, directed):
    n, links = case
    graph = Graph.from_edges(links, n, directed=directed)
    proper = {link if directed else tuple(sorted(link)) for link in links if link[0] != link[1]}
    assert graph.edges.tolist() == sorted(map(list, proper))
    assert graph.m + graph.dropped.loops + graph.dropped.repeats == len(links)
    assert graph.dropped.loops == sum(u == v for u, v in links)


# Sizes


def test_a_graph_counts_its_nodes_links_and_attributes():
    graph = Graph.from_edges(SQUARE, 6, attributes=np.ones((6, 3)))
    assert (graph.n, graph.m, graph.f) == (6, 4, 3)
    assert Graph.from_edges(SQUARE).f == 0


def test_a_graph_is_weighted_when_a_weight_differs_from_one():
    assert not Graph.from_edges(SQUARE, weights=[1, 1, 1, 1]).weighted
    assert Graph.from_edges(SQUARE, weights=[1, 1, 0.5, 1]).weighted


def test_a_graph_prints_its_kind_and_sizes():
    graph = Graph.from_edges([[0, 1]], 1500, weights=[2], directed=True)
    assert repr(graph) == "Graph(weighted directed 1,500 nodes, 1 links, 0 attributes)"
    assert repr(Graph.from_edges(SQUARE)) == "Graph(4 nodes, 4 links, 0 attributes)"


def test_every_ordered_pair_has_its_own_key():
    pairs = np.array([[u, v] for u in range(7) for v in range(7)])
    assert len(set(pair_keys(pairs, 7).tolist())) == 49


# Freezing


@pytest.mark.parametrize(
    "array",
    [
        lambda graph: graph.adjacency.data,
        lambda graph: graph.adjacency.indices,
        lambda graph: graph.adjacency.indptr,
        lambda graph: graph.attributes,
        lambda graph: graph.names,
        lambda graph: graph.attribute_names,
        lambda graph: graph.labels,
        lambda graph: graph.times,
        lambda graph: graph.edges,
    ],
    ids=["data", "indices", "indptr", "attributes", "names", "attribute_names", "labels", "times", "edges"],
)
def test_no_array_of_a_graph_can_be_written_to(array):
    graph = Graph.from_edges(
        SQUARE,
        attributes=np.ones((4, 2)),
        names=np.array(list("abcd")),
        attribute_names=np.array(["x", "y"]),
        labels=np.arange(4),
        times=np.arange(4),
    )
    with pytest.raises(ValueError, match="read-only"):
        array(graph)[0] = 0


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_no_array_of_sparse_attributes_can_be_written_to(part):
    graph = Graph.from_edges(SQUARE, attributes=csr_array(np.eye(4)))
    with pytest.raises(ValueError, match="read-only"):
        getattr(graph.attributes, part)[0] = 0


def test_no_field_of_a_graph_can_be_replaced():
    with pytest.raises(AttributeError):
        Graph.from_edges(SQUARE).directed = True


def test_a_graph_does_not_change_with_the_arrays_it_was_built_from():
    adjacency, attributes = matrix([[0, 1], [1, 0]]), np.ones((2, 1))
    names, labels, times = np.array(["a", "b"]), np.array([1, 2]), np.array([3.0])
    graph = Graph(adjacency, attributes=attributes, names=names, labels=labels, times=times)
    adjacency.data[:] = 9
    attributes[:] = 9
    names[:] = "z"
    labels[:] = 9
    times[:] = 9
    assert graph.adjacency.data.tolist() == [1, 1]
    assert graph.attributes.tolist() == [[1], [1]]
    assert (graph.names.tolist(), graph.labels.tolist(), graph.times.tolist()) == (["a", "b"], [1, 2], [3])


def test_sparse_attributes_do_not_change_with_the_matrix_they_were_built_from():
    attributes = csr_array(np.eye(4))
    graph = Graph.from_edges(SQUARE, attributes=attributes)
    attributes.data[:] = 9
    assert graph.attributes.data.tolist() == [1, 1, 1, 1]


# Refusals


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        (csr_array((2, 3)), "adjacency must be a square sparse matrix, got csr_array (2, 3)"),
        (np.eye(3), "adjacency must be a square sparse matrix, got ndarray (3, 3)"),
        (csr_array((1, 1)), "a graph needs at least two nodes, got 1"),
        (csr_array((3, 3)), "the graph of 3 nodes has no links; give at least one"),
        (matrix([[0, 1, 0], [1, 0, 0], [0, 0, 2]]), "node 2 has a self-loop; Graph.from_edges drops them"),
        (matrix([[0, 1], [0, 0]]), "adjacency is not symmetric; pass directed=True, or build it with Graph.from_edges"),
        (matrix([[0, 1], [2, 0]]), "adjacency is not symmetric; pass directed=True, or build it with Graph.from_edges"),
        (matrix([[0, 1], [-1, 0]]), "link (1, 0) has weight -1.0; weights must be positive and finite"),
        (matrix([[0, np.nan], [1, 0]]), "link (0, 1) has weight nan; weights must be positive and finite"),
        (matrix([[0, np.inf], [1, 0]]), "link (0, 1) has weight inf; weights must be positive and finite"),
        (
            csr_array(([1.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2)),
            "link (1, 0) has weight 0.0; weights must be positive and finite",
        ),
    ],
)
def test_a_bad_adjacency_is_refused_with_the_rule_and_the_value(adjacency, message):
    assert refusal(Graph, adjacency) == message


def test_an_asymmetric_adjacency_is_a_directed_graph():
    assert Graph(matrix([[0, 1], [0, 0]]), directed=True).edges.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        ([0, 1], {}, "edges must have shape (e, 2), got (2,)"),
        ([[0, 1, 2]], {}, "edges must have shape (e, 2), got (1, 3)"),
        ([[0.0, 1.0]], {}, "edges must be integer node indices, got float64; map names to indices first"),
        ([["a", "b"]], {}, "edges must be integer node indices, got <U1; map names to indices first"),
        ([[0, 1], [1, 4], [5, 9]], {"nodes": 4}, "link (1, 4) names a node outside 0..3"),
        ([[0, 1], [2, -1]], {}, "link (2, -1) names a node outside 0..2"),
        ([[0, 1]], {"weights": [1, 2]}, "weights must have one entry for each of the 1 links given, got shape (2,)"),
        ([[0, 1]], {"times": [1, 2]}, "times must have one entry for each of the 1 links given, got shape (2,)"),
        ([[0, 1], [1, 2]], {"weights": [1, -3]}, "link 1 (1, 2) has weight -3.0; weights must be positive and finite"),
        ([[0, 1], [1, 2]], {"weights": [1, 0]}, "link 1 (1, 2) has weight 0.0; weights must be positive and finite"),
        ([[0, 1]], {"weights": [np.nan]}, "link 0 (0, 1) has weight nan; weights must be positive and finite"),
        ([[0, 1]], {"weights": [np.inf]}, "link 0 (0, 1) has weight inf; weights must be positive and finite"),
        ([[0, 1], [1, 2]], {"times": [1, np.nan]}, "time of link 1 is not finite; give every link a time"),
        ([[0, 0], [1, 1]], {}, "the graph of 2 nodes has no links; give at least one"),
        (np.empty((0, 2)), {}, "a graph needs at least two nodes, got 0"),
    ],
)
def test_bad_links_are_refused_with_the_rule_and_the_value(edges, options, message):
    assert refusal(Graph.from_edges, edges, **options) == message


def test_a_bad_weight_is_refused_also_on_a_loop():
    assert "link 1 (2, 2) has weight -1.0" in refusal(Graph.from_edges, [[0, 1], [2, 2]], weights=[1, -1])


@pytest.mark.parametrize("form", [np.array, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (2, 0), (2, 4), (3, 1)])
def test_an_attribute_that_is_no_number_is_refused_with_its_node_and_column(form, value, row, column):
    attributes = np.array([[1.0, 0, 2, 0, 0], [0, 0, 0, 0, 0], [3, 4, 0, 0, 0], [0, 5, 0, 0, np.nan]])
    attributes[row, column] = value
    message = refusal(Graph.from_edges, SQUARE, attributes=form(attributes))
    assert message == f"attribute {column} of node {row} is not a finite number; fill or drop missing values"


@pytest.mark.parametrize("shape", [(3, 2), (5, 2), (4,)])
def test_attributes_of_another_shape_are_refused(shape):
    message = refusal(Graph.from_edges, SQUARE, attributes=np.ones(shape))
    assert message == f"attributes must have shape (4, f), one row per node, got {shape}"


@pytest.mark.parametrize(
    ("field", "length", "of"), [("names", 4, "nodes"), ("labels", 4, "nodes"), ("attribute_names", 2, "attributes")]
)
@pytest.mark.parametrize("wrong", [-1, 1])
def test_a_column_of_another_length_is_refused(field, length, of, wrong):
    columns = {"attributes": np.ones((4, 2)), field: np.arange(length + wrong)}
    message = refusal(Graph.from_edges, SQUARE, **columns)
    assert message == f"{field} must have one entry for each of the {length} {of}, got shape ({length + wrong},)"


def test_times_of_another_length_are_refused():
    message = refusal(Graph, matrix([[0, 1], [1, 0]]), times=np.array([1.0, 2.0]))
    assert message == "times must have one entry for each of the 1 links, got shape (2,)"


def test_attribute_names_without_attributes_are_refused():
    assert "each of the 0 attributes" in refusal(Graph.from_edges, SQUARE, attribute_names=np.array(["x"]))


def test_two_nodes_of_one_name_are_refused():
    message = refusal(Graph.from_edges, SQUARE, names=np.array(["a", "b", "c", "b"]))
    assert message == "nodes 1 and 3 have the same name 'b'; names must be unique"


def test_a_refusal_is_a_gelato_error_and_a_value_error():
    for kind in (GelatoError, ValueError):
        with pytest.raises(kind):
            Graph.from_edges([[0, 0]])


# Attributes


def test_attributes_of_integers_become_floats_and_floats_keep_their_precision():
    for given_type, kept in ((np.int64, np.float64), (bool, np.float64), (np.float32, np.float32)):
        for form in (np.array, csr_array):
            assert Graph.from_edges(SQUARE, attributes=form(np.eye(4, dtype=given_type))).attributes.dtype == kept


# Removing links


@pytest.mark.parametrize("pair", [[1, 2], [2, 1]])
def test_an_undirected_link_is_removed_in_both_directions(pair):
    left = Graph.from_edges(SQUARE).without([pair])
    assert left.edges.tolist() == [[0, 1], [0, 3], [2, 3]]
    assert left.adjacency[1, 2] == left.adjacency[2, 1] == 0


def test_a_directed_link_is_removed_in_its_direction_only():
    graph = Graph.from_edges([[0, 1], [1, 0], [1, 2]], directed=True)
    left = graph.without([[1, 0]])
    assert left.edges.tolist() == [[0, 1], [1, 2]]
    assert left.directed


def test_removing_links_keeps_all_else():
    graph = Graph.from_edges(
        [[0, 1], [1, 2], [2, 3], [3, 0], [0, 0]],
        weights=[1, 2, 3, 4, 5],
        times=[10, 20, 30, 40, 50],
        names=np.array(list("abcd")),
        labels=np.arange(4),
        attributes=np.eye(4),
        attribute_names=np.array(list("wxyz")),
    )
    left = graph.without([[1, 2]])
    assert left.edges.tolist() == [[0, 1], [0, 3], [2, 3]]
    assert [left.adjacency[u, v] for u, v in left.edges] == [1, 4, 3]
    assert left.times.tolist() == [10, 40, 30]
    assert left.names.tolist() == list("abcd")
    assert left.labels.tolist() == [0, 1, 2, 3]
    assert left.attributes.tolist() == np.eye(4).tolist()
    assert left.attribute_names.tolist() == list("wxyz")
    assert left.n == 4
    assert left.dropped == DroppedRows()
    assert graph.m == 4


def test_removing_nothing_leaves_the_same_links():
    graph = Graph.from_edges(SQUARE)
    assert graph.without(np.empty((0, 2))).fingerprint == graph.fingerprint


def test_a_link_named_twice_is_removed_once():
    assert Graph.from_edges(SQUARE).without([[0, 1], [1, 0]]).m == 3


def test_removing_what_is_no_link_is_refused_by_name():
    graph = Graph.from_edges(SQUARE, names=np.array(list("abcd")))
    message = refusal(graph.without, [[0, 1], [0, 2]])
    assert message == "cannot remove (a, c): it is not a link of the graph"


def test_removing_a_directed_link_against_its_direction_is_refused():
    graph = Graph.from_edges([[0, 1], [1, 2]], directed=True)
    assert "cannot remove (1, 0)" in refusal(graph.without, [[1, 0]])


@pytest.mark.parametrize("pair", [[0, 6], [-1, 5], [1, -2]])
def test_removing_a_link_of_a_node_that_is_not_there_is_refused(pair):
    graph = Graph.from_edges(SQUARE, directed=True)  # the keys of these pairs are those of (1, 2), (0, 1) and (0, 2)
    assert refusal(graph.without, [pair]) == f"link ({pair[0]}, {pair[1]}) names a node outside 0..3"


def test_removing_every_link_is_refused():
    message = refusal(Graph.from_edges(SQUARE).without, SQUARE)
    assert message == "removing all 4 links would leave none; keep at least one"


@given(link_lists(), st.booleans(), st.data())
def test_the_links_removed_and_those_left_make_up_the_graph(case, directed, data):
    n, links = case
    graph = Graph.from_edges(links, n, weights=1 + np.arange(len(links)), directed=directed)
    gone = data.draw(st.lists(st.integers(0, graph.m - 1), unique=True, max_size=graph.m - 1))
    left = graph.without(graph.edges[gone])
    kept = set(map(tuple, left.edges.tolist()))
    removed = set(map(tuple, graph.edges[gone].tolist()))
    assert kept.isdisjoint(removed)
    assert kept | removed == set(map(tuple, graph.edges.tolist()))
    assert all(left.adjacency[u, v] == graph.adjacency[u, v] for u, v in kept)


# Fingerprint


def test_the_fingerprint_changes_with_links_weights_size_and_direction():
    graphs = [
        Graph.from_edges(SQUARE),
        Graph.from_edges(SQUARE[:3]),
        Graph.from_edges([[0, 2], *SQUARE[1:]]),
        Graph.from_edges(SQUARE, 5),
        Graph.from_edges(SQUARE, weights=[1, 1, 1, 2]),
        Graph.from_edges([*SQUARE, *np.array(SQUARE)[:, ::-1].tolist()], directed=True),
    ]
    assert len({graph.fingerprint for graph in graphs}) == len(graphs)


def test_the_fingerprint_does_not_depend_on_attributes_names_labels_or_times():
    plain = Graph.from_edges(SQUARE)
    rich = Graph.from_edges(
        SQUARE, attributes=np.eye(4), names=np.array(list("abcd")), labels=np.arange(4), times=np.arange(4)
    )
    assert plain.fingerprint == rich.fingerprint


def test_the_fingerprint_stays_the_same_from_version_to_version():
    expected = "dac58c81"  # saved splits and partitions carry it
    assert Graph.from_edges(SQUARE).fingerprint[:8] == expected


# Names


def test_names_lead_to_indices_and_back():
    graph = Graph.from_edges(SQUARE, names=np.array(list("abcd")))
    assert graph.index_of(["c", "a", "c"]).tolist() == [2, 0, 2]
    assert [graph.name_of(node) for node in (2, np.int64(0))] == ["c", "a"]


def test_a_node_without_a_name_is_called_by_its_index():
    graph = Graph.from_edges(SQUARE)
    assert graph.index_of([3, 1]).tolist() == [3, 1]
    assert graph.name_of(np.int64(3)) == 3


@pytest.mark.parametrize("names", [np.array(["a", "b"]), np.array(["a", "b"], dtype=object), ["a", "b"]])
def test_a_name_prints_without_its_type(names):
    assert repr(Graph.from_edges([[0, 1]], names=names).name_of(np.int64(1))) == "'b'"
    assert repr(Graph.from_edges([[0, 1]]).name_of(np.int64(1))) == "1"


def test_an_unknown_name_is_refused_with_an_example():
    graph = Graph.from_edges(SQUARE, names=np.array(list("abcd")))
    assert refusal(graph.index_of, ["a", "e"]) == "unknown node 'e'; the graph has 4 nodes such as 'a'"
    assert re.match(r"unknown node 4; the graph has 4 nodes such as 0", refusal(Graph.from_edges(SQUARE).index_of, [4]))

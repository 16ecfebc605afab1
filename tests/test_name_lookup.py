"""Names close to one that is not known."""

import time

import pytest

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.name_lookup import close_names, question
from gelato.prediction.node_names import nodes_by_name


@pytest.mark.parametrize(
    ("wanted", "names", "expected"),
    [
        ("Ann", ["bob", "ann"], ["ann"]),
        (" ann ", ["bob", "ann"], ["ann"]),
        ("ann", [" Ann", "bob"], [" Ann"]),
        ("Addam-Marbrnd", ["Addam-Marbrand", "Adam", "Brynden-Tully"], ["Addam-Marbrand"]),
        ("zzz", ["ann", "bob"], []),
        ("", ["ann"], []),
        ("x" * 500, ["X" * 500, "y"], ["X" * 500]),
    ],
)
def test_names_that_differ_by_case_spaces_or_a_few_letters_are_close(wanted, names, expected):
    assert close_names(wanted, names) == expected


def test_a_close_name_is_found_among_a_million_in_about_a_second():
    names = [f"user-{i * 7919 % 10**7:07d}" for i in range(1_000_000)]
    begin = time.process_time()
    close = close_names("User-0007919x", names)
    assert time.process_time() - begin < 2
    assert "user-0007919" in close


def test_a_question_lists_what_may_be_meant():
    assert question([]) == ""
    assert question(["a"]) == "did you mean 'a'?"
    assert question(["a", "b", "c"]) == "did you mean 'a', 'b' or 'c'?"


def test_an_unknown_node_is_refused_with_the_close_ones():
    graph = Graph.from_edges([[0, 1]], names=["ann", "bob"])
    for call in (lambda: graph.index_of(["Ann"]), lambda: nodes_by_name(["Ann"], graph)):
        with pytest.raises(InputError, match=r"unknown node 'Ann'; did you mean 'ann'\?"):
            call()
    with pytest.raises(InputError, match="the graph has 2 nodes such as 'ann'"):
        graph.index_of(["xyz"])

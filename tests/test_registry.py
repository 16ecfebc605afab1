"""A registry is an explicit table that names what it has when it has not what was asked for."""

import pytest

from gelato.errors import InputError
from gelato.registry import Registry


def test_a_registry_gives_its_parts_by_name_in_their_order():
    registry = Registry("part", {"b": 1, "a": 2})
    assert list(registry) == ["b", "a"]
    assert (registry["a"], registry["b"], len(registry)) == (2, 1, 2)
    assert "a" in registry
    assert "c" not in registry


def test_an_unknown_name_is_refused_with_the_kind_and_the_known_names():
    with pytest.raises(InputError) as caught:
        Registry("loss", {"b": 1, "a": 2})["c"]
    assert str(caught.value) == "unknown loss 'c'; known: a, b"


def test_a_registry_cannot_be_written_to():
    with pytest.raises(TypeError):
        Registry("part", {"a": 1})["b"] = 2


def test_a_registry_does_not_change_with_the_table_it_was_built_from():
    table = {"a": 1}
    registry = Registry("part", table)
    table["b"] = 2
    assert list(registry) == ["a"]


def test_asking_whether_something_that_is_no_name_is_there_is_no_error():
    assert 7 not in Registry("part", {"a": 1})

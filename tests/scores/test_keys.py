"""Keys: equal for equal values, and for nothing else."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

from gelato.methods import HEURISTICS
from gelato.scores import BlockScores, LiftedScores, key_of
from gelato.scores.autocovariance import autocovariance
from graphs import random_graph

DIFFERENT = [
    (),
    (None,),
    ("",),
    (b"",),
    ("1",),
    (b"1",),
    (1,),
    (1.0,),
    (True,),
    (False,),
    (0,),
    ("a", "b"),
    ("ab",),
    (["a", "b"],),
    ([["a"], "b"],),
    ([],),
    ({},),
    ({"a": 1},),
    ({"a": 2},),
    ({"b": 1},),
    (np.arange(3),),
    (np.arange(3.0),),
    (np.arange(3, dtype=np.int32),),
    (np.arange(3)[None],),
    (np.arange(4).reshape(2, 2),),
    (np.arange(4).reshape(2, 2).T,),
    (csr_array(np.eye(2)),),
    (csr_array(2 * np.eye(2)),),
    (csr_array(np.eye(2)[::-1]),),
]


def test_other_values_have_another_key():
    keys = [key_of(*parts) for parts in DIFFERENT]
    for (i, one), (j, other) in itertools.combinations(enumerate(keys), 2):
        assert one != other, (DIFFERENT[i], DIFFERENT[j])


def test_the_same_values_have_the_same_key_however_they_are_kept():
    whole = np.arange(12.0).reshape(3, 4)
    assert key_of(whole) == key_of(np.asfortranarray(whole)) == key_of(whole.astype(">f8"))
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert key_of(np.int64(3), np.float64(0.5)) == key_of(3, 0.5)
    matrix = csr_array(np.eye(3))
    wide = csr_array((matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)), shape=(3, 3))
    assert key_of(matrix) == key_of(wide) == key_of(matrix.tocoo())


@pytest.mark.parametrize("part", [object(), np.array([object()]), {1, 2}], ids=["object", "objects", "set"])
def test_what_has_no_content_to_hash_is_refused(part):
    with pytest.raises(TypeError, match="a key cannot be made of"):
        key_of(part)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", HEURISTICS)
def test_scores_of_every_heuristic_are_known_by_what_they_depend_on(name, directed):
    graph = random_graph(3, directed=directed)
    key = HEURISTICS[name](graph).key
    assert key is not None and key == HEURISTICS[name](random_graph(3, directed=directed)).key
    others = [make(graph).key for other, make in HEURISTICS.items() if other != name]
    assert key not in others
    assert key != HEURISTICS[name](random_graph(4, directed=directed)).key


def test_parameters_are_part_of_the_key():
    graph = random_graph(3)
    options = [{}, {"steps": 2}, {"self_loops": "all"}, {"dtype": "float32"}]
    assert len({autocovariance(graph, **each).key for each in options}) == len(options)


def test_a_users_function_has_no_key_and_neither_has_what_is_built_on_it():
    mine = BlockScores(4, lambda rows, columns: np.zeros((len(rows), len(columns))))
    assert mine.key is None
    assert LiftedScores(mine, np.array([[0, 1]]), np.ones(1)).key is None
    base = autocovariance(random_graph(3))
    lifted = [LiftedScores(base, np.array([[0, v]]), np.array([x])) for v, x in ((2, 1.0), (3, 1.0), (2, 2.0))]
    assert len({each.key for each in [base, *lifted]}) == 4

"""Where sparse rows meet: as in the dense product."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gelato.torch_ops import row_intersection as rows_module
from gelato.torch_ops.row_intersection import DeviceRows, intersect_rows

CPU = torch.device("cpu")


def random_matrix(random, n):
    dense = random.integers(1, 5, (n, n)) * (random.random((n, n)) < 0.3)
    return csr_array(dense.astype(float)), dense


@given(st.integers(1, 9), st.integers(0, 1000), st.sampled_from([1, 3, 10**6]))
def test_meetings_are_the_terms_of_a_product(n, seed, portion):
    random = np.random.default_rng(seed)
    (first, A), (second, B) = random_matrix(random, n), random_matrix(random, n)
    u, v = random.integers(n, size=(2, 7))
    before, rows_module.EXPANDED = rows_module.EXPANDED, portion
    try:
        meeting = intersect_rows(
            *(DeviceRows.of(each, CPU, torch.float64) for each in (first, second)), *map(torch.tensor, (u, v))
        )
    finally:
        rows_module.EXPANDED = before
    assert (meeting.pair[1:] >= meeting.pair[:-1]).all()
    terms = np.zeros((7, n))
    np.add.at(terms, (meeting.pair.numpy(), meeting.node.numpy()), meeting.weight.numpy())
    np.testing.assert_array_equal(terms, A[u] * B[v])


def test_no_pairs_meet_nowhere():
    rows = DeviceRows.of(csr_array((3, 3)), CPU, torch.float64)
    nothing = torch.empty(0, dtype=torch.int64)
    assert all(len(part) == 0 for part in intersect_rows(rows, rows, nothing, nothing))
    assert len(intersect_rows(rows, rows, torch.tensor([0, 1]), torch.tensor([1, 2])).pair) == 0


def test_rows_in_full_and_times_a_dense_matrix():
    matrix, dense = random_matrix(np.random.default_rng(1), 6)
    rows = DeviceRows.of(matrix, CPU, torch.float64)
    nodes = torch.tensor([4, 0])
    np.testing.assert_array_equal(rows.dense(nodes), dense[[4, 0]])
    other = np.random.default_rng(2).random((6, 3))
    np.testing.assert_allclose(rows.times(torch.tensor(other)), dense @ other)

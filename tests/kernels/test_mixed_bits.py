"""SplitMix64 in NumPy against whole numbers of Python, and against its published output."""

import numpy as np

from gelato.kernels.mixed_bits import mixed_bits
from gelato.networks.pairwise.node_keys import mixed_words

GOLDEN = 0x9E3779B97F4A7C15


def finalizer(word):
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


def test_words_are_mixed_as_whole_numbers_modulo_two_to_the_64():
    words = np.random.default_rng(0).integers(0, 2**64, 200, dtype=np.uint64)
    assert mixed_bits(words).tolist() == [finalizer(word) for word in words.tolist()]
    assert mixed_bits(np.array([0, 5, 2**40])).tolist() == [finalizer(word) for word in (0, 5, 2**40)]


def test_with_its_step_it_is_the_generator_from_seed_0():
    """The first three numbers of SplitMix64 with seed 0."""
    states = np.array([0, GOLDEN, 2 * GOLDEN % 2**64], np.uint64)
    assert mixed_words(states).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]

"""The finalizer of SplitMix64: numbers that look random, the same for the same word on every machine."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MIX, _STIR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_BY_30, _BY_27, _BY_31 = np.uint64(30), np.uint64(27), np.uint64(31)


def mixed_bits(words: NDArray[Any]) -> NDArray[np.uint64]:
    """Each 64-bit word mapped to another one, one to one; 0 stays 0.

    Example:
        >>> mixed_bits(np.array([0, 1])).tolist()
        [0, 6238072747940578789]
    """
    word = words.astype(np.uint64)
    word = (word ^ (word >> _BY_30)) * _MIX
    word = (word ^ (word >> _BY_27)) * _STIR
    return word ^ (word >> _BY_31)

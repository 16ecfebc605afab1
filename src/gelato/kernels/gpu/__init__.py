"""Walks and their consumers on a GPU: tiles of dense scores, by PyTorch, and by Triton where there is one.

Everything here runs on any device of PyTorch, which is how it is tested without a GPU.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def to_device(array: NDArray[Any], device: torch.device | str) -> Tensor:
    """A tensor of an array, which must not be written to; a frozen one is copied, since PyTorch knows none."""
    array = np.asarray(array)
    return torch.as_tensor(array if array.flags.writeable else array.copy(), device=device)

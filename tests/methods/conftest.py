"""Tests of methods keep torch to one thread: on tiny graphs others only wait."""

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    """One thread of torch during a test."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)

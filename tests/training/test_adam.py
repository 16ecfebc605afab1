"""Adam and AdamW without torch's compiler: the same steps, and a process that trains starts without it."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from gelato.training.task import Adam, AdamW

LIGHT = """
import sys, torch
from gelato.training.task import Adam, AdamW
for kind in (Adam, AdamW):
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = kind([weight])
    optimizer.zero_grad()
    weight.sum().backward()
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
print("torch._dynamo" in sys.modules)
"""


def trained(kind, **options):
    """Weights and the memory of an optimiser after some steps, of which the last ones resume from a copy."""
    torch.manual_seed(0)
    network, x = nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 1)), torch.randn(50, 5)
    optimizer = kind(network.parameters(), lr=0.01, **options)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=12)
    for step in range(12):
        optimizer.zero_grad()
        torch.autograd.backward(((network(x) - 1) ** 2).mean())
        optimizer.step()
        schedule.step()
        if step == 6:
            optimizer.load_state_dict(optimizer.state_dict())
    memory = optimizer.state_dict()
    slots = [value for slots in memory["state"].values() for value in slots.values()]
    return [*(part.detach() for part in network.parameters()), *slots], memory["param_groups"]


@pytest.mark.parametrize("options", [{"fused": True}, {"weight_decay": 0.1}], ids=lambda options: " ".join(options))
@pytest.mark.parametrize(("ours", "theirs"), [(Adam, torch.optim.Adam), (AdamW, torch.optim.AdamW)])
def test_every_step_is_that_of_torch(ours, theirs, options):
    (found, groups), (wanted, their_groups) = trained(ours, **options), trained(theirs, **options)
    assert len(found) == len(wanted) == 16 and groups == their_groups
    assert all(torch.equal(one, other) for one, other in zip(found, wanted, strict=True))


def test_the_compiler_of_torch_is_not_imported():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

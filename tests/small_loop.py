"""A small training loop: the calls that a task is promised, without runs on disk."""

import numpy as np
import torch


def trained(model, split, settings, *, threads=1, **rest):
    """What ``loop`` gives, on so many threads of torch: more of them wait for one another on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        return loop(model, split, settings, **rest)
    finally:
        torch.set_num_threads(before)


def loop(model, split, settings, *, device="cpu", begin=0, end=None, carried=None):
    """The network of ``model`` after training, the best one by validation, and what is needed to go on.

    Args:
        model: its hooks.
        split: what it is trained on.
        settings: of the method.
        device: where it is trained.
        begin, end: epochs; ``carried`` is what the epochs before ``begin`` gave.
        carried: state of the network, of the optimiser, the best state and its precision.
    """
    network = model.network(split.train, settings, torch.device(device))
    task = model.task(network, split, settings)
    optimizer, random = task.optimizer(), torch.Generator(device)
    precision, best, kept_at = -1.0, {}, 0
    if carried is not None:
        network.load_state_dict(carried[0])
        optimizer.load_state_dict(carried[1])
        best, precision = carried[2:]
    for epoch in range(begin, settings.epochs if end is None else end):
        seeds = np.random.default_rng([settings.random_state, epoch])
        network.train()
        for batch in task.batches(int(seeds.integers(2**62))):
            random.manual_seed(int(seeds.integers(2**62)))
            task.backward(batch, random)
            optimizer.step()
        now = task.validate()
        if now > precision:
            precision, best, kept_at = now, copied(network.state_dict()), epoch
        elif settings.patience is not None and epoch - kept_at >= settings.patience:
            break
    carried = copied(network.state_dict()), optimizer.state_dict(), best, precision
    network.load_state_dict(best)
    return network.eval(), carried


def copied(state):
    """A state that training does not change."""
    return {name: value.detach().clone() for name, value in state.items()}

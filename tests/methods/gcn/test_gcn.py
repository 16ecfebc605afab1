"""The MLP on Hadamard products in blocks, and gradients by chunks of pairs."""

import pytest
import torch

from gelato import split
from gelato.methods.gcn.model import GCN
from gelato.methods.gcn.network import HadamardMLP
from gelato.methods.gcn.settings import GcnSettings
from graphs import random_graph


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_block_needs_no_products_and_equals_the_pairs_one_by_one(layers):
    random = torch.Generator().manual_seed(0)
    rows, columns = torch.randn(3, 6, generator=random), torch.randn(5, 6, generator=random)
    predictor = HadamardMLP(6, layers, dropout=0.5).eval()
    with torch.no_grad():
        plain = torch.stack([torch.stack([predictor((u * v)[None])[0] for v in columns]) for u in rows])
        torch.testing.assert_close(predictor.block(rows, columns), plain)


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_chunks_change_neither_the_loss_nor_its_gradient(chunk, monkeypatch):
    parts = split(random_graph(17, nodes=30), 0, (0.15, 0.15))
    settings = GcnSettings(hidden=5, dropout=0.0, ratio=3, batch_size=40)
    network = GCN().network(parts.train, settings, torch.device("cpu"))
    task = GCN().task(network, parts, settings)
    batch = next(task.batches(0))
    H = network.encoder(task._messages, task._messages.masked(batch.links))

    def odds(pairs):
        u, v = pairs.T
        return network.predictor(H[torch.tensor(u)] * H[torch.tensor(v)])

    links, non_links = parts.train.edges[batch.links], batch.non_links
    wanted = torch.log1p(torch.exp(-odds(links))).mean() + torch.log1p(torch.exp(odds(non_links))).mean()
    gradients = torch.autograd.grad(wanted, list(network.parameters()))
    monkeypatch.setattr("gelato.methods.gcn.task.CHUNK", chunk)
    loss = task.backward(batch, torch.Generator())
    torch.testing.assert_close(loss.float(), wanted.detach(), rtol=1e-5, atol=0)
    for parameter, gradient in zip(network.parameters(), gradients, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-6)
    task.backward(batch, torch.Generator())  # leaves its own gradients only
    for parameter, gradient in zip(network.parameters(), gradients, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-6)

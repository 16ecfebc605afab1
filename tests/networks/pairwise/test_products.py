"""The MLP on Hadamard products, in blocks and for listed pairs."""

import pytest
import torch

from gelato.networks.pairwise.network import hadamard_mlp


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_block_needs_no_products_and_equals_the_pairs_one_by_one(layers):
    random = torch.Generator().manual_seed(0)
    rows, columns = torch.randn(3, 6, generator=random), torch.randn(5, 6, generator=random)
    predictor = hadamard_mlp(6, layers, dropout=0.5).eval()
    with torch.no_grad():
        plain = torch.stack([torch.stack([predictor((u * v)[None])[0, 0] for v in columns]) for u in rows])
        torch.testing.assert_close(predictor.products(rows, columns).view(3, 5), plain)

"""PyTorch Geometric data in; suggestions out, for PyTorch Geometric, networkx and pandas."""

import torch
from torch_geometric.data import Data

from gelato import Gelato
from gelato.datasets import block_model
from gelato.io import from_pyg

# Your Data: here 400 nodes in four groups, which share links and words.
made = block_model([100] * 4, p_in=0.06, p_out=0.002, attributes=80, seed=1)
data = Data(
    x=torch.tensor(made.attributes.toarray()),
    edge_index=torch.tensor(made.edges.T),  # one direction of each link is enough
    y=torch.tensor(made.labels),
)

graph = from_pyg(data)
model = Gelato(eta=0.5, alpha=0.5, beta=0.5, self_loops="all", epochs=5).fit(graph)
links = model.suggest(100, repeats=0, reasons=False)

out = links.to_pyg()
source, target = out.predicted_edge_index
print(out)
print(f"{(out.y[source] == out.y[target]).float().mean():.0%} of the suggestions stay inside a group")

network = links.to_networkx()
predicted = [(u, v) for u, v, flag in network.edges(data="predicted") if flag]
print(f"networkx: {network}, {len(predicted)} of them predicted: {predicted[:3]} ...")

print(links.to_pandas().head())

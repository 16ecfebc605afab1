"""One epoch of training written plainly: n x n matrices, all pairs listed, as the formulas read.

Nothing here is shared with the package but the data: it is what the package is measured against.
"""

import math
import time

import torch
from torch import nn


class NaiveGelato:
    """Dense training of the same model on the same links, with positive masking in both directions."""

    def __init__(self, n, attributes, links, observed, similar, added, alpha, beta, loops, device="cpu"):
        self.n, self.alpha, self.beta, self.loops = n, alpha, beta, loops
        self.links = torch.as_tensor(links, device=device)
        X = torch.as_tensor(attributes, dtype=torch.float32, device=device)
        u, v = self.links.T
        self.features = torch.cat([X[u] + X[v], (X[u] - X[v]).abs()], dim=1)
        self.observed, self.similar = (
            torch.as_tensor(part, dtype=torch.float32, device=device) for part in (observed, similar)
        )
        self.added = torch.as_tensor(added, device=device)
        self.positive = (self.observed > 0).nonzero()[:, 0]
        self.negative = torch.triu_indices(n, n, 1, device=device).T
        known = self.links[self.positive]
        key = self.negative[:, 0] * n + self.negative[:, 1]
        self.negative = self.negative[~torch.isin(key, known[:, 0] * n + known[:, 1])]
        layers = [nn.Linear(self.features.shape[1], 128), nn.ReLU(), nn.BatchNorm1d(128), nn.Dropout(0.5)]
        layers += [nn.Linear(128, 128), nn.ReLU(), nn.BatchNorm1d(128), nn.Dropout(0.5), nn.Linear(128, 2)]
        self.mlp = nn.Sequential(*layers).to(device)
        self.optimizer = torch.optim.Adam(self.mlp.parameters(), lr=1e-3)

    def scores(self, keep):
        """The standardised autocovariance of all pairs, with the links where ``keep`` is 0 masked."""
        w = self.mlp(self.features).softmax(dim=1)[:, 1]
        present = torch.where(self.added, torch.ones_like(keep), keep)
        weight = self.alpha * self.observed * keep
        weight = weight + (1 - self.alpha) * (self.beta * w + (1 - self.beta) * self.similar) * present
        u, v = self.links.T
        A = torch.zeros(self.n, self.n, device=weight.device).index_put((u, v), weight)
        A = A + A.T
        A = A + (torch.eye(self.n, device=A.device) if self.loops == "all" else torch.diag((A.sum(1) == 0).float()))
        d = A.sum(dim=1)
        vol = d.sum()
        P = A / d[:, None]
        R = d[:, None] * (P @ P @ P) / vol - torch.outer(d, d) / vol**2
        return R / R.std()

    def validate(self, valid):
        """Precision at the number of validation links, among all pairs that are no training links."""
        self.mlp.eval()
        with torch.no_grad():
            R = self.scores(torch.ones_like(self.observed))
            z = R[self.negative[:, 0], self.negative[:, 1]]
            best = self.negative[z.topk(len(valid)).indices]
            valid = torch.as_tensor(valid, device=R.device)
            found = torch.isin(best[:, 0] * self.n + best[:, 1], valid[:, 0] * self.n + valid[:, 1]).float().mean()
        self.mlp.train()
        return float(found)

    def epoch(self, valid, batches=10, most=None):
        """Train and validate; of the batches only the first ``most``, and time counted as if it were all of them."""
        p_order = self.positive[torch.randperm(len(self.positive))]
        q_order = torch.randperm(len(self.negative))
        total, begin = 0.0, time.perf_counter()
        for i in range(most or batches):
            chosen, pairs = p_order[i::batches], self.negative[q_order[i::batches]]
            keep = torch.ones_like(self.observed)
            keep[chosen] = 0
            R = self.scores(keep)
            s = R[self.links[chosen, 0], self.links[chosen, 1]]
            z = R[pairs[:, 0], pairs[:, 1]]
            rounds = math.ceil(len(z) / len(s))
            z = nn.functional.pad(z, (0, rounds * len(s) - len(z)), value=-math.inf).view(rounds, len(s))
            loss = torch.log1p(torch.exp(z - s).sum(dim=0)).sum() / (len(s) + len(pairs))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        trained = time.perf_counter()
        precision = self.validate(valid)
        seconds = (trained - begin) * batches / (most or batches) + time.perf_counter() - trained
        return total / (most or batches), precision, seconds

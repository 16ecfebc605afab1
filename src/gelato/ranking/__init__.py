"""Exact ranking: Ranks of positives among all negatives, metrics of them, the best missing links."""

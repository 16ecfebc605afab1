"""BUDDY and ELPH: counts of the nodes around a pair, and products of propagated attributes."""

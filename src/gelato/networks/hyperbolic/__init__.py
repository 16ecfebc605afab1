"""Encoders into hyperbolic space: two models of it, averages of neighbours, and the network on them."""

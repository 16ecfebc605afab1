"""SEAL: a network on the subgraph that encloses a pair, each node labelled by its distances to both ends."""

"""NBFNet: a learned Bellman-Ford iteration that sums up all paths from a source to every other node."""

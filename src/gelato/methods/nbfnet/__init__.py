"""NBFNet: a learned Bellman-Ford iteration that sums up walks of bounded length from a source to other nodes."""

"""WalkPool: profiles of learned walks on the subgraph that encloses a pair, with and without the pair's own link."""

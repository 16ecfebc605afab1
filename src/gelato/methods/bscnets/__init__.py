"""BScNets: block simplicial complex networks, graph convolutions beside a map learned from links and triangles."""

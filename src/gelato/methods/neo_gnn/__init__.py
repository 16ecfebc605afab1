"""Neo-GNN: learned weights of common neighbours, mixed with graph convolutions of attributes."""

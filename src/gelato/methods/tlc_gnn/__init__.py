"""TLC-GNN: graph convolutions, and persistence images of the graphs around pairs."""

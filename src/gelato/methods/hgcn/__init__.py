"""HGCN: graph convolutions in the Poincaré ball, and distances in it."""

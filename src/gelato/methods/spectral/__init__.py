"""Spectral shrinkage: the leading eigenvectors of the degree-scaled adjacency, the weaker ones shrunk more."""

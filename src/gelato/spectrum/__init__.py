"""Eigenvectors of the degree-scaled adjacency, and scores from them."""

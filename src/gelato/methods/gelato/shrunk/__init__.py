"""Shrunk spectra: a polynomial filter of the scaled adjacency whose link weights are learned, with gradients."""

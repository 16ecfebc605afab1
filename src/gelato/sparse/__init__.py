"""Sparse matrices in compressed rows, built and checked in little more memory than they take themselves."""

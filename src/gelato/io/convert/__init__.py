"""Graphs from and to the objects of other packages."""

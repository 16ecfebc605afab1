"""Attributes of nodes: from the columns of a table to a matrix."""

"""Heuristics: from a graph to Scores, with nothing to train."""

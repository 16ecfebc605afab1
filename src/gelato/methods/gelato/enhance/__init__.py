"""Enhance: learned and attribute-made weights of a graph's links."""

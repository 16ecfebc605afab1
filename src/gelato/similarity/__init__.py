"""Similarity of node attributes, and graphs with links between similar nodes."""

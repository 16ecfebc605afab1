"""Gelato: attribute-enhanced similarity ranking."""

"""Walks and their consumers on a GPU: tiles of dense scores, by PyTorch, and by Triton where there is one.

Everything here runs on any device of PyTorch, which is how it is tested without a GPU.
"""

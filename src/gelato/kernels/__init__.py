"""Walks on sparse graphs: the numeric core.

A kernel walks from a block of rows and hands each row's explicit entries straight to its consumer: a histogram
(``histogram``), a buffer of the best pairs (``top_pairs``) or a list of pairs (``reached_pairs``). It knows no task.
All kernels are compiled by numba, release the interpreter lock, and add in a fixed order, so that results depend
neither on the block size nor on the number of threads.
"""

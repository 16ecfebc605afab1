"""What the compared methods share: a network that scores pairs, trained by one task and ranked by one form of scores.

A method writes a ``PairNetwork`` and its settings; training regimes, losses, masking, selection and blocks are here.
"""

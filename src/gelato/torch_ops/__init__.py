"""Operations on tensors that every network may use: sparse matrices, gathers, sums over segments, dropout."""

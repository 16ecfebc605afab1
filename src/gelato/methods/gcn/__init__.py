"""GCN: embeddings by graph convolutions, and an MLP on the product of two of them."""

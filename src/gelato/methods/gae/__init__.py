"""GAE: a graph auto-encoder, embeddings by graph convolutions whose inner products rebuild the adjacency."""

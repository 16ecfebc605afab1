"""The pair MLP alone: links from the attributes of two nodes, without any structure."""

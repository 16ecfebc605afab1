"""The MLP on the attributes of two nodes."""

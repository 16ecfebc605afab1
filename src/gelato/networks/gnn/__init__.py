"""What graph neural networks share: messages along links, the encoder, links and drawn non-links, validation."""

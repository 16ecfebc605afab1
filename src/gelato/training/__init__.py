"""Training: batches of links and non-links, positive masking, validation, checkpoints, the loop."""

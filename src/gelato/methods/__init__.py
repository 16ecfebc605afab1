"""Methods: everything that --method can name."""

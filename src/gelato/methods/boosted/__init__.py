"""A second stage: boosted trees over the best candidates of several first stages."""

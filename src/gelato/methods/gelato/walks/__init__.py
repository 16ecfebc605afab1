"""Walks: autocovariance of a weighted graph whose links stay while their weights are learned, with gradients."""

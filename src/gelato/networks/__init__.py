"""Networks and frameworks that several methods share."""

"""Writing tables, predicted links and JSON; checking where they go."""

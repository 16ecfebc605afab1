"""Links of tables: their columns, their nodes, and what was read."""

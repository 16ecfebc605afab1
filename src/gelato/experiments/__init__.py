"""Experiments: one TOML file a result, with its settings and the published figures."""

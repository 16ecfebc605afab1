"""Experiments: results to regenerate, each a settings file with what was reported; run, kept and compared."""

"""Runs on disk, their one home: written, resumed, opened again."""

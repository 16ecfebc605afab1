"""Methods by name: evaluate, estimate, forecast, tune."""

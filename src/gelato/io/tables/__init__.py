"""Tables of text, parquet files and frames, as columns."""

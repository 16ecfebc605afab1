"""NCN and NCNC: the embeddings of common neighbours, those that are seen and those that are likely."""

"""Compare a claim with the words, values and cells of a passage. Reads no database, network or model."""

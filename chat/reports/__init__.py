"""Reports: work over documents in the background; comparisons of versions, texts with checked sentences."""

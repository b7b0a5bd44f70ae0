"""One pass over a batch: its kernel, grid and record."""

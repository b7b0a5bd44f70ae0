"""Array libraries: describe, allocate, move. The only package that knows what a torch tensor is."""

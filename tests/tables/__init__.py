"""Tables of rows, over which the tests run, and their oracles."""

"""The rows from which tests follow, and their oracles."""

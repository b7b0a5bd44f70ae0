"""The GPU: the only package that imports cupy."""

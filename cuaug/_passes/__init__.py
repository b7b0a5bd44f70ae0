"""Passes over a batch: the kernel, grid and record of each."""

"""Matrices: builders that run as one kernel or CPU loop, and the same formulas in the operations of array libraries."""

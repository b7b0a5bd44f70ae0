"""Boxes, non-maximum suppression and pooling of regions."""

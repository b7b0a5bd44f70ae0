"""Boxes, IoU, non-maximum suppression and RoI pooling."""

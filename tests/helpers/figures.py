"""Reads the pictures, boxes, points and texts of a figure of `Compose.show`."""

import numpy as np


def axes_of(figure):
    """Two lists of axes: of the pictures before the recipe, and after."""
    axes = [axis for axis in figure.axes if axis.images]
    return axes[::2], axes[1::2]


def pixels(axis):
    return np.asarray(axis.images[0].get_array())


def drawn_boxes(axis):
    """Edges (left, top, right, bottom) and colour of each box that is drawn."""
    boxes = [(patch.get_path().get_extents().extents + 0.5, patch.get_edgecolor()) for patch in axis.patches]
    return [(edges.tolist(), color) for edges, color in boxes if np.isfinite(edges).all()]


def drawn_points(axis):
    return [point for points in axis.collections for point in np.asarray(points.get_offsets()).tolist()]


def captions(axis):
    return [text.get_text() for text in axis.texts]


def titles(figure):
    return [axis.get_title() for axis in figure.axes if axis.images]

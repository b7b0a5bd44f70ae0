"""Boxes in float64 NumPy, from the definitions."""

import numpy as np


def area(box):
    return (box[..., 2] - box[..., 0]) * (box[..., 3] - box[..., 1])


def iou(a, b):
    """Of each box of one set with each of another; 0 / 0 is 0."""
    a, b = np.asarray(a, np.float64)[:, None], np.asarray(b, np.float64)[None]
    with np.errstate(all="ignore"):
        across = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0])
        down = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1])
        shared = np.where(across < 0, 0.0, across) * np.where(down < 0, 0.0, down)
        union = area(a) + area(b) - shared
        return np.where((shared == 0) & (union == 0), 0.0, shared / union)


def nms(boxes, scores, threshold, classes=None, score_threshold=None, max_output=None):
    """Greedy, one box after the other; with a NaN last, alone."""
    boxes, scores = np.asarray(boxes, np.float64), np.asarray(scores, np.float64)
    bad = np.isnan(scores) | np.isnan(boxes).any(-1)
    present = np.ones(len(boxes), bool) if score_threshold is None else scores > score_threshold
    rank = np.where(bad, 0.0, np.where(np.isnan(scores), 0.0, -scores))
    kept = []
    for i in np.lexsort((np.arange(len(boxes)), rank, bad)):
        if not present[i]:
            continue
        rivals = [j for j in kept if not bad[i] and (classes is None or classes[j] == classes[i])]
        if not rivals or not (iou(boxes[rivals], boxes[i : i + 1]) > threshold).any():
            kept.append(int(i))
    return np.array(kept[:max_output], np.int64)

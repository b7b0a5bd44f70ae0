"""Functions of boxes and regions of interest in float64 NumPy, from the definitions."""

import numpy as np


def area(box):
    return (box[..., 2] - box[..., 0]) * (box[..., 3] - box[..., 1])


def iou(a, b):
    """IoU of each box of one set with each of another; 0 / 0 is 0."""
    a, b = np.asarray(a, np.float64)[:, None], np.asarray(b, np.float64)[None]
    with np.errstate(all="ignore"):
        across = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0])
        down = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1])
        intersection = np.where(across < 0, 0.0, across) * np.where(down < 0, 0.0, down)
        union = area(a) + area(b) - intersection
        return np.where((intersection == 0) & (union == 0), 0.0, intersection / union)


def corners(box):
    """The corners upper left, upper right, lower right, lower left of (cx, cy, w, h, degrees), turned about the centre.

    Counter-clockwise on the screen, where y points down.
    """
    cx, cy, width, height, degrees = box
    turn = np.exp(-1j * np.radians(degrees))
    offsets = [turn * complex(x * width / 2, y * height / 2) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return [coordinate for offset in offsets for coordinate in (cx + offset.real, cy + offset.imag)]


def box_of_mask(mask):
    """The first and last column and row that hold a value other than 0: left, top, right, bottom."""
    rows, columns = np.nonzero(mask)
    return [columns.min(), rows.min(), columns.max(), rows.max()] if len(rows) else [0, 0, 0, 0]


def nms(boxes, scores, threshold, classes=None, score_threshold=None, max_output=None):
    """Greedy suppression, box by box. Boxes with a NaN coordinate or score come last; no box suppresses them."""
    boxes, scores = np.asarray(boxes, np.float64), np.asarray(scores, np.float64)
    bad = np.isnan(scores) | np.isnan(boxes).any(-1)
    present = np.ones(len(boxes), bool) if score_threshold is None else scores > score_threshold
    rank = np.where(bad, 0.0, -scores)
    indices, count = np.empty(len(boxes), np.int64), 0
    for i in np.lexsort((np.arange(len(boxes)), rank, bad)):
        if not present[i]:
            continue
        rivals = indices[:count] if classes is None else indices[:count][classes[indices[:count]] == classes[i]]
        if bad[i] or not (iou(boxes[rivals], boxes[i : i + 1]) > threshold).any():
            indices[count] = i
            count += 1
    return indices[:count][:max_output]


def bilinear(y, x, height, width):
    """Weights of a map's pixels at a position, by torchvision's rule for the edge. [H, W]"""
    weights = np.zeros((height, width))
    if not (-1 <= y <= height and -1 <= x <= width):
        return weights
    y, x = (min(max(position, 0.0), extent - 1) for position, extent in ((y, height), (x, width)))
    top, left = int(y), int(x)
    for row, row_weight in ((top, 1 - (y - top)), (top + 1, y - top)):
        for column, column_weight in ((left, 1 - (x - left)), (left + 1, x - left)):
            if row_weight * column_weight:
                weights[row, column] += row_weight * column_weight
    return weights


def roi_bins(roi, size, extent, scale=1.0, sampling=-1, aligned=False):
    """The weights of each bin's sampling points. {(bin y, bin x): [S, H, W]}"""
    shift, rotated = 0.5 if aligned else 0.0, len(roi) == 5
    scaled_roi = [side * scale for side in roi[:4]]
    width, height = scaled_roi[2:] if rotated else (scaled_roi[2] - scaled_roi[0], scaled_roi[3] - scaled_roi[1])
    if not aligned:
        width, height = max(width, 1.0), max(height, 1.0)
    lengths, bins = (height / size[0], width / size[1]), {}
    counts = [sampling if sampling > 0 else max(int(np.ceil(length)), 0) for length in lengths]
    for bin_y in range(size[0]):
        for bin_x in range(size[1]):
            points = [np.zeros((0, *extent))]
            for i in range(counts[0]):
                for j in range(counts[1]):
                    y = (bin_y + (i + 0.5) / counts[0]) * lengths[0]
                    x = (bin_x + (j + 0.5) / counts[1]) * lengths[1]
                    if rotated:
                        y, x, angle = y - height / 2, x - width / 2, np.radians(roi[4])
                        y, x = y * np.cos(angle) - x * np.sin(angle), y * np.sin(angle) + x * np.cos(angle)
                    points.append(bilinear(y + scaled_roi[1] - shift, x + scaled_roi[0] - shift, *extent)[None])
            bins[bin_y, bin_x] = np.concatenate(points)
    return bins


def roi_pixels(roi, size, extent, scale=1.0, has_ends=True):
    """As `roi_bins`: the sampling points of a bin are its pixels.

    With `has_ends`, as in roi_pool, a region contains the pixels at its right and lower ends, and bins read the last
    row and column of a map. Without it, as in ps_roi_pool, neither holds.
    """
    map_extent = extent
    left, top, right, bottom = (int(np.copysign(np.floor(abs(side * scale) + 0.5), side)) for side in roi)
    starts, lengths = (
        (top, left),
        (max(bottom - top + has_ends, 1) / size[0], max(right - left + has_ends, 1) / size[1]),
    )
    extent = [side if has_ends else side - 1 for side in extent]
    bins = {}
    for bin_index in np.ndindex(*size):
        ranges = [
            range(
                min(max(int(np.floor(i * length)) + start, 0), limit),
                min(max(int(np.ceil((i + 1) * length)) + start, 0), limit),
            )
            for i, length, start, limit in zip(bin_index, lengths, starts, extent, strict=True)
        ]
        masks = np.zeros((len(ranges[0]) * len(ranges[1]), *map_extent))
        for s, (y, x) in enumerate((y, x) for y in ranges[0] for x in ranges[1]):
            masks[s, y, x] = 1
        bins[bin_index] = masks
    return bins


def pooled(features, bins, mode):
    """The average or maximum of each bin of one region, from maps [C, H, W]. [C, h, w]"""
    h, w = np.array([*bins]).max(0) + 1
    out = np.zeros((len(features), h, w))
    for bin_index, weights in bins.items():
        values = np.einsum("shw,chw->cs", weights, features)
        if values.size:
            out[:, bin_index[0], bin_index[1]] = values.mean(1) if mode == "avg" else values.max(1)
    return out


def pooled_gradient(features, bins, mode, gradient):
    """The gradient with respect to the features, from that with respect to the result of `pooled`. [C, H, W]"""
    out = np.zeros(features.shape)
    for bin_index, weights in bins.items():
        bin_gradient = gradient[:, bin_index[0], bin_index[1]]
        if not len(weights):
            continue
        if mode == "avg":
            out += bin_gradient[:, None, None] * weights.mean(0)
        else:
            chosen = np.einsum("shw,chw->cs", weights, features).argmax(1)
            out += bin_gradient[:, None, None] * weights[chosen]
    return out


def position_sensitive_bins(pooled):
    """The result of position-sensitive pooling: each bin of [C * h * w, h, w] from its own channels. [C, h, w]"""
    channels, h, w = pooled.shape
    out = np.zeros((channels // (h * w), h, w))
    for c, y, x in np.ndindex(*out.shape):
        out[c, y, x] = pooled[(c * h + y) * w + x, y, x]
    return out


def roi_level(roi, levels):
    """torchvision's LevelMapper for scales 1/4, 1/8, ...; a region without area belongs to the first."""
    area = roi[2] * roi[3] if len(roi) == 5 else (roi[2] - roi[0]) * (roi[3] - roi[1])
    if not area > 0:
        return 0
    return int(np.clip(np.floor(4 + np.log2(np.sqrt(area) / 224) + 1e-6), 2, 1 + levels)) - 2


def row_extents(box, y):
    """Left and right ends of a rotated box in the rows at these y."""
    cx, cy, width, height, degrees = box
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    low, high = np.full(len(y), -np.inf), np.full(len(y), np.inf)
    # The offset from the centre along the width is dx cos - dy sin, along the height dx sin + dy cos.
    for x_coefficient, constant, half in ((cosine, -(y - cy) * sine, width / 2), (sine, (y - cy) * cosine, height / 2)):
        if abs(x_coefficient) < 1e-12:
            high[np.abs(constant) > half + 1e-9] = -np.inf
            continue
        ends = np.sort([(-half - constant) / x_coefficient, (half - constant) / x_coefficient], 0)
        low, high = np.maximum(low, ends[0]), np.minimum(high, ends[1])
    return low + cx, high + cx


def rotated_iou(a, b):
    """IoU of rotated boxes: the widths of the intersection are summed in 20,000 rows."""
    half_heights = [
        0.5 * (abs(box[2] * np.sin(np.radians(box[4]))) + abs(box[3] * np.cos(np.radians(box[4])))) for box in (a, b)
    ]
    top, bottom = (
        max(a[1] - half_heights[0], b[1] - half_heights[1]),
        min(a[1] + half_heights[0], b[1] + half_heights[1]),
    )
    rows, intersection = 20_000, 0.0
    if bottom > top:
        y = top + (np.arange(rows) + 0.5) / rows * (bottom - top)
        (low_a, high_a), (low_b, high_b) = row_extents(a, y), row_extents(b, y)
        width = np.minimum(high_a, high_b) - np.maximum(low_a, low_b)
        intersection = float(np.maximum(width, 0).mean() * (bottom - top))
    union = a[2] * a[3] + b[2] * b[3] - intersection
    return intersection / union if union else 0.0


def rotated_nms(boxes, scores, threshold, overlaps, classes=None):
    """Greedy suppression with precomputed overlaps."""
    indices = []
    for i in np.lexsort((np.arange(len(boxes)), -np.asarray(scores))):
        if not any(overlaps[j, i] > threshold and (classes is None or classes[j] == classes[i]) for j in indices):
            indices.append(int(i))
    return np.array(indices, np.int64)


def soft_nms(boxes, scores, method, iou_threshold=0.3, sigma=0.5, score_threshold=1e-3, max_output=None):
    """Indices and decayed scores, one box after the other; boxes with a NaN coordinate come last."""
    boxes, scores = np.asarray(boxes, np.float64), np.asarray(scores, np.float64).copy()
    with np.errstate(invalid="ignore"):
        remaining = [i for i in range(len(boxes)) if scores[i] > score_threshold]
    bad = [i for i in remaining if np.isnan(boxes[i]).any()]
    remaining, selected = [i for i in remaining if i not in bad], []
    while remaining:
        best = max(remaining, key=lambda i: (scores[i], -i))
        selected.append((best, scores[best]))
        remaining.remove(best)
        if remaining:
            overlaps = np.maximum(np.nan_to_num(iou(boxes[remaining], boxes[best : best + 1])[:, 0]), 0)
            if method == "linear":
                decay = np.where(overlaps > iou_threshold, 1 - overlaps, 1)
            else:
                decay = np.exp(-(overlaps**2) / sigma)
            scores[remaining] = np.where(overlaps > 0, scores[remaining] * decay, scores[remaining])
            remaining = [i for i in remaining if scores[i] > score_threshold]
    selected = (selected + [(i, scores[i]) for i in bad])[:max_output]
    return np.array([i for i, _ in selected], np.int64), np.array([score for _, score in selected])

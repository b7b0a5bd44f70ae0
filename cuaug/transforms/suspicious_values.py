"""Values of images, targets and parameters that are accepted, but are probably mistakes: a sentence for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._arrays.images import ImageBatch
from .._detection.box_formats import FORMATS, to_edges
from .._detection.box_shapes import box_shape
from .._sizes import padding_of
from . import geometry
from .color import (
    ColorJitter,
    Normalize,
    RandomInvert,
    RandomPhotometricDistort,
    RandomPosterize,
    RandomSolarize,
    ToDtype,
)
from .filter import RandomAdjustSharpness
from .levels import RandomAutocontrast
from .noise import GaussianNoise
from .pixel_op import PixelOp
from .policies import AugMix, AutoAugment, RandAugment, TrivialAugmentWide
from .transform import Transform
from .transform_list import inner_transforms

OVERSHOOT = 0.02  # distance from 0..1 that is no mistake: a bicubic or Lanczos resize may have caused it
MAX_CHANNELS = 16  # above the number of channels of multispectral images, such as the 13 bands of Sentinel-2
_RANGE_READERS = (  # transforms that read floats as 0..1
    *(ColorJitter, RandomPhotometricDistort, RandomInvert, RandomSolarize, RandomPosterize, RandomAutocontrast),
    *(RandomAdjustSharpness, PixelOp, AugMix, AutoAugment, RandAugment, TrivialAugmentWide),
)


def of_images(values: np.ndarray, batch: ImageBatch, transforms: Sequence[Transform]) -> list[str]:
    """Suspicions about images that go through these transforms."""
    if not values.size:
        return []
    of_values = _float_range if "float" in batch.dtype else _integer_range
    return [*_axes(batch), *of_values(values, batch.dtype, transforms)]


def _axes(batch: ImageBatch) -> Iterator[str]:
    layout, extent = batch.axes.layout, dict(zip("NTCHW", batch.axes.extents, strict=True))
    if extent["C"] <= 4:
        return
    other_layout = layout.replace("CHW", "HWC") if "CHW" in layout else layout.replace("HWC", "CHW")
    for axis, other_side in ("HW", "WH"):
        is_nearer_to_square = _aspect(extent["C"], extent[other_side]) < _aspect(extent["H"], extent["W"])
        if extent[axis] <= 4 or (extent[axis] < MAX_CHANNELS and is_nearer_to_square):
            is_other_layout = other_layout.index("C") == layout.index(axis)
            remedy = f"pass layout={other_layout!r}" if is_other_layout else "transpose them"
            yield (
                f"images are read as {layout}, with {extent['C']} channels and an axis {axis} of "
                f"{extent[axis]}, which looks like the channels: {remedy} if it is"
            )


def _aspect(first: int, second: int) -> float:
    """The longer side divided by the shorter."""
    return max(first, second) / min(first, second)


def _float_range(values: np.ndarray, dtype: str, transforms: Sequence[Transform]) -> Iterator[str]:
    values = values.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        yield f"images have {np.count_nonzero(~finite)} values that are NaN or infinite"
    low, high = float(np.min(values[finite], initial=np.inf)), float(np.max(values[finite], initial=-np.inf))
    if (low < -OVERSHOOT or high > 1 + OVERSHOOT) and _range_reader(transforms):
        hint = "divide them by 255, or pass uint8" if low >= 0 else "call the recipe before they are normalized"
        yield f"images are {dtype} with values {low:g}..{high:g}, but ops of the recipe read floats as 0..1: {hint}"
    elif low >= 0 and 2 < high <= 256 and _normalize_of_0_to_1([t for t in transforms if not isinstance(t, ToDtype)]):
        yield (
            f"images are {dtype} with values {low:g}..{high:g}, but mean and std of Normalize are those of 0..1: "
            "divide the images by 255, or pass uint8"
        )


def _with_inner(transforms: Sequence[Transform]) -> Iterator[Transform]:
    """The transforms, and those that they choose from."""
    for transform in transforms:
        yield transform
        yield from _with_inner(inner_transforms(transform))


def _range_reader(transforms: Sequence[Transform]) -> Transform | None:
    """The first transform that reads float images as 0..1; None if a ToDtype without scale makes integers before it."""
    for transform in _with_inner(transforms):
        if isinstance(transform, ToDtype) and "int" in (transform.dtype or ""):
            return transform if transform.scale else None
        if isinstance(transform, _RANGE_READERS) or (isinstance(transform, GaussianNoise) and transform.clip):
            return transform
    return None


def _normalize_of_0_to_1(transforms: Sequence[Transform]) -> Transform | None:
    """The first Normalize, if it gets floats, and its mean and std are those of values in 0..1."""
    first = next((transform for transform in transforms if isinstance(transform, (Normalize, ToDtype))), None)
    if not isinstance(first, Normalize) or not np.max(first.mean) > 0:  # a mean of 0 fits every range
        return None
    return first if max(np.max(first.mean), np.max(first.std)) <= 1 else None


def _integer_range(values: np.ndarray, dtype: str, transforms: Sequence[Transform]) -> Iterator[str]:
    if values.max() == 1:
        yield f"images are {dtype} and have no value above 1: floats in 0..1 become {dtype} by ToDtype(..., scale=True)"
    for i, transform in enumerate(transforms):
        if isinstance(transform, ToDtype) and "float" in (transform.dtype or ""):
            reader = _range_reader(transforms[i + 1 :]) or _normalize_of_0_to_1(transforms[i + 1 :])
            if reader is not None and not transform.scale:
                yield (
                    f"ToDtype without scale=True keeps the levels of {dtype}, but {type(reader).__name__} after it "
                    "expects floats in 0..1: pass scale=True"
                )
            return
        if isinstance(transform, Normalize):
            limits = "-1..1" if dtype == "int16" else "0..1"
            is_cast_later = any(isinstance(later, ToDtype) and later.dtype for later in transforms[i + 1 :])
            cast = "" if is_cast_later else ", and makes float32 of them"
            yield (
                f"Normalize scales {dtype} images to {limits} first{cast}: mean and std must be those of {limits}; "
                "ToDtype('float32', scale=True) before it does the same explicitly"
            )
            return


def of_transforms(transforms: Sequence[Transform]) -> list[str]:
    """Suspicions about the parameters of these transforms, and of those that they choose from."""
    return [text for transform in _with_inner(transforms) for text in _parameters(transform)]


def _parameters(transform: Transform) -> Iterator[str]:
    if isinstance(transform, geometry.RandomCrop) and transform.padding is not None:
        padding = max(padding_of(transform.padding))
        if padding >= min(transform.size):
            yield (
                f"RandomCrop pads by {padding}, which is not less than a side of its size {transform.size}, so results "
                "may show padding only: if the second argument is the width, pass RandomCrop((height, width))"
            )
    if isinstance(transform, GaussianNoise) and transform.clip and transform.sigma > 1:
        yield (
            f"GaussianNoise has sigma {transform.sigma:g}, but noise is on the scale 0..1 for every dtype: "
            f"for levels of uint8 pass {transform.sigma:g} / 255"
        )


def of_masks(values: np.ndarray, dtype: str) -> list[str]:
    """Suspicions about label masks. `dtype`: theirs; NumPy's values may be of another, as NumPy has no bfloat16."""
    if values.dtype.kind in "iub" or not values.size:
        return []
    if not np.isfinite(values.astype(np.float64)).all():
        return ["masks have values that are NaN or infinite"]
    return [f"masks are {dtype}: labels are integers, and masks are sampled by nearest neighbour"]


def of_boxes(boxes: np.ndarray, box_format: str, size: tuple[int, int]) -> list[str]:
    """Suspicions about boxes. [..., 4], [..., 5], [..., 8]"""
    boxes = boxes.astype(np.float64).reshape(-1, boxes.shape[-1])
    if not boxes.size or boxes.shape[-1] != box_shape(box_format).columns:
        return []
    boxes, warnings = boxes[np.isfinite(boxes).all(-1)], list[str]()
    if _are_fractions(boxes[:, :4]):
        return ["boxes are in 0..1, but coordinates are pixels: multiply them by (W, H, W, H)"]
    if box_format not in FORMATS:  # rotated boxes may reach out of the image
        return []
    edges: Any = to_edges(boxes, box_format)
    count = int(np.count_nonzero((edges[:, 2:] < edges[:, :2]).any(-1)))
    if count:
        other = (
            'pass boxes=T.Boxes("XYWH") if they are points and sizes' if box_format == "XYXY" else "sizes are negative"
        )
        warnings.append(f"{count} of {len(boxes)} boxes have x2 < x1 or y2 < y1 as {box_format}: {other}")
    height, width = size
    outside = (edges < -1).any(-1) | (edges[:, 0::2] > width + 1).any(-1) | (edges[:, 1::2] > height + 1).any(-1)
    if outside.any():
        warnings.append(
            f"{np.count_nonzero(outside)} of {len(boxes)} boxes reach out of the image of {height} x {width} as "
            f"{box_format}"
        )
    return warnings


def of_keypoints(keypoints: np.ndarray, size: tuple[int, int]) -> list[str]:
    """Suspicions about keypoints. [..., 2 or 3]"""
    keypoints = keypoints.astype(np.float64).reshape(-1, keypoints.shape[-1])
    labelled = keypoints[keypoints[:, 2] > 0] if keypoints.shape[-1] == 3 else keypoints
    points = labelled[np.isfinite(labelled).all(-1), :2]
    if not len(points):
        return []
    if len(points) > 1 and _are_fractions(points):
        return ["keypoints are in 0..1, but coordinates are pixels: multiply them by (W, H)"]
    outside = ((points < -0.5) | (points > np.array(size[::-1]) - 0.5)).any(-1)
    if not outside.any():
        return []
    return [f"{np.count_nonzero(outside)} of {len(points)} keypoints are outside of the image of {size[0]} x {size[1]}"]


def _are_fractions(coordinates: np.ndarray) -> bool:
    """Whether coordinates are in 0..1, or somewhat less than 0, and not all 0."""
    return coordinates.size > 0 and bool(coordinates.min() >= -OVERSHOOT and 0 < coordinates.max() <= 1)


def of_labels(labels: np.ndarray) -> list[str]:
    """Suspicions about class labels. [N] or [N, classes]"""
    if not labels.size or labels.dtype.kind not in "iuf":
        return []
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        return ["labels have values that are NaN or infinite"]
    return [f"labels contain {labels.min():g}, but classes are numbered from 0"] if labels.min() < 0 else []

"""`Placement`: which box of each image a result shows, and in which size; applied to images and masks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays.images import ImageBatch
from .._fusion.fill import image_fill
from .._passes import parameters, warp
from .._passes.consecutive_images import allocate_images, memory_layout
from .._passes.geometry import matrix_geometry
from .._passes.place_images import can_place, place_images
from .._passes.ragged import ragged_batch
from .._passes.resample import resample_own_sizes
from ..crop_resize import crop, resize


class Placement(NamedTuple):
    """Integers on the host, because the host allocates the results in these sizes.

    A box has its result's size, or is the whole image.
    """

    box: np.ndarray  # top, left, height, width; may reach beyond the image [N, 4]
    size: np.ndarray  # (H, W) of the result [N, 2]

    def matrices(self) -> np.ndarray:
        """Maps from pixels of the images to pixels of the results, with pixel centres at integers. [N, 3, 3]"""
        scale = self.size / self.box[:, 2:]  # (y, x)
        matrices = np.zeros((len(scale), 3, 3))
        matrices[:, 0, 0], matrices[:, 1, 1], matrices[:, 2, 2] = scale[:, 1], scale[:, 0], 1.0
        matrices[:, 1::-1, 2] = (0.5 - self.box[:, :2]) * scale - 0.5
        return matrices


def edges_of(box: np.ndarray) -> np.ndarray:
    """Left, top, right, bottom, from top, left, height, width. [..., 4]"""
    corner, extent = box[..., 1::-1], box[..., :1:-1]  # (x, y)
    return np.concatenate([corner, corner + extent], -1)


class Sampling(NamedTuple):
    """How pixels of a resized image are computed, and the pixels outside of an image."""

    interpolation: Any = "nearest"
    antialias: bool = True
    fill: Any = 0  # or a `FillByKind`


def placed_arrays(
    arrays: Sequence[Any], images: Sequence[ImageBatch], placement: Placement, sampling: Sampling
) -> list[Any]:
    """The arrays, each a single image that `images` describes, with the placement of its sample.

    Unchanged arrays are returned themselves, and crops as views. Of the others on a GPU, images of one kind are padded,
    or resized, in one launch; their results are views of one array.
    """
    results, (box, size) = list(arrays), placement
    padded: list[int] = []
    resized: list[int] = []
    # One by one: for a single image, NumPy's operations on arrays of one row take a fifth of a call
    # (benchmarks/log/target-calls-cpu.md).
    for i, (image, (top, left, *extent), result_size) in enumerate(
        zip(images, box.tolist(), size.tolist(), strict=True)
    ):
        height, width = image.size
        if extent != result_size:
            resized.append(i)
        elif top < 0 or left < 0 or top + extent[0] > height or left + extent[1] > width:
            padded.append(i)
        elif extent != [height, width]:
            results[i] = _view(arrays[i], image.axes.layout, top, left, *extent)
    for positions, place in ((padded, _pad), (resized, _resize)):
        for group in _groups(positions, images):
            chosen = [arrays[i] for i in group], [images[i] for i in group], Placement(box[group], size[group])
            for i, result in zip(group, place(*chosen, sampling), strict=True):
                results[i] = result
    return results


def _view(array: Any, layout: str, top: int, left: int, height: int, width: int) -> Any:
    """A part of an image with these axes, in the image's memory."""
    slices = {"H": slice(top, top + height), "W": slice(left, left + width)}
    return array[tuple(slices.get(axis, slice(None)) for axis in layout)]


def _groups(positions: Sequence[int], images: Sequence[ImageBatch]) -> Iterator[list[int]]:
    """The positions of the images of each launch. On a CPU, a loop for each image takes no longer."""
    groups: dict[Any, list[int]] = {}
    for position in positions:
        _, dtype, device, axes, library, *_ = images[position]
        layout, (*_, channels, _, _) = axes.layout, axes.extents
        kind: Any = position
        if device >= 0 and layout in ("CHW", "HWC"):
            kind = library, dtype, device, layout, channels, memory_layout(axes)
        groups.setdefault(kind, []).append(position)
    yield from groups.values()


def _pad(arrays: Sequence[Any], images: Sequence[ImageBatch], placement: Placement, sampling: Sampling) -> list[Any]:
    first, layout = images[0], memory_layout(images[0].axes)
    if len(images) > 1 and layout is not None and can_place(first, layout):
        return place_images(images, layout, placement.box, parameters.fill(image_fill(sampling.fill), first)).images()
    axes: Any = first.axes.layout
    boxes = placement.box.tolist()
    return [
        crop(array, *box, fill=image_fill(sampling.fill), layout=axes) for array, box in zip(arrays, boxes, strict=True)
    ]


def _resize(arrays: Sequence[Any], images: Sequence[ImageBatch], placement: Placement, sampling: Sampling) -> list[Any]:
    box, size = placement
    layout: Any = images[0].axes.layout
    if len(images) == 1:
        height, width = size[0].tolist()
        return [resize(arrays[0], (height, width), sampling.interpolation, antialias=sampling.antialias, layout=layout)]
    batch = ragged_batch(images, np.empty((len(images), 0)))
    if sampling.interpolation == "nearest":
        canvases = _nearest(batch, box[:, 2:] / size, tuple(size.max(0).tolist()))
        return [_view(canvas, layout, 0, 0, *pair) for canvas, pair in zip(canvases, size.tolist(), strict=True)]
    results = allocate_images(images[0], memory_layout(images[0].axes) or layout, size)
    resample_own_sizes(batch, box, results, sampling.interpolation, sampling.antialias)
    return results.images()


def _nearest(batch: ImageBatch, scale: np.ndarray, size: tuple[int, int]) -> Any:
    """The images, resized, each at the top left of a canvas of this size.

    `scale`: image pixels per result pixel, (y, x). [N, 2]
    """
    matrices = np.zeros((len(scale), 2, 3))
    matrices[:, 0, 0], matrices[:, 1, 1], matrices[:, [1, 0], 2] = scale[:, 1], scale[:, 0], 0.5 * scale - 0.5
    geometry = matrix_geometry(parameters.matrices("boxes", matrices, batch, rows=2), inverse=True, origin="center")
    return warp.warp(batch, geometry, size, "nearest", "constant", 0, None, None)

"""`Placement`: which box of each image a result shows, and in which size; applied to images and masks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays.images import ImageBatch
from .._passes import parameters, resample, warp
from .._passes.geometry import matrix_geometry
from .._passes.ragged import ragged_batch
from ..crop_resize import crop, resize


class Placement(NamedTuple):
    """Integers on the host, which allocates the results. A box has the size of its result, or is the whole image."""

    box: np.ndarray  # top, left, height, width; may reach beyond the image [N, 4]
    size: np.ndarray  # (H, W) of the result [N, 2]

    def matrices(self) -> np.ndarray:
        """Maps from pixels of the images to pixels of the results, with pixel centres at integers. [N, 3, 3]"""
        scale = self.size / self.box[:, 2:]  # (y, x)
        matrices = np.zeros((len(scale), 3, 3))
        matrices[:, 0, 0], matrices[:, 1, 1], matrices[:, 2, 2] = scale[:, 1], scale[:, 0], 1.0
        matrices[:, [1, 0], 2] = (0.5 - self.box[:, :2]) * scale - 0.5
        return matrices


def edges_of(box: np.ndarray) -> np.ndarray:
    """Left, top, right, bottom, from top, left, height, width. [..., 4]"""
    top, left, height, width = np.moveaxis(box, -1, 0)
    return np.stack([left, top, left + width, top + height], -1)


class Sampling(NamedTuple):
    """How pixels of a resized image are computed, and the pixels outside of an image."""

    interpolation: Any = "nearest"
    antialias: bool = True
    fill: Any = 0


class _Entry(NamedTuple):
    """One image to crop, pad or resize."""

    position: int
    array: Any
    image: ImageBatch
    box: tuple[int, int, int, int]
    size: tuple[int, int]


def placed_arrays(
    arrays: Sequence[Any], images: Sequence[ImageBatch], placement: Placement, sampling: Sampling
) -> list[Any]:
    """The arrays, each a single image that `images` describes, with the placement of its sample.

    Unchanged arrays are returned themselves, and crops as views. Of the others on a GPU, images of one kind are padded,
    or resized, in one launch; their results are views of one array.
    """
    results, pads, resizes = list(arrays), list[_Entry](), list[_Entry]()
    rows = zip(arrays, images, placement.box.tolist(), placement.size.tolist(), strict=True)
    for index, (array, image, box, size) in enumerate(rows):
        entry = _Entry(index, array, image, tuple(box), tuple(size))
        top, left, height, width = entry.box
        if entry.size != (height, width):
            resizes.append(entry)
        elif top < 0 or left < 0 or top + height > image.size[0] or left + width > image.size[1]:
            pads.append(entry)
        elif entry.size != image.size:
            results[index] = _view(array, image.axes.layout, top, left, height, width)
    for entries, place, place_group in ((pads, _pad, _pad_group), (resizes, _resize, _resize_group)):
        for group in _launches(entries):
            placed = (
                [place(group[0], sampling)] if len(group) == 1 else _place_in_one_array(group, sampling, place_group)
            )
            for entry, result in zip(group, placed, strict=True):
                results[entry.position] = result
    return results


def _view(array: Any, layout: str, top: int, left: int, height: int, width: int) -> Any:
    """A part of an image with these axes, in the image's memory."""
    slices = {"H": slice(top, top + height), "W": slice(left, left + width)}
    return array[tuple(slices.get(axis, slice(None)) for axis in layout)]


def _launches(entries: Sequence[_Entry]) -> Iterator[list[_Entry]]:
    """The images of each launch. On a CPU, a loop for each image needs no larger result than the image's own."""
    groups: dict[Any, list[_Entry]] = {}
    for entry in entries:
        image = entry.image
        kind: Any = image.library, image.dtype, image.device, image.axes.layout, image.channels
        if image.device < 0 or image.axes.layout not in ("CHW", "HWC"):
            kind = entry.position
        groups.setdefault(kind, []).append(entry)
    yield from groups.values()


def _pad(entry: _Entry, sampling: Sampling) -> Any:
    layout: Any = entry.image.axes.layout
    return crop(entry.array, *entry.box, fill=sampling.fill, layout=layout)


def _resize(entry: _Entry, sampling: Sampling) -> Any:
    layout: Any = entry.image.axes.layout
    return resize(entry.array, entry.size, sampling.interpolation, antialias=sampling.antialias, layout=layout)


_PlaceGroup = Callable[[ImageBatch, np.ndarray, np.ndarray, "tuple[int, int]", Sampling], Any]


def _place_in_one_array(entries: Sequence[_Entry], sampling: Sampling, place_group: _PlaceGroup) -> list[Any]:
    """Results in the corners of an array whose images have the largest height and the largest width of all."""
    batch = ragged_batch([entry.image for entry in entries], np.empty((len(entries), 0)))
    box, size = np.array([entry.box for entry in entries]), np.array([entry.size for entry in entries])
    height, width = size.max(0).tolist()
    images = place_group(batch, box, size, (height, width), sampling)
    layout = entries[0].image.axes.layout
    return [_view(image, layout, 0, 0, *entry.size) for image, entry in zip(images, entries, strict=True)]


def _pad_group(
    batch: ImageBatch, box: np.ndarray, _size: np.ndarray, canvas: tuple[int, int], sampling: Sampling
) -> Any:
    return _warp(batch, np.ones((len(box), 2)), box[:, :2], canvas, sampling.fill)


def _resize_group(
    batch: ImageBatch, box: np.ndarray, size: np.ndarray, canvas: tuple[int, int], sampling: Sampling
) -> Any:
    scale = box[:, 2:] / size
    if sampling.interpolation == "nearest":
        return _warp(batch, scale, 0.5 * scale - 0.5, canvas, 0)
    table = np.zeros((len(box), 10))  # kernels/records/resample.cuh: the box, then extent, step and origin of each axis
    table[:, :4], table[:, [4, 7]], table[:, [5, 8]] = box, size, 1.0
    columns = parameters.per_sample_columns("boxes", list(table.T), batch)
    sampling_arguments = sampling.interpolation, sampling.antialias
    return resample.resample(batch, columns, canvas, *sampling_arguments, None, None, has_window=True, crops=True)


def _warp(batch: ImageBatch, scale: np.ndarray, offset: np.ndarray, canvas: tuple[int, int], fill: Any) -> Any:
    """Reads the pixel nearest to ``scale * destination + offset``. [N, (y, x)] each"""
    matrices = np.zeros((len(scale), 2, 3))
    matrices[:, 0, 0], matrices[:, 1, 1], matrices[:, [1, 0], 2] = scale[:, 1], scale[:, 0], offset
    geometry = matrix_geometry(parameters.matrices("boxes", matrices, batch, rows=2), inverse=True, origin="center")
    return warp.warp(batch, geometry, canvas, "nearest", "constant", fill, None, None)

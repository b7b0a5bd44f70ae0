"""Plans that images of several sizes share, as ragged batches (_fusion/ragged.py, _passes/ragged.py).

An image's row of the batch's table and the plan depend on the image's dtype, shape, strides, layout and alignment, but
not on its address. They are computed once for images that agree in these, and looked up afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays.images import ImageBatch, describe_images
from .._arrays.registry import library_of
from .._fusion.plan import RecipePlan
from .._fusion.ragged import RaggedPrefix, RaggedPrefixes
from .._fusion.recipe_ops import Mix
from .._passes.ragged import RaggedRow, build_ragged_batch, ragged_batch, ragged_row

_MAX_ROWS = 1 << 14  # that are cached for one recipe
_NOT_CACHED: Any = object()


class _CachedRow(NamedTuple):
    """The row, the plan and the size of images that differ only in their address."""

    row: RaggedRow
    plan: RecipePlan
    size: tuple[int, int]
    batch_key: tuple[Any, ...]  # images with one plan and equal batch keys can form one batch


class RaggedPlans:
    """The plans of one recipe that images of several sizes share.

    Args:
        prefixes: Finds the transforms after which images of all sizes have one size.
        get_plan: Takes an image and its prefix; returns the plan that all images with this dtype, number of channels
            and `prefix.batch_key` share.
    """

    def __init__(self, prefixes: RaggedPrefixes, get_plan: Callable[[ImageBatch, RaggedPrefix], RecipePlan]) -> None:
        self.prefixes: RaggedPrefixes = prefixes
        self._get_plan = get_plan
        self._rows: dict[Any, _CachedRow | None] = {}  # None: these images cannot share a plan

    def plan_images(self, images: Sequence[ImageBatch]) -> tuple[RecipePlan, ImageBatch]:
        """The plan of single images whose prefixes have one `batch_key`, and the images as one batch."""
        prefixes = [prefix for prefix in map(self.prefixes.prefix, images) if prefix is not None]
        assert len(prefixes) == len(images), "images without a ragged prefix are batches of one size"
        plan = self._get_plan(images[0], prefixes[0])
        return plan, ragged_batch(images, np.array([_arguments(prefix, plan) for prefix in prefixes]))

    def plan_image(self, image: ImageBatch) -> tuple[RecipePlan, ImageBatch] | None:
        """The plan of a single image on a CPU, and the image as a batch whose results have no axis N.

        None if images of this size cannot share a plan.
        """
        key = (image.dtype, image.axes, image.pointer % 16)
        cached = self._rows.get(key, _NOT_CACHED)
        if cached is _NOT_CACHED:
            cached = self._add_row(key, image)
        if cached is None:
            return None
        return cached.plan, build_ragged_batch(image, [cached.row], [image.pointer], [image.owner], has_n_axis=False)

    def plan_list(self, arrays: list[Any], layout: str | None) -> tuple[RecipePlan, ImageBatch] | None:
        """The plan of a list of single images, and the images as one batch.

        None if the images do not need a ragged batch, as they have one size, or cannot have one: an array is not a
        plain one (`Library.descriptor_key` is None), or types, dtypes, layouts or channels differ.
        """
        array_type, library = type(arrays[0]), library_of(type(arrays[0]))
        if library is None:
            return None
        rows, pointers = [], []
        for array in arrays:
            descriptor_key = library.descriptor_key(array) if type(array) is array_type else None
            if descriptor_key is None:
                return None
            pointer = library.pointer(array)
            key = (array_type, descriptor_key, pointer % 16, layout)
            cached = self._rows.get(key, _NOT_CACHED)
            if cached is _NOT_CACHED:
                cached = self._add_row(key, describe_images(array, layout, library))
            if cached is None:
                return None
            rows.append(cached)
            pointers.append(pointer)
        _, plan, size, batch_key = rows[0]
        form_batch = all(row.plan is plan and row.batch_key == batch_key for row in rows)
        if not form_batch or all(row.size == size for row in rows):
            return None
        first = describe_images(arrays[0], layout, library)
        return plan, build_ragged_batch(first, [row.row for row in rows], pointers, arrays)

    def _add_row(self, key: Any, image: ImageBatch) -> _CachedRow | None:
        if len(self._rows) >= _MAX_ROWS:
            self._rows = {}  # a new dict: another thread may still read the old one
        cached = self._rows[key] = self._new_row(image)
        return cached

    def _new_row(self, image: ImageBatch) -> _CachedRow | None:
        prefix = self.prefixes.prefix(image) if image.axes.layout in ("CHW", "HWC") else None
        if prefix is None:
            return None
        plan = self._get_plan(image, prefix)
        if any(isinstance(op, Mix) for pass_ in plan.passes for op in pass_.first_ops):
            return None  # sample.py refuses to mix images of several sizes
        row = ragged_row(image, _arguments(prefix, plan))
        return _CachedRow(row, plan, image.size, (image.axes.layout, image.channels, image.device, row.tag, row.order))


def _arguments(prefix: RaggedPrefix, plan: RecipePlan) -> np.ndarray:
    """The row's arguments: numbers from the prefix, column indices from the plan.

    Each of the two arrays has 0 where the other has its value.
    """
    return np.asarray(prefix.arguments + plan.argument_columns)

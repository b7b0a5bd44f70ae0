"""Plans that images of several sizes share, as ragged batches (_fusion/ragged.py, _passes/ragged.py).

What depends on an image's kind (its library, dtype, shape, strides, device and alignment) and not on its address is
looked up: the row of the batch's table, and the plan.
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
from .._passes.ragged import RaggedRow, batch_of_rows, ragged_batch, ragged_row

_MAX_KINDS = 1 << 14  # of images, whose rows are kept
_UNKNOWN: Any = object()


class _Kind(NamedTuple):
    """What is known of the images of one kind."""

    row: RaggedRow
    plan: RecipePlan
    size: tuple[int, int]
    axes: tuple[Any, ...]  # kinds with equal plans and axes can form one batch


class RaggedPlans:
    """The plans of one recipe that images of several sizes share.

    Args:
        prefixes: The recipe's prefixes.
        plan_of: Function of an image and its prefix: the plan of all images whose prefix has the same `batch_key`.
    """

    def __init__(self, prefixes: RaggedPrefixes, plan_of: Callable[[ImageBatch, RaggedPrefix], RecipePlan]) -> None:
        self.prefixes: RaggedPrefixes = prefixes
        self._plan_of = plan_of
        self._kinds: dict[Any, _Kind | None] = {}  # None: images of the kind cannot share a plan

    def of_images(self, images: Sequence[ImageBatch]) -> tuple[RecipePlan, ImageBatch]:
        """The plan of single images whose prefixes have one `batch_key`, and the images as one batch."""
        prefixes = [prefix for prefix in map(self.prefixes.prefix, images) if prefix is not None]
        assert len(prefixes) == len(images), "images without a ragged prefix are batches of one size"
        plan = self._plan_of(images[0], prefixes[0])
        return plan, ragged_batch(images, np.array([_arguments(prefix, plan) for prefix in prefixes]))

    def of_image(self, image: ImageBatch) -> tuple[RecipePlan, ImageBatch] | None:
        """The plan of a single image on a CPU, and the image as a batch whose results have no axis N.

        None if it cannot share a plan.
        """
        key = (image.dtype, image.axes, image.pointer % 16)
        kind = self._kinds.get(key, _UNKNOWN)
        if kind is _UNKNOWN:
            kind = self._add_kind(key, image)
        return kind and (kind.plan, batch_of_rows(image, [kind.row], [image.pointer], [image.owner], has_n_axis=False))

    def of_list(self, arrays: list[Any], layout: str | None) -> tuple[RecipePlan, ImageBatch] | None:
        """The plan of a list of single images, and the images as one batch.

        None if the images have one size, if one has no kind (`Library.kind`), or if they cannot form one batch.
        """
        array_type, library = type(arrays[0]), library_of(type(arrays[0]))
        if library is None:
            return None
        kinds, pointers = [], []
        for array in arrays:
            library_kind = library.kind(array) if type(array) is array_type else None
            if library_kind is None:
                return None
            pointer = library.pointer(array)
            key = (library_kind, pointer % 16, layout)
            kind = self._kinds.get(key, _UNKNOWN)
            if kind is _UNKNOWN:
                kind = self._add_kind(key, describe_images(array, layout, library))
            if kind is None:
                return None
            kinds.append(kind)
            pointers.append(pointer)
        _, plan, size, axes = kinds[0]
        form_batch = all(kind.plan is plan and kind.axes == axes for kind in kinds)
        if not form_batch or all(kind.size == size for kind in kinds):
            return None
        first = describe_images(arrays[0], layout, library)
        return plan, batch_of_rows(first, [kind.row for kind in kinds], pointers, arrays)

    def _add_kind(self, key: Any, image: ImageBatch) -> _Kind | None:
        if len(self._kinds) >= _MAX_KINDS:
            self._kinds = {}  # a new dict: another thread may still read the old one
        kind = self._kinds[key] = self._new_kind(image)
        return kind

    def _new_kind(self, image: ImageBatch) -> _Kind | None:
        prefix = self.prefixes.prefix(image) if image.axes.layout in ("CHW", "HWC") else None
        if prefix is None:
            return None
        plan = self._plan_of(image, prefix)
        if any(isinstance(op, Mix) for pass_ in plan.passes for op in pass_.first_ops):
            return None  # sample.py refuses to mix images of several sizes
        row = ragged_row(image, _arguments(prefix, plan))
        return _Kind(row, plan, image.size, (image.axes.layout, image.channels, image.device, row.tag, row.order))


def _arguments(prefix: RaggedPrefix, plan: RecipePlan) -> np.ndarray:
    """The arguments of the instructions that take them per sample.

    `prefix.arguments` has 0 in the place of a column, and `plan.argument_columns` in the place of a number.
    """
    arguments: np.ndarray = prefix.arguments + plan.argument_columns
    return arguments

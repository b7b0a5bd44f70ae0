"""Plans that images of several sizes share, as ragged batches (_fusion/ragged.py, _passes/ragged.py).

An image's row of the batch's table and the plan depend on the image's dtype, shape, strides, layout and alignment, but
not on its address. They are computed once for images that agree in these, and looked up afterwards.
"""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays.images import ImageBatch, describe_images
from .._arrays.protocol import Library
from .._arrays.registry import library_of
from .._arrays.row_tables import ArrayRow, ArrayRows, array_rows, join_rows
from .._fusion.plan import RecipePlan
from .._fusion.ragged import RaggedPrefix, RaggedPrefixes
from .._passes.ragged import RaggedRow, batch_of_table, ragged_batch, ragged_row

_MAX_ROWS = 1 << 14  # of single images that are cached for one recipe
_NOT_CACHED: Any = object()


class _PlannedRow(NamedTuple):
    """The row and the plan of images that differ only in their address."""

    row: RaggedRow
    plan: RecipePlan


@dataclasses.dataclass(frozen=True, eq=False)
class _Group:
    """The plan and the description that the images of one batch have in common."""

    plan: RecipePlan
    row: RaggedRow  # of one of them
    image: ImageBatch  # one of them, without its array


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
        self._rows: dict[Any, _PlannedRow | None] = {}  # of single images; None: these images cannot share a plan
        self._array_rows: dict[tuple[type, str | None], ArrayRows] = {}  # of lists, by array type and layout
        self._groups: weakref.WeakValueDictionary[Any, _Group] = weakref.WeakValueDictionary()

    def plan_images(self, images: Sequence[ImageBatch], has_n_axis: bool = True) -> tuple[RecipePlan, ImageBatch]:
        """The plan of single images whose prefixes have one `batch_key`, and the images as one batch.

        `has_n_axis`: as in `batch_of_table`.
        """
        prefixes = [prefix for prefix in map(self.prefixes.prefix, images) if prefix is not None]
        assert len(prefixes) == len(images), "images without a ragged prefix are batches of one size"
        plan = self._get_plan(images[0], prefixes[0])
        return plan, ragged_batch(images, np.array([_arguments(prefix, plan) for prefix in prefixes]), has_n_axis)

    def plan_image(self, image: ImageBatch) -> tuple[RecipePlan, ImageBatch] | None:
        """The plan of a single image on a CPU, and the image as a batch whose results have no axis N.

        None if images of this size cannot share a plan.
        """
        key = (image.dtype, image.axes, image.pointer % 16)
        planned = self._rows.get(key, _NOT_CACHED)
        if planned is _NOT_CACHED:
            if len(self._rows) >= _MAX_ROWS:
                self._rows = {}  # a new dict: another thread may still read the old one
            planned = self._rows[key] = self._plan_row(image)
        if planned is None:
            return None
        row, plan = planned
        table = join_rows([row.row_bytes], [image.pointer])
        return plan, batch_of_table(table, image, row, [image.owner], has_n_axis=False)

    def plan_list(self, arrays: list[Any], layout: str | None) -> tuple[RecipePlan, ImageBatch] | None:
        """The plan of a list of single images, and the images as one batch.

        None if the images do not need a ragged batch, as they have one size, or cannot have one: an array is not a
        plain one (`Library.key_and_pointer` is None), or types, dtypes, layouts or channels differ.
        """
        array_type = type(arrays[0])
        library = library_of(array_type)
        if library is None:
            return None
        rows = self._array_rows.get((array_type, layout))
        if rows is None:
            rows = self._array_rows.setdefault((array_type, layout), array_rows(library, array_type))
        table_and_group = rows.table(arrays, functools.partial(self._array_row, layout, library))
        if table_and_group is None:
            return None
        table, group = table_and_group
        return group.plan, batch_of_table(table, group.image, group.row, arrays)

    def _array_row(self, layout: str | None, library: Library, array: Any) -> ArrayRow | None:
        image = describe_images(array, layout, library)
        planned = self._plan_row(image)
        if planned is None:
            return None
        row, plan = planned
        # The group keeps the plan alive, so no other plan has this id as long as the group is found.
        key = (id(plan), library, image.axes.layout, image.channels, image.device, row.tag, row.order)
        group = _Group(plan, row, image._replace(pointer=0, owner=None))
        return ArrayRow(row.row_bytes, self._groups.setdefault(key, group), image.size)

    def _plan_row(self, image: ImageBatch) -> _PlannedRow | None:
        prefix = self.prefixes.prefix(image) if image.axes.layout in ("CHW", "HWC") else None
        if prefix is None:
            return None
        plan = self._get_plan(image, prefix)
        return _PlannedRow(ragged_row(image, _arguments(prefix, plan)), plan)


def _arguments(prefix: RaggedPrefix, plan: RecipePlan) -> np.ndarray:
    """The row's arguments: numbers from the prefix, column indices from the plan.

    Each of the two arrays has 0 where the other has its value.
    """
    return np.asarray(prefix.arguments + plan.argument_columns)

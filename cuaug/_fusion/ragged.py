"""Ragged batches: images of several sizes in one call of a recipe.

The *prefix* of a recipe is its first transforms, up to the one after which all images have the same size. If the prefix
is one pass, that pass reads each image from its own memory (`_passes/ragged.py`). Recipes written for different sizes
then differ only in the arguments of the prefix's instructions, which become arguments per sample. Transforms know
nothing of ragged batches: they append to a recipe of each size (`Transform.write`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._arrays.images import ImageBatch
from .passes import plan_passes
from .recipe import Recipe
from .recipe_ops import Column, CoordinateMap, Instruction, Resize

_MAX_SIZES = 1 << 14  # image sizes, or pairs of image size and drawn size, whose prefixes are cached


class RaggedPrefix(NamedTuple):
    """The prefix of a recipe, written for images of one size."""

    batch_key: tuple[Any, ...]  # images with equal keys can form one ragged batch
    arguments: np.ndarray  # of all instructions in order; 0 where an argument is a column


class RaggedPrefixes:
    """The prefixes of a list of transforms, cached by size.

    `first_position`: the position of the list's first transform in the whole recipe.
    """

    def __init__(self, transforms: Sequence[Any], first_position: int) -> None:
        self._transforms, self._first_position = transforms, first_position
        self._lengths: dict[Any, int] = {}
        self._without_prefix: set[Any] = set()  # dtypes and channels
        self._are_one_pass: dict[Any, bool] = {}  # whether prefixes are one pass, by dtype, channels and batch key
        self._cache: dict[Any, RaggedPrefix | None] = {}

    def batch_key(self, images: ImageBatch) -> Any:
        """Images of any size with equal keys can form one batch. None: only images of one size can."""
        prefix = self.prefix(images)
        return prefix and prefix.batch_key

    def prefix(self, images: ImageBatch) -> RaggedPrefix | None:
        """The prefix for images of this size. None if images of different sizes cannot form a batch."""
        key = (images.dtype, images.axes.extents[2:], images.drawn_size)
        if key in (cache := self._cache):
            return cache[key]
        if len(cache) >= _MAX_SIZES:
            self._cache = cache = {}  # a new dict: another thread may still read the old one
        prefix = cache[key] = self._write_prefix(images)
        return prefix

    def length(self, images: ImageBatch) -> int:
        """The number of transforms after which images of every size have the same size.

        0 if there is no such number, or if a transform refuses this size or the second one that is tried.
        """
        key = (images.dtype, images.channels)
        if key not in self._lengths:
            height, width = images.drawn_size or images.size
            sizes = (height, width), (2 * height + 1, 3 * width + 2)  # heights, widths and ratios all differ
            try:
                self._lengths[key] = self._length_until_equal([self._new_recipe(images, size) for size in sizes])
            except ValueError:  # a transform refuses one of the sizes; those of other images may be accepted
                return 0
        return self._lengths[key]

    def are_known_to_be_none(self, images: ImageBatch) -> bool:
        """Whether an earlier prefix for this dtype and these channels was None, for reasons other than the size."""
        key = (images.dtype, images.channels)
        return key in self._without_prefix or self._lengths.get(key) == 0

    def _length_until_equal(self, recipes: Sequence[Recipe]) -> int:
        for count, transform in enumerate(self._transforms, 1):
            for recipe in recipes:
                transform.append_to(recipe)
            if len({recipe.size for recipe in recipes}) == 1:
                return count
        return 0

    def _write_prefix(self, images: ImageBatch) -> RaggedPrefix | None:
        length = self.length(images)
        if not length:
            return None
        recipe = self._new_recipe(images, images.drawn_size or images.size)
        for transform in self._transforms[:length]:
            transform.append_to(recipe)
        if not all(isinstance(op, (CoordinateMap, Resize)) for op in recipe.ops):
            self._without_prefix.add((images.dtype, images.channels))
        prefix = _prefix_of(recipe)
        if prefix is None:
            return None
        key = images.dtype, images.channels, prefix.batch_key
        if key not in self._are_one_pass:  # prefixes with equal keys have equal passes, whose planning takes long
            passes = plan_passes(recipe, images.dtype, images.size, images.channels)
            self._are_one_pass[key] = len(passes) == 1
        for size in (recipe.size, *(op.size for op in recipe.ops if isinstance(op, Resize))):
            _check.result_size(size, images.size)
        return prefix if self._are_one_pass[key] else None

    def _new_recipe(self, images: ImageBatch, size: tuple[int, int]) -> Recipe:
        """A recipe for images of this size. If the images have a drawn size, `size` replaces that one."""
        image_size, drawn_size = (images.size, size) if images.drawn_size else (size, None)
        position = self._first_position - 1  # `begin` adds 1
        return Recipe(image_size, images.channels, images.dtype, drawn_size=drawn_size, position=position)


def _prefix_of(recipe: Recipe) -> RaggedPrefix | None:
    """The prefix that `recipe` holds. None if it is not geometry alone."""
    columns = [column for draw in recipe.draws for column in draw.columns]
    maps = [op for op in recipe.ops if isinstance(op, (CoordinateMap, Resize))]
    if len(maps) < len(recipe.ops):
        return None
    if any(column.max_value is not None for column in columns):  # `rescale_draw` cannot rescale arguments per sample
        return None
    _use_resample_kernel(recipe)
    column_indices = {id(column): i for i, column in enumerate(columns)}

    def structure(instruction: Instruction) -> tuple[Any, ...]:
        gate = instruction.gate and (column_indices[id(instruction.gate.column)], instruction.gate.value)
        arguments = tuple([column_indices.get(id(argument)) for argument in instruction.arguments])
        return instruction.opcode, len(instruction.columns), instruction.position, instruction.counter, gate, arguments

    map_structures = ((type(op), op.interpolation, *structure(op.inverse_map)) for op in maps)
    key = recipe.size, *map(structure, recipe.draws), *map_structures
    instructions = _instructions(recipe)
    arguments = [0.0 if isinstance(a, Column) else a for instruction in instructions for a in instruction.arguments]
    return RaggedPrefix(key, np.array(arguments, np.float64))


def use_sample_arguments(recipe: Recipe) -> None:
    """Lets the instructions that are in the recipe so far read their arguments per sample."""
    offset = 0
    for instruction in _instructions(recipe):
        instruction.sample_arguments_offset, offset = offset, offset + len(instruction.arguments)
    _use_resample_kernel(recipe)


def _use_resample_kernel(recipe: Recipe) -> None:
    """Makes every resize run in the resample kernel, and lets padding after it join its pass.

    The warp kernel cannot reduce more than twofold, as some of the sizes may need.
    """
    for op in recipe.ops:
        if isinstance(op, Resize):
            op.fits_warp, op.padding_joins_pass = False, True


def argument_columns(recipe: Recipe) -> np.ndarray:
    """What to add to `RaggedPrefix.arguments`: a column's index where the argument is a column, else 0."""
    instructions = [i for i in _instructions(recipe) if i.sample_arguments_offset >= 0]
    arguments = [
        a.index if isinstance(a, Column) else 0.0 for instruction in instructions for a in instruction.arguments
    ]
    return np.array(arguments, np.float64)


def _instructions(recipe: Recipe) -> list[Instruction]:
    return [*recipe.draws, *(op.inverse_map for op in recipe.ops if isinstance(op, (CoordinateMap, Resize)))]

"""The plans of a recipe, computed once for each shape and dtype of images."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays.images import ImageBatch
from .._fusion.plan import RecipePlan, plan_recipe
from .._fusion.ragged import RaggedPrefixes, use_sample_arguments
from .._fusion.recipe import Recipe
from .._passes.ragged import RaggedTemplate, ragged_batch, ragged_template
from .transform import Transform

_MANY_SIZES = 8  # plans of a recipe from which on single images of further sizes share a plan
_MAX_TEMPLATES = 1 << 14
_MAX_PLANS = 1024  # of a recipe: up to 17 KB each, one for each size that images have


class PlanCache:
    """The plans of a list of transforms.

    `first_position`: the position of the first of them in the recipe. It is not 0 if the list is the end of a longer
    recipe (`Compose.after`).
    """

    def __init__(self, transforms: Sequence[Transform], first_position: int = 0) -> None:
        self.transforms: Sequence[Transform] = transforms
        self.first_position: int = first_position
        self._plans: dict[Any, RecipePlan] = {}
        self._ragged_templates: dict[Any, tuple[RecipePlan, RaggedTemplate]] = {}
        # Plans that are no longer cached, while a `Params` that was drawn with them exists.
        self._evicted: weakref.WeakValueDictionary[Any, RecipePlan] = weakref.WeakValueDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy begins without plans."""
        return type(self), (self.transforms, self.first_position)

    @functools.cached_property
    def prefixes(self) -> RaggedPrefixes:
        """The transforms up to the one after which images of all sizes have one size (_fusion/ragged.py)."""
        return RaggedPrefixes(self._flattened(), self.first_position)

    def plan(self, batch: ImageBatch) -> RecipePlan:
        key = _size_key(batch)
        plan = self._plans.get(key)
        return self._add(key, self._evicted.get(key) or self.new_plan(batch, {})) if plan is None else plan

    def plan_group(self, images: Sequence[ImageBatch]) -> tuple[RecipePlan, ImageBatch]:
        """One batch, or single images of one ragged batch: their plan, and the images as one batch."""
        if len(images) > 1:
            return self._plan_ragged(images)
        (image,) = images
        plan = self._plans.get(_size_key(image))
        if plan is not None:
            return plan, image
        return self._plan_ragged_image(image) if self._shares_plan(image) else (self.plan(image), image)

    def _shares_plan(self, image: ImageBatch) -> bool:
        """Whether a single image forms a ragged batch of one, so that it shares the plan of images of other sizes.

        On a CPU only, where a plan takes longer than the passes: a GPU would have to copy the image's row of the table.
        """
        has_many_sizes = len(self._plans) >= _MANY_SIZES
        is_single = image.device < 0 and image.axes.layout in ("CHW", "HWC")
        return has_many_sizes and is_single and self.prefixes.prefix(image) is not None

    def _plan_ragged_image(self, image: ImageBatch) -> tuple[RecipePlan, ImageBatch]:
        """A single image as a ragged batch. A template is kept for each kind of image."""
        key = (image.dtype, image.axes, image.pointer % 16)
        cached = self._ragged_templates.get(key)
        if cached:
            plan, template = cached
            return plan, template.batch(image)
        plan, batch = self._plan_ragged([image], has_n_axis=False)
        if len(self._ragged_templates) >= _MAX_TEMPLATES:
            self._ragged_templates = {}  # a new dict: another thread may still read the old one
        self._ragged_templates[key] = plan, ragged_template(batch)
        return plan, batch

    def _plan_ragged(self, images: Sequence[ImageBatch], has_n_axis: bool = True) -> tuple[RecipePlan, ImageBatch]:
        first = images[0]
        prefixes = [prefix for prefix in map(self.prefixes.prefix, images) if prefix is not None]
        assert len(prefixes) == len(images), "images without a ragged prefix are batches of one size"
        key = (first.dtype, first.channels, prefixes[0].batch_key)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._evicted.get(key) or self.new_plan(first, {}, self.prefixes.length(first))
            plan = self._add(key, plan)
        # `prefix.arguments` has 0 in the place of a column, `plan.argument_columns` in the place of a number.
        arguments = np.array([prefix.arguments for prefix in prefixes]) + plan.argument_columns
        return plan, ragged_batch(images, arguments, has_n_axis)

    def new_plan(self, batch: ImageBatch, transform_titles: dict[int, str], prefix_length: int = 0) -> RecipePlan:
        """A plan that is not cached.

        Args:
            batch: Images of the plan's shape and dtype.
            transform_titles: Filled with the title of each op's transform, by the op's id.
            prefix_length: This many transforms get their arguments per sample, for a ragged batch.
        """
        recipe = Recipe(batch.size, batch.channels, batch.dtype, position=self.first_position - 1)
        for count, transform in enumerate(self._flattened(), 1):
            ops_before = len(recipe.ops)
            transform.append_to(recipe)
            transform_titles |= {id(op): transform.title for op in recipe.ops[ops_before:]}
            if count == prefix_length:
                use_sample_arguments(recipe)
        return plan_recipe(recipe, batch, continues=self.first_position > 0)

    def _add(self, key: Any, plan: RecipePlan) -> RecipePlan:
        """Caches the plan, in place of the oldest ones if there are too many. Concurrent threads share one plan.

        A CUDA graph may hold addresses of a plan's memory on a device: such plans stay.
        """
        excess = len(self._plans) + 1 - _MAX_PLANS
        if excess > 0:
            # A list, as other threads may add plans; no lock, which a fork could copy while it is held.
            evictable = (pair for pair in list(self._plans.items()) if not _is_on_device(pair[1]))
            for old_key, old_plan in itertools.islice(evictable, excess):
                self._evicted[old_key] = old_plan
                self._plans.pop(old_key, None)
        return self._plans.setdefault(key, plan)

    def _flattened(self) -> list[Transform]:
        return [inner for transform in self.transforms for inner in transform.flattened()]


def _size_key(batch: ImageBatch) -> tuple[Any, ...]:
    return batch.dtype, batch.axes.extents[1:]


def _is_on_device(plan: RecipePlan) -> bool:
    return any(device >= 0 for device, *_ in (*plan.launch_plans, *plan.device_programs))

"""The plans of a recipe: one for each shape and dtype of images, or one that images of several sizes share."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Sequence
from typing import Any

from .._arrays.images import ImageBatch
from .._fusion.plan import RecipePlan, plan_recipe
from .._fusion.ragged import RaggedPrefix, RaggedPrefixes, use_sample_arguments
from .._fusion.recipe import Recipe
from .ragged_plans import RaggedPlans
from .transform import Transform

_MANY_SIZES = 8  # on a CPU, a recipe with this many plans makes none for further sizes of single images: see plan_group
_MAX_PLANS = 1024  # of a recipe; a plan takes up to 17 KB


class PlanCache:
    """The plans of a list of transforms.

    `first_position`: the position of the first of them in the recipe. It is not 0 if the list is the end of a longer
    recipe (`Compose.after`).
    """

    def __init__(self, transforms: Sequence[Transform], first_position: int = 0) -> None:
        self.transforms: Sequence[Transform] = transforms
        self.first_position: int = first_position
        self._plans: dict[Any, RecipePlan] = {}
        # Plans that are no longer cached, while a `Params` that was drawn with them exists.
        self._evicted: weakref.WeakValueDictionary[Any, RecipePlan] = weakref.WeakValueDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy begins without plans."""
        return type(self), (self.transforms, self.first_position)

    @functools.cached_property
    def ragged(self) -> RaggedPlans:
        """The plans that images of several sizes share."""
        return RaggedPlans(RaggedPrefixes(self._flattened(), self.first_position), self._ragged_plan)

    @property
    def prefixes(self) -> RaggedPrefixes:
        """The transforms up to the one after which images of all sizes have one size (_fusion/ragged.py)."""
        return self.ragged.prefixes

    def plan(self, batch: ImageBatch) -> RecipePlan:
        key = _shape_key(batch)
        plan = self._plans.get(key)
        return self._add(key, self._evicted.get(key) or self.new_plan(batch, {})) if plan is None else plan

    def plan_group(self, images: Sequence[ImageBatch], is_single: bool = False) -> tuple[RecipePlan, ImageBatch]:
        """The plan of one batch, or of single images that form a ragged batch, and the images as one batch.

        `is_single`: the call has one sample. The result of a ragged batch then has no axis N.

        On a CPU, single images of further sizes share a plan once the recipe has `_MANY_SIZES` plans, because planning
        takes longer than the passes. On a GPU the row of each image would have to be copied to the device.
        """
        if len(images) > 1 or images[0].drawn_size:
            return self.ragged.plan_images(images, has_n_axis=not is_single)
        (image,) = images
        if image.device < 0 and len(self._plans) >= _MANY_SIZES and _shape_key(image) not in self._plans:
            plan_and_batch = self.ragged.plan_image(image)
            if plan_and_batch is not None:
                return plan_and_batch
        return self.plan(image), image

    def plan_list(self, arrays: list[Any], layout: str | None) -> tuple[RecipePlan, ImageBatch] | None:
        """As `RaggedPlans.plan_list`."""
        return self.ragged.plan_list(arrays, layout)

    def _ragged_plan(self, image: ImageBatch, prefix: RaggedPrefix) -> RecipePlan:
        """The cached plan of ragged batches with this prefix, or a new one."""
        key = (image.dtype, image.channels, prefix.batch_key)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._evicted.get(key) or self.new_plan(image, {}, self.prefixes.length(image))
            plan = self._add(key, plan)
        return plan

    def new_plan(self, batch: ImageBatch, transform_titles: dict[int, str], prefix_length: int = 0) -> RecipePlan:
        """A plan that is not cached.

        Args:
            batch: Images of the plan's shape and dtype.
            transform_titles: Filled with the title of each op's transform, by the op's id.
            prefix_length: This many transforms get their arguments per sample, for a ragged batch.
        """
        position = self.first_position - 1
        recipe = Recipe(batch.size, batch.channels, batch.dtype, drawn_size=batch.drawn_size, position=position)
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


def _shape_key(batch: ImageBatch) -> tuple[Any, ...]:
    return batch.dtype, batch.axes.extents[1:]


def _is_on_device(plan: RecipePlan) -> bool:
    return any(device >= 0 for device, *_ in (*plan.launch_plans, *plan.device_programs))

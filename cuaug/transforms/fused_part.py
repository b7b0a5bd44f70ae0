"""`FusedPart`: adjacent transforms of a recipe that run in passes which they share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .._arrays.images import ImageBatch, describe_images
from .._arrays.tv_tensors import is_video, tv_kind, without_type, wrap_like
from .._fusion import draw, launch_plan
from .._fusion.plan import RecipePlan
from .boxes import Boxes
from .keypoints import Keypoints
from .params import Params
from .plan_cache import PlanCache
from .sample import check_labels_not_needed, needs_matrices, transform_sample
from .sample_kinds import is_plain_array
from .sample_structure import ParsedSample, parse_sample
from .sample_target import UnstackedBatch, image_layout
from .transform import Transform

Key: TypeAlias = tuple[int, int]  # seed and step
GetKey: TypeAlias = Callable[[Any, int | None], Key]  # takes ids and step; counts the call


class FusedPart:
    """Adjacent transforms of a recipe that are planned together and share passes.

    `first_position`: the position of the first one in the recipe.
    """

    def __init__(
        self, transforms: Sequence[Transform], first_position: int, boxes: Boxes, keypoints: Keypoints
    ) -> None:
        self.plans: PlanCache = PlanCache(transforms, first_position)
        self._boxes, self._keypoints = boxes, keypoints
        self._replay_counters = draw.ReplayCounters()  # of CUDA graphs that capture calls
        self._array_types: set[type] = set()  # types of arrays: a sample of such a type is images, without a structure

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy begins without plans."""
        return type(self), (self.plans.transforms, self.plans.first_position, self._boxes, self._keypoints)

    def __call__(self, sample: Any, ids: Any, step: int | None, layout: str | None, get_key: GetKey) -> Any:
        """Transform images, or a sample of any structure.

        `get_key` is called once, after the images were found and, unless they are in a structure, accepted: a call that
        is refused before does not count.
        """
        plan_and_batch = None
        if type(sample) in self._array_types:  # to save time: types that are known to be those of arrays
            plan_and_batch = self.plans.plan_group([describe_images(sample, layout)])
        elif type(sample) in (list, UnstackedBatch) and sample and (ids is None or type(ids) is int):  # no array of ids
            plan_and_batch = self.plans.plan_list(sample, image_layout(sample, layout))
        if plan_and_batch is not None:
            result = self._draw_and_apply(*plan_and_batch, ids, get_key(ids, step))
            return list(result) if type(sample) is list else result
        if is_plain_array(type(sample)):  # remember the type
            self._array_types.add(type(sample))
            return self(sample, ids, step, layout, get_key)
        if tv_kind(sample) == "images" and not is_video(sample):  # to save time: as `parse_sample` treats it
            return wrap_like(self(without_type(sample), ids, step, layout, get_key), sample)
        parsed = parse_sample(sample)
        return parsed.rebuild(*self.transform_parsed(parsed, ids, step, layout, get_key))

    def transform_parsed(
        self, parsed: ParsedSample, ids: Any, step: int | None, layout: str | None, get_key: GetKey
    ) -> tuple[Any, Any]:
        """The results and sizes for `ParsedSample.rebuild`; otherwise as a call."""
        key = get_key(ids, step)
        images = parsed.images_alone()
        if images is not None:
            batch = describe_images(images.value, images.layout or image_layout(images.original, layout))
            plan, batch = self.plans.plan_group([batch])
            if not (plan.mixes and parsed.targets_of("labels")):
                if images.paths != ((),):  # the images are in a container, which has a place for labels
                    check_labels_not_needed(plan.mixes)
                return {"images": [self._draw_and_apply(plan, batch, ids, key)]}, plan.result_size
        return self.transform(parsed, key, ids, layout)

    def _draw_and_apply(self, plan: RecipePlan, batch: ImageBatch, ids: Any, key: Key) -> Any:
        draws = draw.describe_draws(batch, ids, *key, self._replay_counters)
        return launch_plan.draw_and_apply(plan, batch, draws)

    def transform(
        self,
        parsed: ParsedSample,
        key: Key,
        ids: Any,
        layout: str | None,
        sized_images: Sequence[Sequence[ImageBatch]] = (),
    ) -> tuple[Any, Any]:
        """As `transform_parsed`, with this key. `sized_images`: as in `transform_sample`."""
        draw_params = functools.partial(self.draw, key=key, with_matrix=needs_matrices(parsed))
        options = self._boxes, self._keypoints, sized_images
        return transform_sample(parsed, self.plans, draw_params, ids, layout, *options)

    def draw(self, plan: RecipePlan, batch: ImageBatch, ids: Any, key: Key, with_matrix: bool = True) -> Params:
        """The parameters of a batch, whose samples have these ids."""
        draws = draw.describe_draws(batch, ids, *key, self._replay_counters)
        return Params(plan, draw.draw_table(plan, batch, draws, with_matrix=with_matrix), batch, self)

    def to_dict(self) -> dict[str, Any]:
        """The transforms as plain values: `Params.to_dict` stores them and `params_from_dict` compares them."""
        return {"transforms": [transform.to_dict() for transform in self.plans.transforms]}

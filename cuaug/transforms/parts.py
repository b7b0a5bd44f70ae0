"""The parts of a recipe: adjacent fused transforms, and between them transforms that are not fused."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .._arrays.images import ImageBatch, describe_images
from .._fusion import draw, launch_plan
from .._fusion.plan import RecipePlan
from .boxes import Boxes
from .keypoints import Keypoints
from .params import Params
from .plan_cache import PlanCache
from .sample import needs_matrices, transform_sample
from .sample_kinds import is_plain_array
from .sample_structure import ParsedSample, parse_sample
from .sample_target import UnstackedBatch, image_layout
from .several_sizes import SizeTransform
from .size_part import SizePart
from .transform import Transform

Key: TypeAlias = tuple[int, int]  # seed and step


class FusedPart:
    """Adjacent transforms of a recipe that run in passes which they share.

    `first_position`: the position of the first of them in the recipe.
    """

    def __init__(
        self, transforms: Sequence[Transform], first_position: int, boxes: Boxes, keypoints: Keypoints
    ) -> None:
        self.plans: PlanCache = PlanCache(transforms, first_position)
        self._boxes, self._keypoints = boxes, keypoints
        self._replay_counters = draw.ReplayCounters()  # of CUDA graphs that capture calls
        self._array_types: set[type] = set()  # whose objects are images, not structured samples

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy begins without plans."""
        return type(self), (self.plans.transforms, self.plans.first_position, self._boxes, self._keypoints)

    def __call__(
        self, sample: Any, ids: Any, step: int | None, layout: str | None, get_key: Callable[[Any, int | None], Key]
    ) -> Any:
        """Transform images, or a sample of any structure. `get_key`: called with `ids` and `step`, once."""
        plan_and_batch = None
        if type(sample) in self._array_types:
            plan_and_batch = self.plans.plan_group([describe_images(sample, layout)])
        elif type(sample) in (list, UnstackedBatch) and sample and (ids is None or type(ids) is int):  # no array of ids
            plan_and_batch = self.plans.plan_list(sample, image_layout(sample, layout))
        if plan_and_batch is not None:
            plan, batch = plan_and_batch
            draws = draw.describe_draws(batch, ids, *get_key(ids, step), self._replay_counters)
            result = launch_plan.draw_and_apply(plan, batch, draws)
            return list(result) if type(sample) is list else result
        if is_plain_array(type(sample)):  # the first array of this type
            self._array_types.add(type(sample))
            return self(sample, ids, step, layout, get_key)
        parsed = parse_sample(sample)
        return parsed.rebuild(*self.transform(parsed, get_key(ids, step), ids, layout))

    def transform(self, parsed: ParsedSample, key: Key, ids: Any, layout: str | None) -> tuple[Any, Any]:
        """The results and sizes for `ParsedSample.rebuild`."""
        draw_params = functools.partial(self.draw, key=key, with_matrix=needs_matrices(parsed))
        return transform_sample(parsed, self.plans, draw_params, ids, layout, self._boxes, self._keypoints)

    def draw(self, plan: RecipePlan, batch: ImageBatch, ids: Any, key: Key, with_matrix: bool = True) -> Params:
        """The parameters of a batch, whose samples have these ids."""
        draws = draw.describe_draws(batch, ids, *key, self._replay_counters)
        return Params(plan, draw.draw_table(plan, batch, draws, with_matrix=with_matrix), batch, self)

    def to_dict(self) -> dict[str, Any]:
        """The description of the transforms that `Params` compares."""
        return {"transforms": [transform.to_dict() for transform in self.plans.transforms]}


Parts: TypeAlias = tuple[FusedPart | SizePart | Transform, ...]


def split(transforms: Sequence[Transform], first_position: int, boxes: Boxes, keypoints: Keypoints) -> Parts:
    """The parts of a recipe; one fused part if there are no transforms."""
    flattened = [inner for transform in transforms for inner in transform.flattened()]
    if all(transform.is_fused for transform in flattened):
        return (FusedPart(transforms, first_position, boxes, keypoints),)
    parts, position = list[FusedPart | SizePart | Transform](), first_position
    for is_fused, group in itertools.groupby(flattened, lambda transform: transform.is_fused):
        adjacent = list(group)
        if is_fused:
            parts.append(FusedPart(adjacent, position, boxes, keypoints))
        for i, transform in enumerate(() if is_fused else adjacent, position):
            is_size = isinstance(transform, SizeTransform)
            parts.append(SizePart(transform, i, boxes, keypoints) if is_size else transform)
        position += len(adjacent)
    return tuple(parts)


def only_fused(parts: Parts) -> FusedPart:
    """The only part of a recipe whose transforms are all fused."""
    for part in parts:
        if isinstance(part, FusedPart) and len(parts) == 1:
            return part
        if not isinstance(part, FusedPart):
            raise ValueError(
                f"{part.title} is not fused with other transforms: draw, apply, params_from_dict, plan, check and show "
                "take recipes of fused transforms only"
            )
    raise AssertionError("two fused parts are adjacent")


def call_parts(
    parts: Parts, sample: Any, names: Sequence[str], ids: Any, step: int | None, layout: str | None, key: Key
) -> Any:
    """The sample after all parts. `names`: of a call's arguments, if these are the sample; else none."""
    for part in parts:
        if not isinstance(part, Transform):
            sample = part(sample, ids, step, layout, lambda *_: key)
        elif not names or part.takes_targets:
            sample = part.call_forward(sample)
        else:  # as torchvision's Compose calls transforms
            sample = dict(zip(names, part.call_forward(*sample.values()), strict=True))
    return sample

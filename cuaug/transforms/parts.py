"""The parts of a recipe: adjacent fused transforms, and between them transforms and choices that are not fused."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from .._arrays.images import ImageBatch, describe_images
from .._check import prefix_message
from .._fusion import draw, draw_kernel, launch_plan
from .._fusion.plan import RecipePlan
from .._fusion.program import assemble
from .._fusion.recipe import Recipe
from .boxes import Boxes
from .choices import Choice
from .keypoints import Keypoints
from .params import Params
from .plan_cache import PlanCache
from .sample import id_array, needs_matrices, transform_sample
from .sample_kinds import is_plain_array
from .sample_structure import ParsedSample, parse_sample
from .sample_subset import samples_at, with_samples
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
        elif type(sample) is list and sample and (ids is None or type(ids) is int):  # not an array of ids
            plan_and_batch = self.plans.plan_list(sample, layout)
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


class ChoicePart:
    """A choice of transforms that are not all fused: a branch is called with the samples that drew it, as one batch.

    The draws are those of a fused choice at the same position, computed on the host.
    """

    def __init__(self, choice: Choice, position: int, boxes: Boxes, keypoints: Keypoints) -> None:
        self.choice: Choice = choice
        self._arguments = position, boxes, keypoints
        recipe = Recipe((1, 1), 1, "uint8", position=position - 1)  # the draws do not depend on the images
        recipe.begin(choice.title)
        branches = choice.branches(recipe)
        columns = [column for instruction in recipe.draws for column in instruction.columns]
        for index, column in enumerate(columns):
            column.index = index
        self._program, self._column_count = assemble(recipe.draws), len(columns)
        self._branches = list[tuple[int, float, Parts]]()
        position += 1
        for branch in branches:
            parts = split(branch.transforms, position, boxes, keypoints)
            self._branches.append((branch.column.index, branch.value, parts))
            position += sum(transform.position_count for transform in branch.transforms)
        self._identity = FusedPart((), position, boxes, keypoints)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.choice, *self._arguments)

    @property
    def title(self) -> str:
        return self.choice.title

    @property
    def has_fused_part(self) -> bool:
        inner = itertools.chain(*(parts for *_, parts in self._branches))
        return any(
            isinstance(part, FusedPart) or (isinstance(part, ChoicePart) and part.has_fused_part) for part in inner
        )

    def __call__(
        self, sample: Any, names: Sequence[str], ids: Any, step: int | None, layout: str | None, key: Key
    ) -> Any:
        """The sample after the branches of each of its samples. The arguments are those of `call_parts`."""
        parsed = parse_sample(sample)
        if parsed.targets_of("boxes") and not parsed.targets_of("valid") and self.has_fused_part:
            # Fused parts write "valid" beside boxes: all samples have it, or none.
            sample = self._identity(sample, ids, step, layout, lambda *_: key)
        count = parsed.samples
        sample_ids, table = id_array(ids, count), np.zeros((count, self._column_count))
        draw_kernel.draw_on_host(self._program, table, sample_ids, *key, np.empty((count, 0)))
        for column, value, parts in self._branches:
            indices = np.flatnonzero(table[:, column] == value)
            if len(indices) == count > 0:
                sample = call_parts(parts, sample, names, ids, step, layout, key)
            elif len(indices):
                chosen = samples_at(sample, count, indices.tolist())
                chosen = call_parts(parts, chosen, names, sample_ids[indices], step, layout, key)
                try:
                    sample = with_samples(sample, count, indices.tolist(), chosen)
                except ValueError as error:
                    prefix_message(error, self.title)
                    raise
        return sample


Part: TypeAlias = FusedPart | ChoicePart | Transform
Parts: TypeAlias = tuple[Part, ...]


def split(transforms: Sequence[Transform], first_position: int, boxes: Boxes, keypoints: Keypoints) -> Parts:
    """The parts of a recipe; one fused part if there are no transforms."""
    flattened = [inner for transform in transforms for inner in transform.flattened()]
    if all(transform.is_fused for transform in flattened):
        return (FusedPart(transforms, first_position, boxes, keypoints),)
    parts, position = list[Part](), first_position
    for is_fused, group in itertools.groupby(flattened, lambda transform: transform.is_fused):
        adjacent = list(group)
        if is_fused:
            parts.append(FusedPart(adjacent, position, boxes, keypoints))
        for transform in adjacent:
            if isinstance(transform, Choice) and not is_fused:
                parts.append(ChoicePart(transform, position, boxes, keypoints))
            elif not is_fused:
                parts.append(transform)
            position += transform.position_count
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
        if isinstance(part, FusedPart):
            sample = part(sample, ids, step, layout, lambda *_: key)
        elif isinstance(part, ChoicePart):
            sample = part(sample, names, ids, step, layout, key)
        elif not names or part.takes_targets:
            sample = part.call_forward(sample)
        else:  # as torchvision's Compose calls transforms
            sample = dict(zip(names, part.call_forward(*sample.values()), strict=True))
    return sample

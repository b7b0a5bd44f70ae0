"""The parts of a recipe: adjacent fused transforms, and between them transforms that are not fused."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, TypeAlias

from .boxes import Boxes
from .fused_part import FusedPart, Key
from .keypoints import Keypoints
from .pad_batch import PadBatch, PadPart
from .several_sizes import SizeTransform
from .size_part import SizePart
from .transform import Transform

Parts: TypeAlias = tuple[FusedPart | SizePart | PadPart | Transform, ...]


def split(transforms: Sequence[Transform], first_position: int, boxes: Boxes, keypoints: Keypoints) -> Parts:
    """The parts of a recipe; one fused part if there are no transforms."""
    flattened = [inner for transform in transforms for inner in transform.flattened()]
    if all(transform.is_fused for transform in flattened):
        return (FusedPart(transforms, first_position, boxes, keypoints),)
    parts, position = list[FusedPart | SizePart | PadPart | Transform](), first_position
    for is_fused, group in itertools.groupby(flattened, lambda transform: transform.is_fused):
        adjacent = list(group)
        if is_fused:
            parts.append(FusedPart(adjacent, position, boxes, keypoints))
        for i, transform in enumerate(() if is_fused else adjacent, position):
            if isinstance(transform, SizeTransform):
                parts.append(SizePart(transform, i, boxes, keypoints))
            else:
                parts.append(PadPart(transform, boxes, keypoints) if isinstance(transform, PadBatch) else transform)
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

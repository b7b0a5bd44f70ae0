"""`plan_report`: the passes of a recipe for given images, or for a size and a dtype alone; the times of a call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .. import _check
from .._arrays.images import placeholder
from .._fusion.report import Report, report
from .call_time import time_call
from .params import describe_typed
from .plan_cache import PlanCache
from .sample_groups import group_images
from .sample_kinds import is_array
from .sample_pillow import with_pixels
from .sample_target import image_layout


def plan_report(
    plans: PlanCache,
    images: Any,
    size: Sequence[int] | None = None,
    dtype: str = "uint8",
    channels: int = 3,
    layout: str | None = None,
    run: Callable[[Any], Any] | None = None,
) -> Report:
    """The report for an array, or for the largest batch of a list.

    If `images` is None, `size`, `dtype` and `channels` describe the images. `run`: a call of the recipe with
    images, to be timed; None: the report has no times.
    """
    transform_titles: dict[int, str] = {}
    prefix_length, batches = 0, tuple[int, ...]()
    if images is None:
        if run is not None:
            raise ValueError("measure=True needs images: pass an array or a list of arrays, in place of size")
        if size is None:
            raise ValueError("images or size must be given")
        shape = (1, *_check.size("size", size), _check.integer("channels", channels, 1))
        largest = [placeholder(shape, dtype)]
    elif isinstance(images, (list, tuple)):
        prefixes, arrays = plans.prefixes, list(with_pixels(images))
        if not all(map(is_array, arrays)):
            raise TypeError("images must be an array, or a list of arrays")
        if batch_shape := next((tuple(array.shape) for array in arrays if array.ndim > 3), None):
            raise ValueError(f"images in a list must be single images, got shape {batch_shape}")
        groups = group_images(arrays, prefixes.batch_key, image_layout(arrays, layout), len(images))
        largest = max(groups, key=lambda group: len(group[0]))[1]  # the largest batch stands for all
        prefix_length = prefixes.length(largest[0]) if len(largest) > 1 else 0
        batches = tuple(len(indices) for indices, _ in groups)
    else:
        largest = [describe_typed(images, layout)]
    plan = plans.new_plan(largest[0], transform_titles, prefix_length)
    result = report(plan, largest, transform_titles, batches)
    if run is None:
        return result
    times = time_call(functools.partial(run, images), largest[0], result.launches * max(1, len(batches)))
    return replace(result, **times._asdict())

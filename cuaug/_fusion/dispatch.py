"""Runs a recipe on its images' device: a launch plan on a GPU, loops sample by sample on a CPU."""

from __future__ import annotations

from typing import Any

from .._arrays.images import ImageBatch
from .._arrays.tv_tensors import wrap_like
from .._passes.parameters import StridedArray
from . import cpu_run, draw, launch_plan
from .draw_kernel import Draws
from .plan import RecipePlan


def apply(plan: RecipePlan, images: ImageBatch, table: StridedArray) -> Any:
    """The images, transformed by the rows of a parameter table. A tv_tensor gives a tv_tensor of the same type."""
    return wrap_like((cpu_run if images.device < 0 else launch_plan).apply(plan, images, table), images.owner)


def draw_and_apply(plan: RecipePlan, images: ImageBatch, draws: Draws) -> Any:
    """The images, which are not a tv_tensor, transformed by parameters that are drawn for them."""
    if images.device >= 0:
        return launch_plan.draw_and_apply(plan, images, draws)
    return cpu_run.apply(plan, images, draw.draw_table(plan, images, draws, with_matrix=False))

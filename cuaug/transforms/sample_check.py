"""`check_sample`: what a call finds in a sample, which values are suspicious, and what the result is, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import convert
from .._arrays.images import ImageBatch, describe_images
from .._arrays.tv_tensors import tv_kind
from .._fusion.report import Report
from . import suspicious_values
from .boxes import Boxes
from .plan_cache import PlanCache
from .plan_report import plan_report
from .sample_kinds import KINDS, is_array, only_entry
from .sample_structure import ParsedSample, parse_sample
from .sample_target import Target, image_layout, path_text


@dataclass(frozen=True)
class CheckReport:
    """What a recipe finds in a sample and does with it; ``print`` it."""

    targets: tuple[str, ...]  # a line for each array: kind, shape, dtype, values, and how it was recognised
    plan: Report
    results: tuple[str, ...]
    warnings: list[str]

    def __str__(self) -> str:
        sections = {
            "found": self.targets,
            "recipe": str(self.plan).splitlines(),
            "result": self.results,
            "warnings": self.warnings or ["none"],
        }
        return "\n".join(
            f"{name:10}{line}" for title, lines in sections.items() for name, line in _titled(title, lines)
        )

    __repr__ = __str__


def check_sample(recipe: Any, plans: PlanCache, sample: Any, *, step: int, ids: Any, layout: str | None) -> CheckReport:
    """The report about a call of a `Compose`. Reads all values, so it waits for a device."""
    parsed = parse_sample(sample)
    images = parsed.targets_of("images")[0]
    first_layout = images.layout or image_layout(images.original, layout)
    batches = _describe(images, layout)
    result = parse_sample(recipe(sample, ids=ids, step=step, layout=layout))
    warnings = suspicious_values.of_transforms(list(recipe.flattened()))
    for target in parsed.targets:
        target_batches = _describe(target, layout) if target.kind == "images" else batches
        warnings += _target_warnings(target, target_batches, recipe)
    lines = tuple(_found_line(target, batches if target is images else (), recipe.boxes) for target in parsed.targets)
    return CheckReport(
        lines, plan_report(plans, images.value, layout=first_layout), _result_lines(result, parsed), warnings
    )


def _titled(title: str, lines: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of the title, beside the first line only, and a line."""
    return [(title if i == 0 else "", line) for i, line in enumerate(lines)]


def _describe(images: Target, layout: str | None) -> list[ImageBatch]:
    """The batch of a target of images, or each array of its list."""
    layout = images.layout or image_layout(images.original, layout)
    return [describe_images(array, layout) for array in _arrays(images)]


def _arrays(target: Target) -> list[Any]:
    return list(target.value) if isinstance(target.value, (list, tuple)) else [target.value]


def _target_warnings(target: Target, batches: Sequence[ImageBatch], recipe: Any) -> list[str]:
    """The warnings about one target, each once. `batches`: those of the target if it is images, else of the sample."""
    warnings: dict[str, None] = {}
    for i, array in enumerate(_arrays(target)):
        if not is_array(array):
            continue
        values, batch = convert.host_values(target.kind, array), batches[min(i, len(batches) - 1)]
        if target.kind == "images":
            new = suspicious_values.of_images(values, batch, list(recipe.flattened()))
        elif target.kind == "masks":
            new = suspicious_values.of_masks(values, convert.dtype_name(array.dtype))
        elif target.kind == "boxes":
            new = suspicious_values.of_boxes(values, target.format or recipe.boxes.format, batch.size)
        elif target.kind == "keypoints":
            new = suspicious_values.of_keypoints(values, batch.size)
        else:
            new = suspicious_values.of_labels(values) if target.kind == "labels" else []
        warnings |= dict.fromkeys(new)
    return list(warnings)


def _found_line(target: Target, batches: Sequence[ImageBatch], boxes: Boxes) -> str:
    """Such as ``images: uint8 (8, 224, 224, 3), values 0..255, found by position at the top, read as NHWC: ...``."""
    facts = [f"{target.kind}: {_shape_text(target.value)}"]
    arrays = [convert.host_values(target.kind, array) for array in _arrays(target) if is_array(array)]
    numbers = [array for array in arrays if array.size and array.dtype.kind in "iufb"]
    if numbers:
        facts.append(f"values {min(_low(a) for a in numbers):g}..{max(_high(a) for a in numbers):g}")
    if target.kind == "boxes":
        facts.append(target.format or boxes.format)
    facts.append(_recognition(target))
    if batches:
        batch, sizes = batches[0], {batch.size for batch in batches}
        size = "{} x {}".format(*batch.size) if len(sizes) == 1 else f"{len(sizes)} sizes"
        device = "the CPU" if batch.device < 0 else f"GPU {batch.device}"
        facts.append(
            f"read as {batch.axes.layout}: {size}, {batch.channels} channels, {batch.library.name} on {device}"
        )
    return ", ".join(facts)


def _low(values: np.ndarray) -> float:
    return float(np.nanmin(values)) if not np.all(np.isnan(values)) else float("nan")


def _high(values: np.ndarray) -> float:
    return float(np.nanmax(values)) if not np.all(np.isnan(values)) else float("nan")


def _recognition(target: Target) -> str:
    """Which rule of `parse_sample` found the target."""
    is_list = isinstance(target.original, (list, tuple)) and target.original
    first = only_entry(target.original[0]) if is_list else target.original
    path = target.paths[0]
    if tv_kind(first) is not None:
        return f"found by its type {type(first).__name__}"
    if any(isinstance(key, str) and key in KINDS for key in path):
        return f"found by name at {path_text(path)}"
    return f"found by position at {path_text(path)}"


def _shape_text(value: Any) -> str:
    """Dtype and shape of an array, or of the arrays of a list."""
    if not isinstance(value, (list, tuple)):
        return f"{convert.dtype_name(value.dtype)} {tuple(value.shape)}" if is_array(value) else type(value).__name__
    if not value:
        return "an empty list"
    texts = list(dict.fromkeys(_shape_text(entry) for entry in value))
    return f"{len(value)} of {', '.join(texts[:3])}{', ...' if len(texts) > 3 else ''}"


def _result_lines(result: ParsedSample, parsed: ParsedSample) -> tuple[str, ...]:
    kinds = [target.kind for target in parsed.targets]
    return tuple(
        f"{target.kind}: {_shape_text(target.value)}"
        for target in result.targets
        if target.kind in kinds or target.kind == "valid"
    )

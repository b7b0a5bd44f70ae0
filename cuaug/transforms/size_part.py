"""The part of a recipe that runs one transform whose results have sizes of their own (`SizeTransform`)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._check import BackendError, prefix_message
from .._fusion.host_draws import HostDraws
from .._gpu import streams
from .boxes import Boxes
from .fused_part import GetKey
from .keypoints import Keypoints
from .placed_masks import like_target, placed_masks
from .placed_targets import box_edges, moved_targets, without_lost_boxes
from .placement import placed_arrays
from .sample import id_array
from .sample_structure import ParsedSample, parse_sample
from .sample_target import Target
from .several_sizes import SizeTransform
from .single_images import single_images


class SizePart:
    """One `SizeTransform` of a recipe. `position`: that of the transform in the recipe."""

    def __init__(self, transform: SizeTransform, position: int, boxes: Boxes, keypoints: Keypoints) -> None:
        self.transform: SizeTransform = transform
        self._position, self._boxes, self._keypoints = position, boxes, keypoints

    @functools.cached_property
    def _draws(self) -> HostDraws:
        vars(self.transform)["_is_planned"] = True  # its attributes are read here, so that later assignments must raise
        return HostDraws(self.transform.write_draws, self.title, self._position)

    @property
    def title(self) -> str:
        return self.transform.title

    def __call__(self, sample: Any, ids: Any, step: int | None, layout: str | None, get_key: GetKey) -> Any:
        """Transform images, or a sample of any structure, as `FusedPart`."""
        parsed = parse_sample(sample)
        return parsed.rebuild(*self.transform_parsed(parsed, ids, step, layout, get_key))

    def transform_parsed(
        self, parsed: ParsedSample, ids: Any, step: int | None, layout: str | None, get_key: GetKey
    ) -> tuple[Any, Any]:
        """The results and sizes for `ParsedSample.rebuild`; otherwise as a call."""
        if not parsed.samples:
            return {}, ()
        try:
            sample_ids = id_array(ids, parsed.samples)

            def draw(samples: np.ndarray, repetition: int) -> np.ndarray:
                # `get_key` counts the call at the first part that draws: a call that is refused before is not counted.
                return self._draws.table(sample_ids[samples], *get_key(ids, step), repetition)

            return self._results(parsed, layout, draw)
        except (TypeError, ValueError) as error:
            prefix_message(error, self.title)
            raise

    def _results(self, parsed: ParsedSample, layout: str | None, draw: Any) -> tuple[dict[str, Any], Any]:
        """The results and sizes for `ParsedSample.rebuild`."""
        image_targets = parsed.targets_of("images")
        images_by_target = [single_images(target, layout, parsed.is_single) for target in image_targets]
        images = images_by_target[0][1]
        sizes = [image.size for image in images]
        _check_equal_sizes(image_targets, [[image.size for image in entry[1]] for entry in images_by_target])
        if any(streams.is_capturing(i.library.current_stream(i.device)) for i in images[:1] if i.device >= 0):
            raise BackendError(f"{self.title} cannot be captured: the graph would repeat the drawn sizes")
        edges = box_edges(parsed, self._boxes.format) if self.transform.reads_boxes else []
        placement = self.transform.place(np.array(sizes, np.int64), draw, edges)
        results: dict[str, Any] = {"images": []}
        for target, (arrays, descriptions) in zip(image_targets, images_by_target, strict=True):
            placed = placed_arrays(arrays, descriptions, placement, self.transform.sampling)
            if "T" in descriptions[0].axes.layout:
                placed = [array[0] for array in placed]
            results["images"].append(like_target(target, placed, parsed.is_single))
        if parsed.targets_of("masks"):
            arguments = images, placement, self.transform.sampling.fill, parsed.is_single
            masks = [placed_masks(target, *arguments) for target in parsed.targets_of("masks")]
            results["masks"] = masks
        if parsed.targets_of("boxes") or parsed.targets_of("keypoints"):
            if self.transform.reads_boxes:
                parsed = without_lost_boxes(parsed, self.transform.keeps, sizes, placement, self._boxes.format)
            masks_per_object = () if "T" in images[0].axes.layout else results.get("masks", ())
            results |= moved_targets(parsed, placement, self._boxes, self._keypoints, masks_per_object)
        return results, placement.size


def _check_equal_sizes(targets: Sequence[Target], sizes_by_target: Sequence[Sequence[tuple[int, int]]]) -> None:
    """Several images of one sample share one placement, which depends on their size."""
    for target, sizes in zip(targets, sizes_by_target, strict=True):
        differing = [pair for pair in zip(sizes_by_target[0], sizes, strict=True) if pair[0] != pair[1]]
        if differing:
            expected, size = differing[0]
            raise ValueError(f"images of one sample must have one size, got {expected} and {size} ({target.name})")

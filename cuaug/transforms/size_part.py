"""The part of a recipe that runs one transform whose results have sizes of their own (`SizeTransform`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._arrays.images import ImageBatch
from .._check import BackendError, prefix_message
from .._fusion.host_draws import HostDraws
from .._fusion.recipe import Recipe
from .._gpu import streams
from .boxes import Boxes
from .fused_part import FusedPart, GetKey
from .keypoints import Keypoints
from .placed_masks import like_target, placed_masks
from .placed_targets import box_edges, moved_targets, without_lost_boxes
from .placement import placed_arrays
from .sample import id_array
from .sample_structure import ParsedSample
from .sample_target import Target
from .several_sizes import SizeJitter, SizeTransform
from .single_images import single_images
from .transform import Transform


class _ResizeToDrawnSize(Transform, has_description=False):
    """A `SizeJitter` as a fused transform: resizes each image to the size that the host drew (`Recipe.drawn_size`)."""

    def __init__(self, transform: SizeJitter) -> None:
        self.jitter: SizeJitter = transform

    @property
    def title(self) -> str:
        return self.jitter.title

    def write(self, recipe: Recipe) -> None:
        assert recipe.drawn_size is not None
        recipe.resize_image(recipe.drawn_size, self.jitter.interpolation, self.jitter.antialias)


class SizePart:
    """One `SizeTransform` of a recipe.

    Args:
        transform: The transform.
        position: That of the transform in the recipe.
        boxes: Options of the boxes.
        keypoints: Options of the keypoints.
        next_transforms: Those of the next part, if it is a fused one.
    """

    def __init__(
        self,
        transform: SizeTransform,
        position: int,
        boxes: Boxes,
        keypoints: Keypoints,
        next_transforms: Sequence[Transform] = (),
    ) -> None:
        self.transform: SizeTransform = transform
        self._position, self._boxes, self._keypoints = position, boxes, keypoints
        self._joined: FusedPart | None = None  # the transform and those of the next part
        if isinstance(transform, SizeJitter) and next_transforms:
            self._joined = FusedPart([_ResizeToDrawnSize(transform), *next_transforms], position, boxes, keypoints)

    @functools.cached_property
    def _draws(self) -> HostDraws:
        vars(self.transform)["_is_planned"] = True  # its attributes are read here, so that later assignments must raise
        return HostDraws(self.transform.write_draws, self.title, self._position)

    @property
    def title(self) -> str:
        return self.transform.title

    def transform_parsed(
        self, parsed: ParsedSample, ids: Any, step: int | None, layout: str | None, get_key: GetKey
    ) -> tuple[Any, Any]:
        """The results and sizes for `ParsedSample.rebuild`. The arguments are those of a call of `FusedPart`."""
        if not parsed.samples:
            return {}, ()
        try:
            images_by_target = self._single_images(parsed, layout)
            return self._results(parsed, images_by_target, self._draw_function(parsed, ids, step, get_key))
        except (TypeError, ValueError) as error:
            prefix_message(error, self.title)
            raise

    def transform_with_next(
        self, parsed: ParsedSample, ids: Any, step: int | None, layout: str | None, get_key: GetKey
    ) -> tuple[Any, Any] | None:
        """The results and sizes for `ParsedSample.rebuild` after this part and the next one, which run as one part.

        None if they cannot: the results of the next part must have one size, as those of a crop do, and it must read no
        border before.
        """
        joined = self._joined
        if joined is None or not parsed.samples:
            return None
        prefixes = joined.plans.prefixes
        try:
            images_by_target = [images for _, images in self._single_images(parsed, layout)]
            images = images_by_target[0]
            if prefixes.have_no_equal_size(images[0]) or any(
                image.axes.layout not in ("CHW", "HWC") for image in images
            ):
                return None
            draw = self._draw_function(parsed, ids, step, get_key)
            sizes = self.transform.place(np.array([image.size for image in images], np.int64), draw, ()).size.tolist()
        except (TypeError, ValueError) as error:
            prefix_message(error, self.title)
            raise
        sized_images = [
            [image._replace(drawn_size=(height, width)) for image, (height, width) in zip(images, sizes, strict=True)]
            for images in images_by_target
        ]
        if any(prefixes.prefix(image) is None for images in sized_images for image in images):
            return None
        return joined.transform(parsed, get_key(ids, step), ids, layout, sized_images)

    def _draw_function(
        self, parsed: ParsedSample, ids: Any, step: int | None, get_key: GetKey
    ) -> Callable[[np.ndarray, int], np.ndarray]:
        """The function `draw` of `SizeTransform.place`."""
        sample_ids = id_array(ids, parsed.samples)

        def draw(samples: np.ndarray, repetition: int) -> np.ndarray:
            # `get_key` counts the call at the first part that draws: a call that is refused before is not counted.
            return self._draws.table(sample_ids[samples], *get_key(ids, step), repetition)

        return draw

    def _single_images(self, parsed: ParsedSample, layout: str | None) -> list[tuple[list[Any], list[ImageBatch]]]:
        """`single_images` of each target of images."""
        targets = parsed.targets_of("images")
        images_by_target = [single_images(target, layout, parsed.is_single) for target in targets]
        _check_equal_sizes(targets, [[image.size for image in images] for _, images in images_by_target])
        first = images_by_target[0][1][0]
        if first.device >= 0 and streams.is_capturing(first.library.current_stream(first.device)):
            raise BackendError(f"{self.title} cannot be captured: the graph would repeat the drawn sizes")
        return images_by_target

    def _results(
        self, parsed: ParsedSample, images_by_target: Sequence[tuple[list[Any], list[ImageBatch]]], draw: Any
    ) -> tuple[dict[str, Any], Any]:
        """The results and sizes for `ParsedSample.rebuild`."""
        image_targets, images = parsed.targets_of("images"), images_by_target[0][1]
        sizes = [image.size for image in images]
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

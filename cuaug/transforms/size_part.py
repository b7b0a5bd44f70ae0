"""The part of a recipe that runs one transform whose results have sizes of their own (`SizeTransform`)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _check
from .._arrays.images import ImageBatch
from .._check import BackendError, prefix_message
from .._fusion.host_draws import HostDraws
from .._fusion.recipe import Recipe
from .._gpu import streams
from . import assigned_attributes
from .boxes import Boxes
from .fused_part import FusedPart, GetKey
from .keypoints import Keypoints
from .placed_masks import like_target, placed_masks
from .placed_targets import box_edges, moved_targets, without_lost_boxes
from .placement import Placement, placed_arrays
from .sample import id_array
from .sample_structure import ParsedSample, all_valid
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
        interpolation, antialias, _ = self.jitter.sampling
        _check.dtypes(recipe.dtype, recipe.dtype, interpolation)
        recipe.resize_image(recipe.drawn_size, interpolation, antialias)


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
        self._joined: FusedPart | None = None  # the transform and `next_transforms` as one part
        if isinstance(transform, SizeJitter) and next_transforms:
            self._joined = FusedPart([_ResizeToDrawnSize(transform), *next_transforms], position, boxes, keypoints)

    @functools.cached_property
    def _draws(self) -> HostDraws:
        return HostDraws(self.transform.write_draws, self.title, self._position)

    @property
    def title(self) -> str:
        return self.transform.title

    def transform_parsed(
        self, parsed: ParsedSample, ids: Any, step: int | None, layout: str | None, get_key: GetKey
    ) -> tuple[Any, Any, bool]:
        """The results and sizes for `ParsedSample.rebuild`, and whether the next part has run, too.

        The arguments are as in `FusedPart.transform_parsed`.
        """
        if not parsed.samples:
            return {} if self._boxes.compact or not parsed.lacks_valid() else all_valid(parsed), (), False
        assigned_attributes.read(self.transform)
        try:
            images_by_target = self._single_images(parsed, layout)
            placement = self._placement(parsed, images_by_target[0][1], ids, step, get_key)
        except (TypeError, ValueError) as error:
            prefix_message(error, self.title)
            raise
        sized_images = self._sized_images([images for _, images in images_by_target], placement)
        if self._joined and sized_images:
            return *self._joined.transform(parsed, get_key(ids, step), ids, layout, sized_images), True
        try:
            return *self._results(parsed, images_by_target, placement), False
        except (TypeError, ValueError) as error:
            prefix_message(error, self.title)
            raise

    def _sized_images(
        self, images_by_target: Sequence[list[ImageBatch]], placement: Placement
    ) -> Sequence[Sequence[ImageBatch]]:
        """The images of each target with `ImageBatch.drawn_size`. () if this part and the next one cannot run as one.

        The next part must have a transform that gives all images one size, such as a crop, and before it only flips,
        crops and padding with a constant.
        """
        if self._joined is None:
            return ()
        prefixes = self._joined.plans.prefixes
        if prefixes.are_known_to_be_none(images_by_target[0][0]):
            return ()
        if any(image.axes.layout not in ("CHW", "HWC") for image in images_by_target[0]):
            return ()
        sizes = [(height, width) for height, width in placement.size.tolist()]
        sized_images = [
            [image._replace(drawn_size=size) for image, size in zip(images, sizes, strict=True)]
            for images in images_by_target
        ]
        can_join = all(prefixes.prefix(image) is not None for images in sized_images for image in images)
        return sized_images if can_join else ()

    def _placement(
        self, parsed: ParsedSample, images: Sequence[ImageBatch], ids: Any, step: int | None, get_key: GetKey
    ) -> Placement:
        sample_ids = id_array(ids, parsed.samples)

        def draw(samples: np.ndarray, repetition: int) -> np.ndarray:
            # `get_key` counts the call at the first part that draws: a call that is refused before is not counted.
            return self._draws.table(sample_ids[samples], *get_key(ids, step), repetition)

        edges = box_edges(parsed, self._boxes.format) if self.transform.reads_boxes else []
        return self.transform.place(np.array([image.size for image in images], np.int64), draw, edges)

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
        self,
        parsed: ParsedSample,
        images_by_target: Sequence[tuple[list[Any], list[ImageBatch]]],
        placement: Placement,
    ) -> tuple[dict[str, Any], Any]:
        """The results and sizes for `ParsedSample.rebuild`."""
        image_targets, images = parsed.targets_of("images"), images_by_target[0][1]
        sizes = [image.size for image in images]
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
    """Raises ValueError if images of one sample differ in size: they share one placement, which depends on it."""
    for target, sizes in zip(targets, sizes_by_target, strict=True):
        differing = [pair for pair in zip(sizes_by_target[0], sizes, strict=True) if pair[0] != pair[1]]
        if differing:
            expected, size = differing[0]
            raise ValueError(f"images of one sample must have one size, got {expected} and {size} ({target.name})")

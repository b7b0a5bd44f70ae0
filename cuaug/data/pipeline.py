"""The steps from encoded images to an augmented batch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from .._arrays import torch_module
from .._check import DecodeError
from ..transforms import Compose
from ..transforms.transform import Transform
from ..transforms.transform_list import transform_list
from . import targets as sample_targets
from .crops import CropDecode, FullDecode, reject_small
from .decode_regions import crop_plan
from .decoding import DecodeSettings, EncodedImages
from .prefetch import StageTimer
from .receivers import NumPyReceiver
from .targets import CropMap, Targets
from .work_splitter import InFlightBatch

if TYPE_CHECKING:
    from .._native import EncodedFiles

ON_ERROR = ("raise", "skip", "replace")
_BLACK_IMAGE_SIZE = 2048, 2048  # (H, W), larger than most crops


def recipe_of(transform: Transform | Sequence[Transform], seed: int | None) -> Compose:
    """A new recipe, flattened unless hooks run in its calls. `seed` replaces its seed; None keeps that seed.

    A list of one recipe is that recipe.
    """
    if not isinstance(transform, Compose):
        entries = [transform] if isinstance(transform, Transform) else transform_list(transform)
        are_recipes = bool(entries) and all(isinstance(entry, Compose) for entry in entries)
        if are_recipes and len(entries) > 1:
            raise TypeError(
                f"transform must be one recipe, got a list of {len(entries)} recipes: T.Compose([a, b]) is one after "
                "the other; for several views call each recipe on the batch (docs/loading.md)"
            )
        transform = cast(Compose, entries[0]) if are_recipes else Compose(entries)
    recipe = copy.copy(transform) if _has_hooks(transform) else transform.after(0)
    # Assigned even if it stays the same: an assigned seed counts as the user's. Other processes replace a seed that the
    # recipe has drawn itself.
    recipe.seed = recipe.seed if seed is None else seed
    return recipe


def _has_hooks(recipe: Compose) -> bool:
    """Whether hooks of torch get the images and results of the recipe's calls, so that it must run as a whole."""
    # False for a recipe with a `forward` of its own: `after` returns it whole anyway, with its hooks.
    return torch_module.has_forward_hooks(recipe) and not recipe.has_own_forward


class EncodedBatch(NamedTuple):
    """A batch whose files have been read."""

    ids: np.ndarray  # [N]
    targets: Targets | None  # on the host: numbers [N, ...], or a dict for each sample
    valid_count: int  # number of samples that are not padding; they come first
    data: Sequence[bytes | str] | EncodedFiles  # per sample: encoded image, or why its file cannot be read
    epoch: int


class PreparedBatch(NamedTuple):
    """A batch whose image sizes and crop boxes are known."""

    encoded: EncodedBatch
    decode: CropDecode | FullDecode
    recipes: Sequence[Compose]  # what remains to do after the decoding


class DecodingBatch(NamedTuple):
    """A batch that is being decoded."""

    prepared: PreparedBatch
    in_flight: InFlightBatch | None


class FinishedBatch(NamedTuple):
    """A batch that is ready for the consumer."""

    images: Any
    targets: Any
    ids: np.ndarray
    valid: np.ndarray
    bad: dict[int, str]  # why an image cannot be decoded, by its id
    ready_event: Any


class BatchPipeline:
    """Decodes the pixels that a recipe reads, and runs the recipe.

    `on_error` says what happens if images cannot be decoded: "raise" raises an error that names the first of them,
    "skip" leaves them out, "replace" puts another image of the batch in place of each. `sample_name` returns the name
    of a sample in messages from its id.
    """

    def __init__(
        self,
        recipe: Compose,
        sample_name: Callable[[int], str],
        on_error: str,
        settings: DecodeSettings,
    ) -> None:
        self._recipe, self._sample_name, self._on_error, self._settings = recipe, sample_name, on_error, settings
        self.box_format: str = recipe.boxes.format
        self._crop_plan = None if _has_hooks(recipe) else crop_plan(recipe)
        remaining = recipe.after(len(self._crop_plan.transforms)) if self._crop_plan else recipe
        self._remaining_recipes = [remaining]
        if remaining.transforms and not remaining.transforms[0].is_fused:
            # A transform that is not fused does not clip boxes and keypoints to the crop.
            self._remaining_recipes.insert(0, Compose([], boxes=recipe.boxes, keypoints=recipe.keypoints))
        self._result_without_samples: tuple[Any, Any] | None = None  # images and targets, once they are known
        self.timer: StageTimer = StageTimer()

    def prepare(self, batch: EncodedBatch) -> PreparedBatch:
        """Reads the headers and chooses the regions to decode."""
        images = EncodedImages(batch.data, self._settings)
        if self._crop_plan is None:
            return PreparedBatch(batch, FullDecode(images), [self._recipe])
        if sample_targets.have_masks(batch.targets):
            # Two resamplings of a mask, of the crop and of the rest of the recipe, would differ from the single one.
            reject_small(images, self._crop_plan.min_size)
            return PreparedBatch(batch, FullDecode(images), [self._recipe])
        decode = CropDecode(images, self._crop_plan, (self._recipe.seed, batch.epoch, batch.ids))
        return PreparedBatch(batch, decode, self._remaining_recipes)

    def start_decode(self, prepared: PreparedBatch, receiver: NumPyReceiver) -> DecodingBatch:
        with receiver.device_context():
            in_flight = self.timer.timed("decode", receiver.start_decode, prepared.decode.slots)
            return DecodingBatch(prepared, in_flight)

    def finish(self, decoding: DecodingBatch, receiver: NumPyReceiver) -> FinishedBatch:
        """Finishes the decoding, applies `on_error` and runs the recipe."""
        batch, decode, recipes = decoding.prepared
        with receiver.device_context():
            groups = self.timer.timed("decode", receiver.finish_decode, decode.slots, decoding.in_flight)
            images = self.timer.timed("augment", decode.images, groups, receiver)
            bad = decode.slots.encoded.bad
            samples, valid = self._select_samples(bad, batch)
            ids = batch.ids[samples]
            result = self._result_without_samples
            if len(samples):
                if bad:
                    images = [images[i] for i in samples] if isinstance(images, list) else images[samples]
                targets = self._received_targets(batch.targets, decode.crop_map, samples, receiver)
                result = self.timer.timed(
                    "augment", self._augment, recipes, receiver, images, targets, ids, batch.epoch
                )
            elif result is None:
                result = self.timer.timed("augment", self._augment_black_image, decoding.prepared, receiver)
            if self._result_without_samples is None:
                self._result_without_samples = receiver.without_samples(*result)
            images, targets = result if len(samples) else self._result_without_samples
            bad_ids = {int(batch.ids[i]): reason for i, reason in bad.items()}
            return FinishedBatch(images, targets, ids, valid, bad_ids, receiver.ready_event())

    def _augment_black_image(self, prepared: PreparedBatch, receiver: NumPyReceiver) -> tuple[Any, Any]:
        """The result of one black image. Without its sample, it is the result of a batch without samples.

        The recipe does not run without samples: a crop needs the size of an image, and functions may refuse empty
        arrays.
        """
        batch, decode, recipes = prepared
        size = self._crop_plan.size if self._crop_plan and decode.crop_map is not None else _BLACK_IMAGE_SIZE
        image = receiver.to_images(np.zeros((1, *size, 3), np.uint8))

        def augment(targets: Any) -> tuple[Any, Any]:
            return self._augment(recipes, receiver, image, targets, np.zeros(1, np.int64), batch.epoch)

        if batch.targets is None:
            return augment(None)
        if not isinstance(batch.targets, list):
            return augment(receiver.array(np.zeros((1, *batch.targets.shape[1:]), batch.targets.dtype)))
        target = {"boxes": np.zeros((0, 4), np.float32), "labels": np.zeros(0, np.int64)}
        try:  # some transforms need boxes, others refuse them
            return augment(sample_targets.to_receiver([target], receiver))
        except (TypeError, ValueError):
            return augment(None)[0], []

    def _received_targets(
        self, targets: Targets | None, crop_map: CropMap | None, samples: np.ndarray, receiver: NumPyReceiver
    ) -> Any:
        """The targets of the samples, in pixels of the decoded images."""
        if targets is None:
            return None
        if not isinstance(targets, list):
            return receiver.array(targets[samples])
        if crop_map is not None:
            targets = sample_targets.move_to_crops(targets, crop_map, self.box_format)
        return sample_targets.to_receiver([targets[i] for i in samples], receiver)

    def _augment(
        self,
        recipes: Sequence[Compose],
        receiver: NumPyReceiver,
        images: Any,
        targets: Any,
        ids: np.ndarray,
        epoch: int,
    ) -> tuple[Any, Any]:
        """The images as one array, after the recipes; and the targets."""
        if isinstance(images, list) and len({tuple(image.shape) for image in images}) <= 1:
            images = receiver.stack(images)
        for recipe in recipes:
            images, targets = _run_recipe(recipe, images, targets, ids, epoch)
        if not isinstance(images, list):
            return (images if recipes[-1].transforms else receiver.contiguous(images)), targets
        shapes = sorted({tuple(image.shape) for image in images})
        if len(shapes) > 1:
            raise ValueError(
                "transform must bring all images to one size, as RandomResizedCrop, or Resize and CenterCrop do; "
                f"got results of {', '.join(map(str, shapes[:3]))}"
            )
        return receiver.stack(images), targets

    def _select_samples(self, bad: dict[int, str], batch: EncodedBatch) -> tuple[np.ndarray, np.ndarray]:
        """Indices in the batch of the samples to hand over, and which of them are valid."""
        indices = np.arange(len(batch.ids))
        if not bad:
            return indices, indices < batch.valid_count
        first = min(bad)
        if self._on_error == "raise":
            raise self._decode_error(int(batch.ids[first]), bad[first])
        good = np.setdiff1d(indices, list(bad))
        if self._on_error == "skip":
            return good, good < batch.valid_count
        if not len(good):
            error = self._decode_error(int(batch.ids[first]), bad[first])
            raise DecodeError(f"no image of a batch can be decoded; {error}")
        samples = indices.copy()
        samples[list(bad)] = good[np.arange(len(bad)) % len(good)]
        return samples, (samples == indices) & (indices < batch.valid_count)

    def _decode_error(self, sample_id: int, reason: str) -> DecodeError:
        name = self._sample_name(sample_id)
        return DecodeError(f"image {sample_id} ({name}): {reason}", sample_id, name, reason)


def _run_recipe(recipe: Compose, images: Any, targets: Any, ids: np.ndarray, epoch: int) -> tuple[Any, Any]:
    if isinstance(targets, list):  # also by a recipe without transforms, which clips boxes to the crop
        movable = [sample_targets.arrays_with_kind(target) for target in targets]
        images, moved = recipe((images, movable), ids=ids, step=epoch)
        return images, [{**target, **entries} for target, entries in zip(targets, moved, strict=True)]
    if not recipe.transforms:
        return images, targets
    if targets is None:
        return recipe(images, ids=ids, step=epoch), None
    result: tuple[Any, Any] = recipe(images, labels=targets, ids=ids, step=epoch)
    return result

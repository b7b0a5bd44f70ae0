"""`parse_sample`: which parts of a user's sample are images, masks, boxes, keypoints and labels."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.tv_tensors import is_video, without_type
from .._detection.box_formats import stated_format
from .sample_form import SampleForm, sample_form
from .sample_kinds import (
    KINDS,
    KINDS_IN_LISTS,
    VALUE_KINDS,
    has_axes_of_labels,
    is_array,
    is_scalar_or_text,
    named_fields,
    only_entry,
)
from .sample_leaves import add_structure, leaves_of_structure, structure_of
from .sample_numbers import LISTED_KINDS, ListedNumbers, listed_numbers, with_axes, with_library
from .sample_rebuild import rebuild, set_target, validity_paths, validity_target
from .sample_search import Leaf, list_path, split_masks
from .sample_target import GatheredValues, Target, path_text
from .video_lists import check_no_list_of_videos, list_of_videos_text

_MOVED_KINDS = {"masks", "boxes", "keypoints"}
_form_by_structure: dict[Any, SampleForm | None] = {}  # None: each sample is parsed anew


class ParsedSample:
    """A sample, and the targets in it. It does not change.

    Args:
        sample: The sample.
        targets: The targets in it.
        samples: The number of samples.
        is_single: Whether it is one sample, whose arrays have no axis of samples.
        form: That of the targets, if it is known.
    """

    def __init__(
        self, sample: Any, targets: tuple[Target, ...], samples: int, is_single: bool, form: SampleForm | None = None
    ) -> None:
        self.sample: Any = sample
        self.targets: tuple[Target, ...] = targets
        self.samples: int = samples
        self.is_single: bool = is_single
        self.form: SampleForm | None = form
        self._targets_by_kind: dict[str, list[Target]] = {}
        for target in targets:
            self._targets_by_kind.setdefault(target.kind, []).append(target)

    def targets_of(self, kind: str) -> list[Target]:
        return self._targets_by_kind.get(kind, [])

    def images_alone(self) -> Target | None:
        """The images, if they are one array and no other target moves with them; else None."""
        kinds = self._targets_by_kind
        images = kinds["images"]
        is_alone = len(images) == 1 and not (kinds.keys() & _MOVED_KINDS) and not isinstance(images[0].value, list)
        return images[0] if is_alone else None

    def with_targets(self, targets: Iterable[Target]) -> ParsedSample:
        return ParsedSample(self.sample, tuple(targets), self.samples, self.is_single)

    @functools.cached_property
    def validity_targets(self) -> list[Target]:
        """The target of the validity mask of each of `targets_of("boxes")`: one of `targets`, or a new one."""
        if self.form is not None:
            return self.form.validity_targets(self.targets)
        boxes, masks = self.targets_of("boxes"), {target.paths: target for target in self.targets_of("valid")}
        path_of_mask = validity_paths(path for target in boxes for path in target.paths)
        mask_paths = [tuple(path_of_mask[path] for path in target.paths) for target in boxes]
        return [
            masks.get(paths) or validity_target(self.sample, target, paths)
            for target, paths in zip(boxes, mask_paths, strict=True)
        ]

    def has(self, target: Target) -> bool:
        """Whether this is one of `targets`."""
        return id(target) in map(id, self.targets)

    def lacks_valid(self) -> bool:
        """Whether boxes have no validity mask."""
        return not all(self.has(mask) for mask in self.validity_targets)

    def with_results(self, results: Mapping[str, Sequence[Any]]) -> ParsedSample:
        """The same targets with results as their values. Boxes gain a target of their validity if they have none."""
        targets = {id(target): target for target in self.targets}
        for kind, values in results.items():
            for target, value in zip(self._targets_of_results(kind), values, strict=True):
                targets[id(target)] = target._replace(value=value)
        return self.with_targets(targets.values())

    def rebuild(self, results: Mapping[str, Sequence[Any]], size: Any) -> Any:
        """The sample with results in place of the targets; containers without targets are not copied.

        Args:
            results: By kind, a value for each of `targets_of(kind)`, in their order: one array, or N of them. Targets
                of other kinds stay as they are. "valid" has a value for each of `validity_targets`: a mask that
                the sample lacks is added beside boxes that are in a dict, and dropped beside others.
            size: Canvas of tv_tensors: (H, W), or a list with one per sample. [N, 2]
        """
        sizes = (
            [size] * self.samples if isinstance(size, tuple) else [(int(height), int(width)) for height, width in size]
        )
        results_by_path: dict[Any, Any] = {}
        for kind, values in results.items():
            for target, value in zip(self._targets_of_results(kind), values, strict=True):
                set_target(results_by_path, target, value, sizes)
        # `rebuild` replaces entries of a container, and the sample may itself be a target.
        return rebuild([self.sample], results_by_path)[0]

    def _targets_of_results(self, kind: str) -> list[Target]:
        return self.validity_targets if kind == "valid" else self.targets_of(kind)


def named_sample(
    images: Any, masks: Any, boxes: Any, keypoints: Any, labels: Any, layout: str | None
) -> dict[str, Any]:
    """The sample of a call whose targets are arguments. Labels may be in the place of the masks."""
    if labels is None and has_axes_of_labels(masks, images, layout):
        masks, labels = None, masks
    # A data set calls `transforms(image, target)`: messages call such a dict `target`, not `masks`.
    masks_name = "target" if _is_detection_target(masks) else "masks"
    targets = {"images": images, masks_name: masks, "boxes": boxes, "keypoints": keypoints, "labels": labels}
    targets = {name: value for name, value in targets.items() if value is not None}
    for name in ("masks", "boxes", "keypoints"):
        if isinstance(targets.get(name), (str, bytes, bool, int, float)):
            raise TypeError(f"{name} must be an array, or a list of arrays, got {type(targets[name]).__name__}")
    if isinstance(masks, (list, tuple)) and masks and all(map(is_scalar_or_text, masks)):
        hint = "leave out masks" if masks[0] is None else "labels are given as labels=..."
        kind = type(masks[0]).__name__
        raise TypeError(f"masks must be an array, or a list of arrays, got a list of {kind}; {hint}")
    if isinstance(masks, (list, tuple)) and isinstance(listed_numbers(masks, "boxes"), ListedNumbers) and masks:
        raise TypeError(
            "masks must be an array, or a list of arrays, got lists of numbers; boxes are given as boxes=..."
        )
    return targets


def call_sample(
    images: Any, masks: Any = None, boxes: Any = None, keypoints: Any = None, labels: Any = None, *, layout: str | None
) -> Any:
    """The sample of a call with these arguments: `images` itself, of any structure, if there are no targets."""
    targets = masks, boxes, keypoints, labels
    return images if all(target is None for target in targets) else named_sample(images, *targets, layout)


def _is_detection_target(value: Any) -> bool:
    """Whether this is a dict, or a list of them, with a key that names a target."""
    fields = [named_fields(entry) for entry in (value if isinstance(value, (list, tuple)) else [value])]
    return any(key in KINDS for entry in fields if entry is not None for key in entry)


def parse_sample(sample: Any) -> ParsedSample:
    """The targets of a sample, by the first of three rules that decides.

    1. *By type.* ``torchvision.tv_tensors``, anywhere.
    2. *By key* (`KINDS`), in a dict or a namedtuple at any depth. The value is an array, a list of one per sample, or a
       dict of them with keys of its own.
    3. *By position.* An array is images, and so is a list of arrays of 2 or 3 axes. In a tuple or a list that begins
       with images, as a DataLoader yields, labels come second: ``(images, labels)``.

    Images of 2 or 3 axes (a Video of 4) are one sample; images of more axes are a batch. A list of dicts, or of pairs
    (image, label), has one entry per sample, unless its dicts hold batches: values at the same path in each entry are
    gathered in one list. Everything else stays as it is. An array beside images that are no tv_tensor is a
    ``ValueError`` if its shape is not one of labels.
    torchvision's rule differs: the first pure tensor is the image, wherever it is, and all others stay.
    """
    structure = structure_of(sample)
    form = _form_by_structure.get(structure)  # None also for samples without a structure
    targets_and_count = None if form is None else form.read(sample)
    if targets_and_count is not None:
        targets, count = targets_and_count
        return ParsedSample(sample, targets, 1 if count is None else count, count is None, form)
    parsed = _parse(sample, structure)
    if structure is not None and structure not in _form_by_structure:
        new_form = sample_form(sample, parsed.targets, parsed.is_single, lambda: parsed.validity_targets)
        add_structure(_form_by_structure, structure, new_form)
    return parsed


def _parse(sample: Any, structure: Any) -> ParsedSample:
    check_no_list_of_videos(sample, ())
    if isinstance(sample, (list, tuple)) and sample:  # (images, labels)
        check_no_list_of_videos(sample[0], (0,))
    leaves = leaves_of_structure(sample, structure)
    images = [leaf for leaf in leaves if leaf.kind == "images"]
    if not images:
        raise ValueError(
            f"no image found in the argument (a {type(sample).__name__}): pass an array, a PIL image, a "
            "tuple (images, labels), tv_tensors, or a dict with the key 'image' or 'images'"
        )
    counts = {_sample_count(leaf) for leaf in images}
    if len(counts) > 1:
        counts_text = " and ".join(
            f"{_count_text(_sample_count(leaf))} at {path_text(leaf.paths[0])}" for leaf in images
        )
        raise ValueError(
            f"images must be one batch, or batches of one length, got {counts_text}: make one call for each, "
            "or use another key for arrays that are not images"
        )
    count = counts.pop()
    if count is None:
        leaves = [single for leaf in leaves for single in split_masks(leaf)]
    like = images[0].value if is_array(images[0].value) else next(iter(images[0].value), None)
    return ParsedSample(
        sample, tuple(_target(leaf, count, like) for leaf in leaves), 1 if count is None else count, count is None
    )


def with_all_valid(sample: Any) -> Any:
    """The sample with masks of validity, all true, beside the boxes in its dicts that have none."""
    parsed = parse_sample(sample)
    if not parsed.lacks_valid():
        return sample
    return parsed.rebuild(all_valid(parsed), (0, 0))  # no canvas is needed


def all_valid(parsed: ParsedSample) -> dict[str, list[Any]]:
    """For `ParsedSample.rebuild`: the masks of validity of the sample, and all true ones in place of missing ones."""
    masks = (mask.value if parsed.has(mask) else _all_valid(mask.value) for mask in parsed.validity_targets)
    return {"valid": list(masks)}


def _all_valid(boxes: Any) -> Any:
    if isinstance(boxes, list):
        return [_all_valid(entry) for entry in boxes]
    return convert.asarray(np.ones(boxes.shape[:-1], bool), like=boxes, dtype="bool")


def _sample_count(leaf: Leaf) -> int | None:
    """The number of samples; None for one sample without an axis of samples."""
    if not is_array(leaf.value):
        return len(leaf.value)
    single_sample_axes = 4 if is_video(leaf.value) else 3
    return int(leaf.value.shape[0]) if leaf.value.ndim > single_sample_axes else None


def _count_text(count: int | None) -> str:
    return "a single one" if count is None else str(count)


def _target(leaf: Leaf, count: int | None, like: Any) -> Target:
    """The target of a leaf. `like`: an image; nested lists of numbers become arrays of its library."""
    kind, original, is_list = leaf.kind, leaf.value, isinstance(leaf.value, (list, tuple))
    if leaf.gathered and kind in KINDS_IN_LISTS:
        leaf = leaf._replace(value=GatheredValues(map(only_entry, original)))
    value = _plain_arrays(leaf.value, like)
    if count == 0 and isinstance(leaf.value, ListedNumbers):
        value = []
    layout = "NTCHW" if kind == "images" and is_video(leaf.value) else None
    if kind == "images" and is_list and any(entry.ndim > 3 for entry in value):
        raise ValueError(list_of_videos_text(leaf.value, leaf.paths[0]))
    # Arrays of other images, and of masks, are read with and without an axis of samples.
    needs_sample_axis = layout is not None or kind in ("boxes", "valid", "keypoints")
    add_sample_axis = (
        count is None and not leaf.gathered and (kind in VALUE_KINDS or (needs_sample_axis and not is_list))
    )
    if add_sample_axis:
        value = value[None] if layout else [value]
    if kind in (*LISTED_KINDS, "masks") and isinstance(value, list):
        value = with_axes(kind, value)
    if kind not in ("images", *VALUE_KINDS) and (count is not None or isinstance(value, list)):
        entries, expected = len(value) if isinstance(value, list) or value.ndim else 0, 1 if count is None else count
        if entries != expected:
            are_listed_masks = kind == "masks" and is_list and not leaf.gathered
            remedy = ": stack the masks of each sample, [B, H, W]" if are_listed_masks else ""
            _check.per_sample(f"{kind} at {path_text(list_path(leaf))}", entries, expected, remedy=remedy)
    format = _box_format(leaf) if kind == "boxes" else None
    return Target(kind, value, leaf.paths, original, format, layout, add_sample_axis)


def _plain_arrays(value: Any, like: Any) -> Any:
    """Arrays, in lists, with tv_tensors as plain torch tensors, and listed numbers as arrays like the images."""
    if isinstance(value, (list, tuple)):
        return [_plain_arrays(entry, like) for entry in value]
    if isinstance(value, ListedNumbers):
        return with_library(value, like)
    return without_type(value)


def _box_format(leaf: Leaf) -> str | None:
    """The format that the type of the boxes states."""
    if not isinstance(leaf.value, (list, tuple)):
        return stated_format(leaf.value)
    formats = {name for entry in leaf.value if (name := stated_format(entry))}
    if len(formats) > 1:
        raise ValueError(f"boxes at {path_text(leaf.paths[0])} must have one format, got {', '.join(sorted(formats))}")
    return formats.pop() if formats else None

"""The kinds of targets (images, masks, boxes, ...), the keys that imply them, and tests for arrays and containers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arrays.pillow_library import PILLOW, PillowPixels
from .._arrays.registry import library_of
from .._arrays.tv_tensors import kind_of_type, tv_kind

KINDS = {  # by key
    "image": "images",
    "images": "images",
    "mask": "masks",
    "masks": "masks",
    "boxes": "boxes",
    "bbox": "boxes",
    "bboxes": "boxes",
    "valid": "valid",
    "keypoints": "keypoints",
    "label": "labels",
    "labels": "labels",
    "area": "area",
    "iscrowd": "iscrowd",
    "difficult": "difficult",
}
VALUE_KINDS = ("labels", "area", "iscrowd", "difficult")  # of values of any type, which no transform moves
KINDS_IN_LISTS = ("boxes", "keypoints", "valid")  # in a list of dicts, a value `[array]` means the array
VALID_PREFIX = "valid_"  # boxes under a key K that is not in `KINDS` have their mask of validity under "valid_K"
KEYS_WITHOUT_KIND = frozenset(
    ("image_id", "size", "orig_size")
)  # of torchvision's dict of a detection sample; always passed through


def is_plain_array(array_type: type) -> bool:
    """Whether the type is an array's, and not a tv_tensor's."""
    return library_of(array_type) is not None and kind_of_type(array_type) is None


def is_array(value: Any) -> bool:
    return library_of(type(value)) is not None


def is_image_array(value: Any) -> bool:
    return is_array(value) and value.ndim >= 2 and tv_kind(value) in (None, "images")


def is_image_list(value: Any) -> bool:
    """Whether this is a list of single images: arrays of 2 or 3 axes and one dtype, unlike [batch, labels].

    All of them or none are tv_tensors.
    """
    if not is_plain_sequence(value) or not all(is_image_array(entry) for entry in value):
        return False
    return len({(entry.ndim, entry.dtype, tv_kind(entry)) for entry in value}) == 1 and value[0].ndim <= 3


def is_ambiguous_tuple(value: Any) -> bool:
    """Whether this is a tuple of arrays of one size that differ in their number of channels.

    Such as (image [3, H, W], mask [1, H, W]). Not tv_tensors, whose type says which is which, nor images of Pillow, of
    which `with_pixels` refuses grey ones beside others.
    """
    if not isinstance(value, tuple) or len(value) < 2 or tv_kind(value[0]) is not None:
        return False
    if any(isinstance(entry, PillowPixels) for entry in value):
        return False
    shapes = [tuple(getattr(entry, "shape", ())) if is_array(entry) else () for entry in value]
    if any(len(shape) != 3 for shape in shapes):
        return False
    first = shapes[0]
    for axis, others in ((0, slice(1, 3)), (2, slice(0, 2))):
        have_one_size = all(shape[others] == first[others] for shape in shapes)
        counts = {shape[axis] for shape in shapes}
        if have_one_size and len(counts) > 1 and min(counts) <= 4:
            return True
    return False


def only_entry(value: Any) -> Any:
    """The entry of a list of one entry, at any depth; else the value."""
    while isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    return value


def is_scalar_or_text(value: Any) -> bool:
    """Whether this is a number, a text, a path or None, which stay as they are under every key."""
    return value is None or isinstance(value, (str, bytes, bool, int, float, np.generic, os.PathLike))


def is_plain_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and named_fields(value) is None


def named_fields(value: Any) -> Mapping[Any, Any] | None:
    """A dict, or the fields of a namedtuple if the name of one is in `KINDS`; else None."""
    if isinstance(value, Mapping):
        return value
    names = getattr(value, "_fields", ()) if isinstance(value, tuple) else ()
    return dict(zip(names, value, strict=True)) if any(name in KINDS for name in names) else None


def is_class_number(value: Any, shape: tuple[int, ...]) -> bool:
    """Whether this is one int, or an array without axes."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (is_array(value) and not shape)


def are_labels_after_tv_tensor(value: Any, is_kind_given: bool) -> bool:
    """Whether a positional argument after a tv_tensor is labels, though its place is that of boxes or keypoints.

    Boxes and keypoints have at least two axes. An array of floats with one axis may be a single box or keypoint whose
    axis is missing, unless a tv_tensor of that kind is given (`is_kind_given`).
    """
    shape = tuple(getattr(value, "shape", ()))
    if tv_kind(value) is not None or not is_array(value) or len(shape) != 1:
        return is_class_number(value, shape)
    return is_kind_given or "float" not in str(value.dtype)


def has_axes_of_labels(array: Any, images: Any, layout: str | None) -> bool:
    """Whether an array beside the images holds labels: [N], [N, classes], or one class number for a single image.

    The masks of a batch have three axes. An array [H, W] beside a batch counts as a mask, which is refused later.
    """
    shape = tuple(getattr(array, "shape", ()))
    if is_class_number(array, shape):  # of a single image, as in a data set's `transforms(image, target)`
        return library_of(type(images)) is PILLOW or len(getattr(images, "shape", ())) in (2, 3)
    if len(shape) != 2 or not hasattr(images, "__len__"):
        return len(shape) == 1
    images_shape = tuple(getattr(images, "shape", (len(images), *(None,) * 3)))
    library = library_of(type(images))
    channels_first = library is not None and library.channels_first if layout is None else not str(layout).endswith("C")
    size = images_shape[-2:] if channels_first else images_shape[-3:-1]
    return len(images_shape) >= 4 and shape[0] == images_shape[0] and shape != size

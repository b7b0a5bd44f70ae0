"""The kinds of values in a sample: arrays, tv_tensors, sequences, and containers with named fields."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arrays.registry import library_of

KINDS = {  # by key
    "image": "images",
    "images": "images",
    "mask": "masks",
    "masks": "masks",
    "boxes": "boxes",
    "bboxes": "boxes",
    "valid": "valid",
    "keypoints": "keypoints",
    "label": "labels",
    "labels": "labels",
    "area": "area",
    "iscrowd": "iscrowd",
}
VALUE_KINDS = ("labels", "area", "iscrowd")  # of values of any type, which no transform moves
KEYS_WITHOUT_KIND = frozenset(("image_id", "size", "orig_size"))  # of a detection target; never images or targets
TV_TENSORS = {
    "Image": "images",
    "Video": "images",
    "Mask": "masks",
    "BoundingBoxes": "boxes",
    "KeyPoints": "keypoints",
}


def is_plain_array(array_type: type) -> bool:
    """Whether the type is an array's, and not a tv_tensor's."""
    return library_of(array_type) is not None and _tv_kind_of_type(array_type) is None


def tv_kind(value: Any) -> str | None:
    """The kind of a tv_tensor; None for other values."""
    return _tv_kind_of_type(type(value))


def _tv_kind_of_type(value_type: type) -> str | None:
    tv_tensors = sys.modules.get("torchvision.tv_tensors")  # a sample with tv_tensors implies the import
    if tv_tensors is None:
        return None
    for name, kind in TV_TENSORS.items():
        tv_type = getattr(tv_tensors, name, None)  # older versions have no KeyPoints
        if tv_type is not None and issubclass(value_type, tv_type):
            return kind
    return None


def is_video(value: Any) -> bool:
    return tv_kind(value) == "images" and isinstance(value, sys.modules["torchvision.tv_tensors"].Video)


def is_array(value: Any) -> bool:
    return library_of(type(value)) is not None


def is_image_array(value: Any) -> bool:
    return is_array(value) and value.ndim >= 2 and tv_kind(value) in (None, "images")


def is_image_list(value: Any) -> bool:
    """Whether this is a list of single images: arrays of 2 or 3 axes and one dtype, unlike [batch, labels]."""
    if not is_plain_sequence(value) or not all(is_image_array(entry) for entry in value):
        return False
    return len({(entry.ndim, entry.dtype) for entry in value}) == 1 and value[0].ndim <= 3


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

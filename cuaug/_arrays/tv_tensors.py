"""torchvision's tv_tensors: tensors whose type says whether they are images, masks, boxes or keypoints."""

from __future__ import annotations

import functools
import sys
from typing import Any

from .registry import library_of

TV_TENSORS = {
    "Image": "images",
    "Video": "images",
    "Mask": "masks",
    "BoundingBoxes": "boxes",
    "KeyPoints": "keypoints",
}


def tv_kind(value: Any) -> str | None:
    """The kind of a tv_tensor; None for other values."""
    value_type: Any = type(value)
    return kind_of_type(value_type)


@functools.cache
def kind_of_type(value_type: Any) -> str | None:
    """The kind of the tv_tensors of this type; None for other types."""
    tv_tensors = sys.modules.get("torchvision.tv_tensors")  # a tv_tensor exists only after this import
    if tv_tensors is None:
        return None
    for name, kind in TV_TENSORS.items():
        tv_type = getattr(tv_tensors, name, None)  # older versions have no KeyPoints
        if tv_type is not None and issubclass(value_type, tv_type):
            return kind
    return None


def is_video(value: Any) -> bool:
    return tv_kind(value) == "images" and isinstance(value, sys.modules["torchvision.tv_tensors"].Video)


def box_format(value: Any) -> str | None:
    """The format of BoundingBoxes, such as "XYXY"; None for other values."""
    return str(value.format.name) if tv_kind(value) == "boxes" else None


def wrap_like(result: Any, example: Any, canvas_size: tuple[int, int] | None = None) -> Any:
    """The result in the example's type, if the example is a tv_tensor. `canvas_size`: (H, W); None: the example's."""
    kind = tv_kind(example)
    if kind is None or library_of(type(result)) is not library_of(type(example)):
        return result
    canvas = {"canvas_size": canvas_size} if canvas_size is not None and kind in ("boxes", "keypoints") else {}
    return sys.modules["torchvision.tv_tensors"].wrap(result, like=example, **canvas)

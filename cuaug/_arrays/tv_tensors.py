"""torchvision's tv_tensors: tensors whose type says whether they are images, masks, boxes or keypoints."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

from .._check import BackendError
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


def without_type(value: Any) -> Any:
    """A tv_tensor as a plain tensor, which shares its memory; other values as they are."""
    return value if tv_kind(value) is None else value.as_subclass(sys.modules["torch"].Tensor)


def wrap_like(result: Any, example: Any, canvas_size: tuple[int, int] | None = None, format: str | None = None) -> Any:
    """The result in the example's type, if the example is a tv_tensor.

    `canvas_size` (H, W) is that of boxes or keypoints, `format` that of boxes; None: the example's.
    """
    kind = tv_kind(example)
    if kind is None or library_of(type(result)) is not library_of(type(example)):
        return result
    metadata: dict[str, Any] = {}
    if canvas_size is not None and kind in ("boxes", "keypoints"):
        metadata["canvas_size"] = canvas_size
    if format is not None:
        metadata["format"] = type(example.format)[format]
    wrap = getattr(type(example), "wrap", None)  # older versions of torchvision do not have the method
    if wrap is None or sys.modules["torch"].compiler.is_compiling():
        return sys.modules["torchvision.tv_tensors"].wrap(result, like=example, **metadata)
    # tv_tensors.wrap calls this method, too, but takes twice the time: it disables torch.compile for its call.
    return wrap(result, example, **metadata)


def as_tv_tensor(name: str, tensor: Any) -> Any:
    """The tensor as torchvision's "Image" or "Mask". [..., C, H, W] or [H, W]"""
    try:
        tv_tensors = importlib.import_module("torchvision.tv_tensors")
    except ImportError as error:
        raise BackendError(f"tv_tensors need torchvision ({error}): pip install torchvision") from error
    return getattr(tv_tensors, name)(tensor)

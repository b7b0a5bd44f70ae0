"""Fill: the values of pixels outside of images and outside of masks, which may differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _check
from .._program.dtypes import LABEL_LIMITS

# Float masks hold every integer up to these.
_FLOAT_LIMITS = {name: (-(1 << bits), 1 << bits) for name, bits in (("bfloat16", 8), ("float16", 11), ("float32", 24))}
_INTEGER_LIMITS = {"uint8": (0, 255), "uint16": (0, 65535), "int16": (-32768, 32767), **LABEL_LIMITS}
_MASK_LIMITS = _INTEGER_LIMITS | _FLOAT_LIMITS


@dataclass(frozen=True)
class FillByKind:
    """The value outside of images, as `_passes/parameters.fill` takes it, and that outside of masks, if it is not 0."""

    images: Any = None
    masks: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As a user may write it, for the description of a transform."""
        return {"images": [*self.images] if isinstance(self.images, tuple) else self.images, "masks": self.masks}

    def __repr__(self) -> str:
        """As a user may write it."""
        return repr({"images": self.images, "masks": self.masks})


def image_fill(fill: Any) -> Any:
    """The value outside of images. `fill`: a `FillByKind`, or the value itself."""
    return fill.images if isinstance(fill, FillByKind) else fill


def mask_fill(fill: Any, *dtypes: str) -> int:
    """The value outside of masks of these dtypes; a ValueError if one of them cannot hold it."""
    if not isinstance(fill, FillByKind):
        return 0
    for dtype in dtypes:
        if dtype in _MASK_LIMITS:
            _check.in_range(f"fill of {dtype} masks", fill.masks, *_MASK_LIMITS[dtype])
    return fill.masks

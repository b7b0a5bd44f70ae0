"""The parts of images to decode, and the reduced resolutions at which libjpeg can decode them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._integers import has_positions
from .._value_text import value_text
from .encoded_input import File
from .exif import stored_box, upright_size
from .jpeg_headers import Header


class DecodeRegion(NamedTuple):
    """A part of an image as it is stored, before `orientation`, at 1 / `scale` of its resolution."""

    scale: int  # 1, 2, 4 or 8
    box: tuple[int, int, int, int]  # top, left, height, width, in pixels of the scaled image
    orientation: int  # EXIF's: how the decoded pixels are turned upright; 1: not at all

    @property
    def size(self) -> tuple[int, int]:
        """(H, W) of the result."""
        return upright_size(self.box[2:], self.orientation)


def whole_image(header: Header, scale: int, min_size: tuple[int, int] | None, orient: bool) -> DecodeRegion:
    """The image at 1 / `scale`, or at the strongest reduction that is not below `min_size` (H, W, upright)."""
    size, orientation = (header.height, header.width), header.orientation if orient else 1
    if min_size:
        scale = _scale_for(size, upright_size(min_size, orientation))
    return DecodeRegion(scale, (0, 0, *_scaled_size(size, scale)), orientation)


def box_of_image(file: File, header: Header, box: tuple[int, int, int, int], scale: int, orient: bool) -> DecodeRegion:
    """A box (top, left, height, width) of the image at 1 / `scale`, upright if `orient`."""
    orientation = header.orientation if orient else 1
    size = upright_size(_scaled_size((header.height, header.width), scale), orientation)
    top, left, height, width = box
    if top + height > size[0] or left + width > size[1]:
        raise ValueError(
            f"{file.prefix}the box must be within the image of {size[0]}x{size[1]} pixels, "
            f"got top={top}, left={left}, height={height}, width={width}"
        )
    return DecodeRegion(scale, stored_box(box, size, orientation), orientation)


def scale_of(fraction: Any) -> int:
    """`DecodeRegion.scale` for the public parameter `scale`: 1, 1/2, 1/4 or 1/8."""
    scales: dict[Any, int] = {1: 1, 0.5: 2, 0.25: 4, 0.125: 8}
    scale = scales.get(fraction) if isinstance(fraction, (int, float, np.integer, np.floating)) else None
    if scale is None or fraction is True:
        raise ValueError(f"scale must be 1, 1/2, 1/4 or 1/8, got {value_text(fraction)}")
    return scale


def _scaled_size(size: tuple[int, int], scale: int) -> tuple[int, int]:
    return -(-size[0] // scale), -(-size[1] // scale)


def _scale_for(size: tuple[int, int], min_size: tuple[int, int]) -> int:
    """The strongest reduction that leaves no side below `min_size`; 1 if the image itself is smaller."""
    for scale in (8, 4, 2):
        height, width = _scaled_size(size, scale)
        if height >= min_size[0] and width >= min_size[1]:
            return scale
    return 1


def boxes_per_image(top: Any, left: Any, height: Any, width: Any, count: int) -> list[tuple[int, int, int, int]]:
    """A box for each image; a parameter may be one int for all images."""
    columns = []
    for name, value, minimum in (("top", top, 0), ("left", left, 0), ("height", height, 1), ("width", width, 1)):
        entries = list(value) if has_positions(value) else [value] * count
        if len(entries) != count:
            raise ValueError(f"{name} must be one int, or {count}, one for each image, got {len(entries)}")
        columns.append([_check.integer(name, entry, minimum) for entry in entries])
    return list(zip(*columns, strict=True))

"""Images of Pillow in a sample: arrays while the sample is transformed, images again in the result.

Objects that offer `__dlpack__` alone become arrays of NumPy or CuPy, and stay arrays in the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays.dlpack_library import DLPACK
from .._arrays.pillow_library import PILLOW, PillowPixels
from .._arrays.registry import library_of
from .._check import prefix_message
from .sample_kinds import KINDS, is_plain_sequence, named_fields
from .sample_target import Path, path_text


def with_pixels(sample: Any, any_mode: bool = False) -> Any:
    """The sample with arrays in place of images of Pillow and of objects with `__dlpack__`, in copies of containers.

    Images and objects under names that are not in `KINDS` stay.

    `any_mode`: for transforms that change no pixel; the numbers may then be indices of a palette, or bits.

    Raises:
        TypeError: An image has a mode that cuaug does not read.
        ValueError: A sequence without names has grey and coloured images.
    """
    return _with_pixels(sample, None, (), any_mode)


def image_like(result: Any, example: Any) -> Any:
    """The result as an image of Pillow, if the example was one and Pillow has a mode for it."""
    return PILLOW.to_user_array(result) if isinstance(example, PillowPixels) else result


def _with_pixels(node: Any, is_named: bool | None, path: Path, any_mode: bool) -> Any:
    """`is_named`: whether a name in `KINDS` leads here; None if only positions do."""
    library = library_of(type(node))
    if library is not None:
        if library not in (PILLOW, DLPACK) or is_named is False:
            return node
        return pixels_of(node, path, any_mode) if library is PILLOW else DLPACK.to_array(node)
    fields = named_fields(node)
    if fields is not None:
        named = {
            key: _with_pixels(value, key in KINDS or bool(is_named), (*path, key), any_mode)
            for key, value in fields.items()
        }
        return node if all(named[key] is value for key, value in fields.items()) else named
    if not is_plain_sequence(node):
        return node
    entries = [_with_pixels(entry, is_named, (*path, i), any_mode) for i, entry in enumerate(node)]
    if all(new is old for new, old in zip(entries, node, strict=True)):
        return node
    if is_named is None:
        _check_modes(node, path)
    if isinstance(node, tuple):
        return node._make(entries) if hasattr(node, "_make") else tuple(entries)
    return entries


def pixels_of(image: Any, path: Path, any_mode: bool) -> PillowPixels:
    """The array for an image of Pillow at a path of the sample. `any_mode`: as in `with_pixels`."""
    if any_mode:
        return np.asarray(image).view(PillowPixels)
    try:
        return PILLOW.to_numpy(image).view(PillowPixels)
    except TypeError as error:
        if path:
            prefix_message(error, path_text(path))
        raise


def _check_modes(sequence: Sequence[Any], path: Path) -> None:
    """Refuses grey beside coloured images: (image, mask) and two images look alike."""
    modes = [image.mode if library_of(type(image)) is PILLOW else None for image in sequence]
    other = next((mode for mode in modes if mode not in ("L", None)), None)
    if "L" in modes and other is not None:
        raise ValueError(
            f"{path_text((*path, modes.index('L')))}: a PIL image of mode L beside one of mode {other} could be a mask "
            "or another image: pass image.convert('RGB'), or name them, as in {'images': ...} or "
            "{'image': ..., 'mask': ...}"
        )

"""Images of Pillow in a sample: arrays while the sample is transformed, images again in the result."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._arrays.pillow_library import PILLOW
from .._arrays.registry import library_of
from .sample_kinds import KINDS, is_plain_sequence, named_fields


class PillowPixels(np.ndarray):
    """The pixels of an image of Pillow; the result in its place becomes an image."""


def with_pixels(sample: Any) -> Any:
    """The sample with pixels in place of images of Pillow, in copies of the containers; unnamed images stay."""
    return _with_pixels(sample, None) if "PIL.Image" in sys.modules else sample


def image_like(result: Any, example: Any) -> Any:
    """The result as an image of Pillow, if the example was one and Pillow has a mode for it."""
    return PILLOW.to_user_array(result) if isinstance(example, PillowPixels) else result


def _with_pixels(node: Any, is_named: bool | None) -> Any:
    """`is_named`: whether a name in `KINDS` leads here; None if only positions do."""
    if library_of(type(node)) is PILLOW:
        return PILLOW.to_numpy(node).view(PillowPixels) if is_named is not False else node
    fields = named_fields(node)
    if fields is not None:
        named = {key: _with_pixels(value, key in KINDS or bool(is_named)) for key, value in fields.items()}
        return node if all(named[key] is value for key, value in fields.items()) else named
    if not is_plain_sequence(node):
        return node
    entries = [_with_pixels(entry, is_named) for entry in node]
    return node if all(new is old for new, old in zip(entries, node, strict=True)) else entries

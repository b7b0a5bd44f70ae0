"""Images of Pillow (PIL). Pillow is not imported here: whoever has an image has imported it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np

from .descriptor import ArrayDescriptor
from .dlpack_library import DLPackLibrary
from .numpy_library import NUMPY

_CHANNELS = {"L": 1, "RGB": 3, "RGBA": 4}


class PillowPixels(np.ndarray):
    """The pixels of an image of Pillow that a sample contains: their result is returned as an image of Pillow."""


class PillowLibrary(DLPackLibrary):
    """Images are read as NumPy arrays, [H, W] or [H, W, C]; a result that is a uint8 image becomes an image of Pillow.

    Other results, such as float32 pixels, for which Pillow has no mode with channels, are NumPy arrays.
    """

    name = "pillow"

    def __reduce__(self) -> str:
        return "PILLOW"  # copies are this object

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        if isinstance(array, np.ndarray):  # a result, before it is an image
            return NUMPY.describe(array)
        return NUMPY.describe(self.to_numpy(array))._replace(read_only=True)

    def to_numpy(self, image: Any) -> np.ndarray:
        """The pixels. [H, W] for mode L, else [H, W, C]"""
        if image.mode not in _CHANNELS:
            advice = "image.convert('RGB')"
            if image.mode.startswith(("I", "F")):  # which `convert` clips to 255
                advice = "numpy.asarray(image), as uint16 or float32"
            elif image.mode in ("1", "P"):
                advice += ", or numpy.asarray(image) for a mask of labels"
            raise TypeError(f"a PIL image must have mode {', '.join(_CHANNELS)}, got {image.mode}: pass {advice}")
        return np.asarray(image)

    def to_user_array(self, array: Any) -> Any:
        shape = array.shape
        if array.dtype != np.uint8 or not (len(shape) == 2 or (len(shape) == 3 and shape[2] in _CHANNELS.values())):
            return array
        pixels = np.ascontiguousarray(array[..., 0] if len(shape) == 3 and shape[2] == 1 else array)
        return sys.modules["PIL.Image"].fromarray(pixels)

    def namespace(self) -> ModuleType:
        return np


PILLOW = PillowLibrary()

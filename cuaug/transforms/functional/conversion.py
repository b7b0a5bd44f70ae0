"""Conversion between arrays, torchvision's ``Image`` and images of Pillow."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np

from ... import levels
from ..._arrays import convert
from ..._arrays.pillow_library import PILLOW
from ..._arrays.registry import library_of
from ..._arrays.tv_tensors import as_tv_tensor, without_type
from ..._check import BackendError, prefix_errors
from ..._value_text import value_text
from ...typing import AnyArray, PillowImage

__all__ = ["pil_to_tensor", "to_image", "to_pil_image", "to_tensor"]

# Modes of Pillow by the number of channels; the first is the default. One channel: by the dtype.
_MODES = {2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK", "RGBX")}
_GREY_MODES = {"uint8": "L", "int16": "I;16", "uint16": "I;16", "int32": "I"}
PILLOW_MODES = tuple(dict.fromkeys((*_GREY_MODES.values(), *itertools.chain(*_MODES.values()))))


@prefix_errors
def to_image(inpt: AnyArray | PillowImage) -> Any:
    """Convert to torchvision's ``Image``, without a change of values.

    Args:
        inpt: A tensor [..., C, H, W] or [H, W]; an array of another library, or an image of Pillow, [H, W, C] or [H, W]

    Returns:
        ``Image``, a tensor on the device of ``inpt``. [..., C, H, W]

    Raises:
        ValueError: A shape is wrong.
        BackendError: torch or torchvision is not installed.

    >>> import numpy as np
    >>> to_image(np.zeros((4, 6, 3), np.uint8)).shape  # doctest: +SKIP
    torch.Size([3, 4, 6])
    """
    return as_tv_tensor("Image", _channels_first_tensor(inpt))


@prefix_errors
def pil_to_tensor(pic: PillowImage) -> Any:
    """Convert an image of Pillow to a tensor of its dtype, without a change of values.

    Args:
        pic: An image of any mode.

    Returns:
        A torch tensor on the CPU. [C, H, W]

    Raises:
        TypeError: ``pic`` is no image of Pillow.
        BackendError: torch is not installed.

    >>> from PIL import Image
    >>> pil_to_tensor(Image.new("RGB", (6, 4))).shape
    torch.Size([3, 4, 6])
    """
    if library_of(type(pic)) is not PILLOW:
        raise TypeError(f"pic must be an image of Pillow, got {type(pic).__name__}")
    return _channels_first_tensor(pic)


@prefix_errors
def to_tensor(inpt: PillowImage | AnyArray) -> Any:
    """Convert an image of Pillow or an array to a tensor; uint8 is scaled to 0..1, other dtypes keep their values.

    torchvision advises against this function: ``to_dtype(to_image(inpt), scale=True)`` also scales uint16 and int16.

    Args:
        inpt: An image of Pillow, or an array. [H, W, C] or [H, W]

    Returns:
        A torch tensor. [C, H, W]

    Raises:
        TypeError: ``inpt`` is a tensor already.
        BackendError: torch is not installed.

    >>> import numpy as np
    >>> to_tensor(np.full((1, 1, 3), 255, np.uint8)).tolist()
    [[[1.0]], [[1.0]], [[1.0]]]
    """
    library = library_of(type(inpt))
    if library is None or library.channels_first:
        raise TypeError(f"inpt must be an image of Pillow or an array, got {type(inpt).__name__}")
    tensor = _channels_first_tensor(inpt)
    dtype = convert.dtype_name(tensor.dtype)
    if dtype == "bool":  # mode "1" of Pillow
        return convert.asarray(tensor, like=tensor, dtype="float32")
    return levels.to_dtype(tensor, "float32", scale=True, layout="CHW") if dtype == "uint8" else tensor


@prefix_errors
def to_pil_image(pic: AnyArray, mode: str | None = None) -> Any:
    """Convert an image to one of Pillow. Waits for the device.

    Args:
        pic: A tensor [C, H, W], an array of another library [H, W, C], or [H, W]. Floats are in 0..1; one channel of
            int16, uint16 or int32 is accepted, too. Negative int16 values become uint16: 65536 is added.
        mode: Default: by the number of channels, "L", "LA", "RGB" or "RGBA"; for integers of more than 8 bits "I;16" or
            "I". Three channels may also be "YCbCr" or "HSV", four channels "CMYK" or "RGBX"; no value changes.

    Returns:
        An image of Pillow.

    Raises:
        ValueError: The shape or ``mode`` does not fit.
        TypeError: A dtype is not supported.
        BackendError: Pillow is not installed.

    >>> import numpy as np
    >>> to_pil_image(np.zeros((4, 6, 3), np.uint8)).size
    (6, 4)
    """
    library = library_of(type(pic))
    if library is None or library is PILLOW:
        raise TypeError(f"pic must be an array, got {type(pic).__name__}")
    image: Any = without_type(pic)
    shape = tuple(image.shape)
    if len(shape) not in (2, 3):
        raise ValueError(f"pic must have the axes of one image, [H, W] or with channels, got shape {shape}")
    layout: Any = "HW" if len(shape) == 2 else "CHW" if library.channels_first else "HWC"
    channels = 1 if layout == "HW" else shape[layout.index("C")]
    if "float" in convert.dtype_name(image.dtype):
        image = levels.to_dtype(image, "uint8", scale=True, layout=layout)
    pixels = _native_byte_order(convert.host_values("pic", image))
    if layout == "CHW":
        pixels = pixels.transpose(1, 2, 0)
    modes = _modes(channels, str(pixels.dtype))
    if mode is None:
        mode = modes[0]
    elif mode not in modes:
        raise ValueError(f"mode must be {' or '.join(modes)} for this image, got {value_text(mode)}")
    return _pillow().frombytes(mode, pixels.shape[1::-1], np.ascontiguousarray(pixels).tobytes())


def _modes(channels: int, dtype: str) -> tuple[str, ...]:
    if channels == 1 and dtype in _GREY_MODES:
        return (_GREY_MODES[dtype],)
    if channels not in (1, *_MODES):
        raise ValueError(f"pic must have 1 to 4 channels, got {channels}")
    if channels == 1 or dtype != "uint8":
        raise TypeError(f"pic must be uint8 or floats, or one channel of int16, uint16 or int32, got {dtype}")
    return _MODES[channels]


def _native_byte_order(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _pillow() -> Any:
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise BackendError(f"an image of Pillow needs Pillow ({error}): pip install pillow") from error


def _channels_first_tensor(value: Any) -> Any:
    """A torch tensor: tensors as they are, other arrays and images of Pillow from [H, W, C] or [H, W] to [C, H, W]."""
    library = library_of(type(value))
    if library is None:
        raise TypeError(f"inpt must be an array or an image of Pillow, got {type(value).__name__}")
    if library.channels_first:
        return without_type(value)
    # np.asarray reads images of Pillow in every mode; other functions accept only some (pillow_library.py).
    array = np.asarray(value) if library is PILLOW else value
    if isinstance(array, np.ndarray):
        array = _native_byte_order(array)
    if array.ndim not in (2, 3):
        raise ValueError(f"inpt must have the axes [H, W, C] or [H, W], got shape {tuple(array.shape)}")
    return convert.torch_tensor(array[None] if array.ndim == 2 else array.transpose(2, 0, 1))

"""Formats other than JPEG, through Pillow or, without Pillow, OpenCV. No other module imports either of them.

The format is decided by the first bytes of the file, so that only one of Pillow's readers ever runs. Sizes are compared
with the limits before any pixel is decoded.
"""

from __future__ import annotations

import importlib
import io
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from .._check import BackendError, DecodeError, ImageTooLarge, UnsupportedImage
from . import exif
from .encoded_input import File
from .limits import Limits

JPEG_SIGNATURE = b"\xff\xd8\xff"
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"BM": "BMP",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"GIF8": "GIF",
    **{f"P{variant}".encode(): "PPM" for variant in range(1, 7)},  # Pillow's name of all PNM formats
}
_EXIF_ORIENTATION, _TIFF_BITS_PER_SAMPLE = 0x0112, 258
# Python code of Pillow decodes text PNM, PNM with a maximum other than 255 (and other than 65535 if it is grey), and
# run-length BMP. It takes about 1 us for a value, which is one channel of a pixel. C code decodes PNG, GIF, WebP and
# TIFF, in up to 0.04 us for a pixel.
_PIXELS_PER_PYTHON_VALUE = 16


def _format_of(file: File) -> str:
    """Pillow's name of the format that the first bytes belong to."""
    head = bytes(file.data[:12])
    if head[:4] == b"RIFF" and head[8:] == b"WEBP":
        return "WEBP"
    format = next((name for signature, name in _SIGNATURES.items() if head.startswith(signature)), None)
    if format is None:
        error_type = UnsupportedImage if head else DecodeError
        file.raise_error(error_type, f"not an image of a known format, begins with {head!r}")
    return format


def decode(file: File, color: str, limits: Limits) -> tuple[np.ndarray, int]:
    """The first frame, uint8 [H, W, C], and its EXIF orientation."""
    format = _format_of(file)
    for reader, name in ((_decode_by_pillow, "PIL.Image"), (_decode_by_opencv, "cv2")):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        try:
            return reader(library, file, format, color, limits)
        except (DecodeError, BackendError, MemoryError):
            raise
        except Exception as error:  # neither library documents all errors that it raises
            too_large = type(error).__name__.startswith("DecompressionBomb")
            error_type = ImageTooLarge if too_large else DecodeError
            file.raise_error(error_type, f"{format}: {type(error).__name__}: {error}")
    raise BackendError(f"decoding {format} needs Pillow: pip install pillow")


def _decode_by_pillow(image_module: Any, file: File, format: str, color: str, limits: Limits) -> tuple[np.ndarray, int]:
    if format not in image_module.OPEN:
        image_module.init()
    # The format's class is called directly. `Image.open` would compare the size with Pillow's own limit and warn, and
    # filters of warnings belong to the process, not to a thread.
    with image_module.OPEN[format][0](io.BytesIO(file.data), "") as image:
        if reason := limits.size_error(image.height, image.width):
            file.raise_error(ImageTooLarge, reason)
        values = image.height * image.width * len(image.getbands())
        decoded_in_python = any(tile[0] in image_module.DECODERS for tile in image.tile)
        if decoded_in_python and 0 < limits.max_pixels < _PIXELS_PER_PYTHON_VALUE * values:
            file.raise_error(
                ImageTooLarge,
                f"{format} of {image.height}x{image.width} pixels in a variant that Pillow decodes by Python code, "
                f"where a value counts as {_PIXELS_PER_PYTHON_VALUE} pixels, "
                f"more than the limit of {limits.max_pixels} pixels",
            )
        orientation = image.getexif().get(_EXIF_ORIENTATION, 1)
        # Grey values of 16 bits, or of 12 in TIFF, which `convert` would clip to 255. Their mode is "I" in PNM.
        if image.mode.startswith("I;16") or (format == "PPM" and image.mode == "I"):
            bits = image.tag_v2[_TIFF_BITS_PER_SAMPLE][0] if format == "TIFF" else 16
            image = image_module.fromarray((np.asarray(image) >> (bits - 8)).astype(np.uint8))
        elif image.mode in ("I", "F"):
            file.raise_error(UnsupportedImage, f"{format} of 32 bits a channel")
        pixels = np.asarray(image.convert("L" if color == "gray" else "RGB"))
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    pixels = pixels[..., ::-1] if color == "bgr" else pixels
    orientation = orientation if orientation in exif.ORIENTATIONS else 1
    # Pillow turns TIFF upright when it loads the pixels.
    return exif.as_stored(pixels, orientation) if format == "TIFF" else pixels, orientation


def _decode_by_opencv(cv2: Any, file: File, format: str, color: str, limits: Limits) -> tuple[np.ndarray, int]:
    """Decodes formats whose size is at a fixed offset, because OpenCV gives no size before it decodes."""
    if format not in _SIZE_READERS:
        raise BackendError(f"decoding {format} needs Pillow: pip install pillow")
    head = bytes(file.data[:32])
    if len(head) < _MIN_HEAD:
        file.raise_error(DecodeError, f"{format}: the file ends in its header")
    height, width = _SIZE_READERS[format](head)
    if reason := limits.size_error(height, width):
        file.raise_error(ImageTooLarge, reason)
    mode = cv2.IMREAD_GRAYSCALE if color == "gray" else cv2.IMREAD_COLOR
    pixels = cv2.imdecode(np.frombuffer(file.data, np.uint8), mode | cv2.IMREAD_IGNORE_ORIENTATION)
    if pixels is None:
        file.raise_error(DecodeError, f"{format}: OpenCV cannot decode it")
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    orientation = exif.png_orientation(file.data) if format == "PNG" else 1
    return (pixels[..., ::-1] if color == "rgb" else pixels), orientation


def _bmp_size(head: bytes) -> tuple[int, int]:
    if struct.unpack_from("<I", head, 14)[0] == 12:  # OS/2's header
        width, height = struct.unpack_from("<HH", head, 18)
    else:
        width, height = struct.unpack_from("<ii", head, 18)
    return abs(height), width  # a negative height: rows are stored from the top


_MIN_HEAD = 26  # bytes up to the end of BMP's size, the last of the three
# Read (H, W) from the first 32 bytes.
_SIZE_READERS: dict[str, Callable[[bytes], tuple[int, int]]] = {
    "PNG": lambda head: struct.unpack_from(">II", head, 16)[::-1],
    "GIF": lambda head: struct.unpack_from("<HH", head, 6)[::-1],
    "BMP": _bmp_size,
}

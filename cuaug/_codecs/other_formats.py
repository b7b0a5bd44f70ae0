"""Formats other than JPEG, through Pillow or, where that is missing, OpenCV: the only file that imports either.

A format is known by its first bytes, so that no other of Pillow's many readers is ever run. Sizes are held against the
limits before any pixel is decoded.
"""

from __future__ import annotations

import importlib
import io
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from .._check import BackendError, DecodeError, ImageTooLarge, UnsupportedImage
from .encoded_input import File

JPEG = b"\xff\xd8\xff"
_SIGNATURES = {
    JPEG: "JPEG",
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"BM": "BMP",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"GIF8": "GIF",
    **{f"P{kind}".encode(): "PPM" for kind in range(1, 7)},  # all of PNM
}
_EXIF_ORIENTATION = 0x0112

Refused = Callable[[int, int], str | None]  # (H, W): why not


def format_of(file: File) -> str:
    """What the first bytes are those of."""
    head = bytes(file.data[:12])
    if head[:4] == b"RIFF" and head[8:] == b"WEBP":
        return "WEBP"
    found = next((name for signature, name in _SIGNATURES.items() if head.startswith(signature)), None)
    if found is None:
        file.refuse(UnsupportedImage if head else DecodeError, f"not an image of a known format, begins with {head!r}")
    return found


def decode(file: File, kind: str, color: str, refused: Refused) -> tuple[np.ndarray, int]:
    """The first frame, uint8 [H, W, C], and its EXIF orientation."""
    for reader, name in ((_by_pillow, "PIL.Image"), (_by_opencv, "cv2")):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        try:
            return reader(library, file, kind, color, refused)
        except (DecodeError, BackendError, MemoryError):
            raise
        except Exception as error:  # these libraries promise no closed list
            too_large = type(error).__name__.startswith("DecompressionBomb")
            file.refuse(ImageTooLarge if too_large else DecodeError, f"{kind}: {type(error).__name__}: {error}")
    raise BackendError(f"decoding {kind} needs Pillow: pip install pillow")


def _by_pillow(image_module: Any, file: File, kind: str, color: str, refused: Refused) -> tuple[np.ndarray, int]:
    if kind not in image_module.OPEN:
        image_module.init()
    # By the format's own class: `open` would hold the size against a limit of Pillow's own, by a warning, and filters
    # of warnings belong to the process, not to a thread.
    with image_module.OPEN[kind][0](io.BytesIO(file.data), "") as image:
        if reason := refused(image.height, image.width):
            file.refuse(ImageTooLarge, reason)
        orientation = image.getexif().get(_EXIF_ORIENTATION, 1)
        if image.mode.startswith("I;16"):  # Pillow would cut off above 255
            image = image_module.fromarray((np.asarray(image) >> 8).astype(np.uint8))
        elif image.mode in ("I", "F"):
            file.refuse(UnsupportedImage, f"{kind} of 32 bits a channel")
        pixels = np.asarray(image.convert("L" if color == "gray" else "RGB"))
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    pixels = pixels[..., ::-1] if color == "bgr" else pixels
    return pixels, orientation if orientation in range(1, 9) else 1


def _by_opencv(cv2: Any, file: File, kind: str, color: str, refused: Refused) -> tuple[np.ndarray, int]:
    """OpenCV says no size before it decodes: those formats whose headers say it plainly."""
    if kind not in _SIZES:
        raise BackendError(f"decoding {kind} needs Pillow: pip install pillow")
    height, width = _SIZES[kind](bytes(file.data[:32]))
    if reason := refused(height, width):
        file.refuse(ImageTooLarge, reason)
    mode = cv2.IMREAD_GRAYSCALE if color == "gray" else cv2.IMREAD_COLOR
    pixels = cv2.imdecode(np.frombuffer(file.data, np.uint8), mode | cv2.IMREAD_IGNORE_ORIENTATION)
    if pixels is None:
        file.refuse(DecodeError, f"{kind}: OpenCV cannot decode it")
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    return (pixels[..., ::-1] if color == "rgb" else pixels), 1


def _bmp_size(head: bytes) -> tuple[int, int]:
    if struct.unpack_from("<I", head, 14)[0] == 12:  # OS/2's header
        width, height = struct.unpack_from("<HH", head, 18)
    else:
        width, height = struct.unpack_from("<ii", head, 18)
    return abs(height), width  # rows from the top are a negative height


_SIZES: dict[str, Callable[[bytes], tuple[int, int]]] = {
    "PNG": lambda head: struct.unpack_from(">II", head, 16)[::-1],
    "GIF": lambda head: struct.unpack_from("<HH", head, 6)[::-1],
    "BMP": _bmp_size,
}

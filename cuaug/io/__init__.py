"""Encoded images in host memory: decode JPEG whole, in part or reduced, decode other formats whole, and write JPEG.

Data are bytes, a uint8 array of them, a path, or a list of those, which a pool of threads decodes without the GIL
(:func:`cuaug.set_num_threads`). A damaged or hostile file raises :class:`cuaug.DecodeError`, or its subclasses
:class:`cuaug.ImageTooLarge` or :class:`cuaug.UnsupportedImage`, with the ``index``, ``source`` and ``reason`` of
the first file that failed. The size that a file declares is compared with the limits before anything is decoded.
"""

from .._codecs.jpeg_headers import Header
from .decode import decode_and_crop_jpeg, decode_image, decode_jpeg
from .encode import encode_jpeg
from .header import read_header

__all__ = ["Header", "decode_and_crop_jpeg", "decode_image", "decode_jpeg", "encode_jpeg", "read_header"]


def __dir__() -> list[str]:
    """The public names, and those that all modules have."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})

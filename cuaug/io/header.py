"""Headers of JPEGs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from .._check import prefix_errors
from .._codecs.decode import read_headers
from .._codecs.encoded_input import read_files
from .._codecs.jpeg_headers import Header
from .._codecs.limits import MAX_BYTES, MAX_PIXELS, MAX_SCAN_PIXELS, MAX_SCANS, MAX_SIDE, limits_of
from ..typing import EncodedImage, EncodedImages

__all__ = ["read_header"]

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._codecs.option_types import FileLimits


@overload
def read_header(data: EncodedImage, **limits: Unpack[FileLimits]) -> Header: ...
@overload
def read_header(data: EncodedImages, **limits: Unpack[FileLimits]) -> list[Header]: ...
@prefix_errors
def read_header(
    data: Any,
    *,
    max_pixels: int | None = MAX_PIXELS,
    max_side: int | None = MAX_SIDE,
    max_scans: int | None = MAX_SCANS,
    max_scan_pixels: int | None = MAX_SCAN_PIXELS,
    max_bytes: int | None = MAX_BYTES,
) -> Any:
    """Read the size, subsampling and orientation of JPEGs; no pixel is decoded.

    Args:
        data: Bytes, a uint8 array, a path, or a list of those.
        max_pixels: Limit on the pixels that a file declares; None: no limit.
        max_side: Limit on the longer side of the image, in pixels.
        max_scans: As in :func:`decode_jpeg`, so that a file that takes too long to decode is refused here.
        max_scan_pixels: As in :func:`decode_jpeg`.
        max_bytes: Limit on the encoded data, in bytes.

    Returns:
        :class:`Header`, or a list of them. Height and width are as stored, before ``orientation`` is applied.

    Raises:
        DecodeError: A file is no JPEG, its header is damaged, or it exceeds a limit (ImageTooLarge).

    Example:
        >>> import numpy as np
        >>> read_header(encode_jpeg(np.zeros((48, 64, 3), np.uint8))).subsampling
        '420'
    """
    limits = limits_of(max_pixels, max_side, max_bytes, None, max_scans, max_scan_pixels)
    files, is_list = read_files(data, max_bytes)
    headers = read_headers(files, limits)
    return headers if is_list else headers[0]

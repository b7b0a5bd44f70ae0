"""Decoding: JPEG whole, in part or reduced, other formats whole."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from .. import _check
from .._check import prefix_errors
from .._codecs.decode import COLORS, decode_any_format, decode_jpegs
from .._codecs.encoded_input import File, read_files
from .._codecs.jpeg_headers import Header
from .._codecs.limits import MAX_BYTES, MAX_MEMORY, MAX_PIXELS, MAX_SCAN_PIXELS, MAX_SCANS, MAX_SIDE, limits_of
from .._codecs.outputs import OutputAllocator
from .._codecs.regions import DecodeRegion, box_of_image, boxes_per_image, scale_of, whole_image
from .._value_text import value_text
from ..typing import AnyArray, Color, Device, EncodedImage, EncodedImages, Ints, LibraryName

__all__ = ["decode_and_crop_jpeg", "decode_image", "decode_jpeg"]

if TYPE_CHECKING:
    import torch
    from typing_extensions import Unpack

    from .._codecs.option_types import CropOptions, DecodeOptions, JpegOptions


@overload
def decode_jpeg(
    data: EncodedImage, *, like: Literal["numpy"] | None = None, device: None = None, **options: Unpack[JpegOptions]
) -> npt.NDArray[np.uint8]: ...
@overload
def decode_jpeg(
    data: EncodedImages, *, like: Literal["numpy"] | None = None, device: None = None, **options: Unpack[JpegOptions]
) -> list[npt.NDArray[np.uint8]]: ...
@overload
def decode_jpeg(
    data: EncodedImage, *, like: Literal["torch"], device: Device = None, **options: Unpack[JpegOptions]
) -> torch.Tensor: ...
@overload
def decode_jpeg(
    data: EncodedImages, *, like: Literal["torch"], device: Device = None, **options: Unpack[JpegOptions]
) -> list[torch.Tensor]: ...
@overload
def decode_jpeg(
    data: EncodedImage | EncodedImages,
    *,
    like: LibraryName | ModuleType | None = None,
    device: Device = None,
    out: AnyArray | None = None,
    **options: Unpack[JpegOptions],
) -> Any: ...
@prefix_errors
def decode_jpeg(
    data: Any,
    *,
    scale: float = 1,
    size_hint: Any = None,
    color: Color = "rgb",
    orient: bool = False,
    strict: bool = True,
    out: Any = None,
    like: Any = None,
    pin: bool = False,
    device: Any = None,
    max_pixels: int | None = MAX_PIXELS,
    max_side: int | None = MAX_SIDE,
    max_scans: int | None = MAX_SCANS,
    max_scan_pixels: int | None = MAX_SCAN_PIXELS,
    max_memory: int | None = MAX_MEMORY,
    max_bytes: int | None = MAX_BYTES,
) -> Any:
    """Decode JPEGs by libjpeg-turbo, with its accurate inverse DCT and smooth chroma upsampling.

    Args:
        data: Bytes, a uint8 array, a path, or a list of those.
        scale: 1, 1/2, 1/4 or 1/8: decodes at a reduced resolution, which takes less time. Sides are rounded up.
        size_hint: (H, W): chooses the smallest scale whose result is not below it; 1 if the image itself is smaller.
        color: "rgb", "bgr" or "gray", whatever the file stores; CMYK is read as Adobe stores it, inverted.
        orient: Turn the image upright, as its EXIF orientation says.
        strict: True: damaged data raise an error. False: libjpeg's guess at missing pixels is returned, if it has one.
        out: Memory for the result; for a list one array [N, H, W, C] (torch: [N, C, H, W], channels last in memory).
        like: Library of the result: "numpy", "torch" or "cupy", or the module.
        pin: Allocate pinned memory; torch only.
        device: GPU of the result: its number, or torch's name of it. ``like`` is then torch or CuPy; default: torch if
            it has been imported. The GPU's engine (nvJPEG) decodes complete baseline YCbCr files to RGB at scale 1,
            unless ``orient`` turns them; it does not report all damage, and values may differ by 1 from the CPU's. The
            CPU decodes the others, and those that the engine fails to decode; their pixels are copied.
        max_pixels: Limit on the pixels that a file declares; None: no limit.
        max_side: Limit on the longer side of the image, in pixels.
        max_scans: Limit on the scans of a progressive file.
        max_scan_pixels: Limit on its scans times its pixels, because a scan takes time in proportion to the image.
        max_memory: Limit on the memory for the coefficients of a file of several scans, in bytes; a coefficient takes
            2. The coefficients of a file of one scan are not kept.
        max_bytes: Limit on the encoded data, in bytes.

    Returns:
        uint8 [H, W, C], C 1 or 3, or a list of such arrays; for torch a view [C, H, W] of the same memory.

    Raises:
        DecodeError: A file fails; ``index``, ``source`` and ``reason`` describe the first one. Headers are read first.
        ValueError: An argument is not as described.
        BackendError: The device or nvJPEG is missing.

    Example:
        >>> import numpy as np
        >>> decode_jpeg(encode_jpeg(np.zeros((48, 65, 3), np.uint8)), scale=1 / 2).shape
        (24, 33, 3)
    """
    limits = limits_of(max_pixels, max_side, max_bytes, max_memory, max_scans, max_scan_pixels)
    denominator, hint = scale_of(scale), None if size_hint is None else _check.size("size_hint", size_hint)
    if hint and denominator > 1:
        raise ValueError(f"scale and size_hint exclude each other, got {value_text(scale)} and {value_text(size_hint)}")
    _check.boolean("orient", orient)

    def choose_region(file: File, header: Header) -> DecodeRegion:
        return whole_image(header, denominator, hint, orient)

    files, is_list = read_files(data, max_bytes)
    outputs = OutputAllocator(like, pin, out, device)
    return decode_jpegs(files, is_list, choose_region, color, strict, outputs, limits)


@overload
def decode_and_crop_jpeg(
    data: EncodedImage,
    top: Ints,
    left: Ints,
    height: Ints,
    width: Ints,
    *,
    like: Literal["numpy"] | None = None,
    device: None = None,
    **options: Unpack[CropOptions],
) -> npt.NDArray[np.uint8]: ...
@overload
def decode_and_crop_jpeg(
    data: EncodedImages,
    top: Ints,
    left: Ints,
    height: Ints,
    width: Ints,
    *,
    like: Literal["numpy"] | None = None,
    device: None = None,
    **options: Unpack[CropOptions],
) -> list[npt.NDArray[np.uint8]]: ...
@overload
def decode_and_crop_jpeg(
    data: EncodedImage,
    top: Ints,
    left: Ints,
    height: Ints,
    width: Ints,
    *,
    like: Literal["torch"],
    device: Device = None,
    **options: Unpack[CropOptions],
) -> torch.Tensor: ...
@overload
def decode_and_crop_jpeg(
    data: EncodedImages,
    top: Ints,
    left: Ints,
    height: Ints,
    width: Ints,
    *,
    like: Literal["torch"],
    device: Device = None,
    **options: Unpack[CropOptions],
) -> list[torch.Tensor]: ...
@overload
def decode_and_crop_jpeg(
    data: EncodedImage | EncodedImages,
    top: Ints,
    left: Ints,
    height: Ints,
    width: Ints,
    *,
    like: LibraryName | ModuleType | None = None,
    device: Device = None,
    out: AnyArray | None = None,
    **options: Unpack[CropOptions],
) -> Any: ...
@prefix_errors
def decode_and_crop_jpeg(
    data: Any,
    top: Any,
    left: Any,
    height: Any,
    width: Any,
    *,
    scale: float = 1,
    color: Color = "rgb",
    orient: bool = False,
    strict: bool = True,
    out: Any = None,
    like: Any = None,
    pin: bool = False,
    device: Any = None,
    max_pixels: int | None = MAX_PIXELS,
    max_side: int | None = MAX_SIDE,
    max_scans: int | None = MAX_SCANS,
    max_scan_pixels: int | None = MAX_SCAN_PIXELS,
    max_memory: int | None = MAX_MEMORY,
    max_bytes: int | None = MAX_BYTES,
) -> Any:
    """Decode a box of JPEGs: bit for bit the same as a slice of :func:`decode_jpeg`, in less time.

    Data below the box are not read, so that ``strict`` does not notice damage there.
    Other parameters are those of :func:`decode_jpeg`.

    Args:
        data: Bytes, a uint8 array, a path, or a list of those.
        top: First row of the box in the image at ``scale``, upright if ``orient``. Like the next three parameters, an
            int, or a list of one for each image. [N]
        left: First column. [N]
        height: Rows, at least 1. [N]
        width: Columns. [N]

    Returns:
        uint8 [height, width, C], as from :func:`decode_jpeg`.

    Raises:
        ValueError: The box is not within the image; nothing was decoded.
        DecodeError: As :func:`decode_jpeg`.

    Example:
        >>> import numpy as np
        >>> decode_and_crop_jpeg(encode_jpeg(np.zeros((48, 64, 3), np.uint8)), 10, 20, 30, 40).shape
        (30, 40, 3)
    """
    limits = limits_of(max_pixels, max_side, max_bytes, max_memory, max_scans, max_scan_pixels)
    denominator = scale_of(scale)
    _check.boolean("orient", orient)
    files, is_list = read_files(data, max_bytes)
    boxes = boxes_per_image(top, left, height, width, len(files))

    def choose_region(file: File, header: Header) -> DecodeRegion:
        return box_of_image(file, header, boxes[file.position or 0], denominator, orient)

    outputs = OutputAllocator(like, pin, out, device)
    return decode_jpegs(files, is_list, choose_region, color, strict, outputs, limits)


@overload
def decode_image(
    data: EncodedImage, *, like: Literal["numpy"] | None = None, **options: Unpack[DecodeOptions]
) -> npt.NDArray[np.uint8]: ...
@overload
def decode_image(
    data: EncodedImages, *, like: Literal["numpy"] | None = None, **options: Unpack[DecodeOptions]
) -> list[npt.NDArray[np.uint8]]: ...
@overload
def decode_image(data: EncodedImage, *, like: Literal["torch"], **options: Unpack[DecodeOptions]) -> torch.Tensor: ...
@overload
def decode_image(
    data: EncodedImages, *, like: Literal["torch"], **options: Unpack[DecodeOptions]
) -> list[torch.Tensor]: ...
@overload
def decode_image(
    data: EncodedImage | EncodedImages,
    *,
    like: LibraryName | ModuleType | None = None,
    **options: Unpack[DecodeOptions],
) -> Any: ...
@prefix_errors
def decode_image(
    data: Any,
    *,
    color: Color = "rgb",
    orient: bool = False,
    strict: bool = True,
    like: Any = None,
    pin: bool = False,
    max_pixels: int | None = MAX_PIXELS,
    max_side: int | None = MAX_SIDE,
    max_scans: int | None = MAX_SCANS,
    max_scan_pixels: int | None = MAX_SCAN_PIXELS,
    max_memory: int | None = MAX_MEMORY,
    max_bytes: int | None = MAX_BYTES,
) -> Any:
    """Decode images of any usual format, recognised by their first bytes: JPEG, or another through Pillow.

    PNG, BMP, TIFF, WebP, PNM and the first frame of a GIF need Pillow; without it OpenCV decodes PNG, BMP and GIF.
    The images of a list are decoded in parallel (:func:`cuaug.set_num_threads`), JPEGs before the others.
    Alpha is dropped; 16-bit values keep their upper 8 bits, or are rounded (colour PNM).
    Parameters are those of :func:`decode_jpeg`; the limits of scans and memory, and ``strict``, apply to JPEG.

    Returns:
        uint8 [H, W, C], C 1 or 3, or a list of such arrays; for torch a view [C, H, W] of the same memory.

    Raises:
        DecodeError: As :func:`decode_jpeg`, of the first file that fails; an unknown format raises UnsupportedImage.
        BackendError: The library that reads the format is not installed.

    Example:
        >>> decode_image(b"P6 2 1 255 abcdef").tolist()
        [[[97, 98, 99], [100, 101, 102]]]
    """
    limits = limits_of(max_pixels, max_side, max_bytes, max_memory, max_scans, max_scan_pixels)
    _check.one_of("color", color, COLORS)
    _check.boolean("orient", orient)
    outputs = OutputAllocator(like, pin)
    files, is_list = read_files(data, max_bytes)
    images = decode_any_format(files, color, orient, strict, outputs, limits)
    return images if is_list else images[0]

"""Keyword arguments of the decoders and the encoder, for the overloads of `cuaug.io`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from ..typing import Color, Layout


class FileLimits(TypedDict, total=False):
    """Arguments of `read_header`."""

    max_pixels: int | None
    max_side: int | None
    max_bytes: int | None
    max_scans: int | None
    max_scan_pixels: int | None


class DecodeOptions(FileLimits, total=False):
    """Arguments of `decode_image` that do not determine the type of the result."""

    color: Color
    orient: bool
    strict: bool
    pin: bool
    max_memory: int | None


class CropOptions(DecodeOptions, total=False):
    """Arguments of `decode_and_crop_jpeg` that do not determine the type of the result."""

    scale: float


class JpegOptions(CropOptions, total=False):
    """Arguments of `decode_jpeg` that do not determine the type of the result."""

    size_hint: Sequence[int] | None


class EncodeOptions(TypedDict, total=False):
    """Keyword-only arguments of `encode_jpeg`."""

    progressive: bool
    color: Literal["rgb", "bgr"]
    layout: Layout | None

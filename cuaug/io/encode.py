"""Encoding of JPEG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .. import _check
from .._check import prefix_errors
from .._codecs.encode import SUBSAMPLINGS, encode_jpegs
from ..typing import AnyArray, ChromaSubsampling, Layout

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._codecs.option_types import EncodeOptions

__all__ = ["encode_jpeg"]


@overload
def encode_jpeg(
    images: AnyArray, quality: int = 95, subsampling: ChromaSubsampling = "420", **options: Unpack[EncodeOptions]
) -> Any: ...
@overload
def encode_jpeg(
    images: Sequence[AnyArray],
    quality: int = 95,
    subsampling: ChromaSubsampling = "420",
    **options: Unpack[EncodeOptions],
) -> list[bytes]: ...
@prefix_errors
def encode_jpeg(
    images: Any,
    quality: int = 95,
    subsampling: ChromaSubsampling = "420",
    *,
    progressive: bool = False,
    color: Literal["rgb", "bgr"] = "rgb",
    layout: Layout | None = None,
) -> Any:
    r"""Write JPEG by libjpeg-turbo.

    Args:
        images: uint8 on the host, 1 or 3 channels; a batch, one image, or a list of images. [N, H, W, C] or [H, W, C],
            for torch [N, C, H, W] or [C, H, W]; a grey image may be [H, W]
        quality: 1 to 100.
        subsampling: Chroma subsampling: "444" keeps all chroma, "422" and "440" a half, "420" and "411" a quarter,
            "gray" none.
        progressive: Write several scans: a smaller file, slower to decode.
        color: Order of three channels.
        layout: Axes, if not the library's usual ones: "NCHW", "NHWC", "CHW", "HWC", "HW".

    Returns:
        bytes; for a batch or a list, a list of bytes.

    Raises:
        TypeError: An argument is of another type, or the images are not uint8 or not on the host.
        ValueError: An argument's value is not as described.

    Example:
        >>> import numpy as np
        >>> encode_jpeg(np.zeros((8, 8, 3), np.uint8), quality=80)[:3]
        b'\xff\xd8\xff'
    """
    quality = _check.integer("quality", quality, 1)
    if quality > 100:
        raise ValueError(f"quality must be in 1..100, got {quality}")
    _check.one_of("subsampling", subsampling, tuple(SUBSAMPLINGS))
    _check.one_of("color", color, ("rgb", "bgr"))
    _check.boolean("progressive", progressive)
    return encode_jpegs(images, quality, subsampling, progressive, color, layout)

"""Types of arguments and results, for annotations and type checkers.

A function from ``Array`` to ``Array`` returns the type of its argument: a tensor for a tensor. Where the dtype may
change, a NumPy array gives ``NumPyArray``, whose dtype is not known. The exception is ``dtype=`` of functions that move
pixels: a type checker sees the dtype of the images.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import torch

__all__ = [
    "AnyArray",
    "Array",
    "AutoAugmentPolicy",
    "Border",
    "BoxFormat",
    "ChromaSubsampling",
    "Color",
    "Convention",
    "DType",
    "DTypeName",
    "Decoder",
    "Device",
    "EncodedImage",
    "EncodedImages",
    "Fill",
    "FillByType",
    "FitKind",
    "HostNumbers",
    "Ids",
    "Interpolation",
    "InterpolationName",
    "Ints",
    "IouKind",
    "LastBatch",
    "Layout",
    "LibraryName",
    "LowerCaseBoxFormat",
    "MaskKind",
    "NmsMethod",
    "NumPyArray",
    "Number",
    "NumberLists",
    "Numbers",
    "OnError",
    "Origin",
    "PerChannel",
    "PerSample",
    "PillowImage",
    "ResizeInterpolation",
    "RoiMode",
    "Size",
    "UprightBoxFormat",
]


class AnyArray(Protocol):
    """An array of torch, CuPy, NumPy, JAX, or of another library with DLPack."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        ...

    @property
    def dtype(self) -> Any:
        """A dtype of the array's library."""
        ...

    def __len__(self) -> int: ...


class PillowImage(Protocol):
    """An image of Pillow (PIL). Type checkers see an image as the result; a result not of uint8 is a NumPy array."""

    @property
    def mode(self) -> str:
        """The kind of pixels, such as "RGB"."""
        ...

    @property
    def size(self) -> tuple[int, int]:
        """(W, H)."""
        ...

    def getbands(self) -> tuple[str, ...]:
        """The names of the channels."""
        ...


Array = TypeVar("Array", bound=AnyArray | PillowImage)
NumPyArray: TypeAlias = npt.NDArray[Any]

Number: TypeAlias = float | np.integer[Any] | np.floating[Any]
NumberLists: TypeAlias = Sequence[Number | AnyArray | Sequence[Number | AnyArray | Sequence[Number]]]
Numbers: TypeAlias = Number | NumberLists | AnyArray  # matrices, points, boxes
HostNumbers: TypeAlias = Number | NumberLists | NumPyArray  # if all arguments are of these, the result is NumPy's
PerSample: TypeAlias = Number | Sequence[Number] | AnyArray  # one for all samples, or one per sample
PerChannel: TypeAlias = float | Sequence[float] | AnyArray  # a transform's parameter: for all channels, or for each
FillByType: TypeAlias = PerChannel | Mapping[Any, PerChannel | None]  # as torchvision's, by type of tv_tensor
Fill: TypeAlias = Numbers | None
Size: TypeAlias = Sequence[int] | int
Ids: TypeAlias = int | Sequence[int] | AnyArray | None

Layout: TypeAlias = Literal["NCHW", "NHWC", "CHW", "HWC", "HW", "NTCHW", "NTHWC"]
Origin: TypeAlias = Literal["center", "corner"]
Border: TypeAlias = Literal["constant", "edge", "reflect", "symmetric", "wrap"]
# The enumerations are torchvision's InterpolationMode and Pillow's Resampling.
Interpolation: TypeAlias = Literal["nearest", "nearest-exact", "bilinear", "bicubic", "lanczos"] | enum.Enum
ResizeInterpolation: TypeAlias = Interpolation | Literal["area"]
InterpolationName: TypeAlias = Literal["nearest", "bilinear", "bicubic", "lanczos", "area"]
Convention: TypeAlias = Literal["cuaug", "opencv", "kornia", "dali", "pillow", "torchvision", "torch"]
FitKind: TypeAlias = Literal["affine", "similarity", "rigid"]

BoxFormat: TypeAlias = Literal["XYXY", "XYWH", "CXCYWH", "XYWHR", "CXCYWHR", "XYXYXYXY"]
UprightBoxFormat: TypeAlias = Literal["xyxy", "xywh", "cxcywh"]  # lower case, as torchvision's
LowerCaseBoxFormat: TypeAlias = UprightBoxFormat | Literal["xywhr", "cxcywhr", "xyxyxyxy"]  # torchvision's
IouKind: TypeAlias = Literal["iou", "giou", "diou", "ciou"]
MaskKind: TypeAlias = Literal["pixels", "grid"]
NmsMethod: TypeAlias = Literal["linear", "gaussian"]
RoiMode: TypeAlias = Literal["avg", "max"]
AutoAugmentPolicy: TypeAlias = Literal["imagenet", "cifar10", "svhn"] | enum.Enum

EncodedImage: TypeAlias = bytes | bytearray | memoryview | str | os.PathLike[str] | AnyArray  # a str is a path
EncodedImages: TypeAlias = list[Any] | tuple[EncodedImage, ...]  # Any, as lists are invariant
Ints: TypeAlias = int | Sequence[int] | AnyArray  # one for all images, or one per image
Device: TypeAlias = "int | str | torch.device | None"
Color: TypeAlias = Literal["rgb", "bgr", "gray"]
ChromaSubsampling: TypeAlias = Literal["444", "422", "420", "440", "411", "gray"]
LibraryName: TypeAlias = Literal["numpy", "torch", "cupy"]
Decoder: TypeAlias = Literal["cpu", "hybrid"]
LastBatch: TypeAlias = Literal["drop", "partial", "pad"]
OnError: TypeAlias = Literal["raise", "skip", "replace"]

DTypeName: TypeAlias = Literal[
    "uint8", "uint16", "int16", "float16", "bfloat16", "float32", "float64", "bool", "int32", "int64"
]


class _DTypeObject(Protocol):
    """``numpy.dtype`` or ``torch.dtype``."""

    @property
    def itemsize(self) -> int: ...


DType: TypeAlias = DTypeName | type | _DTypeObject

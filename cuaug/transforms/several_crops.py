"""Transforms that make several crops of an image, or choose frames of a video."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _check
from .._sizes import square_or_size
from ..typing import Size
from . import functional
from .transform import Transform

__all__ = ["FiveCrop", "TenCrop", "UniformTemporalSubsample"]


class FiveCrop(Transform):
    """Make a tuple of five crops of each image: :func:`cuaug.transforms.functional.five_crop`.

    Masks, boxes and keypoints are refused. Transforms after it get all crops: those of one image share its draws. A
    function (not a :class:`Lambda`, which gets each crop) may stack them at the end of the recipe, as ``torch.stack``.

    Args:
        size: (H, W), or one number for both.
    """

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("images",)
    refused_kinds: ClassVar[tuple[str, ...]] = ("masks", "boxes", "keypoints")
    reads_layout: ClassVar[bool] = True
    makes_crops: ClassVar[bool] = True

    def __init__(self, size: Size) -> None:
        self.size: tuple[int, int] = square_or_size("size", size)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return functional.five_crop(inpt, self.size, layout=params["layout"])


class TenCrop(Transform):
    """Make a tuple of the crops of :class:`FiveCrop`, and of those of the mirrored image.

    Args:
        size: (H, W), or one number for both.
        vertical_flip: Mirror top and bottom instead of left and right.
    """

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("images",)
    refused_kinds: ClassVar[tuple[str, ...]] = ("masks", "boxes", "keypoints")
    reads_layout: ClassVar[bool] = True
    makes_crops: ClassVar[bool] = True

    def __init__(self, size: Size, vertical_flip: bool = False) -> None:
        self.size: tuple[int, int] = square_or_size("size", size)
        self.vertical_flip: bool = _check.boolean("vertical_flip", vertical_flip)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return functional.ten_crop(inpt, self.size, self.vertical_flip, layout=params["layout"])


class UniformTemporalSubsample(Transform):
    """Keep frames at equal distances: :func:`cuaug.transforms.functional.uniform_temporal_subsample`.

    An array of four axes is one video, whose frames are along the first axis; for other transforms it is a batch.
    Masks, boxes and keypoints are refused.

    Args:
        num_samples: The number of frames.
    """

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("images",)
    refused_kinds: ClassVar[tuple[str, ...]] = ("masks", "boxes", "keypoints")

    def __init__(self, num_samples: int) -> None:
        self.num_samples: int = _check.integer("num_samples", num_samples, 1)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return functional.uniform_temporal_subsample(inpt, self.num_samples)

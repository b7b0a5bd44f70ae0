"""Transforms that convert images: to another library's type, to another dtype, and grey to RGB."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _check
from .._arrays.convert import dtype_name
from .._arrays.pillow_library import PILLOW
from .._arrays.registry import library_of
from .._arrays.tv_tensors import as_tv_tensor, is_video, without_type
from .._fusion.recipe import Recipe
from .._program.dtypes import IMAGE_DTYPES
from ..typing import DType
from . import functional
from .color import ToDtype
from .functional.conversion import PILLOW_MODES
from .transform import Transform

__all__ = ["RGB", "ConvertImageDtype", "PILToTensor", "ToImage", "ToPILImage", "ToPureTensor", "ToTensor"]


class ConvertImageDtype(ToDtype):
    """Convert to another dtype, and map 0..max of one to 0..max of the other: ``ToDtype(dtype, scale=True)``."""

    def __init__(self, dtype: DType = "float32") -> None:
        _check.one_of("dtype", dtype_name(dtype), IMAGE_DTYPES)
        super().__init__(dtype, scale=True)


class RGB(Transform):
    """Give grey images, also images [H, W], three equal channels; images of three channels stay as they are."""

    def __init__(self) -> None:
        pass

    def write(self, recipe: Recipe) -> None:
        _check.channels(recipe.channels, 1, 3)
        if recipe.channels == 1:
            recipe.add_grayscale(3)


class ToImage(Transform):
    """Convert images to torchvision's ``Image``: :func:`cuaug.transforms.functional.to_image`. Needs torchvision.

    A mask that is an image of Pillow becomes a ``Mask`` of its labels, [1, H, W]; other masks, and torchvision's
    ``Video``, stay as they are.
    """

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("images", "masks")
    sets_layout: ClassVar[bool] = True

    def __init__(self) -> None:
        pass

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if params["kind"] == "images":
            return inpt if is_video(inpt) else functional.to_image(inpt)
        return as_tv_tensor("Mask", functional.pil_to_tensor(inpt)) if library_of(type(inpt)) is PILLOW else inpt


class PILToTensor(Transform):
    """Convert images of Pillow to tensors: :func:`cuaug.transforms.functional.pil_to_tensor`. Needs torch."""

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("images", "masks")
    sets_layout: ClassVar[bool] = True

    def __init__(self) -> None:
        pass

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return functional.pil_to_tensor(inpt) if library_of(type(inpt)) is PILLOW else inpt


class ToTensor(Transform):
    """Convert images of Pillow and arrays to tensors, uint8 scaled to 0..1, as
    :func:`cuaug.transforms.functional.to_tensor`.

    As in torchvision, tensors stay as they are, and batches of arrays are refused. Boxes, keypoints and labels stay,
    too. A mask that is an image of Pillow becomes a tensor of its labels, [1, H, W], which are not scaled. Needs torch.
    """

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("images", "masks")
    sets_layout: ClassVar[bool] = True

    def __init__(self) -> None:
        pass

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        library = library_of(type(inpt))
        if params["kind"] == "masks":
            return functional.pil_to_tensor(inpt) if library is PILLOW else inpt
        return inpt if library is not None and library.channels_first else functional.to_tensor(inpt)


class ToPILImage(Transform):
    """Convert images to those of Pillow: :func:`cuaug.transforms.functional.to_pil_image`. Waits for the device."""

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("images",)
    sets_layout: ClassVar[bool] = True

    def __init__(self, mode: str | None = None) -> None:
        if mode is not None:
            _check.one_of("mode", mode, PILLOW_MODES)
        self.mode: str | None = mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt if library_of(type(inpt)) is PILLOW else functional.to_pil_image(inpt, self.mode)


class ToPureTensor(Transform):
    """Convert tv_tensors to torch tensors; other values stay as they are."""

    def __init__(self) -> None:
        pass

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return without_type(inpt)

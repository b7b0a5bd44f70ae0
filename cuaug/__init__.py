"""cuaug: batched image augmentation that runs where the batch already is."""

import importlib
from types import ModuleType

from ._check import BackendError, DecodeError, ImageTooLarge, UnsupportedImage
from ._gpu.cupy_import import is_available
from ._host.extension import set_num_threads
from ._info import info
from ._warmup import warmup
from .color import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    autocontrast,
    color_matrix,
    equalize,
    erase,
    gaussian_noise,
    invert,
    lut,
    normalize,
    posterize,
    rgb_to_grayscale,
    solarize,
    to_dtype,
)
from .crop_resize import center_crop, crop, hflip, pad, resize, resized_crop, vflip
from .filter import adjust_sharpness, gaussian_blur
from .fit import estimate_affine, get_affine_transform, get_perspective_transform
from .geometry import (
    affine_matrix,
    compose_affine,
    convert_matrix,
    get_rotation_matrix,
    invert_affine,
    transform_boxes,
    transform_points,
)
from .mix import cutmix, mix_labels, mixup
from .ops import (
    batched_nms,
    box_area,
    box_convert,
    box_iou,
    clip_boxes,
    nms,
    remove_small_boxes,
    roi_align,
    roi_pool,
    soft_nms,
)
from .show import grid, show
from .warp import affine, elastic, perspective, remap, rotate, warp_affine, warp_perspective

__all__ = [
    "BackendError",
    "DecodeError",
    "ImageTooLarge",
    "UnsupportedImage",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "affine",
    "affine_matrix",
    "autocontrast",
    "batched_nms",
    "box_area",
    "box_convert",
    "box_iou",
    "center_crop",
    "clip_boxes",
    "color_matrix",
    "compose_affine",
    "convert_matrix",
    "crop",
    "cutmix",
    "elastic",
    "equalize",
    "erase",
    "estimate_affine",
    "gaussian_blur",
    "gaussian_noise",
    "get_affine_transform",
    "get_perspective_transform",
    "get_rotation_matrix",
    "grid",
    "hflip",
    "info",
    "invert",
    "invert_affine",
    "is_available",
    "lut",
    "mix_labels",
    "mixup",
    "nms",
    "normalize",
    "pad",
    "perspective",
    "posterize",
    "remap",
    "remove_small_boxes",
    "resize",
    "resized_crop",
    "rgb_to_grayscale",
    "roi_align",
    "roi_pool",
    "rotate",
    "set_num_threads",
    "show",
    "soft_nms",
    "solarize",
    "to_dtype",
    "transform_boxes",
    "transform_points",
    "vflip",
    "warmup",
    "warp_affine",
    "warp_perspective",
]


def __getattr__(name: str) -> ModuleType | str:
    """Parts of the package that are imported, and the version that is looked up, when they are first used."""
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("cuaug")  # type: ignore[no-any-return]
    if name in ("data", "io", "transforms"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""cuaug: batched image augmentation that runs where the batch already is."""

from ._check import BackendError, DecodeError, ImageTooLarge, UnsupportedImage
from ._cpu import set_num_threads
from ._cuda import is_available, warmup
from ._info import info
from .geometry import (
    affine_matrix,
    compose_affine,
    convert_matrix,
    estimate_affine,
    get_affine_transform,
    get_perspective_transform,
    get_rotation_matrix,
    invert_affine,
    transform_boxes,
    transform_points,
)
from .show import grid, show
from .warp import (
    affine,
    center_crop,
    crop,
    elastic,
    hflip,
    pad,
    perspective,
    remap,
    resize,
    resized_crop,
    rotate,
    vflip,
    warp_affine,
    warp_perspective,
)

__all__ = [
    "BackendError",
    "DecodeError",
    "ImageTooLarge",
    "UnsupportedImage",
    "affine",
    "affine_matrix",
    "center_crop",
    "compose_affine",
    "convert_matrix",
    "crop",
    "elastic",
    "estimate_affine",
    "get_affine_transform",
    "get_perspective_transform",
    "get_rotation_matrix",
    "grid",
    "hflip",
    "info",
    "invert_affine",
    "is_available",
    "pad",
    "perspective",
    "remap",
    "resize",
    "resized_crop",
    "rotate",
    "set_num_threads",
    "show",
    "transform_boxes",
    "transform_points",
    "vflip",
    "warmup",
    "warp_affine",
    "warp_perspective",
]

"""Types of the functions, for mypy and pyright; not run. A wrong call is an error that each checker must report."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import numpy.typing as npt
import torch
from PIL.Image import Image
from typing_extensions import assert_type

import cuaug
from cuaug.transforms import functional as F

IDENTITY = [[1, 0, 0], [0, 1, 0]]


def same_library(tensor: torch.Tensor, levels: npt.NDArray[np.uint8], array: jax.Array) -> None:
    assert_type(cuaug.warp_affine(tensor, IDENTITY, (8, 8), border="edge"), torch.Tensor)
    assert_type(cuaug.warp_affine(levels, np.eye(3), layout="HWC", origin="corner"), npt.NDArray[np.uint8])
    assert_type(cuaug.resize(tensor, 8, "area"), torch.Tensor)
    assert_type(cuaug.hflip(array, flip=[True, False]), jax.Array)
    assert_type(cuaug.adjust_brightness(levels, 1.5), npt.NDArray[np.uint8])
    assert_type(cuaug.adjust_brightness(tensor, torch.ones(4), out=tensor), torch.Tensor)
    assert_type(cuaug.gaussian_noise(tensor, sigma=0.1, ids=[3, 5]), torch.Tensor)
    assert_type(cuaug.mixup(tensor, [0.5, 0.25]), torch.Tensor)


def images_of_pillow(photo: Image) -> None:
    assert_type(cuaug.resize(photo, 224), Image)
    assert_type(cuaug.rotate(photo, 30, "bilinear"), Image)
    assert_type(cuaug.adjust_brightness(photo, 1.5), Image)
    assert_type(cuaug.gaussian_blur(photo, 3), Image)
    assert_type(cuaug.to_dtype(photo, "float32", scale=True), Any)  # an array: Pillow has no such mode
    assert_type(cuaug.normalize(photo, 0.5, 0.2), Any)


def functional(tensor: torch.Tensor, levels: npt.NDArray[np.uint8], photo: Image) -> None:
    assert_type(F.horizontal_flip(tensor), torch.Tensor)
    assert_type(F.rotate(photo, 30, "bilinear", expand=True), Image)
    assert_type(F.resize(levels, [8, 9], antialias=False, layout="HWC"), npt.NDArray[np.uint8])
    assert_type(F.five_crop(tensor, 8)[0], torch.Tensor)
    assert_type(F.normalize(levels, [0.5], [0.2]), npt.NDArray[Any])
    assert_type(F.to_dtype(tensor, torch.float32, scale=True), torch.Tensor)
    assert_type(F.get_size(photo), list[int])
    assert_type(F.convert_bounding_box_format(tensor, "XYXY", "CXCYWH"), torch.Tensor)
    assert_type(F.sanitize_keypoints(tensor, (8, 9))[0], torch.Tensor)
    assert_type(cuaug.transforms.functional.hflip(tensor), torch.Tensor)
    F.resize_mask(tensor, 8)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def other_dtype(tensor: torch.Tensor, levels: npt.NDArray[np.uint8]) -> None:
    assert_type(cuaug.to_dtype(levels, "float32", scale=True), npt.NDArray[Any])
    assert_type(cuaug.to_dtype(tensor, torch.float16), torch.Tensor)
    assert_type(cuaug.normalize(levels, 0.5, [0.1, 0.2, 0.3], dtype=np.float32), npt.NDArray[Any])
    assert_type(cuaug.normalize(tensor, torch.zeros(3), 1.0), torch.Tensor)
    assert_type(cuaug.mix_labels(levels, 0.5, num_classes=3), npt.NDArray[np.float32])


def matrices(tensor: torch.Tensor, numbers: npt.NDArray[np.int64]) -> None:
    assert_type(cuaug.invert_affine([(1, 0, 5), (0, 1, 0)]), npt.NDArray[Any])
    assert_type(cuaug.invert_affine(numbers), npt.NDArray[Any])
    assert_type(cuaug.invert_affine(tensor), torch.Tensor)
    assert_type(cuaug.estimate_affine(tensor, [(0, 0), (1, 0), (1, 1)], "rigid"), torch.Tensor)
    assert_type(cuaug.estimate_affine(numbers, numbers), npt.NDArray[Any])
    assert_type(cuaug.get_rotation_matrix(90), npt.NDArray[Any])
    assert_type(cuaug.compose_affine(tensor, IDENTITY), torch.Tensor)
    assert_type(cuaug.transform_boxes(tensor, IDENTITY, "CXCYWH"), torch.Tensor)


def wrong_calls(tensor: torch.Tensor) -> None:
    cuaug.hflip([[1, 2], [3, 4]])  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
    cuaug.adjust_brightness(tensor, "1.5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    cuaug.warp_affine(tensor, IDENTITY, layout="nchw")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    cuaug.warp_affine(tensor, IDENTITY, border="mirror")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    cuaug.warp_affine(tensor, IDENTITY, interpolation=2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    cuaug.to_dtype(tensor, "flaot32")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    print(cuaug.warp_afine)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]

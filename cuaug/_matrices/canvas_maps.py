"""The maps of torchvision's geometric functions: a matrix from the image to the result, and the result's size.

Matrices map source to destination, with pixel centres at integers, unless a function says otherwise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _check, _sizes
from .._arrays import convert
from . import builders, formulas, matrices


class CanvasMap(NamedTuple):
    """A matrix, and the canvas that it leads to."""

    M: Any  # [2 or 3, 3], or one per sample [N, 2 or 3, 3]
    size: tuple[int, int]  # (H, W)


def rotation(size: tuple[int, int], angle: Any, expand: bool, center: Any) -> CanvasMap:
    """The map of `cuaug.rotate` for images of this size."""
    if _check.boolean("expand", expand):
        return _expanded(matrices.rotation_matrix(angle, 1.0, _pixel_center(size, None)), size, angle)
    return CanvasMap(matrices.rotation_matrix(angle, 1.0, _pixel_center(size, center)), size)


def _expanded(M: Any, size: tuple[int, int], angle: Any) -> CanvasMap:
    """A rotation about the image's middle, with a canvas that holds the whole image for every angle."""
    if not convert.is_host(angle):
        raise ValueError("angle must be on the host for expand=True: the result's size depends on it")
    sizes = _sizes.rotated_sizes(size, *formulas.cosine_sine(convert.host_array("angle", angle)))
    canvas = sizes.reshape(-1, 2).max(0) if sizes.size else np.array(size)
    # From the middle of the image to the middle of its rotated size, which is placed on whole pixels of the canvas.
    shift = (sizes - size) / 2 + (canvas - sizes) // 2
    M = matrices.composition((M, matrices.affine_matrix(0.0, shift[..., ::-1], 1.0, (0.0, 0.0), (0.0, 0.0))))
    return CanvasMap(M, (int(canvas[0]), int(canvas[1])))


def affine(size: tuple[int, int], angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> CanvasMap:
    """The map of `cuaug.affine` for images of this size."""
    # affine_matrix counts the centre from the image's corner, unlike rotation_matrix.
    center = [size[1] / 2, size[0] / 2] if center is None else center
    return CanvasMap(matrices.affine_matrix(angle, translate, scale, _shear_pair(shear), center), size)


def perspective_matrix(startpoints: Any, endpoints: Any, coefficients: Any) -> tuple[Any, bool]:
    """The matrix of `cuaug.perspective`, from the image's corner, and whether it maps destination to source."""
    if coefficients is not None:
        if startpoints is not None or endpoints is not None:
            raise ValueError("coefficients must be None beside startpoints or endpoints, got both")
        if isinstance(coefficients, (list, tuple)):
            coefficients = convert.host_array("coefficients", coefficients)
        if (shape := np.shape(coefficients))[-1:] != (8,) or len(shape) > 2:
            raise ValueError(f"coefficients must have shape (8,) or (N, 8), got {shape}")
        return builders.PERSPECTIVE_COEFFICIENTS(coefficients=coefficients), True
    if startpoints is None and endpoints is None:
        raise ValueError("startpoints and endpoints, or coefficients, must be given, got None for all three")
    return builders.PERSPECTIVE_TRANSFORM(startpoints=startpoints, endpoints=endpoints), False


def perspective(size: tuple[int, int], startpoints: Any, endpoints: Any, coefficients: Any) -> CanvasMap:
    """The map of `cuaug.perspective` for images of this size."""
    M, is_inverse = perspective_matrix(startpoints, endpoints, coefficients)
    M = builders.INVERSE(M=M) if is_inverse else M
    return CanvasMap(matrices.composition((_shift(0.5), M, _shift(-0.5))), size)


def along_axes(x: tuple[Any, Any], y: tuple[Any, Any], size: tuple[int, int]) -> CanvasMap:
    """The map to ``factor * source + offset`` on each axis. `x`, `y`: (factor, offset), one or one per sample."""
    entries = [convert.parameter_column("scale and shift", value) for value in (x[0], 0, x[1], 0, y[0], y[1])]
    columns = np.array(entries) if all(isinstance(e, float) for e in entries) else convert.stack_columns(entries)
    return CanvasMap(columns.reshape((*columns.shape[:-1], 2, 3)), size)


def _shift(offset: float) -> list[list[float]]:
    return [[1.0, 0.0, offset], [0.0, 1.0, offset], [0.0, 0.0, 1.0]]


def _pixel_center(size: tuple[int, int], center: Any) -> Any:
    """The centre with pixel centres at integers. `center` counts from the image's corner; None: the middle."""
    if center is None:
        return [(size[1] - 1) / 2, (size[0] - 1) / 2]
    return center - 0.5 if hasattr(center, "dtype") else (convert.host_array("center", center) - 0.5).tolist()


def _shear_pair(shear: Any) -> Any:
    """As in torchvision: [s] is (s, s), but a number s is (s, 0)."""
    if isinstance(shear, (list, tuple)) and len(shear) == 1:
        return shear[0], shear[0]
    if isinstance(shear, (int, float, np.number)):
        return shear, 0.0
    if getattr(shear, "shape", None) == ():
        return convert.stack_columns([convert.parameter_column("shear", shear), 0.0])
    return shear

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
    """`cuaug.rotate` of images of this size."""
    expand = _check.boolean("expand", expand)
    center = None if expand else center
    middle = _center(size, center)
    # `_center` counts from the image's corner; `rotation_matrix` expects pixel centres at integers.
    if center is None:
        middle = [coordinate - 0.5 for coordinate in middle]
    else:
        middle = middle - 0.5 if hasattr(middle, "dtype") else (convert.host_array("center", middle) - 0.5).tolist()
    M = matrices.rotation_matrix(angle, 1.0, middle)
    if not expand:
        return CanvasMap(M, size)
    if not convert.is_host(angle):
        raise ValueError("angle must be on the host for expand=True: the result's size depends on it")
    sizes = _sizes.rotated_sizes(size, *formulas.cosine_sine(convert.host_array("angle", angle)))
    canvas = sizes.reshape(-1, 2).max(0) if sizes.size else np.array(size)
    # From the middle of the image to the middle of its rotated size, which is placed on whole pixels of the canvas.
    shift = (sizes - size) / 2 + (canvas - sizes) // 2
    M = matrices.composition((M, matrices.affine_matrix(0.0, shift[..., ::-1], 1.0, (0.0, 0.0), (0.0, 0.0))))
    return CanvasMap(M, (int(canvas[0]), int(canvas[1])))


def affine(size: tuple[int, int], angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> CanvasMap:
    """`cuaug.affine` of images of this size."""
    if isinstance(shear, (list, tuple)) and len(shear) == 1:  # a list of torchvision, where a number is x alone
        shear = (shear[0], shear[0])
    shear = (shear, 0.0) if isinstance(shear, (int, float, np.number)) else shear
    return CanvasMap(matrices.affine_matrix(angle, translate, scale, shear, _center(size, center)), size)


def perspective_matrix(startpoints: Any, endpoints: Any, coefficients: Any) -> tuple[Any, bool]:
    """The matrix of `cuaug.perspective`, from the image's corner, and whether it maps destination to source."""
    if coefficients is not None:
        if startpoints is not None or endpoints is not None:
            raise ValueError("coefficients must be None beside startpoints or endpoints, got both")
        if (shape := np.shape(coefficients))[-1:] != (8,) or len(shape) > 2:
            raise ValueError(f"coefficients must have shape (8,) or (N, 8), got {shape}")
        return builders.PERSPECTIVE_COEFFICIENTS(coefficients=coefficients), True
    if startpoints is None and endpoints is None:
        raise ValueError("startpoints and endpoints, or coefficients, must be given, got None for all three")
    return builders.PERSPECTIVE_TRANSFORM(startpoints=startpoints, endpoints=endpoints), False


def perspective(size: tuple[int, int], startpoints: Any, endpoints: Any, coefficients: Any) -> CanvasMap:
    """`cuaug.perspective` of images of this size."""
    M, is_inverse = perspective_matrix(startpoints, endpoints, coefficients)
    M = builders.INVERSE(M=M) if is_inverse else M
    return CanvasMap(matrices.composition((_shift(0.5), M, _shift(-0.5))), size)


def along_axes(x: tuple[Any, Any], y: tuple[Any, Any], size: tuple[int, int]) -> CanvasMap:
    """The map to ``factor * source + offset`` on each axis. `x`, `y`: (factor, offset), one or one per sample."""
    entries = [convert.parameter_column("a parameter", value) for value in (x[0], 0, x[1], 0, y[0], y[1])]
    columns = np.array(entries) if all(isinstance(e, float) for e in entries) else convert.stack_columns(entries)
    return CanvasMap(columns.reshape((*columns.shape[:-1], 2, 3)), size)


def _shift(offset: float) -> list[list[float]]:
    return [[1.0, 0.0, offset], [0.0, 1.0, offset], [0.0, 0.0, 1.0]]


def _center(size: tuple[int, int], center: Any) -> Any:
    """`center` or the image's middle, from the top left corner."""
    middle = [size[1] / 2, size[0] / 2]
    return middle if center is None else list(center) if isinstance(center, tuple) else center

"""The warp family: every function that moves pixels.

Each builds a geometry, from destination pixels to source pixels, and hands it to one pass; parameters may be one value
or one per sample, on the host or on the images' device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _array, _check, _parameters, _pass, geometry
from ._check import public
from ._images import Images
from ._images import images as describe

_Size = Sequence[int] | int


@public
def warp_affine(
    images: Any,
    M: Any,
    size: Sequence[int] | None = None,
    *,
    interpolation: str = "bilinear",
    border: str = "constant",
    fill: Any = 0,
    inverse: bool = False,
    origin: str = "center",
    layout: str | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Move pixels by an affine map, one matrix per sample or one for all, as ``cv2.warpAffine``.

    Args:
        images: torch, cupy, numpy or jax. [N, C, H, W], [N, H, W, C] or without N
        M: Source to destination, in pixels (x, y). [2, 3], [3, 3], [N, 2, 3] or [N, 3, 3]
        size: (H, W) of the result; default: that of ``images``.
        interpolation: "nearest", "bilinear", "bicubic" or "lanczos".
        border: "constant" (``fill``), "edge", "reflect", "symmetric" or "wrap".
        fill: A number, one per channel [C], or one per sample and channel [N, C].
        inverse: ``M`` maps destination to source.
        origin: "center": pixel centres at integers; "corner": at +0.5.
        layout: Names the axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.
        dtype: Of the result; values are not scaled. Default: that of ``images``.
        out: The array to write, in the result's shape and dtype.

    Returns:
        A new array of the same library, device and layout, or ``out``. A singular ``M`` on a device gives ``fill``.

    Raises:
        ValueError: A host ``M`` is not finite or not invertible; shapes or options that do not fit.
        TypeError: A dtype, a library or a device that is not supported.

    >>> import numpy as np
    >>> warp_affine(np.array([[1, 2, 3]], np.uint8), [[1, 0, 1], [0, 1, 0]])  # one pixel to the right
    array([[0, 1, 2]], dtype=uint8)
    """
    return _warp_matrix(2, images, M, size, interpolation, border, fill, inverse, origin, layout, dtype, out)


@public
def warp_perspective(
    images: Any,
    M: Any,
    size: Sequence[int] | None = None,
    *,
    interpolation: str = "bilinear",
    border: str = "constant",
    fill: Any = 0,
    inverse: bool = False,
    origin: str = "center",
    layout: str | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Move pixels by a homography, one matrix per sample or one for all, as ``cv2.warpPerspective``.

    Args:
        M: Source to destination, in pixels (x, y). [3, 3] or [N, 3, 3]

    All other arguments, the result and the errors are those of :func:`warp_affine`. The horizon (w = 0) is ``fill``.

    >>> import numpy as np
    >>> warp_perspective(np.array([[1, 2, 3]], np.uint8), [[1, 0, 1], [0, 1, 0], [0, 0, 1]])
    array([[0, 1, 2]], dtype=uint8)
    """
    return _warp_matrix(3, images, M, size, interpolation, border, fill, inverse, origin, layout, dtype, out)


@public
def remap(
    images: Any,
    map_x: Any,
    map_y: Any,
    *,
    relative: bool = False,
    interpolation: str = "bilinear",
    border: str = "constant",
    fill: Any = 0,
    layout: str | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Take each pixel from where a map says, as ``cv2.remap``; the result has the maps' size.

    Args:
        map_x: The source x of every destination pixel, in pixels; float32 or float64. [H, W] or [N, H, W]
        map_y: The source y. [H, W] or [N, H, W]
        relative: The maps hold displacements: the source is the destination pixel plus the map.

    All other arguments, the result and the errors are those of :func:`warp_affine`. What is not finite gives ``fill``.

    >>> import numpy as np
    >>> x, y = np.array([[2.0, 1.0, 0.0]]), np.zeros((1, 3))
    >>> remap(np.array([[1, 2, 3]], np.uint8), x, y)
    array([[3, 2, 1]], dtype=uint8)
    """
    image = describe(images, layout)
    return _remap(image, map_x, map_y, (1.0, 1.0), relative, interpolation, border, fill, dtype, out)


@public
def elastic(
    images: Any,
    displacement: Any,
    interpolation: str = "bilinear",
    fill: Any = None,
    *,
    border: str = "constant",
    layout: str | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Displace each pixel by a field, as torchvision's ``elastic``; one field per sample is allowed here.

    Args:
        displacement: Where the source lies, relative to the destination: (x, y), 2 for the whole width or height.
            [1 or N, H, W, 2]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> field = np.zeros((1, 1, 4, 2)); field[..., 0] = 2 / 4  # one of four pixels
    >>> elastic(np.array([[1, 2, 3, 4]], np.uint8), field)
    array([[2, 3, 4, 0]], dtype=uint8)
    """
    image = describe(images, layout)
    if tuple(np.shape(displacement))[-3:] != (*image.size, 2):
        raise ValueError(
            f"displacement must have shape (1 or N, {image.size[0]}, {image.size[1]}, 2), "
            f"got {tuple(np.shape(displacement))}"
        )
    field = np.asarray(displacement) if isinstance(displacement, (list, tuple)) else displacement
    height, width = image.size
    return _remap(
        image, field[..., 0], field[..., 1], (width / 2, height / 2), True, interpolation, border, fill, dtype, out
    )


@public
def affine(
    images: Any,
    angle: Any,
    translate: Any,
    scale: Any,
    shear: Any,
    interpolation: str = "nearest",
    fill: Any = None,
    center: Any = None,
    *,
    border: str = "constant",
    layout: str | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Shear, scale, rotate and shift about a point, as torchvision's ``affine``; each parameter may be one per sample.

    Args:
        angle: Degrees, clockwise. [] or [N]
        translate: Pixels (x, y). [2] or [N, 2]
        scale: Greater than 0. [] or [N]
        shear: Degrees (x, y), or x alone. [], [2] or [N, 2]
        center: (x, y) from the image's top left corner, so that W / 2 is the middle. Default: the middle. [2] or [N, 2]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> affine(np.array([[1, 2, 3]], np.uint8), angle=0, translate=(1, 0), scale=1, shear=(0, 0))
    array([[0, 1, 2]], dtype=uint8)
    """
    image = describe(images, layout)
    shear = (shear, 0.0) if isinstance(shear, (int, float)) else shear
    M = geometry.affine_matrix(angle, translate, scale, shear, _center(image, center))
    matrix = _parameters.matrices("angle, translate, scale, shear and center", M, image, 2)
    return _pass.warp(
        image,
        _pass.matrix_geometry(matrix, False, "center"),
        image.size,
        interpolation,
        border,
        fill,
        dtype,
        out,
    )


@public
def rotate(
    images: Any,
    angle: Any,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Any = None,
    fill: Any = None,
    *,
    border: str = "constant",
    layout: str | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Rotate about a point, as torchvision's ``rotate``; one angle per sample is allowed here.

    Args:
        angle: Degrees, counter-clockwise. [] or [N]
        expand: Make the result large enough to hold the whole rotated image, of each sample; needs angles on the host,
            and ignores ``center``.
        center: As in :func:`affine`. [2] or [N, 2]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> rotate(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.uint8), 90)
    array([[3, 6, 9],
           [2, 5, 8],
           [1, 4, 7]], dtype=uint8)
    """
    image = describe(images, layout)
    size, pivot = image.size, _center(image, None if expand else center)
    M = geometry.get_rotation_matrix(
        angle, 1.0, [pivot[0] - 0.5, pivot[1] - 0.5] if isinstance(pivot, list) else pivot - 0.5
    )
    if expand:
        if not _array.is_host(angle):
            raise ValueError("angle must be on the host for expand=True: the result's size depends on it")
        size = _rotated_size(image.size, _array.host("angle", angle))
        M = geometry.compose_affine(M, [[1, 0, (size[1] - image.size[1]) / 2], [0, 1, (size[0] - image.size[0]) / 2]])
    matrix = _parameters.matrices("angle", M, image, 2)
    return _pass.warp(
        image, _pass.matrix_geometry(matrix, False, "center"), size, interpolation, border, fill, dtype, out
    )


@public
def perspective(
    images: Any,
    startpoints: Any,
    endpoints: Any,
    interpolation: str = "bilinear",
    fill: Any = None,
    coefficients: Any = None,
    *,
    border: str = "constant",
    layout: str | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Take four points to four points, as torchvision's ``perspective``; points may be one set per sample.

    Args:
        startpoints: (x, y) from the image's top left corner. [4, 2] or [N, 4, 2]
        endpoints: Where they go. [4, 2] or [N, 4, 2]
        coefficients: In place of the points, which are then None: a .. h of ``x = (a X + b Y + c) / (g X + h Y + 1)``.
            [8] or [N, 8]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> square = [[0, 0], [3, 0], [3, 1], [0, 1]]
    >>> perspective(np.array([[1, 2, 3]], np.uint8), square, [[x + 1, y] for x, y in square])
    array([[0, 1, 2]], dtype=uint8)
    """
    image = describe(images, layout)
    if coefficients is not None:
        if startpoints is not None or endpoints is not None:
            raise ValueError("coefficients must be given without startpoints and endpoints")
        xp = _array.namespace(coefficients)
        values = _array.asarray(coefficients, like=coefficients, dtype="float64")
        if tuple(values.shape)[-1:] != (8,):
            raise ValueError(f"coefficients must have shape (8,) or (N, 8), got {tuple(values.shape)}")
        M, inverse = (
            xp.concatenate([values, xp.ones_like(values[..., :1])], -1).reshape((*values.shape[:-1], 3, 3)),
            True,
        )
    else:
        for name, points in (("startpoints", startpoints), ("endpoints", endpoints)):
            if tuple(np.shape(points))[-2:] != (4, 2):
                raise ValueError(f"{name} must have shape (4, 2) or (N, 4, 2), got {tuple(np.shape(points))}")
        M, inverse = geometry.get_perspective_transform(startpoints, endpoints), False
    matrix = _parameters.matrices("startpoints and endpoints" if coefficients is None else "coefficients", M, image, 3)
    return _pass.warp(
        image,
        _pass.matrix_geometry(matrix, inverse, "corner"),
        image.size,
        interpolation,
        border,
        fill,
        dtype,
        out,
    )


@public
def resize(
    images: Any,
    size: _Size | None,
    interpolation: str = "bilinear",
    max_size: int | None = None,
    antialias: bool = True,
    *,
    layout: str | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Change the size, as torchvision's ``resize`` and Pillow's.

    Args:
        size: (H, W), or the shorter side's length, or None with ``max_size`` for the longer side's.
        interpolation: "nearest", "bilinear", "bicubic", "lanczos", or "area", which is "bilinear" with ``antialias``.
        max_size: The longer side's limit where ``size`` is one number.
        antialias: Widen the filter by the scale, so that every source pixel counts; no matter for "nearest".

    All other arguments, the result and the errors are those of :func:`warp_affine`. "nearest" takes the pixel under the
    centre (Pillow's rule, torchvision's "nearest-exact").

    >>> import numpy as np
    >>> resize(np.array([[0, 2, 4, 6]], np.uint8), (1, 2))
    array([[1, 5]], dtype=uint8)
    """
    image = describe(images, layout)
    target = _resized_size(image.size, size, max_size)
    return _resize(image, (0, 0, *image.size), target, interpolation, antialias, dtype, out)


@public
def resized_crop(
    images: Any,
    top: Any,
    left: Any,
    height: Any,
    width: Any,
    size: _Size,
    interpolation: str = "bilinear",
    antialias: bool = True,
    *,
    layout: str | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Cut out a box and resize it, as torchvision's ``resized_crop``; one box per sample is allowed here.

    Args:
        top: First row of the box, in pixels. What lies outside the image is 0; a box that reaches more than 65536
            pixels beyond it, or on the device is empty or not finite, gives 0 alone. [] or [N]
        left: First column. [] or [N]
        height: Rows of the box. [] or [N]
        width: Columns of the box. [] or [N]
        size: (H, W) of the result, or one number for both.

    ``interpolation`` and ``antialias`` are those of :func:`resize`. All other arguments, the result and the errors are
    those of :func:`warp_affine`.

    >>> import numpy as np
    >>> resized_crop(np.array([[9, 0, 2, 4, 6]], np.uint8), 0, 1, 1, 4, (1, 2))
    array([[1, 5]], dtype=uint8)
    """
    image = describe(images, layout)
    target = (size, size) if isinstance(size, int) else size
    return _resize(image, (top, left, height, width), _check.size("size", target), interpolation, antialias, dtype, out)


@public
def crop(
    images: Any,
    top: Any,
    left: Any,
    height: int,
    width: int,
    *,
    fill: Any = 0,
    layout: str | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Cut out a box, as torchvision's ``crop``; one position per sample is allowed here.

    Args:
        top: First row of the box, in pixels. What lies outside the image is ``fill``. [] or [N]
        left: First column. [] or [N]
        height: Rows of the box.
        width: Columns of the box.

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> crop(np.array([[1, 2, 3]], np.uint8), 0, 1, 1, 3)
    array([[2, 3, 0]], dtype=uint8)
    """
    image = describe(images, layout)
    return _move(
        image,
        "top and left",
        _check.size("(height, width)", (height, width)),
        (1, left),
        (1, top),
        "constant",
        fill,
        dtype,
        out,
    )


@public
def center_crop(
    images: Any, output_size: _Size, *, fill: Any = 0, layout: str | None = None, dtype: Any = None, out: Any = None
) -> Any:
    """Cut out the middle, as torchvision's ``center_crop``; a larger size pads with ``fill``.

    Args:
        output_size: (H, W), or one number for both.

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> center_crop(np.array([[1, 2, 3]], np.uint8), 1)
    array([[2]], dtype=uint8)
    """
    image = describe(images, layout)
    height, width = _check.size(
        "output_size", (output_size, output_size) if isinstance(output_size, int) else output_size
    )
    # torchvision's rounding: a crop's offset to even, a pad's first side down.
    top, left = (
        round((have - want) / 2.0) if want <= have else -((want - have) // 2)
        for have, want in zip(image.size, (height, width), strict=True)
    )
    return _move(image, "output_size", (height, width), (1, left), (1, top), "constant", fill, dtype, out)


@public
def pad(
    images: Any,
    padding: Sequence[int] | int,
    fill: Any = None,
    padding_mode: str = "constant",
    *,
    layout: str | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """Add pixels around, as torchvision's ``pad``; negative numbers take pixels away.

    Args:
        padding: For all sides, for (left and right, top and bottom), or for (left, top, right, bottom).
        padding_mode: A border of :func:`warp_affine`.

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> pad(np.array([[1, 2, 3]], np.uint8), (1, 0), padding_mode="edge")
    array([[1, 1, 2, 3, 3]], dtype=uint8)
    """
    image = describe(images, layout)
    sides = [padding] if isinstance(padding, int) else list(padding)
    if len(sides) not in (1, 2, 4):
        raise ValueError(f"padding must be one, two or four ints, got {padding!r}")
    left, top, right, bottom = (_check.whole("padding", side, -(1 << 30)) for side in sides * (4 // len(sides)))
    size = _check.size("the padded size", (image.size[0] + top + bottom, image.size[1] + left + right))
    _check.one_of("padding_mode", padding_mode, _check.BORDERS)
    return _move(image, "padding", size, (1, -left), (1, -top), padding_mode, fill, dtype, out)


@public
def hflip(images: Any, flip: Any = True, *, layout: str | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Mirror left and right, as torchvision's ``horizontal_flip``; one choice per sample is allowed here.

    Args:
        flip: Whether to. [] or [N]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> hflip(np.array([[1, 2, 3]], np.uint8))
    array([[3, 2, 1]], dtype=uint8)
    """
    image = describe(images, layout)
    return _move(image, "flip", image.size, _mirror(flip, image.size[1]), (1, 0), "constant", 0, dtype, out)


@public
def vflip(images: Any, flip: Any = True, *, layout: str | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Mirror top and bottom, as torchvision's ``vertical_flip``; one choice per sample is allowed here.

    Args:
        flip: Whether to. [] or [N]

    All other arguments, the result and the errors are those of :func:`warp_affine`.

    >>> import numpy as np
    >>> vflip(np.array([[1], [2], [3]], np.uint8))
    array([[3],
           [2],
           [1]], dtype=uint8)
    """
    image = describe(images, layout)
    return _move(image, "flip", image.size, (1, 0), _mirror(flip, image.size[0]), "constant", 0, dtype, out)


def _warp_matrix(
    rows: int,
    images: Any,
    M: Any,
    size: Any,
    interpolation: str,
    border: str,
    fill: Any,
    inverse: bool,
    origin: str,
    layout: str | None,
    dtype: Any,
    out: Any,
) -> Any:
    image = describe(images, layout)
    target = image.size if size is None else _check.size("size", size)
    matrix = _parameters.matrices("M", M, image, rows)
    return _pass.warp(
        image, _pass.matrix_geometry(matrix, inverse, origin), target, interpolation, border, fill, dtype, out
    )


def _remap(
    image: Images,
    map_x: Any,
    map_y: Any,
    scale: tuple[float, float],
    relative: bool,
    interpolation: str,
    border: str,
    fill: Any,
    dtype: Any,
    out: Any,
) -> Any:
    (x, size), (y, y_size) = _parameters.maps("map_x", map_x, image), _parameters.maps("map_y", map_y, image)
    if size != y_size:
        raise ValueError(f"map_x and map_y must have the same size, got {size} and {y_size}")
    return _pass.warp(image, _pass.grid_geometry(x, y, scale, relative), size, interpolation, border, fill, dtype, out)


def _move(
    image: Images,
    name: str,
    size: tuple[int, int],
    x: tuple[Any, Any],
    y: tuple[Any, Any],
    border: str,
    fill: Any,
    dtype: Any,
    out: Any,
) -> Any:
    """Whole-pixel moves: the source is ``factor * destination + offset`` on each axis; each may be one per sample."""
    x_factor, x_offset, y_factor, y_offset = (_array.host_or_device(name, value) for value in (*x, *y))
    M = x_factor, 0.0, x_offset, 0.0, y_factor, y_offset
    if all(isinstance(entry, float) for entry in M):
        matrix = _parameters.PerSample(_parameters.NO_TABLE, M)
    else:
        rows = _array.stacked(M)
        matrix = _parameters.matrices(name, rows.reshape((*rows.shape[:-1], 2, 3)), image, 2)
    return _pass.warp(image, _pass.matrix_geometry(matrix, True, "center"), size, "nearest", border, fill, dtype, out)


def _mirror(flip: Any, extent: int) -> tuple[Any, Any]:
    """Factor and offset of an axis that is mirrored where `flip` is true."""
    if isinstance(flip, (bool, int)):
        return (-1, extent - 1) if flip else (1, 0)
    chosen = (
        np.asarray(flip, dtype=bool).astype(float)
        if _array.is_host(flip)
        else _array.asarray(flip, like=flip, dtype="float32")
    )
    return 1.0 - 2.0 * chosen, chosen * (extent - 1.0)


def _resize(
    image: Images,
    box: tuple[Any, Any, Any, Any],
    size: tuple[int, int],
    interpolation: str,
    antialias: bool,
    dtype: Any,
    out: Any,
) -> Any:
    _check.one_of("interpolation", interpolation, _check.INTERPOLATIONS)
    if interpolation == "nearest":
        top, left, height, width = (
            _array.host_or_device(name, value)
            for name, value in zip(("top", "left", "height", "width"), box, strict=True)
        )
        x_scale, y_scale = width / size[1], height / size[0]
        x = (x_scale, left + x_scale * 0.5 - 0.5)
        y = (y_scale, top + y_scale * 0.5 - 0.5)
        return _move(image, "top, left, height and width", size, x, y, "constant", 0, dtype, out)
    return _pass.resample(
        image, _parameters.boxes(box, image), size, interpolation, antialias or interpolation == "area", dtype, out
    )


def _center(image: Images, center: Any) -> Any:
    return (
        [image.size[1] / 2, image.size[0] / 2]
        if center is None
        else list(center)
        if isinstance(center, tuple)
        else center
    )


def _rotated_size(size: tuple[int, int], angle: np.ndarray) -> tuple[int, int]:
    """By torchvision's rule, whole pixels that hold the rotated corners, up to 1e-4 of a pixel."""
    turn = np.deg2rad(np.atleast_1d(angle))
    cosine, sine = np.abs(np.cos(turn)), np.abs(np.sin(turn))
    height, width = size
    sides = []
    for full, reach in ((height, (height * cosine + width * sine) / 2), (width, (width * cosine + height * sine) / 2)):
        high, low = np.round(full / 2 + reach, 4), np.round(full / 2 - reach, 4)
        sides.append(int((np.ceil(high) - np.floor(low)).max()))
    return sides[0], sides[1]


def _resized_size(size: tuple[int, int], wanted: _Size | None, max_size: int | None) -> tuple[int, int]:
    """For one number, torchvision's rule: the shorter side becomes it, the longer follows, rounded down."""
    if max_size is not None:
        _check.whole("max_size", max_size, 1)
    one = wanted if isinstance(wanted, int) else wanted[0] if wanted is not None and len(wanted) == 1 else None
    if wanted is not None and one is None:
        if max_size is not None:
            raise ValueError("max_size must be None where size is (H, W)")
        return _check.size("size", wanted)
    short, long = sorted(size)
    if one is None:
        if max_size is None:
            raise ValueError("size must be given where max_size is None")
        new_short, new_long = max(1, int(max_size * short / long)), max_size
    else:
        new_short = _check.whole("size", one, 1)
        new_long = int(new_short * long / short)
        if max_size is not None:
            if max_size <= new_short:
                raise ValueError(f"max_size must be greater than size, got {max_size} for size {new_short}")
            if new_long > max_size:
                new_short, new_long = max(1, int(max_size * new_short / new_long)), max_size
    return _check.size("size", (new_short, new_long) if size[0] <= size[1] else (new_long, new_short))

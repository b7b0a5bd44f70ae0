"""Maps fitted to points: exactly to three or four points, by least squares to more.

Arguments, results and conventions are those of :mod:`cuaug.geometry`.
"""

from __future__ import annotations

from typing import Any, overload

from . import _check
from ._matrices.builders import FIT, PERSPECTIVE_TRANSFORM, THREE_POINT_FIT
from .typing import Array, FitKind, HostNumbers, NumPyArray

__all__ = ["estimate_affine", "get_affine_transform", "get_perspective_transform"]


@overload
def get_affine_transform(src: HostNumbers, dst: HostNumbers) -> NumPyArray: ...
@overload
def get_affine_transform(src: Array | HostNumbers, dst: Array | HostNumbers) -> Array: ...
@_check.prefix_errors
def get_affine_transform(src: Any, dst: Any) -> Any:
    """The affine map of three points to three points, as ``cv2.getAffineTransform``.

    Args:
        src: Points before, in pixels. [3, 2] or [N, 3, 2]
        dst: Points after, in the same order. [3, 2] or [N, 3, 2]

    Returns:
        ``M`` with ``M @ (x, y, 1) = (x', y')``. [2, 3] or [N, 2, 3]

    Raises:
        ValueError: A shape does not fit; a host value is not finite; ``src`` is collinear.

    >>> print(get_affine_transform([(0, 0), (1, 0), (0, 1)], [(5, 7), (7, 7), (5, 10)]).round(9) + 0)
    [[2. 0. 5.]
     [0. 3. 7.]]
    """
    return THREE_POINT_FIT(src=src, dst=dst)


@overload
def estimate_affine(
    src: HostNumbers, dst: HostNumbers, kind: FitKind = "affine", weights: HostNumbers | None = None
) -> NumPyArray: ...
@overload
def estimate_affine(
    src: Array | HostNumbers,
    dst: Array | HostNumbers,
    kind: FitKind = "affine",
    weights: Array | HostNumbers | None = None,
) -> Array: ...
@_check.prefix_errors
def estimate_affine(src: Any, dst: Any, kind: FitKind = "affine", weights: Any = None) -> Any:
    """The map that minimises ``sum(w * |M @ (x, y, 1) - (x', y')|^2)`` in closed form.

    Args:
        src: At least 3 points for "affine", 2 otherwise, in pixels. [P, 2] or [N, P, 2]
        dst: The points to map them to. [P, 2] or [N, P, 2]
        kind: "affine"; "similarity" (rotation, uniform scale, shift); "rigid" (rotation, shift). The last two never
            reflect (Umeyama 1991).
        weights: At least 0, not all 0; default: equal. [P] or [N, P]

    Returns:
        ``M``. [2, 3] or [N, 2, 3]

    Raises:
        ValueError: Too few points; a host value is not finite; ``src`` is collinear (affine) or coincident where
            weights are not 0; for "rigid", ``dst`` is coincident, or all rotations fit equally well.

    >>> print(estimate_affine([(0, 0), (2, 0), (2, 2)], [(5, 5), (5, 9), (1, 9)], "similarity").round(9) + 0)
    [[ 0. -2.  5.]
     [ 2.  0.  5.]]
    """
    _check.one_of("kind", kind, tuple(FIT))
    points = {"src": src, "dst": dst}
    return FIT[kind](**points) if weights is None else FIT[kind](**points, weights=weights)


@overload
def get_perspective_transform(src: HostNumbers, dst: HostNumbers) -> NumPyArray: ...
@overload
def get_perspective_transform(src: Array | HostNumbers, dst: Array | HostNumbers) -> Array: ...
@_check.prefix_errors
def get_perspective_transform(src: Any, dst: Any) -> Any:
    """The perspective map of four points to four points, as ``cv2.getPerspectiveTransform``.

    Args:
        src: Points before, in pixels. [4, 2] or [N, 4, 2]
        dst: Points after, in the same order. [4, 2] or [N, 4, 2]

    Returns:
        ``M`` with ``M @ (x, y, 1) = w * (x', y', 1)``, divided by its last entry unless that is 0. [3, 3] or [N, 3, 3]

    Raises:
        ValueError: A shape does not fit; a host value is not finite; three points of ``src`` or ``dst`` are collinear.

    Note:
        In float32 the error grows with the distance from the origin: for quads of 40 px at (3000, 3000), 0.02 px is
        usual and 0.2 px possible. Pass float64 points there.

    >>> square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    >>> print(get_perspective_transform(square, [(0, 0), (2, 0), (3, 3), (0, 2)]).round(9) + 0)
    [[ 1.5   0.    0.  ]
     [ 0.    1.5   0.  ]
     [-0.25 -0.25  1.  ]]
    """
    return PERSPECTIVE_TRANSFORM(src=src, dst=dst)

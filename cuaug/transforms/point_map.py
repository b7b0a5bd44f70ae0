"""The matrix of each sample as a map of points, with its horizon, handedness and canvas.

The *horizon* of a perspective (w = 0) is the line of source points that it maps to infinity.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import geometry
from .._arrays import convert, small_matrices
from .._arrays.convert import dtype_name
from .._detection.box_shapes import BoxShape
from .._detection.rotated_boxes import Edges
from .._matrices.formulas import map_points
from .moves import Move

_NARROW_DTYPES = ("uint8", "int8")  # results have the input's dtype, whose largest value is below 256


class PointMap(NamedTuple):
    """The matrices of a batch, source to destination pixels, and the rectangles of `Move`."""

    M: Any  # [N, 3, 3]
    canvas: Edges
    source_box: Edges | None
    is_affine: bool = False  # this and the next as in `Move`
    is_scale_and_shift: bool = False

    def handedness(self) -> Any:
        """Numbers whose sign is negative where the map mirrors: the determinants of affine maps. [N]

        Of a perspective, the third homogeneous coordinate of the canvas's middle, mapped to the source, times the
        determinant: the same for M and for -M.
        """
        if self.is_affine:
            return self.M[:, 0, 0] * self.M[:, 1, 1] - self.M[:, 0, 1] * self.M[:, 1, 0]
        return self._handedness(small_matrices.cofactors(self.M))

    def move_points(self, points: Any) -> Any:
        """Points [N, K, 2] under the maps. [N, K, 2]"""
        return move_points(points, self.M[:, :2] if self.is_affine else self.M)

    def in_front(self, points: Any) -> Any:
        """Whether points [N, K, 2] lie on the side of the horizon that the canvas shows; False for NaN. [N, K]"""
        cofactors = small_matrices.cofactors(self.M)
        visible_side = self._handedness(cofactors) * (self.M[:, 0] * cofactors[:, 0]).sum(-1)
        depth = (self.M[:, None, 2, :2] * points).sum(-1) + self.M[:, 2, 2, None]
        return depth * visible_side[:, None] > 0

    def _handedness(self, cofactors: Any) -> Any:
        left, top, right, bottom = self.canvas
        x, y = (left + right - 1) / 2, (top + bottom - 1) / 2
        middle = cofactors[:, None, 0, 2] * x + cofactors[:, None, 1, 2] * y
        return middle[:, 0] + cofactors[:, 2, 2]


def float_values_and_maps(
    name: str, values: Any, moves: Sequence[Move], entry_samples: np.ndarray | None = None
) -> tuple[Any, list[PointMap]]:
    """The values as float32 or float64, and the map of each move, in the library of the values and on their device.

    If only the matrices are on a GPU, all are in the library of the matrices and on their device.

    Args:
        name: The name of the values in messages.
        values: Per sample [N, K, D]; with `entry_samples`, per entry, a box or a row of keypoints [E, 1, D].
        moves: At least one.
        entry_samples: The sample of each entry. [E]
    """
    check_dtype(name, values.dtype)
    arrays = [values, *(move.matrices for move in moves)]
    like, _ = small_matrices.result_like(arrays)
    dtype = "float64" if any(dtype_name(array.dtype) == "float64" for array in arrays) else "float32"
    maps = []
    for move in moves:
        M = convert.asarray(_take(move.matrices, entry_samples), like=like, dtype=dtype)
        source_box = None if move.source_box is None else _edges(move.source_box, M, entry_samples)
        canvas = _edges(move.canvas, M, entry_samples)
        maps.append(PointMap(M, canvas, source_box, move.is_affine, move.is_scale_and_shift))
    return convert.asarray(values, like=like, dtype=dtype, parameter=name), maps


def check_dtype(name: str, dtype: Any) -> None:
    """Refuse dtypes that are not integers or real floats, and 8-bit integers, in which positions would saturate."""
    if dtype_name(dtype) in _NARROW_DTYPES or not dtype_name(dtype).startswith(("int", "uint", "float", "bfloat")):
        raise TypeError(
            f"{name} must be floats, or integers of 16 bits or more, got {dtype_name(dtype)}: convert them to float32"
        )


def move_points(points: Any, M: Any) -> Any:
    """As `cuaug.transform_points`. [..., P, 2]

    For the few points of a sample on the host, the operations of NumPy take less time than a call of the extension's
    loop, whose arguments must be packed first.
    """
    if _are_in_numpy(points, M):
        with np.errstate(divide="ignore", invalid="ignore"):
            return map_points(points, M)
    return geometry.transform_points(points, M)


def move_boxes(rows: Any, shape: BoxShape, M: Any) -> Any:
    """The tight boxes around moved corners, as rows of `shape`. M: [..., 2, 3] if the maps are affine."""
    if M.shape[-2] == 2 and _are_in_numpy(rows, M):
        with np.errstate(invalid="ignore"):
            return shape.move_affine(rows, M)
    return shape.enclose(move_points(shape.corners(rows), M))


def _are_in_numpy(values: Any, M: Any) -> bool:
    """Whether both are NumPy arrays, and the matrix is float64, in which the extension's loop computes, and finite."""
    is_numpy = type(values) is np.ndarray and type(M) is np.ndarray
    return is_numpy and M.dtype == np.float64 and bool(np.isfinite(M).all())


def _edges(edges: Any, like: Any, entry_samples: np.ndarray | None) -> Edges:
    if isinstance(edges, tuple):
        return edges
    rows = convert.asarray(_take(edges, entry_samples), like=like, dtype=dtype_name(like.dtype))
    return rows[:, :1], rows[:, 1:2], rows[:, 2:3], rows[:, 3:]


def _take(array: Any, indices: np.ndarray | None) -> Any:
    return array if indices is None else array[convert.asarray(indices, like=array, dtype="int64")]


def groups_of_kind(samples: Sequence[Any], moves: Sequence[Move]) -> list[tuple[list[int], Sequence[Move]]]:
    """Groups the samples that can be concatenated: those of one library, dtype and device. Their indices and moves."""
    if len(samples) == 1:
        return [([0], moves)]
    indices_by_kind: dict[Any, list[int]] = {}
    for i, sample in enumerate(samples):
        device = str(getattr(sample, "device", None))  # a CuPy device has no hash
        indices_by_kind.setdefault((type(sample), sample.dtype, device), []).append(i)
    if len(indices_by_kind) == 1:
        return [([*range(len(samples))], moves)]
    return [(indices, [_move_of(move, np.array(indices)) for move in moves]) for indices in indices_by_kind.values()]


def _move_of(move: Move, indices: np.ndarray) -> Move:
    """The move of some of its samples."""

    def taken(edges: Any) -> Any:
        return edges if edges is None or isinstance(edges, tuple) else _take(edges, indices)

    return move._replace(
        matrices=_take(move.matrices, indices), canvas=taken(move.canvas), source_box=taken(move.source_box)
    )


def entries_and_samples(samples: Sequence[Any]) -> tuple[Any, np.ndarray | None]:
    """Samples of several lengths as an array for `float_values_and_maps`, and the sample of each entry.

    One sample [K, ...] becomes a batch of one sample, [1, K, ...]; `None` stands for its indices. Of several samples,
    each entry becomes a sample of its own, [E, 1, ...].
    """
    if len(samples) == 1:
        return samples[0][None], None
    entries = convert.namespace(samples[0]).concatenate(list(samples))[:, None]
    return entries, np.repeat(np.arange(len(samples)), [int(sample.shape[0]) for sample in samples])


def split(concatenated: Any, lengths: Sequence[int]) -> list[Any]:
    """The parts of a concatenation along its first axis."""
    ends = itertools.accumulate(lengths, initial=0)
    return [concatenated[start:end] for start, end in itertools.pairwise(ends)]


def is_integer(dtype: Any) -> bool:
    return "int" in dtype_name(dtype)


def cast_back(values: Any, dtype: Any) -> Any:
    """Values in the dtype of the input. For integers they are rounded half to even, and must not be NaN."""
    name = dtype_name(dtype)
    if is_integer(dtype):
        xp, limits = convert.namespace(values), np.iinfo(name)
        # The sides of an image are below 2**30, which is exact in float32; the largest int64 is not.
        values = xp.clip(xp.round(values), max(limits.min, -(1 << 30)), min(limits.max, 1 << 30))
    return convert.asarray(values, like=values, dtype=name)

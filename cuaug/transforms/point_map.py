"""The matrix of each sample as a map of points, with its horizon and handedness."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays import convert, small_matrices
from .._arrays.convert import dtype_name


class PointMap(NamedTuple):
    """The matrices of a batch, source to destination pixels, and the destination canvas."""

    M: Any  # [N, 3, 3]
    height: Any  # a number, or [N, 1]
    width: Any  # a number, or [N, 1]

    def orientation(self) -> tuple[Any, Any]:
        """Two numbers whose signs matter: handedness, negative for a mirror, and visible side of the horizon. [N]

        The handedness is the third homogeneous coordinate of the canvas's middle, mapped to the source, times the
        determinant. For an affine map it is the determinant; for -M it is the same as for M.
        """
        cofactors = small_matrices.cofactors(self.M)
        middle = cofactors[:, None, 0, 2] * ((self.width - 1) / 2) + cofactors[:, None, 1, 2] * ((self.height - 1) / 2)
        handedness = middle[:, 0] + cofactors[:, 2, 2]
        return handedness, handedness * (self.M[:, 0] * cofactors[:, 0]).sum(-1)

    def in_front(self, points: Any, visible_side: Any) -> Any:
        """Whether points [N, K, 2] lie on the side of the horizon that the canvas shows; False for NaN. [N, K]"""
        depth = (self.M[:, None, 2, :2] * points).sum(-1) + self.M[:, 2, 2, None]
        return depth * visible_side[:, None] > 0


def float_values_and_map(
    name: str, values: Any, matrices: Any, out_size: Any, entry_samples: np.ndarray | None = None
) -> tuple[Any, PointMap]:
    """Values of a float dtype, and the map, in the library of the values and on their device.

    If only the matrices are on a GPU, both are in the library of the matrices and on their device.

    Args:
        name: The name of the values in messages.
        values: Per sample [N, K, C]; with `entry_samples`, per entry [E, 1, C].
        matrices: [N, 3, 3]
        out_size: (H, W), or a list or an array with one per sample. [N, 2]
        entry_samples: The sample of each entry. [E]
    """
    sizes = None if isinstance(out_size, tuple) else np.array(out_size) if isinstance(out_size, list) else out_size
    if entry_samples is not None:
        matrices, sizes = _take(matrices, entry_samples), None if sizes is None else _take(sizes, entry_samples)
    float_values, M = small_matrices.broadcast_arguments(
        (name,), **{name: (values, ((), ())), "M": (matrices, small_matrices.MATRIX)}
    )
    if sizes is None:
        return float_values, PointMap(M, *out_size)
    sizes = convert.asarray(sizes, like=M, dtype=dtype_name(M.dtype))
    return float_values, PointMap(M, sizes[:, :1], sizes[:, 1:])


def _take(array: Any, indices: np.ndarray) -> Any:
    return array[convert.asarray(indices, like=array, dtype="int64")]


def sample_indices(lengths: Sequence[int]) -> np.ndarray:
    """The sample of each entry of a concatenation of samples with these lengths."""
    return np.repeat(np.arange(len(lengths)), lengths)


def split(concatenated: Any, lengths: Sequence[int]) -> list[Any]:
    """The parts of a concatenation along its first axis."""
    ends = np.cumsum([0, *lengths]).tolist()
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

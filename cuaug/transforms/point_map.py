"""Where each sample's pixels went, as points see it: what lies in front of the horizon, and who was mirrored."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays import convert
from .._arrays import small_matrices as _matrices
from .._arrays.convert import dtype_name


class Map(NamedTuple):
    """The matrices of a batch, source to destination pixels, and the canvas they lead to."""

    M: Any  # [N, 3, 3]
    height: Any  # a number, or [N, 1]
    width: Any  # a number, or [N, 1]

    def orientation(self) -> tuple[Any, Any]:
        """Two numbers whose signs count: that of a map which mirrors is negative; that of the depth in sight. [N]

        The first is the middle of the canvas carried back to the source, its third coordinate times the determinant:
        for an affine map the determinant itself, and for -M what it is for M.
        """
        signed = _matrices.cofactors(self.M)
        back = signed[:, None, 0, 2] * ((self.width - 1) / 2) + signed[:, None, 1, 2] * ((self.height - 1) / 2)
        mirror = back[:, 0] + signed[:, 2, 2]
        return mirror, mirror * (self.M[:, 0] * signed[:, 0]).sum(-1)

    def in_front(self, points: Any, side: Any) -> Any:
        """Whether points [N, K, 2] lie on that side of the horizon which the canvas shows; NaN does not. [N, K]"""
        depth = (self.M[:, None, 2, :2] * points).sum(-1) + self.M[:, 2, 2, None]
        return depth * side[:, None] > 0


def load(name: str, values: Any, matrices: Any, out_size: Any, owners: np.ndarray | None = None) -> tuple[Any, Map]:
    """Values and map in one library, on one device: the values' own, but a device's where only the matrices are on one.

    Args:
        name: What messages call the values.
        values: Per sample [N, K, C]; with `owners`, per entry [T, 1, C].
        matrices: [N, 3, 3]
        out_size: (H, W), or a list or an array with one per sample. [N, 2]
        owners: The sample of each entry. [T]
    """
    sizes = None if isinstance(out_size, tuple) else np.array(out_size) if isinstance(out_size, list) else out_size
    if owners is not None:
        matrices, sizes = _taken(matrices, owners), None if sizes is None else _taken(sizes, owners)
    loaded, M = _matrices.broadcast_arguments((name,), **{name: (values, ((), ())), "M": (matrices, _matrices.MATRIX)})
    if sizes is None:
        return loaded, Map(M, *out_size)
    sizes = convert.asarray(sizes, like=M, dtype=dtype_name(M.dtype))
    return loaded, Map(M, sizes[:, :1], sizes[:, 1:])


def _taken(array: Any, owners: np.ndarray) -> Any:
    return array[convert.asarray(owners, like=array, dtype="int64")]


def owners(lengths: Sequence[int]) -> np.ndarray:
    """The sample of each entry of a concatenation, from lengths that the host knows."""
    return np.repeat(np.arange(len(lengths)), lengths)


def split(together: Any, lengths: Sequence[int]) -> list[Any]:
    """A concatenation, taken apart again along its first axis."""
    ends = np.cumsum([0, *lengths]).tolist()
    return [together[start:end] for start, end in itertools.pairwise(ends)]


def is_whole(dtype: Any) -> bool:
    return "int" in dtype_name(dtype)


def restored(values: Any, dtype: Any) -> Any:
    """Values in the dtype they came in; integers are rounded, half to even, and must not be NaN."""
    name = dtype_name(dtype)
    if is_whole(dtype):
        xp, limits = convert.namespace(values), np.iinfo(name)
        # 2**30 is the farthest coordinate here, and float32 holds it.
        values = xp.clip(xp.round(values), max(limits.min, -(1 << 30)), min(limits.max, 1 << 30))
    return convert.asarray(values, like=values, dtype=name)

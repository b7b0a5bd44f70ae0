"""The moves of targets: matrices from one canvas of a recipe to the next. Objects outside of a canvas are lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays import convert, small_matrices
from .._fusion.recipe_ops import Column
from .host_targets import numpy_view
from .params import Params, table_array

_UNBOUNDED = (-(2.0**30), -(2.0**30), 2.0**30, 2.0**30)  # contains every canvas: images have sides below 2**30


class Move(NamedTuple):
    """A map of points, and the rectangles outside which points are lost before and after it.

    The edges (left, top, right, bottom) of a rectangle are in pixels from the corner of its canvas: four numbers, or an
    array with a row for each sample. [N, 4]
    """

    matrices: Any  # in pixels with centres at integers [N, 3, 3]
    canvas: Any  # edges of the canvas that the map leads to
    source_box: Any = None  # edges of the part of the previous canvas that the map reads; None: all of it
    is_affine: bool = False  # whether every matrix is known to be affine
    is_scale_and_shift: bool = False  # whether every matrix is a positive scale of each axis, and a shift


def moves_of(params: Params, sizes: Sequence[tuple[int, int]]) -> list[Move]:
    """The moves of the samples for which the parameters were drawn.

    Args:
        params: The parameters.
        sizes: (H, W) of the images: one for all, or one for each of a ragged batch.
    """
    image_canvas = canvas_edges(sizes[0] if len(sizes) == 1 else sizes)
    table, moves = numpy_view(table_array(params)), []
    for move in params.plan.moves:
        matrices = _adjacent_columns(table, move.matrix, 9).reshape(-1, 3, 3)
        source_box = _edges(_adjacent_columns(table, move.source_box, 4)) if move.source_box else None
        moves.append(
            Move(matrices, canvas_edges(move.size) if move.passes else image_canvas, source_box, move.is_affine)
        )
    return moves


def _adjacent_columns(table: Any, columns: Sequence[Column], count: int) -> Any:
    first = columns[0].index
    return table[:, first : first + count]


def merge_moves(moves_by_group: Sequence[list[Move]], order: np.ndarray) -> list[Move]:
    """The moves of groups of samples as moves of all samples.

    Args:
        moves_by_group: The moves of each group. Groups of other sizes may have fewer moves: moves that change nothing
            are put before theirs.
        order: The position of each sample of the call among the samples of all groups, one group after another. [N]
    """
    count, in_order = max(map(len, moves_by_group)), bool((order == np.arange(len(order))).all())

    def concatenate_in_order(rows_by_group: Sequence[Any]) -> Any:
        rows = _concatenate(rows_by_group)
        return rows if in_order else rows[convert.asarray(order, like=rows, dtype="int64")]

    merged = []
    for position in range(count):
        moves = [
            group[position - count] if count - position <= len(group) else _identity_move(group[0].matrices)
            for group in moves_by_group
        ]
        canvas = concatenate_in_order([_edge_rows(move.canvas, int(move.matrices.shape[0])) for move in moves])
        source_box = None
        if any(move.source_box is not None for move in moves):
            source_box = concatenate_in_order(
                [_rows(_UNBOUNDED, move.matrices) if move.source_box is None else move.source_box for move in moves]
            )
        is_affine = all(move.is_affine for move in moves)
        merged.append(Move(concatenate_in_order([move.matrices for move in moves]), canvas, source_box, is_affine))
    return merged


def _concatenate(arrays: Sequence[Any]) -> Any:
    """In the library and on the device of the first array on a device; of the first array if all are on the host."""
    like, _ = small_matrices.result_like(arrays)
    device = getattr(like, "device", None)
    return convert.namespace(like).concatenate(
        [
            array
            if type(array) is type(like) and getattr(array, "device", None) == device
            else convert.asarray(array, like=like, dtype=convert.dtype_name(array.dtype))
            for array in arrays
        ]
    )


def _edge_rows(edges: Any, samples: int) -> Any:
    return np.array([edges] * samples) if isinstance(edges, tuple) else edges


def canvas_edges(size: Any) -> Any:
    """The edges of a canvas of this size: (H, W), or one for each sample [N, 2]."""
    if isinstance(size, tuple):
        return 0, 0, size[1], size[0]
    sizes = np.asarray(size)
    return np.concatenate([np.zeros_like(sizes), sizes[:, ::-1]], 1)


def _identity_move(matrices: Any) -> Move:
    """A move that changes nothing, for as many samples as there are matrices."""
    return Move(_rows(np.eye(3), matrices), _UNBOUNDED, is_affine=True)


def _rows(row: Any, like: Any) -> Any:
    """The row, once for each row of `like`, in the library and on the device of `like`."""
    values = np.broadcast_to(np.asarray(row, np.float64), (int(like.shape[0]), *np.shape(row)))
    return convert.asarray(np.ascontiguousarray(values), like=like, dtype=convert.dtype_name(like.dtype))


def _edges(box: Any) -> Any:
    """(left, top, right, bottom), from (top, left, height, width). [N, 4]"""
    top, left, height, width = (box[:, i] for i in range(4))
    return convert.namespace(box).stack([left, top, left + width, top + height], -1)

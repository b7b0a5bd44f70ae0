"""EXIF's orientation: how a stored image is turned upright (Exif 2.32, 4.6.4 A)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Turn(NamedTuple):
    """Rows and columns exchanged, then rows reversed, then columns reversed."""

    transpose: bool
    rows: bool
    columns: bool


TURNS = {
    1: Turn(False, False, False),
    2: Turn(False, False, True),
    3: Turn(False, True, True),
    4: Turn(False, True, False),
    5: Turn(True, False, False),
    6: Turn(True, False, True),
    7: Turn(True, True, True),
    8: Turn(True, True, False),
}


def upright_size(size: tuple[int, int], orientation: int) -> tuple[int, int]:
    """(H, W) of the upright image."""
    return size[::-1] if TURNS[orientation].transpose else size


def stored_region(
    region: tuple[int, int, int, int], size: tuple[int, int], orientation: int
) -> tuple[int, int, int, int]:
    """Where (top, left, height, width) of the upright image of `size` lies in the stored one."""
    top, left, height, width = region
    turn = TURNS[orientation]
    top = size[0] - top - height if turn.rows else top
    left = size[1] - left - width if turn.columns else left
    return (left, top, width, height) if turn.transpose else (top, left, height, width)


def upright(stored: np.ndarray, orientation: int) -> np.ndarray:
    """A view. [H, W, C]"""
    turn = TURNS[orientation]
    turned = stored.swapaxes(0, 1) if turn.transpose else stored
    return turned[:: -1 if turn.rows else 1, :: -1 if turn.columns else 1]

"""A user's own op."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .._check import WHITE
from .._fusion.recipe import Recipe
from .._program import user_ops as _user_ops
from . import ranges as _ranges
from .transform import Transform


class PixelOp(Transform):
    """An expression of your own at every pixel, compiled on first use and part of one pass like a built-in op.

    The expression is one line of C++. Its result is the new pixel; one number serves all channels. Numbers go with
    pixels channel by channel, and are float32, or float64 for float64 images.

    =========================  ========================================================================================
    ``px``                     the pixel, of shares of white: 0..1, whatever the dtype
    ``red, green, blue``       its channels, of images that have three or four
    ``rgb(r, g, b)``           a pixel of three numbers; ``luma(px)``: its brightness
    ``x, y, width, height``    the pixel's column and row, and the image's size as it is by then
    ``u, v``                   the pixel's centre as a share of width and height
    ``r2``                     the squared distance from the centre of the image, 1 in its corners
    ``pi``
    ``abs sqrt exp log``       of numbers and of pixels, as are ``sin cos tanh floor ceil round atan2 pow min max``
    ``clamp(a, low, high)``    and ``mod(a, b)``, of the sign of b; ``mix(a, b, share)``, b where share is 1
    ``select(is, a, b)``       channel by channel, as in ``select(px > 0.5, 1 - px, px)``; ``is ? a : b`` takes a number
    =========================  ========================================================================================

    Integer images are held to 0..1 after it, as if they had been stored; floats keep what the expression gives. On the
    CPU it needs the machine's C++ compiler: ``CXX``, else ``c++``, ``g++`` or ``clang++``.

    Args:
        op: A name for it, which plans and drawn parameters have.
        expression: C++, of the names above and of the parameters.
        **parameters: Numbers, or (low, high) of what is drawn for each sample.

    Raises:
        ValueError: A name is taken or unknown; at the first use: the expression does not compile.

    >>> import numpy as np
    >>> from cuaug import transforms as T
    >>> halved = T.PixelOp("Fade", "px * (1 - k)", k=0.5)
    >>> halved(np.array([[[[10], [20], [30]]]], np.uint8)).ravel()
    array([ 5, 10, 15], dtype=uint8)
    """

    def __init__(self, op: str, expression: str, **parameters: float | Sequence[float]) -> None:
        own = _user_ops.validated(op, expression, list(parameters))
        if own.name in sys.modules[__package__ or ""].__all__:
            raise ValueError(f"op must be a name that no other transform has, got {op!r}")
        self.op, self.expression = own.name, own.expression
        self.ranges = {name: _number_or_pair(name, value) for name, value in parameters.items()}

    @property
    def title(self) -> str:
        return self.op

    def write(self, recipe: Recipe) -> None:
        own = _user_ops.UserOp(self.op, self.expression, tuple(self.ranges))
        named = sorted(_user_ops.COLOURS & set(_user_ops.identifiers(self.expression)))
        if named and recipe.channels not in (3, 4):
            raise ValueError(f"images must have 3 or 4 channels for {', '.join(named)}, got {recipe.channels}")
        columns = [
            recipe.constant("apply", 1.0, otherwise=0.0),
            recipe.constant("clip", float(recipe.dtype in WHITE)),
        ]
        for name, value in self.ranges.items():
            low, high = value if isinstance(value, tuple) else (value, value)
            columns.append(recipe.uniform(name, low, high, otherwise=low))
        recipe.pointwise(_user_ops.register(own), columns)

    def _made_with(self) -> dict[str, Any]:
        return {"op": self.op, "expression": self.expression, **self.ranges}


def _number_or_pair(name: str, value: Any) -> float | tuple[float, float]:
    return _ranges.number(name, value) if isinstance(value, (int, float)) else _ranges.pair(name, value)

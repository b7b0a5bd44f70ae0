"""`PixelOp`: an op that the user writes as one expression."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .._fusion.recipe import Recipe
from .._fusion.recipe_ops import Pointwise
from .._integers import has_length
from .._program import user_ops
from .._program.dtypes import MAX_VALUE
from .._value_text import value_text
from . import ranges, registry
from .transform import Transform

__all__ = ["PixelOp"]

_MAX_EXPRESSIONS = 16  # compiling one for the CPU takes up to 3.5 s (_program/user_ops.py)


class PixelOp(Transform):
    """Your own expression at every pixel, compiled on first use and fused like a built-in op.

    The expression is one line of C++. Its result is the new pixel, or one number for all channels. A number and a pixel
    combine channel by channel. Numbers are float32, or float64 for float64 images.

    =========================  ========================================================================================
    ``px``                     the pixel: integers divided by their dtype's maximum (int16: -1..1), floats as they are
    ``red, green, blue``       its channels, if the image has three or four
    ``rgb(r, g, b)``           a pixel of three numbers; ``luma(px)``: its luma
    ``x, y, width, height``    the pixel's column and row, and the image's size at this place in the recipe
    ``u, v``                   the pixel's centre as fractions of width and height
    ``r2``                     the squared distance from the image's centre, 1 at the centres of the corner pixels
    ``pi``
    ``abs sqrt exp log``       of numbers and of pixels; also ``sin cos tanh floor ceil round atan2 pow min max``
    ``clamp(a, low, high)``    also ``mod(a, b)``, with the sign of b; ``mix(a, b, share)``, which is b if share is 1
    ``select(c, a, b)``        channel by channel, as in ``select(px > 0.5, 1 - px, px)``; ``c ? a : b`` takes a number
    =========================  ========================================================================================

    The result is clamped to 0..1 for integer images (also int16); float images keep the expression's result. The CPU
    needs the machine's C++ compiler: ``CXX``, else ``c++``, ``g++`` or ``clang++``.

    Args:
        op: Its name in plans and drawn parameters.
        expression: C++, with the names above and the parameters.
        **parameters: Numbers, or (low, high) to draw from for each sample.

    Raises:
        ValueError: A name is taken, unknown or longer than 64 characters; a function has another number of arguments; a
            comma is not between arguments; an operator is missing, as in ``2 px``; a comparison has three values, as in
            ``0 < px < 1``; the expression has more than 1,000 characters, 256 names, numbers and signs, or 16
            parentheses inside each other, or one that is not closed; there are more than 30 parameters. At the first
            use: the expression does not compile, or the recipe has more than 16 different ones.

    >>> import numpy as np
    >>> from cuaug import transforms as T
    >>> halved = T.PixelOp("Fade", "px * (1 - k)", k=0.5)
    >>> halved(np.array([[[[10], [20], [30]]]], np.uint8)).ravel()
    array([ 5, 10, 15], dtype=uint8)
    """

    def __init__(self, op: str, expression: str, **parameters: float | Sequence[float]) -> None:
        user_op = user_ops.make_user_op(op, expression, list(parameters))
        if registry.registered_class(user_op.name) is not None:
            raise ValueError(f"op must be a name that no other transform has, got {value_text(op)}")
        self.op: str = user_op.name
        self.expression: str = user_op.expression
        self.ranges: Mapping[str, float | tuple[float, float]] = {
            name: _number_or_pair(name, value) for name, value in parameters.items()
        }

    @property
    def title(self) -> str:
        return self.op

    def write(self, recipe: Recipe) -> None:
        vars(self)["ranges"] = MappingProxyType(dict(self.ranges))  # so that later changes raise
        struct = user_ops.register(user_ops.UserOp(self.op, self.expression, tuple(self.ranges)))
        earlier = {op.functor for op in recipe.ops if isinstance(op, Pointwise) and user_ops.find(op.functor)}
        if len(earlier | {struct}) > _MAX_EXPRESSIONS:
            raise ValueError(f"a recipe must have at most {_MAX_EXPRESSIONS} different expressions, got more")
        colours = sorted(user_ops.COLOR_NAMES & set(user_ops.identifiers(self.expression)))
        if colours and recipe.channels not in (3, 4):
            raise ValueError(f"images must have 3 or 4 channels for {', '.join(colours)}, got {recipe.channels}")
        columns = [
            recipe.constant("apply", 1.0, otherwise=0.0),
            recipe.constant("clip", float(recipe.dtype in MAX_VALUE)),
        ]
        for name, value in self.ranges.items():
            low, high = value if isinstance(value, tuple) else (value, value)
            columns.append(recipe.uniform(name, low, high, otherwise=low))
        recipe.add_pointwise(struct, columns)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"ranges": dict(self.ranges)}

    def _planned_names(self) -> Collection[str]:
        names = super()._planned_names()
        return (*names, "ranges") if names else names

    def _init_arguments(self) -> dict[str, Any]:
        return {"op": self.op, "expression": self.expression, **self.ranges}


def _number_or_pair(name: str, value: Any) -> float | tuple[float, float]:
    if not has_length(value):
        return ranges.number(name, value)
    if hasattr(value, "shape"):
        raise ValueError(
            f"{name} must be a number or (low, high), got an array of shape {tuple(value.shape)}: "
            "numbers of your own for each sample are parameters for Compose.apply (docs/randomness.md)"
        )
    return ranges.pair(name, value)

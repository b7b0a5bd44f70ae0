"""The table of `PixelOp` expressions, each with its formula in NumPy.

A formula takes a namespace: pixels in 0..1 [N, H, W, C], positions [1, H, W, 1], parameters [N, 1, 1, 1].
"""

import dataclasses
import types
from collections.abc import Callable

import numpy as np
from helpers.arrays import max_value
from helpers.compare import Tolerance, is_integer

from cuaug import transforms as T
from cuaug._program import user_ops


@dataclasses.dataclass(frozen=True)
class UserOp:
    """A user's expression and its formula.

    Not a ``tables.row.Row``: the op has no function of cuaug, and its oracle takes the whole batch, with positions.
    """

    name: str
    expression: str
    formula: Callable
    ranges: dict = dataclasses.field(default_factory=dict)
    channels: tuple = (1, 2, 3, 4, 6)
    float_error: float = 2e-6  # of the range, in float32

    def __str__(self):
        return self.name

    def transform(self):
        return T.PixelOp(self.name, self.expression, **self.ranges)

    def struct(self):
        """Register the op's C++ text, and return the name of its struct."""
        return user_ops.register(user_ops.make_user_op(self.name, self.expression, list(self.ranges)))

    def tolerance(self, dtype):
        if is_integer(dtype):
            levels = 1 + self.float_error * max_value(dtype)
            return Tolerance(levels, exact=0.995 if dtype == "uint8" else 0.9, reason="rounded once, on store")
        rounding = {"float16": 2**-11, "bfloat16": 2**-8}.get(dtype, 0.0)
        return Tolerance(
            self.float_error + rounding, self.float_error + rounding, reason="float32 arithmetic, the dtype's rounding"
        )


def scope(images, parameters):
    """The namespace of a formula, in float64. Images [N, H, W, C] are in their own range."""
    height, width = images.shape[1:3]
    y, x = np.mgrid[:height, :width].astype(float)
    half_x, half_y = (width - 1) / 2, (height - 1) / 2
    corner_r2 = half_x**2 + half_y**2
    positions = {
        "x": x,
        "y": y,
        "u": (x + 0.5) / width,
        "v": (y + 0.5) / height,
        "r2": ((x - half_x) ** 2 + (y - half_y) ** 2) / (corner_r2 or 1.0),
    }
    return types.SimpleNamespace(
        px=images.astype(float) / max_value(str(images.dtype)),
        **{name: values[None, :, :, None] for name, values in positions.items()},
        **{name: np.asarray(values, float)[:, None, None, None] for name, values in parameters.items()},
        width=float(width),
        height=float(height),
    )


def expected_pixels(user_op, images, parameters):
    """The formula's result in the images' own range, not rounded; for integers it is clamped to that range."""
    largest = max_value(str(images.dtype))
    with np.errstate(invalid="ignore", divide="ignore"):
        result = user_op.formula(scope(images, parameters)) * np.ones(images.shape)
    return np.clip(result, 0, 1) * largest if is_integer(str(images.dtype)) else result


def luma(px):
    return (px[..., :3] @ [0.2989, 0.587, 0.114])[..., None]


def with_channels(px, r, g, b):
    """The pixels with three new channels; the fourth stays."""
    return np.concatenate([np.broadcast_to(c, px[..., :1].shape) for c in (r, g, b)] + [px[..., 3:]], -1)


RGB = (3, 4)
USER_OPS = [
    UserOp("Half", "px * 0.5", lambda s: s.px * 0.5),
    UserOp("Vignette", "px * (1 - k * r2)", lambda s: s.px * (1 - s.k * s.r2), {"k": (0, 0.5)}),
    UserOp("Linear", "a * px + b", lambda s: s.a * s.px + s.b, {"a": (0.5, 1.5), "b": (-0.2, 0.2)}),
    UserOp("Fixed", "px + k / 4", lambda s: s.px + 0.05, {"k": 0.2}),
    UserOp("RealNumbers", "px * 1 / 2 + 1 / 4", lambda s: s.px * 0.5 + 0.25),
    UserOp("OneNumber", "u", lambda s: s.u),
    UserOp("Slope", "mix(px, v, share)", lambda s: s.px + s.share * (s.v - s.px), {"share": (0.2, 0.8)}),
    UserOp("Places", "(x + y * width) / (width * height)", lambda s: (s.x + s.y * s.width) / (s.width * s.height)),
    UserOp("Negated", "-px + (+1)", lambda s: 1 - s.px),
    UserOp("Chequered", "mod(x, 4) < 2 != mod(y, 6) < 3 ? px : 0", lambda s: s.px * ((s.x % 4 < 2) != (s.y % 6 < 3))),
    UserOp("Box", "x >= 2 && y < 5 || !(x <= 7) ? 1 - px : px", lambda s: box(s)),
    UserOp("Solarized", "select(px > k, 1 - px, px)", lambda s: np.where(s.px > 0.7, 1 - s.px, s.px), {"k": 0.7}),
    UserOp(
        "ComparisonAsNumber", "(px >= 0.5) * 0.5 + (px == 0) * 0.25", lambda s: (s.px >= 0.5) * 0.5 + (s.px == 0) * 0.25
    ),
    UserOp("Clamped", "clamp(px * 2, low, 0.75)", lambda s: np.clip(s.px * 2, s.low, 0.75), {"low": (0.1, 0.4)}),
    UserOp(
        "MinMax", "min(px, 1 - px) + max(px, v) / 4", lambda s: np.minimum(s.px, 1 - s.px) + np.maximum(s.px, s.v) / 4
    ),
    UserOp("Waves", "px + 0.1 * sin(2 * pi * u) * cos(pi * v)", lambda s: waves(s), float_error=4e-6),
    UserOp("Gamma", "pow(px, gamma)", lambda s: s.px**s.gamma, {"gamma": (0.5, 2.0)}, float_error=4e-6),
    UserOp("Curved", "exp(-px) * sqrt(px) + log(1 + px) / 8", lambda s: curved(s), float_error=4e-6),
    UserOp(
        "Steps", "floor(px * 3.3) / 8 + ceil(px * 2.3) / 8 + round(u * 4.1) / 16", lambda s: steps(s), float_error=1e-6
    ),
    UserOp("Tanh", "tanh(2 * px)", lambda s: np.tanh(2 * s.px), float_error=4e-6),
    UserOp("Sector", "abs(atan2(v - 0.4, u - 0.6)) / pi", lambda s: np.abs(np.arctan2(s.v - 0.4, s.u - 0.6)) / np.pi),
    UserOp("Literals", "px * sqrt(2) / max(1, 2) + pow(2, -3)", lambda s: s.px * np.sqrt(2) / 2 + 0.125),
    UserOp("Swapped", "rgb(blue, green, red)", lambda s: with_channels(s.px, *channels(s.px)[::-1]), channels=RGB),
    UserOp("Grey", "luma(px)", lambda s: luma(s.px), channels=RGB),
    UserOp("Sepia", "rgb(luma(px) * 1.1, luma(px), luma(px) * k)", lambda s: sepia(s), {"k": (0.5, 0.9)}, channels=RGB),
    UserOp("Muted", "mix(luma(px), px, red)", lambda s: luma(s.px) + s.px[..., :1] * (s.px - luma(s.px)), channels=RGB),
]
BY_NAME = {user_op.name: user_op for user_op in USER_OPS}


def channels(px):
    return px[..., 0:1], px[..., 1:2], px[..., 2:3]


def box(s):
    return np.where(((s.x >= 2) & (s.y < 5)) | ~(s.x <= 7), 1 - s.px, s.px)


def waves(s):
    return s.px + 0.1 * np.sin(2 * np.pi * s.u) * np.cos(np.pi * s.v)


def curved(s):
    return np.exp(-s.px) * np.sqrt(s.px) + np.log1p(s.px) / 8


def steps(s):
    """No value but 0 lies on a step, so rounding errors change none; np.rint and C's round differ only at halves."""
    return np.floor(s.px * 3.3) / 8 + np.ceil(s.px * 2.3) / 8 + np.rint(s.u * 4.1) / 16


def sepia(s):
    grey = luma(s.px)
    return with_channels(s.px, grey * 1.1, grey, grey * s.k)

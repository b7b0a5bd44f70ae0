"""Calls of cuaug.transforms.functional and of torchvision's module, and how far the results for images may differ."""

import dataclasses
from typing import Any

import numpy as np
from helpers.arrays import seeded
from helpers.compare import EXACT, Tolerance

SIZE = (20, 30)  # (H, W)
LEVEL = Tolerance(absolute=1, reason="torchvision rounds between steps, or truncates")
FLOAT = Tolerance(absolute=2e-6, reason="float32, in another order")
# torchvision computes coordinates in float32, so that a position is off by some 1e-6 of 30 pixels.
WARPED = Tolerance(absolute=2e-4, reason="positions in float32 in torchvision")
WARPED_LEVEL = Tolerance(absolute=1, exact=0.99, reason="rounding of a value that is off by 1e-4")
HUE = Tolerance(absolute=1e-5, reason="float32 in HSV, whose fractions are divided by the chroma")
POWER = Tolerance(absolute=5e-6, reason="float32 powers")
NEAREST = Tolerance(beyond=0.01, reason="positions in the middle between two pixels")


@dataclasses.dataclass(frozen=True)
class Call:
    """``F.name(value, *args)``. Values that are not floats get `integer_args`, if the call has these."""

    name: str
    args: tuple[Any, ...] = ()
    uint8: Tolerance = LEVEL
    float32: Tolerance = FLOAT
    kwargs: tuple[tuple[str, Any], ...] = ()
    id: str = ""
    integer_args: tuple[Any, ...] | None = None

    def __call__(self, module, value):
        is_float = "float" in str(getattr(value, "dtype", "uint8"))  # an image of Pillow has no dtype
        args = self.args if is_float or self.integer_args is None else self.integer_args
        return getattr(module, self.name)(value, *args, **dict(self.kwargs))

    def __str__(self):
        return self.id or self.name


def points(rng, jitter):
    height, width = SIZE
    corners = np.array([[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]])
    return corners.tolist(), (corners + rng.integers(-jitter, jitter + 1, (4, 2))).tolist()


def displacement(rng):
    import torch

    return torch.from_numpy(rng.uniform(-0.2, 0.2, (1, *SIZE, 2)).astype(np.float32))


rng = seeded("functional calls")
angle = float(rng.uniform(5, 40))
affine = (float(rng.uniform(-40, 40)), [3, -2], float(rng.uniform(0.7, 1.4)), [float(rng.uniform(-9, 9)), 4.0])
corners = points(rng, 3)

# Geometric calls: they take masks, boxes and keypoints, too.
COPIES = [  # every pixel of the result is a pixel of the source, or the fill
    Call("horizontal_flip", (), EXACT, EXACT),
    Call("hflip", (), EXACT, EXACT),
    Call("vertical_flip", (), EXACT, EXACT),
    Call("vflip", (), EXACT, EXACT),
    Call("crop", (3, -2, 12, 40), EXACT, EXACT),
    Call("center_crop", ([11, 14],), EXACT, EXACT),
    Call("center_crop", ([33, 14],), EXACT, EXACT, id="center_crop, larger"),
    Call("center_crop", (8,), EXACT, EXACT, id="center_crop, int"),
    Call("pad", ([2, 5],), EXACT, EXACT),
    Call("pad", ([1, 2, 3, 4], 1), EXACT, EXACT, id="pad, fill"),
    Call("pad", ([-3, 2, 3, -4],), EXACT, EXACT, id="pad, negative"),
]
RESIZES = [
    Call("resize", ([13, 17],)),
    Call("resize", (31,), id="resize, int"),
    Call("resize", (None,), kwargs=(("max_size", 17),), id="resize, max_size"),
    Call("resized_crop", (2, 3, 9, 10, [15, 21])),
]
WARPS = [
    Call("rotate", (angle, "bilinear"), WARPED_LEVEL, WARPED),
    Call("rotate", (-angle, "bilinear"), WARPED_LEVEL, WARPED, (("center", [4.0, 7.0]),), "rotate, center"),
    Call("affine", (*affine, "bilinear"), WARPED_LEVEL, WARPED),
    Call("affine", (20.0, [0, 0], 1.0, [7.0], "bilinear"), WARPED_LEVEL, WARPED, id="affine, one shear"),
    Call("perspective", (*corners, "bilinear"), WARPED_LEVEL, WARPED),
    Call("perspective", (None, None), WARPED_LEVEL, WARPED,
         (("coefficients", [0.9, 0.05, 1.0, 0.02, 1.1, -2.0, 0.001, 0.002]),), "perspective, coefficients"),
]  # fmt: skip
GEOMETRY = [*COPIES, *RESIZES, *WARPS]

# Functions of images and videos only.
PIXELS = [
    Call("adjust_brightness", (1.3,)),
    Call("adjust_contrast", (1.4,)),
    Call("adjust_saturation", (0.4,)),
    Call("adjust_hue", (0.15,), Tolerance(absolute=2, reason="float32 in HSV"), HUE),
    Call("adjust_gamma", (1.7, 0.9), float32=POWER),
    Call("adjust_sharpness", (2.5,)),
    Call("autocontrast", (), EXACT),
    Call("invert", (), EXACT),
    Call("posterize", (3,), EXACT),
    Call("solarize", (0.4,), EXACT, integer_args=(100,)),
    Call("rgb_to_grayscale"),
    Call("to_grayscale", (3,)),
    Call("grayscale_to_rgb", (), EXACT, EXACT),
    Call("permute_channels", ([2, 0, 1],), EXACT, EXACT),
    Call("gaussian_blur", ([5, 3],)),
    Call("gaussian_blur", ([5, 3], [1.1, 0.6]), id="gaussian_blur, sigma"),
]

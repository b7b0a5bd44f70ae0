"""The rows of warp.py's GPU and CPU tables.

Rows draw parameters per sample, as a training step does; rows with `shared` draw one for the batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from work import Draw, Row

SHORT = {"uint8": "u8", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32"}
BATCH = (256, 3, 224, 224)


def affine(
    angle: float = 30.0, scale: tuple[float, float] = (0.8, 1.25), output_size: tuple[int, int] | None = None
) -> Draw:
    """Rotation within ``angle`` degrees, scale, shear within 10 degrees, shift within a tenth of the image."""

    def draw(rng: np.random.Generator, count: int, size: tuple[int, int]) -> dict[str, np.ndarray]:
        rotation = np.deg2rad(rng.uniform(-angle, angle, count))
        shear = np.tan(np.deg2rad(rng.uniform(-10, 10, count)))
        cos, sin = np.cos(rotation), np.sin(rotation)
        rows = [[cos, cos * shear - sin], [sin, sin * shear + cos]]
        linear = np.moveaxis(np.array(rows), -1, 0) * rng.uniform(*scale, count)[:, None, None]
        input_center, output_center = (np.array([(w - 1) / 2, (h - 1) / 2]) for h, w in (size, output_size or size))
        shift = rng.uniform(-0.1, 0.1, (count, 2)) * (output_size or size)[::-1]
        offset = output_center + shift - linear @ input_center
        return {"M": np.concatenate([linear, offset[..., None]], -1).astype(np.float32)}

    return draw


def homography(rng: np.random.Generator, count: int, size: tuple[int, int]) -> dict[str, np.ndarray]:
    M = affine()(rng, count, size)["M"]
    bottom = np.concatenate([rng.uniform(-0.4, 0.4, (count, 2)) / size[::-1], np.ones((count, 1))], -1)
    return {"M": np.concatenate([M, bottom[:, None]], 1).astype(np.float32)}


def waves(rng: np.random.Generator, count: int, size: tuple[int, int]) -> np.ndarray:
    """Smooth displacements (x, y) of up to 6 pixels. [count, H, W, 2]"""
    y, x = np.mgrid[: size[0], : size[1]] * (2 * np.pi / 64)
    phase = rng.uniform(0, 2 * np.pi, (count, 4, 1, 1))
    sums = [np.sin(x + phase[:, 0]) + np.sin(y + phase[:, 1]), np.sin(x + phase[:, 2]) + np.sin(y + phase[:, 3])]
    return (3 * np.stack(sums, -1)).astype(np.float32)


def maps(rng: np.random.Generator, count: int, size: tuple[int, int]) -> dict[str, np.ndarray]:
    y, x = np.mgrid[: size[0], : size[1]]
    offsets = waves(rng, count, size)
    return {"map_x": (offsets[..., 0] + x).astype(np.float32), "map_y": (offsets[..., 1] + y).astype(np.float32)}


def displacement(rng: np.random.Generator, count: int, size: tuple[int, int]) -> dict[str, np.ndarray]:
    """The waves in the unit of ``elastic``: half the width and half the height."""
    return {"displacement": waves(rng, count, size) * np.float32(2) / np.array(size[::-1], np.float32)}


def angle(rng: np.random.Generator, count: int, size: tuple[int, int]) -> dict[str, np.ndarray]:
    return {"angle": rng.uniform(-180, 180, count).astype(np.float32)}


def flip(rng: np.random.Generator, count: int, size: tuple[int, int]) -> dict[str, np.ndarray]:
    return {"flip": rng.random(count) < 0.5}


def corner(rng: np.random.Generator, count: int, size: tuple[int, int]) -> dict[str, np.ndarray]:
    return {"top": rng.integers(0, size[0] - 223, count), "left": rng.integers(0, size[1] - 223, count)}


def box(rng: np.random.Generator, count: int, size: tuple[int, int]) -> dict[str, np.ndarray]:
    """A quarter to all of the area, sides 3:4 to 4:3, inside the image."""
    side = np.sqrt(rng.uniform(0.25, 1, count) * size[0] * size[1])
    stretch = np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3), count) / 2)
    height, width = (np.minimum(side * s, n).astype(int) for s, n in ((stretch, size[0]), (1 / stretch, size[1])))
    top, left = (rng.integers(0, n - extent + 1) for n, extent in ((size[0], height), (size[1], width)))
    return {"top": top, "left": left, "height": height, "width": width}


def row(op: str, dtype: str = "uint8", layout: str = "NCHW", note: str = "", **fields: Any) -> Row:
    words = [op, SHORT[dtype], layout, note]
    draws: dict[str, Draw] = {
        "warp_affine": affine(), "warp_perspective": homography, "remap": maps, "elastic": displacement,
        "rotate": angle, "hflip": flip, "crop": corner, "resized_crop": box,
    }  # fmt: skip
    # Few numbers per sample stay on the host and are copied by the call; on the device they would cost small kernels.
    host = op in ("rotate", "hflip", "crop", "resized_crop")
    settings: dict[str, Any] = {"shape": BATCH, "dtype": dtype, "layout": layout, "host": host}
    settings |= {"draw": draws[op]} if op in draws else {}
    return Row(" ".join(filter(None, words)), op, **(settings | fields))


def layouts(*arguments: Any, **fields: Any) -> list[Row]:
    """The row in both layouts."""
    return [row(*arguments, layout=layout, **fields) for layout in ("NCHW", "NHWC")]


def batch(n: int, c: int, h: int, w: int) -> dict[str, Any]:
    return {"shape": (n, c, h, w)}


RESIZE: dict[str, Any] = {"options": {"size": (224, 224)}}
NOT_ANTIALIASED: dict[str, Any] = {"options": {"size": (224, 224), "antialias": False}}
HALF = affine(10, (0.5, 0.5), (224, 224))

GPU = [
    row("warp_affine", compiled=True, quick=True),
    row("warp_affine", layout="NHWC", quick=True),
    row("warp_affine", "float16", compiled=True, quick=True),
    row("warp_affine", "float16", "NHWC"),
    *layouts("warp_affine", "bfloat16"),
    row("warp_affine", "float32", compiled=True, quick=True),
    row("warp_affine", "float32", "NHWC"),
    row("warp_affine", note="grayscale", **batch(256, 1, 224, 224)),
    *layouts("warp_affine", note="RGBA", **batch(256, 4, 224, 224)),
    row("warp_affine", note="256x256 to fp16 224x224", options={"size": (224, 224), "dtype": "float16"},
        draw=affine(output_size=(224, 224)), **batch(256, 3, 256, 256)),
    row("warp_affine", layout="NHWC", note="one matrix", shared=True),
    row("warp_affine", note="host matrix", host=True),
    *layouts("warp_affine", note="nearest", options={"interpolation": "nearest"}),
    *layouts("warp_affine", note="bicubic", options={"interpolation": "bicubic"}),
    row("warp_affine", "float32", note="bicubic", options={"interpolation": "bicubic"}),
    row("warp_affine", note="lanczos", options={"interpolation": "lanczos"}),
    *layouts("warp_affine", note="reflect", options={"border": "reflect"}),
    row("warp_affine", "float32", note="64 channels 56x56", **batch(128, 64, 56, 56)),
    row("warp_affine", "float16", note="1024x1024, any angle", draw=affine(180, (1, 1)), **batch(16, 3, 1024, 1024)),
    *layouts("warp_affine", note="448 to 224", options={"size": (224, 224)}, draw=HALF, **batch(256, 3, 448, 448)),
    row("warp_affine", note="N=1", **batch(1, 3, 224, 224)),
    *layouts("warp_perspective", quick=True),
    row("warp_perspective", "float32"),
    *layouts("remap"),
    row("remap", "float32"),
    row("remap", note="one map", shared=True),
    row("elastic"),
    row("elastic", note="one field", shared=True),
    *layouts("rotate", note="bilinear, any angle", options={"interpolation": "bilinear"}),
    *layouts("hflip"),
    row("crop", note="256 to 224", options={"height": 224, "width": 224}, **batch(256, 3, 256, 256)),
    row("pad", note="16, reflect", options={"padding": 16, "padding_mode": "reflect"}),
    *layouts("resize", note="375x500 to 224", **RESIZE, **batch(256, 3, 375, 500), quick=True),
    row("resize", "float32", note="375x500 to 224", **RESIZE, **batch(256, 3, 375, 500)),
    row("resize", note="375x500 to 224, no antialias", **NOT_ANTIALIASED, **batch(256, 3, 375, 500)),
    row("resize", "float32", note="375x500 to 224, no antialias", **NOT_ANTIALIASED, **batch(256, 3, 375, 500)),
    *layouts("resized_crop", note="375x500 to 224", **RESIZE, **batch(256, 3, 375, 500)),
]  # fmt: skip

CPU = [
    row("warp_affine", layout="NHWC", **batch(64, 3, 224, 224), quick=True),
    row("warp_affine", **batch(64, 3, 224, 224)),
    row("warp_affine", "float32", **batch(64, 3, 224, 224)),
    row("warp_affine", "float32", "NHWC", **batch(64, 3, 224, 224)),
    row("warp_affine", layout="NHWC", note="nearest", options={"interpolation": "nearest"}, **batch(64, 3, 224, 224)),
    row("warp_affine", layout="NHWC", note="bicubic", options={"interpolation": "bicubic"}, **batch(64, 3, 224, 224)),
    row("warp_affine", layout="NHWC", note="lanczos", options={"interpolation": "lanczos"}, **batch(64, 3, 224, 224)),
    row("warp_affine", layout="NHWC", note="reflect", options={"border": "reflect"}, **batch(64, 3, 224, 224)),
    row("warp_perspective", layout="NHWC", **batch(64, 3, 224, 224)),
    row("remap", layout="NHWC", **batch(64, 3, 224, 224)),
    row("hflip", layout="NHWC", **batch(64, 3, 224, 224), quick=True),
    row("resize", layout="NHWC", note="375x500 to 224", **RESIZE, **batch(64, 3, 375, 500), quick=True),
    row("resize", note="375x500 to 224", **RESIZE, **batch(64, 3, 375, 500)),
    row("resize", "float32", note="375x500 to 224", **RESIZE, **batch(64, 3, 375, 500)),
    row("resize", layout="NHWC", note="375x500 to 224, no antialias", **NOT_ANTIALIASED, **batch(64, 3, 375, 500)),
    row("resized_crop", layout="NHWC", note="375x500 to 224", **RESIZE, **batch(64, 3, 375, 500)),
]

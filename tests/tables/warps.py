"""The table of warps: one row per op and variant, with parameters, oracle and tolerance.

The oracle of ``cuaug.X`` is ``warp_reference.X``, a float64 formula for one image that is itself compared with other
libraries. A row draws its parameters for one value (``leading=()``) or one per sample (``leading=(N,)``).
"""

import dataclasses
import itertools

import numpy as np
from helpers.arrays import SHAPE

from tables import warp_reference
from tables.row import TOLERANCES, Row, first_rows, no_parameters

INTERPOLATIONS = ["nearest", *warp_reference.SAMPLING]
BORDERS = list(warp_reference.BORDERS)
N, H, W, C = SHAPE


def warp_row(op, options=None, draw=no_parameters, exact=False, identity=None):
    """A row of the op, whose oracle does not use ``max_value``; copied pixels are exact."""
    oracle = getattr(warp_reference, op)
    return Row(
        op,
        draw,
        options or {},
        lambda image, max_value, **parameters: oracle(image, **parameters),
        {} if exact else TOLERANCES,
        identity,
        scaled_parameters=frozenset({"fill"}),
    )


def matrix(rng, leading=()):
    """Rotation, scale, shear and shift, far from singular. [..., 2, 3]"""
    linear = np.eye(2) + rng.uniform(-0.45, 0.45, (*leading, 2, 2))
    return {"M": np.concatenate([linear, rng.uniform(-4, 4, (*leading, 2, 1))], axis=-1)}


def axis_aligned(rng, leading=()):
    """Scales, some of them negative, and shifts: x depends on the column alone, y on the row. [..., 2, 3]"""
    flips = rng.choice([-1.0, 1.0], (*leading, 2, 1))
    linear = np.eye(2) * flips * rng.uniform(0.4, 2.5, (*leading, 2, 1))
    return {"M": np.concatenate([linear, np.where(flips < 0, 12, 0) + rng.uniform(-4, 4, (*leading, 2, 1))], axis=-1)}


def homography(rng, leading=()):
    bottom = np.concatenate([rng.uniform(-0.012, 0.012, (*leading, 1, 2)), np.ones((*leading, 1, 1))], axis=-1)
    return {"M": np.concatenate([matrix(rng, leading)["M"], bottom], axis=-2)}


def maps(rng, leading=()):
    return {name: rng.uniform(-9.0, 25.0, (*leading, 14, 19)).astype(np.float32) for name in ("map_x", "map_y")}


def displacements(rng, leading=()):
    return {name: rng.uniform(-4, 4, (*leading, H, W)).astype(np.float32) for name in ("map_x", "map_y")}


def angle(rng, leading=()):
    return {"angle": rng.uniform(-180, 180, leading)}


def torchvision_affine(rng, leading=()):
    return {
        **angle(rng, leading),
        "translate": rng.uniform(-3, 3, (*leading, 2)),
        "scale": rng.uniform(0.6, 1.7, leading),
        "shear": rng.uniform(-25, 25, (*leading, 2)),
    }


def angle_and_center(rng, leading=()):
    return {**angle(rng, leading), "center": rng.uniform(2, 9, (*leading, 2))}


def quadrilaterals(rng, leading=()):
    corners = np.array([[0, 0], [W - 1, 0], [W - 1, H - 1], [0, H - 1]], float)
    return {k: corners + rng.uniform(-2, 2, (*leading, 4, 2)) for k in ("startpoints", "endpoints")}


def large_quadrilaterals(rng, leading=()):
    corners = 223.0 * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    return {k: corners + rng.uniform(-30, 30, (*leading, 4, 2)) for k in ("startpoints", "endpoints")}


def coefficients(rng, leading=()):
    return {"coefficients": homography(rng, leading)["M"].reshape(*leading, 9)[..., :8]}


def boxes_inside(rng, leading=()):
    top, left = rng.integers(0, 5, leading), rng.integers(0, 3, leading)
    return {"top": top, "left": left, "height": rng.integers(4, 12, leading), "width": rng.integers(3, 8, leading)}


def crop_corners(rng, leading=()):
    return {"top": rng.integers(-6, 12, leading), "left": rng.integers(-6, 8, leading)}


def flips(rng, leading=()):
    return {"flip": np.resize([True, False, True, True, False], leading)}


def elastic_displacements(rng, leading=()):
    return {"displacement": rng.normal(0, 0.2, (*(leading or (1,)), H, W, 2))}


FILL = {"fill": 0.375}  # floats of every dtype hold it exactly; integers take the nearest level
EYE = {"M": np.eye(3)}
NO_DISPLACEMENT = np.zeros((H, W), np.float32)
RESIZE_INTERPOLATIONS = ["nearest", *warp_reference.ANTIALIAS, "area"]
RESIZE_MODES = [
    {"interpolation": i, "antialias": a} for i, a in itertools.product(RESIZE_INTERPOLATIONS, [True, False])
]
POINTS = [[0, 0], [W, 0], [W, H], [0, H]]


def mode(interpolation, border):
    return {"interpolation": interpolation, "border": border, **FILL}


MODES = [mode(i, b) for i, b in itertools.product(INTERPOLATIONS, BORDERS)]
# Every interpolation and every border, but not every pair.
SOME_MODES = [mode("bilinear", "constant")] + [
    mode(INTERPOLATIONS[k % len(INTERPOLATIONS)], BORDERS[k % len(BORDERS)])
    for k in range(max(len(INTERPOLATIONS), len(BORDERS)))
]


def copies_pixels(op, options):
    """``affine`` and ``rotate`` are nearest by default, as torchvision's are."""
    return options.get("interpolation", "nearest" if op in ("affine", "rotate") else "bilinear") == "nearest"


def rows(op, draw, options_of_rows, identity=None):
    return [warp_row(op, options, draw, copies_pixels(op, options), identity) for options in options_of_rows]


ROWS = [
    *rows("warp_affine", matrix, MODES, EYE),
    *rows("warp_affine", matrix, [{"size": (9, 23)}, {"inverse": True}, {"origin": "corner", "border": "edge"}]),
    *rows("warp_affine", axis_aligned, [{**o, "size": (40, 37)} for o in MODES if o["interpolation"] == "bilinear"]),
    *rows("warp_perspective", homography, MODES, EYE),
    *rows("warp_perspective", homography, [{"size": (9, 23), "inverse": True, "origin": "corner"}]),
    *rows("remap", maps, MODES),
    *rows(
        "remap",
        displacements,
        [{"relative": True, **o} for o in SOME_MODES],
        {"map_x": NO_DISPLACEMENT, "map_y": NO_DISPLACEMENT},
    ),
    *rows(
        "resize",
        no_parameters,
        [{"size": s, **m} for s in ((6, 5), (30, 40), (9, 23), (1, 1)) for m in RESIZE_MODES],
        {"size": (H, W)},
    ),
    *rows("resize", no_parameters, [{"size": 6}, {"size": 8, "max_size": 10}]),
    *rows(
        "affine",
        torchvision_affine,
        [{}, *SOME_MODES],
        {"angle": 0.0, "translate": [0.0, 0.0], "scale": 1.0, "shear": [0.0, 0.0]},
    ),
    *rows("rotate", angle, [{"interpolation": "nearest"}, *SOME_MODES], {"angle": 0.0}),
    *rows("rotate", angle_and_center, [{"interpolation": "bilinear", **FILL}]),
    *rows("perspective", quadrilaterals, [*SOME_MODES, {}], {"startpoints": POINTS, "endpoints": POINTS}),
    *rows("perspective", coefficients, [{"startpoints": None, "endpoints": None, **FILL}]),
    *rows(
        "resized_crop",
        boxes_inside,
        [{"size": size, **m} for size in ((9, 7), (3, 2)) for m in RESIZE_MODES],
        {"top": 0, "left": 0, "height": H, "width": W, "size": (H, W)},
    ),
    warp_row(
        "crop", {"height": 9, "width": 6, **FILL}, crop_corners, True, {"top": 0, "left": 0, "height": H, "width": W}
    ),
    warp_row("center_crop", {"output_size": (8, 6)}, exact=True, identity={"output_size": (H, W)}),
    warp_row("center_crop", {"output_size": (20, 20)}, exact=True),
    warp_row("center_crop", {"output_size": 9}, exact=True),
    *[
        warp_row("pad", {"padding": [3, 2, 1, 5], "padding_mode": b}, exact=True, identity={"padding": 0})
        for b in BORDERS
    ],
    warp_row("pad", {"padding": [13, 20], **FILL}, exact=True),
    warp_row("pad", {"padding": 40, "padding_mode": "symmetric"}, exact=True),
    warp_row("hflip", {}, flips, True, {"flip": False}),
    warp_row("vflip", {}, flips, True, {"flip": False}),
    *rows(
        "elastic",
        elastic_displacements,
        [{"interpolation": i, **FILL} for i in INTERPOLATIONS],
        {"displacement": np.zeros((1, H, W, 2))},
    ),
]

LARGE = (224, 224)


def large_maps(rng, leading=()):
    """Absolute maps over a large image and around it."""
    return {name: rng.uniform(-20, 244, (*leading, *LARGE)).astype(np.float32) for name in ("map_x", "map_y")}


def large_elastic_displacements(rng, leading=()):
    return {"displacement": rng.normal(0, 0.2, (*(leading or (1,)), *LARGE, 2))}


def large_boxes(rng, leading=()):
    top, left = rng.integers(0, 60, leading), rng.integers(0, 60, leading)
    return {"top": top, "left": left, "height": rng.integers(90, 160, leading), "width": rng.integers(90, 160, leading)}


# One image of 224x224 per row: enough values for the exact share to be meaningful.
LARGE_IMAGE_ROWS = [
    dataclasses.replace(row, options={**row.options, "interpolation": interpolation})
    for interpolation in dict.fromkeys((*INTERPOLATIONS, *RESIZE_INTERPOLATIONS))
    if interpolation != "nearest"
    for row in (
        warp_row("warp_affine", {}, matrix),
        warp_row("warp_affine", {"border": "reflect"}, axis_aligned),
        warp_row(
            "warp_perspective", {}, lambda rng, leading=(): {"M": np.vstack([*matrix(rng)["M"], [3e-4, -4e-4, 1]])}
        ),
        warp_row("remap", {}, large_maps),
        warp_row("elastic", {}, large_elastic_displacements),
        warp_row("affine", {}, torchvision_affine),
        warp_row("rotate", {}, angle),
        warp_row("perspective", {}, large_quadrilaterals),
        warp_row("resize", {"size": (150, 307)}),
        warp_row("resize", {"size": (150, 307), "antialias": False}),
        warp_row("resized_crop", {"size": LARGE}, large_boxes),
    )
    if interpolation in (RESIZE_INTERPOLATIONS if "resize" in row.op else INTERPOLATIONS)
]

ROW_OF_OP = first_rows(ROWS)
INEXACT_ROW_OF_OP = first_rows([row for row in ROWS if not row.is_exact])
MAIN_ROWS = list({id(row): row for row in [*ROW_OF_OP.values(), *INEXACT_ROW_OF_OP.values()]}.values())
MAIN_ROWS.sort(key=ROWS.index)

"""Transforms of torchvision with arguments of their documentation, and the parameters of one draw in its form.

``to_params`` turns the columns that cuaug draws into ``params`` of torchvision's ``transform(inpt, params)``, so that
both packages transform a sample with the same parameters. Without ``to_params`` the transform draws nothing that
matters: the probability is 0 or 1, or ranges are points.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from helpers.compare import EXACT, Tolerance

from tables.functional_calls import LEVEL, NEAREST, SIZE, WARPED_LEVEL

FLOAT = Tolerance(absolute=2e-5, reason="float32, in another order; ColorJitter also goes through HSV")
DIVISION = Tolerance(absolute=1e-7, reason="one division in float32")


@dataclasses.dataclass(frozen=True)
class Case:
    """``name(*args, **kwargs)`` of both packages."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    to_params: Callable | None = None  # (columns, transform) -> params of torchvision
    image: Tolerance = EXACT
    mask: Tolerance = EXACT
    targets: tuple[str, ...] = ("mask", "boxes", "keypoints")  # those that both take, and move alike
    from_corner: bool = False  # torchvision's keypoints count from a pixel's corner
    dtype: str = "uint8"

    @property
    def id(self):
        arguments = [str(value) for value in self.args] + [f"{key}={value}" for key, value in self.kwargs]
        return f"{self.name}({', '.join(arguments)})"

    def keywords(self, image_type):
        """torchvision fills masks, too: its fill of images goes to images alone."""
        keywords = dict(self.kwargs)
        if keywords.get("fill") is not None:
            keywords["fill"] = {image_type: keywords["fill"], "others": 0}
        return keywords


def case(name, *args, to_params=None, image=EXACT, mask=EXACT, dtype="uint8", **kwargs):
    from_corner = name in ("RandomAffine", "RandomPerspective", "RandomResizedCrop", "RandomRotation", "Resize")
    targets = ("mask", "boxes", "keypoints")
    if name in ("RandomResizedCrop", "Resize"):  # "nearest" of masks reads another pixel: docs/differences.md
        targets = ("boxes", "keypoints")
    elif name == "RandomErasing":  # torchvision warns of targets
        targets = ()
    elif kwargs.get("padding_mode", "constant") != "constant":  # torchvision refuses boxes and keypoints
        targets = ("mask",)
    return Case(name, args, tuple(kwargs.items()), to_params, image, mask, targets, from_corner, dtype)


def crop(columns, transform):
    """The padding of each side, and the position and size of the crop in the padded image."""
    left, top, right, bottom = paddings(transform)
    height, width = SIZE[0] + top + bottom, SIZE[1] + left + right
    rows = max(0, transform.size[0] - height) if transform.pad_if_needed else 0
    cols = max(0, transform.size[1] - width) if transform.pad_if_needed else 0
    padding = [left + cols, top + rows, right + cols, bottom + rows]
    corner = {key: int(columns[key]) for key in ("top", "left", "height", "width")}
    return {**corner, "needs_crop": True, "needs_pad": any(padding), "padding": padding}


def paddings(transform):
    padding = transform.padding if transform.padding is not None else 0
    values = [padding] if isinstance(padding, int) else list(padding)
    return (values * 4)[:4] if len(values) < 4 else values


def box(columns, transform):
    return {key: int(columns[key]) for key in ("top", "left", "height", "width")}


def rotation(columns, transform):
    return {"angle": columns["angle"]}


def affine(columns, transform):
    return {
        "angle": columns["angle"],
        "translate": (int(columns["translate_x"]), int(columns["translate_y"])),
        "scale": columns["scale"],
        "shear": (columns["shear_x"], columns["shear_y"]),
    }


def perspective(columns, transform):
    """The eight coefficients of the map from the result's corners to those of the image."""
    height, width = SIZE
    start = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
    signs = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    corners = ("top_left", "top_right", "bottom_right", "bottom_left")
    rows, values = [], []
    for (x, y), (step_x, step_y), corner in zip(start, signs, corners, strict=True):
        u, v = x + step_x * columns[f"{corner}_x"], y + step_y * columns[f"{corner}_y"]
        rows += [[u, v, 1, 0, 0, 0, -x * u, -x * v], [0, 0, 0, u, v, 1, -y * u, -y * v]]
        values += [x, y]
    return {"coefficients": np.linalg.solve(np.array(rows), np.array(values)).tolist()}


def erasing(columns, transform):
    import torch

    values = torch.tensor([columns[f"v_{channel}"] for channel in range(3)])
    return {**{key: int(columns[key]) for key in "ijhw"}, "v": values.reshape(3, 1, 1).to(torch.uint8)}


def jitter(columns, transform):
    import torch

    order = torch.tensor([int(columns[f"order_{position}"]) for position in range(4)])
    names = [f"{name}_factor" for name in ("brightness", "contrast", "saturation", "hue")]
    return {"fn_idx": order, **{name: columns[name] for name in names}}


def sigma(columns, transform):
    return {"sigma": [columns["sigma"]] * 2}


PADDING_MODES = ("constant", "edge", "reflect", "symmetric")
CASES = [
    *(case("Resize", size, image=LEVEL) for size in (17, [17], (14, 18), [31, 45], (20, 30))),
    case("Resize", 12, max_size=16, image=LEVEL),
    case("Resize", None, max_size=17, image=LEVEL),
    case("Resize", (14, 18), "nearest-exact"),
    case("Resize", (14, 41), "bicubic", image=FLOAT, dtype="float32"),
    case("Resize", (14, 18), antialias=False, image=LEVEL),
    *(case("CenterCrop", size) for size in (12, [11, 13], (30, 10), (9, 40))),
    *(case("Pad", padding) for padding in (2, [3], (1, 4), [1, 2, 3, 4])),
    *(case("Pad", (1, 2, 3, 4), padding_mode=mode) for mode in PADDING_MODES),
    *(case("Pad", 3, fill=fill) for fill in (0, 7, (1, 2, 3))),
    *(case(name, p=p) for name in ("RandomHorizontalFlip", "RandomVerticalFlip") for p in (0.0, 1.0)),
    *(case("RandomCrop", size, to_params=crop) for size in (12, (9, 23), [20, 30])),
    *(case("RandomCrop", 24, padding=4, padding_mode=mode, to_params=crop) for mode in PADDING_MODES),
    *(case("RandomCrop", (16, 20), padding=padding, to_params=crop) for padding in (3, [2, 5], (1, 2, 3, 4))),
    *(case("RandomCrop", size, pad_if_needed=True, to_params=crop) for size in ((26, 20), (18, 40), (33, 35))),
    case("RandomCrop", (26, 34), pad_if_needed=True, fill=9, to_params=crop),
    *(case("RandomResizedCrop", size, to_params=box, image=LEVEL) for size in (12, (9, 17), [31, 33])),
    case("RandomResizedCrop", 12, scale=(0.3, 0.5), ratio=(0.5, 2.0), to_params=box, image=LEVEL),
    case("RandomResizedCrop", 12, interpolation="bicubic", to_params=box, image=FLOAT, dtype="float32"),
    case("RandomResizedCrop", 12, interpolation="nearest-exact", to_params=box),
    case("RandomResizedCrop", (25, 12), antialias=False, to_params=box, image=LEVEL),
    *(case("RandomRotation", degrees, to_params=rotation, image=NEAREST, mask=NEAREST) for degrees in (30, (-5, 40))),
    *(case("RandomRotation", (d, d), to_params=rotation) for d in (0, 90, 180, -90, 270)),
    case("RandomRotation", 40, interpolation="bilinear", fill=None,
         to_params=rotation, image=WARPED_LEVEL, mask=NEAREST),
    case("RandomRotation", 40, center=(4, 7), fill=11, to_params=rotation, image=NEAREST, mask=NEAREST),
    case("RandomRotation", 40, fill=(1, 2, 3), to_params=rotation, image=NEAREST, mask=NEAREST),
    case("RandomAffine", 25, to_params=affine, image=NEAREST, mask=NEAREST),
    case("RandomAffine", 0, translate=(0.2, 0.3), to_params=affine),
    case("RandomAffine", 0, scale=(0.6, 1.7), to_params=affine, image=NEAREST, mask=NEAREST),
    *(case("RandomAffine", 0, shear=shear, to_params=affine, image=NEAREST, mask=NEAREST)
      for shear in (12, (-3, 9), (2, 8, -4, 7))),
    case("RandomAffine", (-30, 60), (0.1, 0.1), (0.8, 1.2), (3, 9), "bilinear", None,
         to_params=affine, image=WARPED_LEVEL, mask=NEAREST),
    case("RandomAffine", 25, center=[3, 4], fill=(9, 8, 7), to_params=affine, image=NEAREST, mask=NEAREST),
    case("RandomPerspective", 0.5, 1.0, "bilinear", None, to_params=perspective, image=WARPED_LEVEL, mask=NEAREST),
    case("RandomPerspective", 0.8, 1.0, "nearest", fill=5, to_params=perspective, image=NEAREST, mask=NEAREST),
    case("RandomPerspective", p=0.0),
    *(case("RandomErasing", 1.0, scale, ratio, to_params=erasing)
      for scale in ((0.02, 0.33), (0.4, 0.6)) for ratio in ((0.3, 3.3), (1.0, 1.0))),
    *(case("RandomErasing", 1.0, value=value, to_params=erasing) for value in (9, (1, 2, 3))),
    case("RandomErasing", 0.0),
    *(case("ColorJitter", dtype="float32", to_params=jitter, image=FLOAT, **{name: amount})
      for name in ("brightness", "contrast", "saturation") for amount in (0.5, (0.2, 1.9))),
    *(case("ColorJitter", dtype="float32", to_params=jitter, image=FLOAT, hue=hue) for hue in (0.3, (-0.1, 0.5))),
    case("ColorJitter", 0.4, 0.4, 0.4, 0.1, dtype="float32", to_params=jitter, image=FLOAT),
    *(case("GaussianBlur", size, sigma, image=LEVEL)
      for size, sigma in ((3, 1.5), ((5, 3), (0.8, 0.8)), ([7, 9], 2.0))),
    *(case("GaussianBlur", size, to_params=sigma, image=LEVEL) for size in (3, (7, 5))),
    *(case("RandomGrayscale", p=p, image=LEVEL) for p in (0.0, 1.0)),
    *(case("Grayscale", channels, image=LEVEL) for channels in (1, 3)),
    *(case("RandomInvert", p=p) for p in (0.0, 1.0)),
    *(case("RandomPosterize", bits, p=1.0) for bits in (1, 4, 8)),
    *(case("RandomSolarize", threshold, p=1.0) for threshold in (0, 100, 255)),
    case("RandomSolarize", 0.3, p=1.0, dtype="float32"),
    *(case("RandomAdjustSharpness", factor, p=1.0, image=LEVEL) for factor in (0.0, 0.5, 2.0)),
    *(case("RandomAutocontrast", p=p) for p in (0.0, 1.0)),
    *(case("RandomEqualize", p=p) for p in (0.0, 1.0)),
    *(case("Normalize", [0.5, 0.4, 0.3], std, dtype="float32", image=FLOAT)
      for std in ([0.2, 0.3, 0.25], [1.0, 2.0, 0.5])),
    *(case("ToDtype", dtype, scale=True, image=DIVISION) for dtype in ("float32", "float64")),
    case("ToDtype", "float32"),
    case("Identity"),
]  # fmt: skip

"""The calls that the gallery's pictures show, and the names that they use.

Each call in CHOSEN_CALLS was chosen for what its picture shows. Any other op gets a call by rule: a function takes the
arguments of its first row in the tests' table; a transform takes its defaults, or else the arguments of its row.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path += [str(CHECKOUT / "tests"), str(CHECKOUT)]  # a checkout that is not installed

from tables import colors, filters, warps  # noqa: E402
from tables.row import Row  # noqa: E402
from tables.transforms import INSTANCES  # noqa: E402

import cuaug  # noqa: E402
from cuaug import transforms as T  # noqa: E402
from cuaug.transforms.transform import Transform  # noqa: E402

SIDE = 112
SAMPLES = 5
CENTER = (SIDE / 2 - 0.5, SIDE / 2 - 0.5)
CORNERS = np.array([[0, 0], [111, 0], [111, 111], [0, 111]])
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
SEPIA = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
# Coordinates in the astronaut photograph: her face and the rocket; her right eye, her left eye and her mouth.
TARGETS = {
    "T.Boxes": ("boxes", np.array([[36.0, 10, 74, 60], [80, 0, 104, 70]])),
    "T.Keypoints": ("keypoints", np.array([[46.0, 30, 2], [62, 30, 2], [54, 47, 2]])),
}


def waves(strengths):
    """Displacements as fractions of the image size. [N, H, W, 2]"""
    y, x = np.mgrid[:SIDE, :SIDE] * (2 * np.pi / 28)
    return np.reshape(strengths, (-1, 1, 1, 1)) * np.stack([np.sin(y) + np.sin(x), np.sin(x + 1) - np.sin(y)], -1)


def inwards(strengths):
    """Destinations of the corners. [N, 4, 2]"""
    return CORNERS + np.reshape(strengths, (-1, 1, 1)) * [[20, 12], [-18, 6], [-8, -22], [10, -16]]


def swirl(rotations):
    """Maps that rotate about the centre, by an angle that falls with the radius; in full turns. Two of [N, H, W]"""
    y, x = np.mgrid[:SIDE, :SIDE] - CENTER[0]
    radius = np.hypot(x, y)
    angle = np.arctan2(y, x) + np.reshape(rotations, (-1, 1, 1)) * 2 * np.pi * np.exp(-((radius / 35) ** 2))
    return CENTER[0] + radius * np.cos(angle), CENTER[0] + radius * np.sin(angle)


def heat():
    """A look-up table from black through red and yellow to white. [3, 256]"""
    return np.clip(3 * np.arange(256) - [[0], [255], [510]], 0, 255)


# Name: photograph and call; the call runs and is printed as written. `images` are five copies of the photograph, or
# five photographs for "all".
CHOSEN_CALLS = {
    "warp_affine": ("china", "warp_affine(images, get_rotation_matrix([-40, -20, 0, 20, 40], 0.8, CENTER))"),
    "warp_perspective": (
        "china",
        "warp_perspective(images, get_perspective_transform(CORNERS, inwards([0.4, 0.8, 1.2, 1.6, 2])), fill=255)",
    ),
    "affine": (
        "astronaut",
        'affine(images, [-20, -10, 0, 10, 20], (0, 0), [0.6, 0.8, 1, 1.2, 1.4], (15, 0), "bilinear")',
    ),
    "rotate": ("china", 'rotate(images, [-60, -30, 15, 45, 90], "bilinear", fill=160)'),
    "perspective": ("china", 'perspective(images, CORNERS, inwards([-0.5, 0.5, 1, 1.5, 2]), "bilinear")'),
    "remap": ("astronaut", 'remap(images, *swirl([-0.2, -0.1, 0.1, 0.2, 0.4]), border="reflect")'),
    "elastic": ("astronaut", 'elastic(images, waves([0.005, 0.01, 0.02, 0.03, 0.04]), border="edge")'),
    "resize": ("chelsea", "resize(images, (56, 84))"),
    "resized_crop": ("chelsea", "resized_crop(images, 28, [0, 14, 28, 42, 56], 56, 56, (112, 112))"),
    "crop": ("chelsea", "crop(images, [0, 0, 16, 40, 60], [0, 32, 16, -30, 60], 80, 80)"),
    "center_crop": ("chelsea", "center_crop(images, 72)"),
    "pad": ("coffee", 'pad(images, 24, padding_mode="symmetric")'),
    "hflip": ("chelsea", "hflip(images, [True, False, True, True, False])"),
    "vflip": ("rocket", "vflip(images, [True, False, True, True, False])"),
    "adjust_brightness": ("flower", "adjust_brightness(images, [0.3, 0.6, 1.0, 1.5, 2.0])"),
    "adjust_contrast": ("china", "adjust_contrast(images, [0.0, 0.5, 1.0, 1.5, 2.5])"),
    "adjust_saturation": ("astronaut", "adjust_saturation(images, [0.0, 0.5, 1.0, 2.0, 4.0])"),
    "adjust_hue": ("flower", "adjust_hue(images, [-0.4, -0.2, 0.0, 0.2, 0.4])"),
    "adjust_gamma": ("coffee", "adjust_gamma(images, [0.4, 0.7, 1.0, 1.6, 2.5])"),
    "adjust_sharpness": ("chelsea", "adjust_sharpness(images, [0.0, 1.0, 3.0, 6.0, 12.0])"),
    "autocontrast": ("fog", "autocontrast(images)"),
    "equalize": ("rocket", "equalize(images)"),
    "lut": ("rocket", "lut(rgb_to_grayscale(images, 3), heat())"),
    "rgb_to_grayscale": ("flower", "rgb_to_grayscale(images)"),
    "invert": ("flower", "invert(images)"),
    "solarize": ("coffee", "solarize(images, [50, 100, 150, 200, 250])"),
    "posterize": ("flower", "posterize(images, [1, 2, 3, 4, 8])"),
    "permute_channels": ("flower", "permute_channels(images, [[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 0, 1], [2, 1, 0]])"),
    "color_matrix": ("china", "color_matrix(images, SEPIA)"),
    "erase": (
        "chelsea",
        "erase(images, [10, 30, 50, 5, 70], [10, 50, 20, 70, 70], 40, [20, 30, 40, 50, 60], (124, 116, 104))",
    ),
    "normalize": ("china", "normalize(images, MEAN, STD)"),
    "to_dtype": ("coffee", 'to_dtype(images, "float16", scale=True)'),
    "gaussian_noise": ("astronaut", "gaussian_noise(images, 0, [0.0, 0.05, 0.1, 0.2, 0.4], seed=1)"),
    "gaussian_blur": ("chelsea", "gaussian_blur(images, 23, [0.5, 1.0, 2.0, 3.0, 5.0])"),
    "jpeg": ("chelsea", "jpeg(images, [1, 5, 10, 20, 50])"),
    "mixup": ("all", "mixup(images, [1.0, 0.75, 0.5, 0.25, 0.0])"),
    "cutmix": ("all", "cutmix(images, [10, 40, 0, 50, 20], [10, 20, 40, 60, 50], 60, 50)"),
    "T.Compose": (
        "all",
        "T.Compose([T.RandomResizedCrop(112), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4, 0.1), "
        "T.RandomGrayscale(0.2)], seed=89)",
    ),
    "T.RandomHorizontalFlip": ("chelsea", "T.RandomHorizontalFlip()"),
    "T.RandomVerticalFlip": ("rocket", "T.RandomVerticalFlip()"),
    "T.RandomResizedCrop": ("astronaut", "T.RandomResizedCrop(112)"),
    "T.RandomCrop": ("china", "T.RandomCrop(112, padding=28)"),
    "T.RandomAffine": ("china", 'T.RandomAffine(30, (0.2, 0.2), (0.6, 1.2), 15, "bilinear")'),
    "T.RandomRotation": ("china", 'T.RandomRotation(60, "bilinear", fill=160)'),
    "T.RandomPerspective": ("china", "T.RandomPerspective(0.6, p=0.8)"),
    "T.Resize": ("chelsea", "T.Resize((56, 84))"),
    "T.CenterCrop": ("chelsea", "T.CenterCrop(72)"),
    "T.Pad": ("coffee", "T.Pad(24, fill=(200, 160, 120))"),
    "T.ColorJitter": ("flower", "T.ColorJitter(0.5, 0.5, 0.5, 0.2)"),
    "T.RandomPhotometricDistort": ("flower", "T.RandomPhotometricDistort()"),
    "T.RandomChannelPermutation": ("flower", "T.RandomChannelPermutation()"),
    "T.RandomGrayscale": ("flower", "T.RandomGrayscale(0.5)"),
    "T.Grayscale": ("flower", "T.Grayscale()"),
    "T.RandomInvert": ("china", "T.RandomInvert()"),
    "T.RandomSolarize": ("coffee", "T.RandomSolarize(128)"),
    "T.RandomPosterize": ("flower", "T.RandomPosterize(2)"),
    "T.RandomAutocontrast": ("fog", "T.RandomAutocontrast()"),
    "T.RandomEqualize": ("rocket", "T.RandomEqualize()"),
    "T.RandomAdjustSharpness": ("chelsea", "T.RandomAdjustSharpness(8)"),
    "T.GaussianBlur": ("chelsea", "T.GaussianBlur(23, (0.1, 4.0))"),
    "T.JPEG": ("chelsea", "T.JPEG((2, 15))"),
    "T.GaussianNoise": ("astronaut", "T.GaussianNoise(sigma=0.15)"),
    "T.ElasticTransform": ("china", "T.ElasticTransform(150.0, 5.0, fill=160)"),
    "T.PixelOp": ("astronaut", 'T.PixelOp("Vignette", "px * (1 - k * r2)", k=(0, 1))'),
    "T.RandomErasing": ("chelsea", "T.RandomErasing(0.8, value=(124, 116, 104))"),
    "T.RandomMask": ("astronaut", 'T.RandomMask(0.8, "grid", share=0.3, size=28)'),
    "T.Normalize": ("china", "T.Normalize(MEAN, STD)"),
    "T.ToDtype": ("coffee", 'T.ToDtype("float16", scale=True)'),
    "T.MixUp": ("all", "T.MixUp()"),
    "T.CutMix": ("all", "T.CutMix()"),
    "T.RandAugment": ("astronaut", "T.RandAugment()"),
    "T.TrivialAugmentWide": ("astronaut", "T.TrivialAugmentWide()"),
    "T.AutoAugment": ("astronaut", "T.AutoAugment()"),
    "T.AugMix": ("astronaut", "T.AugMix(severity=8)"),
    "T.RandomApply": ("coffee", "T.RandomApply([T.ColorJitter(0.8, 0.8, 0.8, 0.2)])"),
    "T.RandomChoice": (
        "coffee",
        'T.RandomChoice([T.RandomRotation((30, 30), "bilinear"), T.RandomGrayscale(1.0), T.GaussianBlur(15, 3.0)])',
    ),
    "T.RandomOrder": ("flower", "T.RandomOrder([T.RandomPosterize(1, 1.0), T.GaussianBlur(15, 3.0)])"),
    "T.Identity": ("coffee", "T.Identity()"),
    "T.Boxes": (
        "astronaut",
        'T.Compose([T.RandomAffine(20, (0.4, 0.1), (0.7, 1.3), 0, "bilinear")], seed=89, '
        "boxes=T.Boxes(min_visibility=0.6, compact=True))",
    ),
    "T.Keypoints": (
        "astronaut",
        'T.Compose([T.RandomRotation(40, "bilinear"), T.RandomHorizontalFlip()], seed=89, '
        "keypoints=T.Keypoints(flip_pairs=[(0, 1)]))",
    ),
}


# Transforms that run on whole samples; ConvertImageDtype, which is a ToDtype; RGB, which keeps colour photographs.
WITHOUT_PICTURE = {
    name
    for name, cls in vars(T).items()
    if isinstance(cls, type) and issubclass(cls, Transform) and cls.write is Transform.write and cls is not T.Compose
} | {"ConvertImageDtype", "RGB"}


def calls(chosen_calls: dict[str, tuple[str, str]] = CHOSEN_CALLS) -> dict[str, tuple[str, str]]:
    """Photograph and call by name, for every image function and transform, in the order of the modules."""
    functions = {**warps.ROW_OF_OP, **colors.ROW_OF_OP, **filters.ROW_OF_OP}
    by_rule = {name: ("astronaut", _function_call(row)) for name, row in functions.items() if name not in chosen_calls}
    for name in T.__all__:
        cls = getattr(T, name)
        is_transform = isinstance(cls, type) and issubclass(cls, Transform) and name not in WITHOUT_PICTURE
        if is_transform and f"T.{name}" not in chosen_calls:
            by_rule[f"T.{name}"] = "astronaut", f"T.{_transform_call(cls)}"
    all_calls = {**chosen_calls, **by_rule}
    public_names = [*cuaug.__all__, *(f"T.{name}" for name in T.__all__)]
    return {name: all_calls[name] for name in sorted(all_calls, key=public_names.index)}


def _function_call(row: Row) -> str:
    """The call of a row of the tests' table, with one parameter per sample."""
    parameters = {name: np.sort(v, 0) for name, v in row.parameters((SAMPLES,), "uint8").items()}
    arguments = {**row.keywords("uint8"), **parameters}
    return (
        ", ".join([f"{row.op}(images", *(f"{name}={_round_numbers(value)!r}" for name, value in arguments.items())])
        + ")"
    )


def _transform_call(cls: type[Transform]) -> str:
    parameters = list(inspect.signature(cls).parameters.values())
    has_defaults = all(p.default is not p.empty for p in parameters)
    return f"{cls.__name__}()" if has_defaults else repr(INSTANCES[cls.__name__])


def _round_numbers(value: Any) -> Any:
    """Numbers with three significant digits, in plain lists."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_round_numbers, value))
    return float(f"{value:.3g}") if isinstance(value, float) else value

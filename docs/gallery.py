"""Draws the gallery: a picture of every image function and transform, docs/gallery.md and README's tables.

Run ``python -m cuaug gallery``. The photographs come from scikit-image and scikit-learn. A test compares PICTURES with
the package's public names, and the pages with the output of this file.
"""

from __future__ import annotations

import inspect
import io
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))  # a checkout that is not installed

import cuaug  # noqa: E402
from cuaug import transforms as T  # noqa: E402

FOLDER = HERE / "gallery"
README = HERE.parent / "README.md"

SIDE = 112
SEED = 89  # its draws differ visibly
MIDDLE = (SIDE / 2 - 0.5, SIDE / 2 - 0.5)
CORNERS = np.array([[0, 0], [111, 0], [111, 111], [0, 111]])
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
SEPIA = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
COLOURS = np.array([[255, 230, 0], [0, 200, 255], [255, 60, 200]], np.uint8)
# Coordinates in the astronaut photograph: her face and the rocket; her right eye, her left eye and her mouth.
TARGETS = {
    "T.Boxes": ("boxes", np.array([[36.0, 10, 74, 60], [80, 0, 104, 70]])),
    "T.Keypoints": ("keypoints", np.array([[46.0, 30, 2], [62, 30, 2], [54, 47, 2]])),
}
START, END = "<!-- written by docs/gallery.py -->", "<!-- until here -->"
PAGE = f"""# Gallery

Each picture shows the photograph and then the results of a batch of five copies, with one parameter or one draw per
sample; one result if all five are equal. For functions that mix samples, five photographs stand above their results. A
transform runs as `T.Compose([transform], seed={SEED})`. Normalized results are shown as `0.5 + 0.2 * value`.
`python -m cuaug gallery` writes this page and its pictures. It runs the calls as printed here, with the names that
`docs/gallery.py` defines.
"""


def waves(strengths):
    """Displacements as fractions of the image size. [N, H, W, 2]"""
    y, x = np.mgrid[:SIDE, :SIDE] * (2 * np.pi / 28)
    return np.reshape(strengths, (-1, 1, 1, 1)) * np.stack([np.sin(y) + np.sin(x), np.sin(x + 1) - np.sin(y)], -1)


def inwards(strengths):
    """Destinations of the corners. [N, 4, 2]"""
    return CORNERS + np.reshape(strengths, (-1, 1, 1)) * [[20, 12], [-18, 6], [-8, -22], [10, -16]]


def swirl(turns):
    """Maps that rotate about the centre, by an angle that falls with the radius. Two of [N, H, W]"""
    y, x = np.mgrid[:SIDE, :SIDE] - MIDDLE[0]
    radius = np.hypot(x, y)
    angle = np.arctan2(y, x) + np.reshape(turns, (-1, 1, 1)) * 2 * np.pi * np.exp(-((radius / 35) ** 2))
    return MIDDLE[0] + radius * np.cos(angle), MIDDLE[0] + radius * np.sin(angle)


def heat():
    """A table from black through red and yellow to white. [3, 256]"""
    return np.clip(3 * np.arange(256) - [[0], [255], [510]], 0, 255)


# Name: photograph and call; the call runs and is printed as written. `images` are five copies of the photograph, or
# five photographs for "all".
PICTURES = {
    "warp_affine": ("china", "warp_affine(images, get_rotation_matrix([-40, -20, 0, 20, 40], 0.8, MIDDLE))"),
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
    "color_matrix": ("china", "color_matrix(images, SEPIA)"),
    "erase": (
        "chelsea",
        "erase(images, [10, 30, 50, 5, 70], [10, 50, 20, 70, 70], 40, [20, 30, 40, 50, 60], (124, 116, 104))",
    ),
    "normalize": ("china", "normalize(images, MEAN, STD)"),
    "to_dtype": ("coffee", 'to_dtype(images, "float16", scale=True)'),
    "gaussian_noise": ("astronaut", "gaussian_noise(images, 0, [0.0, 0.05, 0.1, 0.2, 0.4], seed=1)"),
    "gaussian_blur": ("chelsea", "gaussian_blur(images, 23, [0.5, 1.0, 2.0, 3.0, 5.0])"),
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
    "T.RandomGrayscale": ("flower", "T.RandomGrayscale(0.5)"),
    "T.Grayscale": ("flower", "T.Grayscale()"),
    "T.RandomInvert": ("china", "T.RandomInvert()"),
    "T.RandomSolarize": ("coffee", "T.RandomSolarize(128)"),
    "T.RandomPosterize": ("flower", "T.RandomPosterize(2)"),
    "T.RandomAutocontrast": ("fog", "T.RandomAutocontrast()"),
    "T.RandomEqualize": ("rocket", "T.RandomEqualize()"),
    "T.RandomAdjustSharpness": ("chelsea", "T.RandomAdjustSharpness(8)"),
    "T.GaussianBlur": ("chelsea", "T.GaussianBlur(23, (0.1, 4.0))"),
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

FUNCTIONS = [name for name in PICTURES if not name.startswith("T.")]
TRANSFORMS = [name for name in PICTURES if name.startswith("T.")]
PLAIN = [name for name in [*sorted(cuaug.__all__), *(f"T.{name}" for name in T.__all__)] if name not in PICTURES]


def photographs() -> dict[str, np.ndarray]:
    """Squares of SIDE pixels by name; "all" is a batch of five."""
    from skimage import data
    from sklearn.datasets import load_sample_images

    china, flower = load_sample_images().images
    boxes = {
        "astronaut": (data.astronaut(), 0, 60, 330),
        "chelsea": (data.chelsea(), 0, 90, 300),
        "flower": (flower, 30, 110, 380),
        "china": (china, 0, 20, 427),
        "coffee": (data.coffee(), 0, 60, 400),
        "rocket": (data.rocket(), 60, 150, 360),
    }
    photos = {
        name: cuaug.resized_crop(p, top, left, side, side, (SIDE, SIDE)) for name, (p, top, left, side) in boxes.items()
    }
    photos["fog"] = cuaug.adjust_contrast(photos["china"], 0.35, 170)
    return photos | {"all": np.stack([photos[name] for name in list(boxes)[:5]])}


def strip(name: str, photos: dict[str, np.ndarray]) -> np.ndarray:
    """The photograph beside its results, or five photographs above their results."""
    photo, call = PICTURES[name]
    before = photos[photo] if photo == "all" else np.stack([photos[photo]] * 5)
    made: Any = eval(call, vars(cuaug) | globals() | {"images": before})
    if name in TARGETS:
        kind, values = TARGETS[name]
        after, moved = made(before, **{kind: np.stack([values] * 5)})
        return cuaug.grid([painted(before[0], values), *map(painted, after, moved)], ncols=6, pad=4)
    if name in TRANSFORMS:
        made = (made if isinstance(made, T.Compose) else T.Compose([made], seed=SEED))(before)
    if made.min() < 0:  # normalized: shown about 0.5
        made = 0.5 + 0.2 * made
    if photo == "all":
        return cuaug.grid([before, made], ncols=5, pad=4)
    alike = all(np.array_equal(made[0], other) for other in made[1:])
    return cuaug.grid([before[:1], made[:1] if alike else made], ncols=6, pad=4)


def painted(image: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Draws boxes [B, 4] as outlines or keypoints [P, 3] as dots, one colour each."""
    image = image.copy()
    for row, colour in zip(np.rint(values).astype(int).tolist(), COLOURS, strict=False):
        if len(row) == 4:
            left, top, right, bottom = row
            image[top:bottom, [left, left + 1, right - 2, right - 1]] = colour
            image[[top, top + 1, bottom - 2, bottom - 1], left:right] = colour
        elif row[2]:
            x, y, _ = row
            image[max(0, y - 3) : y + 4, max(0, x - 3) : x + 4] = colour
    return image


def page() -> str:
    """docs/gallery.md."""
    text = [PAGE]
    for title, names in (("Functions", FUNCTIONS), ("Transforms", TRANSFORMS)):
        text.append(f"## {title}\n")
        for name in names:
            call, picture = f"```python\n{PICTURES[name][1]}\n```", f"![{name}](gallery/{name}.jpg)"
            text.append(f"### {name}\n\n{summary(name)}\n\n{call}\n\n{picture}\n")
    return "\n".join(text)


def table() -> str:
    """README's tables: one row per public name, with a link to its picture."""
    text = []
    for title, names in (
        ("image functions", FUNCTIONS),
        ("transforms, with boxes and keypoints", TRANSFORMS),
        ("names without a picture: matrices, points, boxes, labels, display, set-up, errors", PLAIN),
    ):
        rows = [f"| {linked(name)} | {summary(name)} |" for name in names]
        lines = [f"<details><summary>{len(names)} {title}</summary>", "", "| | |", "|---|---|", *rows, "", "</details>"]
        text.append("\n".join(lines))
    return "\n\n".join(text)


def linked(name: str) -> str:
    anchor = re.sub(r"[^\w]", "", name.lower())  # GitHub's anchor of a heading
    return f"[`{name}`](docs/gallery.md#{anchor})" if name in PICTURES else f"`{name}`"


def summary(name: str) -> str:
    """The first line of the docstring, without its roles."""
    thing = getattr(T, name[2:]) if name.startswith("T.") else getattr(cuaug, name)
    first = inspect.getdoc(thing).splitlines()[0]
    return re.sub(r":\w+:`([^`]*)`", r"`\1`", first).replace("``", "`").replace("|", "\\|")


def encoded(picture: np.ndarray) -> bytes:
    from PIL import Image

    memory = io.BytesIO()
    Image.fromarray(picture).save(memory, "JPEG", quality=78, optimize=True)
    return memory.getvalue()


def main() -> None:
    photos = photographs()
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.jpg"):
        old.unlink()
    for name in PICTURES:
        FOLDER.joinpath(f"{name}.jpg").write_bytes(encoded(strip(name, photos)))
    HERE.joinpath("gallery.md").write_text(page())
    readme = README.read_text()
    README.write_text(f"{readme.partition(START)[0]}{START}\n\n{table()}\n\n{END}{readme.partition(END)[2]}")


if __name__ == "__main__":
    main()

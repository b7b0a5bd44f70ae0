"""Draws the gallery: a picture of every image function and transform, and docs/gallery.md.

Run ``python -m cuaug gallery``. The photographs come from scikit-image and scikit-learn, the calls from
``gallery_calls.py``. A test compares the pictures with the package's public names, and the page with the output of
this file.
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
sys.path.append(str(HERE))

import gallery_calls  # noqa: E402
from gallery_calls import SAMPLES, SIDE, TARGETS  # noqa: E402

import cuaug  # noqa: E402
from cuaug import transforms as T  # noqa: E402

FOLDER = HERE / "gallery"

SEED = 89  # its draws differ visibly
COLOURS = np.array([[255, 230, 0], [0, 200, 255], [255, 60, 200]], np.uint8)
INTRODUCTION = f"""# Gallery

Each picture shows the photograph and then the results of a batch of five copies, with one parameter or one draw per
sample; one result if all five are equal. For `mixup`, `cutmix`, their transforms and `T.Compose`, five photographs
stand above their results. A transform runs as `T.Compose([transform], seed={SEED})`. Normalized results are shown as
`0.5 + 0.2 * value`. `python -m cuaug gallery` writes this page and its pictures. It runs the calls as printed here,
with the names that `docs/gallery_calls.py` defines.
"""

PICTURES = gallery_calls.calls()
FUNCTIONS = [name for name in PICTURES if not name.startswith("T.")]
TRANSFORMS = [name for name in PICTURES if name.startswith("T.")]


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
    return photos | {"all": np.stack([photos[name] for name in list(boxes)[:SAMPLES]])}


def draw_picture(name: str, photos: dict[str, np.ndarray]) -> np.ndarray:
    """The photograph beside its results, or five photographs above their results."""
    photo, call = PICTURES[name]
    before = photos[photo] if photo == "all" else np.stack([photos[photo]] * SAMPLES)
    result: Any = eval(call, vars(cuaug) | vars(gallery_calls) | {"images": before})
    if name in TARGETS:
        kind, values = TARGETS[name]
        images, new_values = result(before, **{kind: np.stack([values] * SAMPLES)})
        return cuaug.grid([mark(before[0], values), *map(mark, images, new_values)], ncols=6, pad=4)
    if name in TRANSFORMS:
        result = (result if isinstance(result, T.Compose) else T.Compose([result], seed=SEED))(before)
    if result.min() < 0:  # normalized: shown about 0.5
        result = 0.5 + 0.2 * result
    if photo == "all":
        return cuaug.grid([before, result], ncols=5, pad=4)
    all_equal = all(np.array_equal(result[0], other) for other in result[1:])
    return cuaug.grid([before[:1], result[:1] if all_equal else result], ncols=6, pad=4)


def mark(image: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Draws boxes [B, 4] as outlines, or visible keypoints (x, y, visibility) [P, 3] as dots, one colour each."""
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
    """The text of docs/gallery.md."""
    text = [INTRODUCTION]
    for title, names in (("Functions", FUNCTIONS), ("Transforms", TRANSFORMS)):
        text.append(f"## {title}\n")
        for name in names:
            call, picture = f"```python\n{PICTURES[name][1]}\n```", f"![{name}](gallery/{name}.jpg)"
            text.append(f"### {name}\n\n{summary(name)}\n\n{call}\n\n{picture}\n")
    return "\n".join(text)


def summary(name: str) -> str:
    """The first line of the docstring, without its roles."""
    public_object = getattr(T, name[2:]) if name.startswith("T.") else getattr(cuaug, name)
    first = inspect.getdoc(public_object).splitlines()[0]
    return re.sub(r":\w+:`([^`]*)`", r"`\1`", first).replace("``", "`")


def to_jpeg(picture: np.ndarray) -> bytes:
    from PIL import Image

    memory = io.BytesIO()
    Image.fromarray(picture).save(memory, "JPEG", quality=78, optimize=True)
    return memory.getvalue()


def is_up_to_date(file: Path, picture: np.ndarray) -> bool:
    """Whether the file shows the picture, apart from the last bits of another JPEG encoder or another CPU."""
    from PIL import Image

    if not file.exists():
        return False
    old, new = (np.asarray(Image.open(source)).astype(int) for source in (file, io.BytesIO(to_jpeg(picture))))
    return old.shape == new.shape and bool(np.abs(old - new).mean() < 0.5)


def main() -> None:
    photos = photographs()
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.jpg"):
        if old.stem not in PICTURES:
            old.unlink()
    for name in PICTURES:
        file, picture = FOLDER / f"{name}.jpg", draw_picture(name, photos)
        if not is_up_to_date(file, picture):
            file.write_bytes(to_jpeg(picture))
    HERE.joinpath("gallery.md").write_text(page())


if __name__ == "__main__":
    main()

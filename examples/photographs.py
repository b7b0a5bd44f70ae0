"""JPEG files for the examples, from photographs of installed Python packages: crops by class, or cats with boxes."""

import json
from pathlib import Path

import numpy as np
from PIL import Image
from skimage import data
from sklearn.datasets import load_sample_image


def photographs():
    """Six photographs by name. [H, W, 3]"""
    skimage = {name: getattr(data, name)() for name in ("astronaut", "chelsea", "coffee", "rocket")}
    return skimage | {name: load_sample_image(f"{name}.jpg") for name in ("china", "flower")}


def write_crops(folder, count, size, seed=0, quality=75):
    """Writes `count` random crops of each photograph as JPEG files of `size` (H, W): ``folder/china/0007.jpg``."""
    rng, (height, width) = np.random.default_rng(seed), size
    for name, photograph in photographs().items():
        (Path(folder) / name).mkdir(parents=True)
        image = Image.fromarray(photograph)
        for i in range(count):
            fraction = rng.uniform(0.5, 1.0)
            scale = fraction * min(image.height / height, image.width / width)
            tall, wide = scale * height, scale * width
            left, top = rng.uniform(0, image.width - wide), rng.uniform(0, image.height - tall)
            box = (left, top, left + wide, top + tall)
            crop = image.resize((width, height), Image.Resampling.BICUBIC, box)
            crop.save(Path(folder) / name / f"{i:04}.jpg", quality=quality)
    return Path(folder)


def write_cats(folder, count, seed=0):
    """Writes `count` photographs of 128x192, each with the face of a cat pasted in, and COCO's ``boxes.json``."""
    rng, sources, annotations = np.random.default_rng(seed), photographs(), []
    face = Image.fromarray(sources.pop("chelsea")[60:230, 120:300])
    for i in range(count):
        image = Image.fromarray(list(sources.values())[i % len(sources)]).resize((192, 128))
        side = int(rng.integers(40, 80))
        left, top = int(rng.integers(0, 192 - side)), int(rng.integers(0, 128 - side))
        image.paste(face.resize((side, side)), (left, top))
        image.save(Path(folder) / f"{i:04}.jpg")
        annotations.append({"image_id": i, "category_id": 17, "bbox": [left, top, side, side]})
    images = [{"id": i, "file_name": f"{i:04}.jpg"} for i in range(count)]
    content = {"images": images, "categories": [{"id": 17, "name": "cat"}], "annotations": annotations}
    (Path(folder) / "boxes.json").write_text(json.dumps(content))

"""Random 256x256 crops of 533x800 JPEG files: decoding only the crop against decoding the complete image.

python examples/jpeg_crops.py [--images 200]
"""

import argparse
import io
import time

import numpy as np
from photographs import photographs
from PIL import Image

import cuaug
from cuaug import transforms as T

SIZE, CROP = (533, 800), 256
RECIPE = T.Compose(
    [T.RandomMask(p=0.5, size=16), T.Grayscale(3), T.ToDtype("float32", scale=True)],
    seed=0,
)


def encoded(count):
    """JPEG files in memory."""
    files = []
    for image in photographs().values():
        out = io.BytesIO()
        Image.fromarray(image).resize(SIZE[::-1], Image.Resampling.BICUBIC).save(out, "JPEG", quality=90)
        files.append(out.getvalue())
    return [files[i % len(files)] for i in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=200)
    options = parser.parse_args()
    files, rng = encoded(options.images), np.random.default_rng(0)
    tops, lefts = (rng.integers(0, side - CROP + 1, len(files)).tolist() for side in SIZE)

    def decode_crops():
        return np.stack(cuaug.io.decode_and_crop_jpeg(files, tops, lefts, CROP, CROP))

    def decode_and_slice():
        images = cuaug.io.decode_jpeg(files)
        crops = zip(images, tops, lefts, strict=True)
        return np.stack([image[top : top + CROP, left : left + CROP] for image, top, left in crops])

    results, rates = [], []
    for decode in (decode_crops, decode_and_slice):
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            result = RECIPE(decode(), step=0)
            seconds.append(time.perf_counter() - start)
        results.append(result)
        rates.append(len(files) / min(seconds))
    assert np.array_equal(*results), "the pixels differ"
    print(f"crop only {rates[0]:.0f} images/s, complete image {rates[1]:.0f}: {rates[0] / rates[1]:.2f}x, equal pixels")


if __name__ == "__main__":
    main()

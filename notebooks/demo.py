"""Augment photographs with their boxes and masks, write before and after to demo.png, and print times.

The picture shows one recipe on a batch of six photographs: every photograph has its own draws in every call. The times
are those of the same recipe on the CPU, on the GPU where there is one, and of the same work with OpenCV.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import demo_opencv
import demo_photographs
import numpy as np
from demo_picture import draw

import cuaug
from cuaug import transforms as T

BATCH = 64
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
FILL = (124, 116, 104)  # the mean: 0 after Normalize
RECIPE = """\
aug = T.Compose([
    T.RandomAffine(25, translate=(0.1, 0.1), scale=(0.8, 1.3), shear=10, interpolation="bilinear", fill=FILL),
    T.RandomHorizontalFlip(),
    T.ColorJitter(0.4, 0.4, 0.4, 0.1),
    T.RandomGrayscale(0.2),
    T.ToDtype("float32", scale=True),
    T.Normalize(MEAN, STD),
], seed=0)
images, masks, boxes = aug(images, masks, boxes)"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("demo.png"))
    parser.add_argument("--cpu", action="store_true", help="use the CPU only, even if there is a GPU")
    options = parser.parse_args()
    xp, gpu = np, None
    if cuaug.is_available() and not options.cpu:
        import cupy as xp

        gpu = cuaug.info()["gpus"][0]["name"]

    batch = demo_photographs.load()
    aug = recipe()
    on_device = [xp.asarray(values) for values in batch]
    results = [[to_numpy(values) for values in aug(*on_device, step=step)] for step in range(3)]
    rows = [batch, *((denormalize(images), masks, boxes) for images, masks, boxes in results)]
    times = measure([np.concatenate([values] * (BATCH // len(values) + 1))[:BATCH] for values in batch], xp, gpu)
    work = f"{BATCH} photographs of {demo_photographs.SIDE}x{demo_photographs.SIDE} with their masks and boxes"
    draw(rows, RECIPE, times, work).savefig(options.out, dpi=100)

    print(f"wrote {options.out}: photographs, boxes and masks before and after three calls of one recipe\n")
    print(f"{work}, uint8 to float32:\n{'':36}{'ms':>8}{'images/s':>12}")
    for name, ms in times.items():
        print(f"{name:36}{ms:>8.2f}{BATCH / ms * 1e3:>12,.0f}")
    print("\nOpenCV gets the draws of cuaug, and processes one image at a time in each thread.")
    print("Its results were compared with those of cuaug.")


def recipe():
    """The Compose that RECIPE defines; the picture shows the same text."""
    expression = RECIPE[RECIPE.index("T.") : RECIPE.rindex("\n")]
    return eval(expression, {"T": T, "FILL": FILL, "MEAN": MEAN, "STD": STD})


def measure(batch, xp, gpu):
    """Milliseconds for a batch by the name of what computes it. The results of cuaug and OpenCV are compared."""
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    aug = recipe()
    draws = draws_of_samples(aug.draw(batch[0], step=0))
    cv2.setNumThreads(1)  # the threads have an image each
    with ThreadPoolExecutor(threads) as pool:

        def run_opencv():
            results = list(pool.map(lambda *sample: demo_opencv.augment(*sample, MEAN, STD, FILL), *batch, draws))
            return [np.stack(values) for values in zip(*results, strict=True)]

        check_equal(aug(*batch, step=0), run_opencv())
        times = {
            f"cuaug, CPU, {threads} threads": median_ms(lambda: aug(*batch)),
            f"OpenCV {cv2.__version__}, {threads} threads": median_ms(run_opencv),
        }
    if gpu:
        on_device = [xp.asarray(values) for values in batch]
        synchronize = xp.cuda.get_current_stream().synchronize
        times[f"cuaug, {gpu}"] = median_ms(lambda: (aug(*on_device), synchronize()))
    return times


def draws_of_samples(params):
    """The drawn parameters of each sample, with short names."""
    names = {"grey": "3.RandomGrayscale.grey"}
    names |= {f"{op}_factor": f"2.ColorJitter.{op}_factor" for op in ("brightness", "contrast", "saturation", "hue")}
    order = np.stack([params[f"2.ColorJitter.order_{i}"] for i in range(4)], axis=1).astype(int)
    return [
        {name: float(params[column][i]) for name, column in names.items()}
        | {"matrix": params.matrices[i], "order": order[i]}
        for i in range(params.samples)
    ]


def check_equal(results, references):
    """OpenCV rounds between the ops and has 180 levels of hue: the mean difference is at most 2 levels of 255."""
    limits = 2 / 255 / min(STD), 0.002, 0.01  # of normalized images, of masks of 0 and 1, of boxes in pixels
    for name, result, reference, limit in zip(("images", "masks", "boxes"), results, references, limits, strict=True):
        difference = float(np.abs(result.astype(np.float64) - reference).mean())
        if not difference < limit:
            raise SystemExit(f"the {name} of cuaug and OpenCV differ by {difference:.4f} on average")


def median_ms(call, seconds=0.8):
    call()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def denormalize(images):
    return np.rint(255 * (images * np.float32(STD) + np.float32(MEAN))).clip(0, 255).astype(np.uint8)


def to_numpy(array):
    return array.get() if hasattr(array, "get") else array


if __name__ == "__main__":
    main()

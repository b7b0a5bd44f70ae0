"""One image a call on a CPU, in one thread, as a data set calls a transform: cuaug and its peers.

    python benchmarks/single_images.py [--quick] [--no-peers] [--json PATH]

Functions and the CIFAR recipe get one image of 32x32; the ImageNet recipe gets 500 images of 352x490, then 500 images
of different sizes, which the evaluation recipe gets, too. The results of cuaug's functions are compared with
torchvision's. Exit code 1: some differ.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import clocks
import numpy as np
from report import TORCHVISION_IMPORT_ERRORS, cpu_name, default_path, document, number, print_table, write

import cuaug
from cuaug import transforms as T

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CIFAR, IMAGENET = "CIFAR recipe, 32x32", "ImageNet recipe, images of one size"
MANY_SIZES = "ImageNet recipe, images of 500 sizes"
EVALUATION = "evaluation recipe, images of 500 sizes"
Calls = dict[str, dict[str, Callable[[], Any]]]  # row -> library -> call


def main() -> int:
    options = parse()
    cuaug.set_num_threads(1)
    images = Images(20 if options.quick else 500)
    calls = cuaug_calls(images)
    if not options.no_peers:
        for peer in (torchvision_calls, albumentations_calls):
            for row, call in peer(images).items():
                calls[row] |= call
    problems = check(calls)
    rows = measure(calls, images.count, seconds=2 if options.quick else 150)
    notes = [f"FAILED: {problem}" for problem in problems] + ["us per image; in brackets: ratio to cuaug with torch"]
    print_table(f"one image a call, one thread of {cpu_name()}", [cells(row) for row in rows], notes)
    results = document({"cpu": {"device": cpu_name(), "rows": rows, "problems": problems}}, "single-images")
    write(results, options.json or default_path(results))
    return 1 if problems else 0


class Images:
    """The images of all rows, as NumPy arrays [H, W, C] and tensors [C, H, W]."""

    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(0)
        self.count = count
        self.small = rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)
        self.equal = [rng.integers(0, 256, (352, 490, 3), dtype=np.uint8) for _ in range(count)]
        sizes = [(340 + i % 25, 480 + i // 25) for i in range(count)]
        self.different = [rng.integers(0, 256, (*size, 3), dtype=np.uint8) for size in sizes]


def as_tensor(image: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)))


def cycling_call(transform: Callable[[Any], Any], images: list[Any]) -> Callable[[], Any]:
    """A call with the next image of the list."""
    image_cycle = itertools.cycle(images)
    return lambda: transform(next(image_cycle))


def cuaug_calls(images: Images) -> Calls:
    import torch

    torch.set_num_threads(1)
    small = as_tensor(images.small)
    floats = small.float() / 255
    normalize = T.Normalize(MEAN, STD)
    cifar = [T.RandomCrop(32, padding=4), T.RandomHorizontalFlip(), normalize]
    imagenet = [T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4), normalize]
    evaluation = [T.Resize(256), T.CenterCrop(224), normalize]
    functions: dict[str, Callable[[], Any]] = {
        "hflip": lambda: cuaug.hflip(small),
        "crop": lambda: cuaug.crop(small, 1, 2, 20, 20),
        "pad": lambda: cuaug.pad(small, 4),
        "resize": lambda: cuaug.resize(small, (24, 24)),
        "rotate": lambda: cuaug.rotate(small, 10.0),
        "warp_affine, host matrix": lambda: cuaug.warp_affine(small, [[1.0, 0.0, 1.0], [0.0, 1.0, 2.0]]),
        "adjust_brightness": lambda: cuaug.adjust_brightness(small, 1.2),
        "adjust_contrast": lambda: cuaug.adjust_contrast(small, 1.2),
        "adjust_hue": lambda: cuaug.adjust_hue(small, 0.1),
        "invert": lambda: cuaug.invert(small),
        "gaussian_blur": lambda: cuaug.gaussian_blur(small, 5),
        "normalize": lambda: cuaug.normalize(floats, MEAN, STD),
    }
    calls: Calls = {name: {"cuaug, torch": call} for name, call in functions.items()}
    calls["hflip"]["torch.relu"] = lambda: torch.relu(floats)
    for name, recipe, pixels in (
        (CIFAR, cifar, [images.small]),
        ("RandAugment, 32x32", [T.RandAugment(), normalize], [images.small]),
        (IMAGENET, imagenet, images.equal),
        (MANY_SIZES, imagenet, images.different),
        (EVALUATION, evaluation, images.different),
    ):
        calls[name] = {
            "cuaug, torch": cycling_call(T.Compose(recipe, seed=0), list(map(as_tensor, pixels))),
            "cuaug, NumPy": cycling_call(T.Compose(recipe, seed=0), pixels),
        }
    return calls


def torchvision_calls(images: Images) -> Calls:
    try:
        import torch
        from torchvision.transforms import v2
    except TORCHVISION_IMPORT_ERRORS:
        return {}
    F, small = v2.functional, as_tensor(images.small)
    floats = small.float() / 255
    end = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    cifar = [v2.RandomCrop(32, padding=4), v2.RandomHorizontalFlip(), *end]
    imagenet = [v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), v2.ColorJitter(0.4, 0.4, 0.4), *end]
    evaluation = [v2.Resize(256), v2.CenterCrop(224), *end]
    calls: dict[str, Callable[[], Any]] = {
        "hflip": lambda: F.horizontal_flip(small),
        "crop": lambda: F.crop(small, 1, 2, 20, 20),
        "pad": lambda: F.pad(small, [4]),
        "resize": lambda: F.resize(small, [24, 24], antialias=True),
        "rotate": lambda: F.rotate(small, 10.0),
        "adjust_brightness": lambda: F.adjust_brightness(small, 1.2),
        "adjust_contrast": lambda: F.adjust_contrast(small, 1.2),
        "adjust_hue": lambda: F.adjust_hue(small, 0.1),
        "invert": lambda: F.invert(small),
        "gaussian_blur": lambda: F.gaussian_blur(small, [5, 5]),
        "normalize": lambda: F.normalize(floats, list(MEAN), list(STD)),
        CIFAR: cycling_call(v2.Compose(cifar), [small]),
        "RandAugment, 32x32": cycling_call(v2.Compose([v2.RandAugment(), *end]), [small]),
        IMAGENET: cycling_call(v2.Compose(imagenet), list(map(as_tensor, images.equal))),
        MANY_SIZES: cycling_call(v2.Compose(imagenet), list(map(as_tensor, images.different))),
        EVALUATION: cycling_call(v2.Compose(evaluation), list(map(as_tensor, images.different))),
    }
    return {name: {"torchvision v2": call} for name, call in calls.items()}


def albumentations_calls(images: Images) -> Calls:
    try:
        import albumentations as A
        import cv2
    except ImportError:
        return {}
    cv2.setNumThreads(1)
    factors = 0.6, 1.4
    cifar = A.Compose([A.Pad(4), A.RandomCrop(32, 32), A.HorizontalFlip(p=0.5), A.Normalize()])
    jitter = A.ColorJitter(factors, factors, factors, (0, 0), p=1)
    imagenet = A.Compose([A.RandomResizedCrop((224, 224)), A.HorizontalFlip(p=0.5), jitter, A.Normalize()])
    evaluation = A.Compose([A.SmallestMaxSize(256), A.CenterCrop(224, 224), A.Normalize()])
    calls = {
        CIFAR: cycling_call(lambda image: cifar(image=image), [images.small]),
        IMAGENET: cycling_call(lambda image: imagenet(image=image), images.equal),
        MANY_SIZES: cycling_call(lambda image: imagenet(image=image), images.different),
        EVALUATION: cycling_call(lambda image: evaluation(image=image), images.different),
    }
    return {name: {"AlbumentationsX": call} for name, call in calls.items()}


def check(calls: Calls) -> list[str]:
    """Messages for the functions of which more than 0.5 % of the values differ from torchvision's.

    They differ if they are more than one level apart, or 1e-5 for floats. A rotation rounds ties differently.
    """
    problems = []
    for name, by_library in calls.items():
        if "torchvision v2" not in by_library or "cuaug, NumPy" in by_library:  # recipes draw
            continue
        actual, expected = (by_library[library]() for library in ("cuaug, torch", "torchvision v2"))
        if actual.shape != expected.shape:
            problems.append(f"{name} has shape {tuple(actual.shape)}, torchvision's {tuple(expected.shape)}")
            continue
        difference = (actual.double() - expected.double()).abs()
        if (difference > (1e-5 if actual.is_floating_point() else 1)).double().mean() > 0.005:
            problems.append(f"{name} differs from torchvision's by up to {difference.max()}")
    return problems


def measure(calls: Calls, count: int, seconds: float) -> list[dict[str, Any]]:
    """A row for each name: the time per image, in the fastest of several groups of `count` calls.

    The groups of all rows alternate, because a machine's speed drifts.
    """

    def repeated(call: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            for _ in range(count):
                call()

        return run

    groups = {f"{name}|{library}": repeated(call) for name in calls for library, call in calls[name].items()}
    times = clocks.interleaved(groups, seconds / len(groups))
    rows = []
    for name, by_library in calls.items():
        us = {library: times[f"{name}|{library}"] / count for library in by_library}
        rows.append({"name": name, "us": us.pop("cuaug, torch"), "peers": us})
    return rows


def cells(row: dict[str, Any]) -> dict[str, str]:
    peers = {library: f"{number(us)} ({us / row['us']:.1f})" for library, us in row["peers"].items()}
    return {"": row["name"], "cuaug, torch": number(row["us"]), **peers}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few images and repeats, for tests")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--json", type=Path, help="the file of the results; default: benchmarks/results")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

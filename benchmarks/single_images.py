"""One image a call on a CPU, in one thread, as a data set calls a transform: cuaug and its peers.

    python benchmarks/single_images.py [--quick] [--no-peers] [--json PATH]

Functions, the CIFAR and the RandAugment recipe get one image of 32x32, two recipes one with boxes or a mask, some
resizes one of 352x490; the ImageNet recipe gets 500 images of 352x490, then 500 images of different sizes, which the
evaluation recipe gets, too. The results of cuaug's functions are compared with torchvision's. Exit code 1: some differ.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]  # also under -P and PYTHONSAFEPATH
sys.path.append(str(HERE.parent))  # a checkout that is not installed

import clocks  # noqa: E402
import host_calls  # noqa: E402
import torch  # noqa: E402
from host_calls import (  # noqa: E402
    CIFAR,
    DETECTION,
    EVALUATION,
    IMAGENET,
    MANY_SIZES,
    MEAN,
    RAND_AUGMENT,
    RELU,
    SEGMENTATION,
    STD,
    TORCH,
    Calls,
    Images,
    cycling_call,
)
from report import TORCHVISION_IMPORT_ERRORS, cpu_name, default_path, document, number, print_table, write  # noqa: E402

import cuaug  # noqa: E402

RECIPES = CIFAR, RAND_AUGMENT, IMAGENET, MANY_SIZES, EVALUATION, DETECTION, SEGMENTATION


def main() -> int:
    options = parse()
    if options.gpu and not options.cpu:
        print("no rows: the images of a data set are on the CPU")
        return 0
    cuaug.set_num_threads(1)
    torch.set_num_threads(1)
    images = Images(20 if options.quick else 500)
    calls = host_calls.single_image_calls(images)
    floats = images.small_tensors[0].float() / 255
    # A small call of torch, for scale: a column beside hflip.
    calls["hflip"][RELU] = lambda: torch.relu(floats)
    if not options.no_peers:
        for peer in (torchvision_calls, albumentations_calls):
            for row, call in peer(images).items():
                calls[row] |= call
    problems = check(calls)
    rows = measure(calls, images.count, seconds=2 if options.quick else 150)
    notes = [f"FAILED: {problem}" for problem in problems] + ["us per image; in brackets: ratio to cuaug with torch"]
    print_table(f"one image a call, one thread of {cpu_name()}", [cells(row) for row in rows], notes)
    results = document({"cpu": {"device": cpu_name(), "rows": rows, "problems": problems}}, "single-images")
    if options.json or not (options.quick or options.no_peers):
        write(results, options.json or default_path(results))
    return 1 if problems else 0


def torchvision_calls(images: Images) -> dict[str, Calls]:
    try:
        from torchvision import tv_tensors
        from torchvision.transforms import v2
    except TORCHVISION_IMPORT_ERRORS:
        return {}
    F, small = v2.functional, images.small_tensors[0]
    floats = small.float() / 255
    end = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    cifar = [v2.RandomCrop(32, padding=4), v2.RandomHorizontalFlip(), *end]
    imagenet = [v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), v2.ColorJitter(0.4, 0.4, 0.4), *end]
    evaluation = [v2.Resize(256), v2.CenterCrop(224), *end]
    affine = v2.Compose([v2.RandomHorizontalFlip(), v2.RandomAffine(10, (0.1, 0.1))])
    image, target = tv_tensors.Image(small), host_calls.detection_target()
    boxes = tv_tensors.BoundingBoxes(torch.from_numpy(target["boxes"]), format="XYXY", canvas_size=(32, 32))
    labels, mask = torch.from_numpy(target["labels"]), tv_tensors.Mask(host_calls.segmentation_target()["mask"])
    calls: Calls = {
        "hflip": lambda: F.horizontal_flip(small),
        "crop": lambda: F.crop(small, 1, 2, 20, 20),
        "pad": lambda: F.pad(small, [4]),
        "resize": lambda: F.resize(small, [24, 24], antialias=True),
        "rotate, one angle": lambda: F.rotate(small, 10.0),
        "adjust_brightness": lambda: F.adjust_brightness(small, 1.2),
        "adjust_contrast": lambda: F.adjust_contrast(small, 1.2),
        "adjust_hue": lambda: F.adjust_hue(small, 0.1),
        "invert": lambda: F.invert(small),
        "gaussian_blur": lambda: F.gaussian_blur(small, [5, 5]),
        "normalize": lambda: F.normalize(floats, list(MEAN), list(STD)),
        CIFAR: cycling_call(v2.Compose(cifar), images.small_tensors),
        RAND_AUGMENT: cycling_call(v2.Compose([v2.RandAugment(), *end]), images.small_tensors),
        IMAGENET: cycling_call(v2.Compose(imagenet), images.equal_tensors),
        MANY_SIZES: cycling_call(v2.Compose(imagenet), images.different_tensors),
        EVALUATION: cycling_call(v2.Compose(evaluation), images.different_tensors),
        DETECTION: lambda: affine({"image": image, "boxes": boxes, "labels": labels}),
        SEGMENTATION: lambda: affine({"image": image, "mask": mask}),
    }
    large_image = images.equal_tensors[0]
    for name, size in host_calls.resize_sizes(*large_image.shape[1:]).items():
        calls[name] = functools.partial(F.resize, large_image, list(size), antialias=True)
    return {name: {"torchvision v2": call} for name, call in calls.items()}


def albumentations_calls(images: Images) -> dict[str, Calls]:
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
        CIFAR: cycling_call(lambda image: cifar(image=image), images.small),
        IMAGENET: cycling_call(lambda image: imagenet(image=image), images.equal),
        MANY_SIZES: cycling_call(lambda image: imagenet(image=image), images.different),
        EVALUATION: cycling_call(lambda image: evaluation(image=image), images.different),
    }
    return {name: {"AlbumentationsX": call} for name, call in calls.items()}


def check(calls: dict[str, Calls]) -> list[str]:
    """Messages for the functions of which more than 0.5 % of the values differ from torchvision's.

    They differ if they are more than one level apart, or 1e-5 for floats. 0.5 % may differ because torchvision's
    rotation rounds ties differently.
    """
    problems = []
    for name, by_library in calls.items():
        if "torchvision v2" not in by_library or name in RECIPES:  # recipes draw
            continue
        actual, expected = (by_library[library]() for library in (TORCH, "torchvision v2"))
        if actual.shape != expected.shape:
            problems.append(f"{name} has shape {tuple(actual.shape)}, torchvision's {tuple(expected.shape)}")
            continue
        difference = (actual.double() - expected.double()).abs()
        is_close = difference <= (1e-5 if actual.is_floating_point() else 1)  # a NaN is not
        if is_close.double().mean() < 0.995:
            problems.append(f"{name} differs from torchvision's by up to {difference.max()}")
    return problems


def measure(calls: dict[str, Calls], count: int, seconds: float) -> list[dict[str, Any]]:
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
        rows.append({"name": name, "us": us.pop(TORCH), "peers": us})
    return rows


def cells(row: dict[str, Any]) -> dict[str, str]:
    peers = {library: f"{number(us)} ({us / row['us']:.1f})" for library, us in row["peers"].items()}
    return {"": row["name"], TORCH: number(row["us"]), **peers}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true", help="no rows: the images are on the CPU")
    parser.add_argument("--cpu", action="store_true", help="the only table, also without this option")
    parser.add_argument("--quick", action="store_true", help="few images and repeats, for tests")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file of results; otherwise only full runs write")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

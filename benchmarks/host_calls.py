"""The calls whose host time host.py, compare_host.py and single_images.py measure, by row.

Functions and recipes get images of 32x32; some recipes, and the rows "resize a large image", single images of about
352x490, the size of a photograph. All images are noise. Rows have equal names with a batch and with one image.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import cuaug
from cuaug import transforms as T

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CIFAR, RAND_AUGMENT = "CIFAR recipe, 32x32", "RandAugment, 32x32"
IMAGENET, MANY_SIZES = "ImageNet recipe, images of one size", "ImageNet recipe, images of 500 sizes"
EVALUATION = "evaluation recipe, images of 500 sizes"
DETECTION, SEGMENTATION = "flip, affine, 32x32 with 20 boxes", "flip, affine, 32x32 with a mask"
TORCH, NUMPY = "cuaug, torch", "cuaug, NumPy"
RELU = "torch.relu"  # a small call of torch, for scale
Calls = dict[str, Callable[[], Any]]  # functions without arguments, by row name


def function_calls(images: Any, floats: Any, factor: Any) -> Calls:
    """One call of each function, with a batch or one image.

    `floats`: the same images in 0..1; `factor`: a number, or one for each image.
    """
    mean, std, matrix = list(MEAN), list(STD), [[1.0, 0.0, 1.0], [0.0, 1.0, 2.0]]
    return {
        "hflip": lambda: cuaug.hflip(images),
        "crop": lambda: cuaug.crop(images, 1, 2, 20, 20),
        "pad": lambda: cuaug.pad(images, 4),
        "resize": lambda: cuaug.resize(images, (24, 24)),
        "rotate, one angle": lambda: cuaug.rotate(images, 10.0),
        "warp_affine, host matrix": lambda: cuaug.warp_affine(images, matrix),
        "adjust_brightness": lambda: cuaug.adjust_brightness(images, factor),
        "adjust_contrast": lambda: cuaug.adjust_contrast(images, factor),
        "adjust_hue": lambda: cuaug.adjust_hue(images, 0.1),
        "invert": lambda: cuaug.invert(images),
        "gaussian_blur": lambda: cuaug.gaussian_blur(images, 5),
        "normalize": lambda: cuaug.normalize(floats, mean, std),
    }


def small_recipes() -> dict[str, list[T.Transform]]:
    """The recipes that are measured with 32x32 images, as a batch and singly."""
    normalize = T.Normalize(MEAN, STD)
    return {
        CIFAR: [T.RandomCrop(32, padding=4), T.RandomHorizontalFlip(), normalize],
        RAND_AUGMENT: [T.RandAugment(), normalize],
    }


def batch_calls(device: str) -> Calls:
    """Calls with 8 images of 32x32: on a GPU the device does not delay the host."""
    torch.manual_seed(0)
    images = torch.randint(0, 256, (8, 3, 32, 32), dtype=torch.uint8, device=device)
    floats, numbers = images.float() / 255, torch.rand(8, device=device)
    matrices = torch.eye(3, device=device)[:2].repeat(8, 1, 1).contiguous()
    boxes = torch.rand(64, 4, device=device).sort(1).values
    points, other_points = torch.rand(2, 8, 4, 2, device=device)
    images_of_four_sizes = [images[0, :, : 29 + i % 4].contiguous() for i in range(32)]
    crop = [T.RandomResizedCrop(24), T.RandomHorizontalFlip()]
    jitter, normalize = T.ColorJitter(0.4, 0.4, 0.4, 0.1), T.Normalize(MEAN, STD)
    simclr = [*crop, T.RandomApply([jitter], 0.8), T.RandomGrayscale(0.2), T.GaussianBlur(5), normalize]
    recipes = {
        "crop, flip, normalize": [*crop, normalize],
        "SimCLR": simclr,
        "affine, jitter": [T.RandomAffine(10), jitter],
    }
    calls: Calls = {RELU: lambda: torch.relu(floats), **function_calls(images, floats, numbers)}
    calls |= {
        "rotate, an angle per image": lambda: cuaug.rotate(images, numbers),
        "warp_affine": lambda: cuaug.warp_affine(images, matrices),
        "affine": lambda: cuaug.affine(images, numbers, (1.0, 2.0), 1.0, (0.0, 0.0)),
        "perspective": lambda: cuaug.perspective(images, points, other_points),
        "mixup": lambda: cuaug.mixup(floats, numbers),
        "get_rotation_matrix": lambda: cuaug.get_rotation_matrix(numbers),
        "affine_matrix": lambda: cuaug.affine_matrix(numbers, (1.0, 2.0), 1.0, (0.0, 0.0), (16.0, 16.0)),
        "estimate_affine": lambda: cuaug.estimate_affine(points, other_points),
        "get_perspective_transform": lambda: cuaug.get_perspective_transform(points, other_points),
        "compose_affine": lambda: cuaug.compose_affine(matrices, matrices),
        "convert_matrix": lambda: cuaug.convert_matrix(matrices, "cuaug", "torch", size=(32, 32)),
        "invert_affine": lambda: cuaug.invert_affine(matrices),
        "transform_points": lambda: cuaug.transform_points(points, matrices),
        "box_iou": lambda: cuaug.box_iou(boxes, boxes),
    }
    for name, transforms in (recipes | small_recipes()).items():
        calls[name] = functools.partial(T.Compose(transforms, seed=1), images)
    targets = {
        "labels": torch.arange(8, device=device),
        "masks": images[:, 0].contiguous(),
        "boxes": torch.tensor([4.0, 4.0, 20.0, 20.0], device=device).repeat(8, 20, 1),
    }
    for name, target in targets.items():
        aug, sample = T.Compose(recipes["crop, flip, normalize"], seed=1), {"images": images, name: target}
        calls[f"crop, flip, normalize, with {name}"] = functools.partial(aug, sample)
    calls["crop, flip, normalize, list of 32"] = functools.partial(
        T.Compose(recipes["crop, flip, normalize"], seed=1), images_of_four_sizes
    )
    return calls


class Images:
    """One image of 32x32, and images around 352x490: as NumPy arrays [H, W, C] and tensors [C, H, W]."""

    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(0)
        self.count = count
        self.small = [rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)]
        self.equal = [rng.integers(0, 256, (352, 490, 3), dtype=np.uint8) for _ in range(count)]
        sizes = [(340 + i % 25, 480 + i // 25) for i in range(count)]
        self.different = [rng.integers(0, 256, (*size, 3), dtype=np.uint8) for size in sizes]
        self.small_tensors, self.equal_tensors, self.different_tensors = (
            [torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1))) for image in images]
            for images in (self.small, self.equal, self.different)
        )


def cycling_call(transform: Callable[[Any], Any], images: list[Any]) -> Callable[[], Any]:
    """A call with the next image of the list."""
    image_cycle = itertools.cycle(images)
    return lambda: transform(next(image_cycle))


def resize_sizes(height: int, width: int) -> dict[str, tuple[int, int]]:
    """The sizes to which a large image is resized, by row."""
    return {
        "resize a large image to twice its size": (2 * height, 2 * width),
        "resize a large image to half its size": (height // 2, width // 2),
        "resize a large image to its own size": (height, width),
    }


def detection_target() -> dict[str, np.ndarray]:
    """20 boxes XYXY inside an image of 32x32, and their labels."""
    corners = np.arange(20, dtype=np.float32)[:, None] / 2
    return {"boxes": np.hstack([corners, corners, corners + 9, corners + 12]), "labels": np.arange(20)}


def segmentation_target() -> dict[str, np.ndarray]:
    return {"mask": np.random.default_rng(1).integers(0, 20, (32, 32), dtype=np.uint8)}


def single_image_calls(images: Images) -> dict[str, Calls]:
    """Calls with one image on a CPU, by row and library."""
    small = images.small_tensors[0]
    calls = {name: {TORCH: call} for name, call in function_calls(small, small.float() / 255, 1.2).items()}
    calls["hflip"][NUMPY] = lambda: cuaug.hflip(images.small[0])
    large_image, (height, width) = images.equal_tensors[0], images.equal_tensors[0].shape[1:]
    for name, size in resize_sizes(height, width).items():
        calls[name] = {TORCH: functools.partial(cuaug.resize, large_image, size)}
    normalize, jitter = T.Normalize(MEAN, STD), T.ColorJitter(0.4, 0.4, 0.4)
    imagenet = [T.RandomResizedCrop(224), T.RandomHorizontalFlip(), jitter, normalize]
    evaluation = [T.Resize(256), T.CenterCrop(224), normalize]
    rows = [(name, transforms, images.small_tensors, images.small) for name, transforms in small_recipes().items()]
    rows += [
        (IMAGENET, imagenet, images.equal_tensors, images.equal),
        (MANY_SIZES, imagenet, images.different_tensors, images.different),
        (EVALUATION, evaluation, images.different_tensors, images.different),
    ]
    affine = [T.RandomHorizontalFlip(), T.RandomAffine(10, (0.1, 0.1))]
    for name, target in ((DETECTION, detection_target()), (SEGMENTATION, segmentation_target())):
        tensors = {key: torch.from_numpy(array) for key, array in target.items()}
        samples = {"image": small, **tensors}, {"image": images.small[0], **target}
        rows.append((name, affine, *([sample] for sample in samples)))
    for name, transforms, tensors, arrays in rows:
        calls[name] = {
            TORCH: cycling_call(T.Compose(transforms, seed=0), tensors),
            NUMPY: cycling_call(T.Compose(transforms, seed=0), arrays),
        }
    return calls

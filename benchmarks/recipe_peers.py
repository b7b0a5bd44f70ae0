"""The recipes of transforms.py, as other libraries write them. Each takes uint8 images [N, H, W, C]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cuaug

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class NotForRecipe(Exception):
    """The library has nothing for it."""


def kornia(name: str) -> Callable[[Any], Any]:
    """float32 alone; draws for each sample."""
    import kornia.augmentation as K
    import torch

    jitter, grey = K.ColorJitter(0.4, 0.4, 0.4, 0.1), K.RandomGrayscale(p=0.2)
    normalize = K.Normalize(torch.tensor(MEAN), torch.tensor(STD))
    crop = [K.RandomResizedCrop((224, 224)), K.RandomHorizontalFlip()]
    affine = K.RandomAffine(30, (0.1, 0.1), (0.8, 1.2), 10, p=1.0)
    lists: dict[str, list[Any]] = {
        "imagenet": [*crop, jitter, grey, normalize],
        "crop and flip": [*crop, normalize],
        "simclr": [*crop, K.ColorJitter(0.8, 0.8, 0.8, 0.2), grey, K.RandomGaussianBlur((23, 23), (0.1, 2.0), p=1.0)],
        "detection": [affine, K.RandomHorizontalFlip(), jitter, normalize],
    }
    aug = K.AugmentationSequential(*_of(lists, name))

    def run(images: Any) -> Any:
        x = torch.as_tensor(images).permute(0, 3, 1, 2).float() / 255
        return aug(x).half() if x.is_cuda else aug(x)

    return run


def torchvision(name: str) -> Callable[[Any], Any]:
    """One draw for the whole batch, which is all it offers."""
    import torch
    from torchvision.transforms import v2

    mode = v2.InterpolationMode.BILINEAR

    def crop(smooth: bool) -> list[Any]:
        return [v2.RandomResizedCrop(224, antialias=smooth), v2.RandomHorizontalFlip()]

    jitter, grey = v2.ColorJitter(0.4, 0.4, 0.4, 0.1), v2.RandomGrayscale(0.2)
    end = [v2.ToDtype(torch.float16, scale=True), v2.Normalize(MEAN, STD)]
    affine = v2.RandomAffine(30, (0.1, 0.1), (0.8, 1.2), 10, interpolation=mode)
    lists: dict[str, list[Any]] = {
        "imagenet": [*crop(False), jitter, grey, *end],
        "imagenet, antialiased": [*crop(True), jitter, grey, *end],
        "crop and flip": [*crop(False), *end],
        "simclr": [*crop(False), v2.ColorJitter(0.8, 0.8, 0.8, 0.2), grey, v2.GaussianBlur(23), end[0]],
        "detection": [affine, v2.RandomHorizontalFlip(), jitter, *end],
        "elastic": [v2.ElasticTransform(250.0), *end],
        "augmix": [v2.AugMix(), *end],
    }
    aug = v2.Compose(_of(lists, name))
    return lambda images: aug(torch.as_tensor(images).permute(0, 3, 1, 2))


def albumentations(name: str) -> Callable[[Any], Any]:
    """A call for each image."""
    import albumentations as A
    import numpy as np

    factors = (0.6, 1.4)
    crop = [A.RandomResizedCrop((224, 224)), A.HorizontalFlip(p=0.5)]
    jitter, grey = A.ColorJitter(factors, factors, factors, (-0.1, 0.1), p=1), A.ToGray(p=0.2)
    lists: dict[str, list[Any]] = {
        "imagenet": [*crop, jitter, grey, A.Normalize()],
        "crop and flip": [*crop, A.Normalize()],
        "simclr": [*crop, jitter, grey, A.GaussianBlur(blur_range=(23, 23), sigma_range=(0.1, 2.0), p=1)],
    }
    aug = A.Compose(_of(lists, name))
    return lambda images: np.stack([aug(image=image)["image"] for image in images])


def _of(lists: dict[str, list[Any]], name: str) -> list[Any]:
    if name not in lists:
        raise NotForRecipe
    return lists[name]


def set_threads(count: int) -> None:
    """Of everything that takes part; 0 is all."""
    cuaug.set_num_threads(count)
    for name, function in (("cv2", "setNumThreads"), ("torch", "set_num_threads")):
        try:
            getattr(__import__(name), function)(count or cuaug._cpu.native().threads())
        except ImportError:
            continue


GPU = {"kornia fp32": kornia, "torchvision one draw": torchvision}
CPU = {"AlbumentationsX": albumentations, "kornia fp32": kornia, "torchvision one draw": torchvision}

"""The recipes of transforms.py, as other libraries write them. Each takes uint8 images [N, H, W, C]."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import recipe_chains as chains
from recipe_chains import MEAN, STD, RecipeNotSupported


def kornia(name: str) -> Callable[[Any], Any]:
    """Only float32; draws for each sample."""
    import kornia.augmentation as K
    import torch
    from kornia.augmentation import auto

    jitter, grey = K.ColorJitter(0.4, 0.4, 0.4, 0.1), K.RandomGrayscale(p=0.2)
    normalize = K.Normalize(torch.tensor(MEAN), torch.tensor(STD))
    crop = [K.RandomResizedCrop((224, 224)), K.RandomHorizontalFlip()]
    affine = K.RandomAffine(30, (0.1, 0.1), (0.8, 1.2), 10, p=1.0)
    lists: dict[str, list[Any]] = {
        "imagenet": [*crop, jitter, grey, normalize],
        "crop and flip": [*crop, normalize],
        "simclr": [*crop, K.ColorJitter(0.8, 0.8, 0.8, 0.2), grey, K.RandomGaussianBlur((23, 23), (0.1, 2.0), p=1.0)],
        "detection": [affine, K.RandomHorizontalFlip(), jitter, normalize],
        "randaugment": [*crop, auto.RandAugment(n=2, m=9), normalize],
        "trivialaugment": [*crop, auto.TrivialAugment(), normalize],
    }
    aug = K.AugmentationSequential(*_find(lists, name))

    def run(images: Any) -> Any:
        x = torch.as_tensor(images).permute(0, 3, 1, 2).float() / 255
        return aug(x).half() if x.is_cuda else aug(x)

    return run


def torchvision(name: str) -> Callable[[Any], Any]:
    """One draw for the whole batch: torchvision cannot draw per sample."""
    import torch
    from torchvision.transforms import v2

    aug = v2.Compose(_torchvision(name))
    return lambda images: aug(torch.as_tensor(images).permute(0, 3, 1, 2))


def cvcuda(name: str) -> Callable[[Any], Any]:
    """torchvision's recipe, and its draws, on CV-CUDA's kernels."""
    import cvcuda
    import torch
    from cvcuda import tv

    aug = tv.Compose(_torchvision(name))

    def run(images: Any) -> Any:
        return torch.as_tensor(aug(cvcuda.as_tensor(images, "NHWC")).cuda())

    return run


def _torchvision(name: str) -> list[Any]:
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
        "randaugment": [*crop(False), v2.RandAugment(interpolation=mode), *end],
        "trivialaugment": [*crop(False), v2.TrivialAugmentWide(interpolation=mode), *end],
    }
    return _find(lists, name)


def albumentations(name: str) -> Callable[[Any], Any]:
    """A call for each image."""
    import albumentations as A

    def jitter(strength: float, hue: float) -> Any:
        factors = 1 - strength, 1 + strength
        return A.ColorJitter(factors, factors, factors, (-hue, hue), p=1)

    crop = [A.RandomResizedCrop((224, 224)), A.HorizontalFlip(p=0.5)]
    grey, blur = A.ToGray(p=0.2), A.GaussianBlur(blur_range=(23, 23), sigma_range=(0.1, 2.0), p=1)
    lists: dict[str, list[Any]] = {
        "imagenet": [*crop, jitter(0.4, 0.1), grey, A.Normalize()],
        "crop and flip": [*crop, A.Normalize()],
        "simclr": [*crop, jitter(0.8, 0.2), grey, blur, A.ToFloat(max_value=255)],
    }
    aug = A.Compose(_find(lists, name))
    return lambda images: np.stack([aug(image=image)["image"] for image in images])


def _find(lists: dict[str, list[Any]], name: str) -> list[Any]:
    if name not in lists:
        raise RecipeNotSupported
    return lists[name]


def check(call: Callable[[Any], Any], images: Any, expected: Any) -> str:
    """Whether a peer draws for "each sample" or for "the batch".

    Raises:
        ValueError: The result differs from cuaug's in size, or clearly in mean or spread: the peer does other work.
    """
    cuaug_values, peer_values = _planar(expected), np.concatenate([_planar(call(images)[:32]) for _ in range(16)])
    if peer_values.shape[1:] != cuaug_values.shape[1:]:
        raise ValueError(f"other work: a result of {peer_values.shape[1:]}, where {cuaug_values.shape[1:]} is expected")
    if not np.isfinite(peer_values).all():
        raise ValueError("other work: its result is not finite")
    spread = cuaug_values.std()
    mean_difference = np.abs(peer_values.mean((0, 2, 3)) - cuaug_values.mean((0, 2, 3))).max() / spread
    if mean_difference > 1.5 or not 0.5 < peer_values.std() / spread < 2:
        raise ValueError(
            f"other work: the mean is {mean_difference:.2f} standard deviations off, "
            f"and the standard deviation is {peer_values.std() / spread:.2f} times cuaug's"
        )
    copies = images * 0 + images[:1]
    results = [_planar(call(copies)) for _ in range(4)][-1]  # the last: some peers prefetch
    return "each sample" if any(not np.array_equal(results[0], other) for other in results[1:]) else "the batch"


def _planar(result: Any) -> np.ndarray:
    """A result on the host, in float32. [N, C, H, W]"""
    values = result.float().cpu().numpy() if hasattr(result, "cpu") else np.asarray(result, np.float32)
    return values.transpose(0, 3, 1, 2) if values.shape[-1] == 3 else values


def installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the parent package is missing
        return False


class Peer(NamedTuple):
    module: str
    build: Callable[[str], Callable[[Any], Any]]


def peers(on_gpu: bool) -> dict[str, Peer]:
    """The installed peers."""
    any_device = {
        "kornia fp32": Peer("kornia", kornia),
        "torchvision one draw": Peer("torchvision", torchvision),
        "DALI": Peer("nvidia.dali", chains.dali),
    }
    gpu = {
        "torch compiled": Peer("torch", chains.torch_compiled),
        "CV-CUDA one draw": Peer("cvcuda", chains.cvcuda),
        "CV-CUDA Compose one draw": Peer("cvcuda", cvcuda),
        "triton-augment no hue": Peer("triton_augment", chains.triton_augment),
    }
    cpu = {"AlbumentationsX": Peer("albumentations", albumentations)}
    return {name: peer for name, peer in (any_device | (gpu if on_gpu else cpu)).items() if installed(peer.module)}

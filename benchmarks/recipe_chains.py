"""The recipes of transforms.py, written with the functions of a library. Each takes uint8 images [N, H, W, C]."""

from __future__ import annotations

import itertools
import math
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from threads import threads

import cuaug

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CONTRAST_ABOUT_MIDDLE = "imagenet, contrast about the middle"


class RecipeNotSupported(Exception):
    """The library lacks the recipe."""


def torch_compiled(name: str) -> Callable[[Any], Any]:
    """Plain torch functions in float32, with draws for each sample; the order of the jitter is fixed."""
    import torch
    import torch.nn.functional as F

    if name not in ("imagenet", "crop and flip", "simclr", "detection"):
        raise RecipeNotSupported
    is_simclr = name == "simclr"

    def step(images: Any) -> Any:
        n, height, width, _ = images.shape
        draw = _Uniform(torch, n, images.device)
        theta = _affine(draw, height, width) if name == "detection" else _box(draw, height, width)
        # The flip: the column of x changes its sign.
        theta = torch.stack([theta[:, :, 0] * (1 - 2 * draw.chance(0.5))[:, None], *theta[:, :, 1:].unbind(2)], 2)
        size = (height, width) if name == "detection" else (224, 224)
        edge = "zeros" if name == "detection" else "border"
        grid = F.affine_grid(theta, [n, 3, *size], align_corners=False)
        x = F.grid_sample(images.permute(0, 3, 1, 2).float() / 255, grid, "bilinear", edge, align_corners=False)
        if name != "crop and flip":
            x = _jitter(draw, x, 0.8 if is_simclr else 0.4, 0.2 if is_simclr else 0.1)
        if name in ("imagenet", "simclr"):
            x = torch.where(draw.chance(0.2)[:, None, None, None] > 0, _luma(x).expand_as(x), x)
        if is_simclr:
            return _blur(F, draw, x).half()
        mean, std = (torch.tensor(v, device=x.device)[:, None, None] for v in (MEAN, STD))
        return ((x - mean) / std).half() if x.is_cuda else (x - mean) / std

    return torch.compile(step, dynamic=False)


class _Uniform:
    """Uniform draws for each sample. [N]"""

    def __init__(self, torch: Any, n: int, device: Any) -> None:
        self.torch, self.n, self.device = torch, n, device

    def __call__(self, low: float, high: float) -> Any:
        return low + (high - low) * self.torch.rand(self.n, device=self.device)

    def chance(self, p: float) -> Any:
        return (self(0, 1) < p).float()


def _box(draw: _Uniform, height: int, width: int) -> Any:
    """``affine_grid``'s matrices of random resized crops. [N, 2, 3]"""
    torch = draw.torch
    area, ratio = draw(0.08, 1.0) * height * width, torch.exp(draw(math.log(3 / 4), math.log(4 / 3)))
    w, h = (area * ratio).sqrt().clamp(max=width), (area / ratio).sqrt().clamp(max=height)
    left, top = draw(0, 1) * (width - w), draw(0, 1) * (height - h)
    zero = torch.zeros_like(w)
    rows = [[w / width, zero, (2 * left + w) / width - 1], [zero, h / height, (2 * top + h) / height - 1]]
    return torch.stack([torch.stack(row, 1) for row in rows], 1)


def _affine(draw: _Uniform, height: int, width: int) -> Any:
    """``affine_grid``'s matrices of random rotations, shifts, scales and shears, for square images. [N, 2, 3]"""
    torch, degree = draw.torch, math.pi / 180
    angle, shear, scale = draw(-30, 30) * degree, draw(-10, 10) * degree, draw(0.8, 1.2)
    shift_x, shift_y = draw(-0.2, 0.2), draw(-0.2, 0.2)  # a tenth of the side: coordinates are in -1..1
    cos, sin, tan = torch.cos(angle), torch.sin(angle), torch.tan(shear)
    # The inverse of scale * rotation * shear.
    a, b, c, d = (cos - tan * sin) / scale, (sin + tan * cos) / scale, -sin / scale, cos / scale
    rows = [[a, b, -a * shift_x - b * shift_y], [c, d, -c * shift_x - d * shift_y]]
    return torch.stack([torch.stack(row, 1) for row in rows], 1)


def _jitter(draw: _Uniform, x: Any, strength: float, hue: float) -> Any:
    factors = [draw(1 - strength, 1 + strength)[:, None, None, None] for _ in range(3)]
    x = (x * factors[0]).clamp(0, 1)
    mean = _luma(x).mean((1, 2, 3), keepdim=True)
    x = (mean + (x - mean) * factors[1]).clamp(0, 1)
    grey = _luma(x)
    x = (grey + (x - grey) * factors[2]).clamp(0, 1)
    return _shift_hue(draw.torch, x, draw(-hue, hue)[:, None, None])


def _luma(x: Any) -> Any:
    return (0.2989 * x[:, 0] + 0.587 * x[:, 1] + 0.114 * x[:, 2])[:, None]


def _shift_hue(torch: Any, x: Any, turns: Any) -> Any:
    """Through HSV. [N, 3, H, W]"""
    r, g, b = x.unbind(1)
    value = x.amax(1)
    chroma = value - x.amin(1)
    safe = torch.where(chroma > 0, chroma, torch.ones_like(chroma))
    hue_sixths = torch.where(
        value == r, (g - b) / safe, torch.where(value == g, 2 + (b - r) / safe, 4 + (r - g) / safe)
    )
    hue_sixths = hue_sixths + 6 * turns

    def channel(n: int) -> Any:
        k = (n + hue_sixths) % 6
        return value - chroma * torch.minimum(k, 4 - k).clamp(0, 1)

    return torch.stack([channel(5), channel(3), channel(1)], 1)


def _blur(F: Any, draw: _Uniform, x: Any) -> Any:
    """A Gaussian of 23 taps for each sample, with the batch as channels of one image."""
    n, channels, height, width = x.shape
    at = draw.torch.arange(-11, 12, device=x.device)
    weights = draw.torch.exp(-(at**2) / (2 * draw(0.1, 2.0)[:, None] ** 2))
    weights = (weights / weights.sum(1, keepdim=True)).repeat_interleave(channels, 0)[:, None]
    flat = F.pad(x, [11, 11, 11, 11], mode="reflect").reshape(1, n * channels, height + 22, width + 22)
    flat = F.conv2d(F.conv2d(flat, weights[:, :, None], groups=n * channels), weights[..., None], groups=n * channels)
    return flat.reshape(x.shape)


def cvcuda(name: str) -> Callable[[Any], Any]:
    """Crops for each sample; one flip, matrix and colour change for all: these operators take one for a batch."""
    import cvcuda as cv
    import torch

    if name not in ("imagenet", "crop and flip", "simclr", "detection"):
        raise RecipeNotSupported
    seeds, is_simclr = itertools.count(), name == "simclr"
    strength, hue = (0.8, 0.2) if is_simclr else (0.4, 0.1)

    def run(images: Any) -> Any:
        options = {"stream": cv.as_stream(torch.cuda.current_stream())}
        n, height, width, channels = images.shape
        x = cv.as_tensor(images, "NHWC")
        if name == "detection":
            shift = [random.uniform(-0.1, 0.1) * width, random.uniform(-0.1, 0.1) * height]
            about = width / 2, height / 2
            parameters = random.uniform(-30, 30), shift, random.uniform(0.8, 1.2), (random.uniform(-10, 10), 0), about
            M = np.asarray(cuaug.affine_matrix(*parameters), np.float32).reshape(2, 3)
            x = cv.warp_affine(x, M, cv.Interp.LINEAR, border_value=np.zeros(4, np.float32), **options)
        else:
            shape = n, 224, 224, channels
            x = cv.random_resized_crop(x, shape, interp=cv.Interp.LINEAR, seed=next(seeds), **options)
        if random.random() < 0.5:
            x = cv.flip(x, 1, **options)
        if name != "crop and flip":
            low, high = 1 - strength, 1 + strength
            x = cv.brightness_contrast(x, random.uniform(low, high), 1.0, 0.0, 0.0, clamp=True, **options)
            x = cv.adjust_contrast(x, random.uniform(low, high), **options)
            x = cv.adjust_saturation(x, random.uniform(low, high), **options)
            x = cv.adjust_hue(x, random.uniform(-hue, hue), **options)
        if name in ("imagenet", "simclr") and random.random() < 0.2:
            x = cv.adjust_saturation(x, 0.0, **options)
        if is_simclr:
            sigma = random.uniform(0.1, 2.0)
            x = cv.gaussian(x, (23, 23), (sigma, sigma), cv.Border.REFLECT101, **options)
        x = cv.convertto(x, cv.Type.F16, 1 / 255, **options)
        if not is_simclr:
            x = cv.normalize(x, MEAN, [1 / s for s in STD], **options)
        return torch.as_tensor(x.cuda())

    return run


def dali(name: str) -> Callable[[Any], Any]:
    """A pipeline, with draws for each sample. Its colour twist changes contrast about the middle level."""
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.auto_aug import rand_augment, trivial_augment

    if name not in (CONTRAST_ABOUT_MIDDLE, "crop and flip", "randaugment", "trivialaugment"):
        raise RecipeNotSupported
    current_images: list[Any] = []

    def recipe(device: str) -> Any:
        images = fn.external_source(source=lambda: current_images[-1], batch=True, device=device, layout="HWC")
        images = fn.random_resized_crop(images, size=(224, 224), antialias=False)
        if name == CONTRAST_ABOUT_MIDDLE:
            keep_colour = fn.random.coin_flip(probability=0.8)
            images = fn.color_twist(
                images,
                brightness=fn.random.uniform(range=(0.6, 1.4)),
                contrast=fn.random.uniform(range=(0.6, 1.4)),
                saturation=fn.random.uniform(range=(0.6, 1.4)) * keep_colour,
                hue=fn.random.uniform(range=(-36.0, 36.0)),
            )
        options = {"shape": (224, 224), "fill_value": 0, "interp_type": types.DALIInterpType.INTERP_LINEAR}
        if name == "randaugment":
            images = rand_augment.rand_augment(images, n=2, m=9, **options)
        if name == "trivialaugment":
            images = trivial_augment.trivial_augment_wide(images, **options)
        return fn.crop_mirror_normalize(
            images,
            mirror=fn.random.coin_flip(),
            mean=[255 * m for m in MEAN],
            std=[255 * s for s in STD],
            dtype=types.FLOAT16 if device == "gpu" else types.FLOAT,
            output_layout="HWC",
        )

    pipelines: list[Any] = []

    def run(images: Any) -> Any:
        current_images[:] = [images]
        on_host = isinstance(images, np.ndarray)
        if not pipelines:
            settings = {"device_id": images.device.index or 0, "num_threads": 4}
            if on_host:  # prefetched work would run in the pauses between the measurements
                settings = {
                    "device_id": None,
                    "num_threads": threads(),
                    "prefetch_queue_depth": 1,
                }
            define = pipeline_def(enable_conditionals=True, batch_size=len(images), seed=0, **settings)(recipe)
            pipelines.append(define(device="cpu" if on_host else "gpu"))
            pipelines[0].build()
        result = pipelines[0].run()[0].as_tensor()
        if on_host:
            return np.array(result)
        import torch

        return torch.from_dlpack(result)

    return run


def triton_augment(name: str) -> Callable[[Any], Any]:
    """Draws for each sample. The library takes floats and has no hue; contrast is about the middle level."""
    os.environ["TRITON_AUGMENT_SUPPRESS_FIRST_RUN_MESSAGE"] = "1"
    from torchvision.transforms import InterpolationMode
    from triton_augment import TritonFusedAugment

    if name != "detection":
        raise RecipeNotSupported
    aug = TritonFusedAugment(
        horizontal_flip_p=0.5, degrees=30, translate=(0.1, 0.1), scale=(0.8, 1.2), shear=10,
        interpolation=InterpolationMode.BILINEAR, brightness=0.4, contrast=0.4, saturation=0.4, mean=MEAN, std=STD,
    )  # fmt: skip
    return lambda images: aug(images.permute(0, 3, 1, 2).contiguous().half() / 255)

"""Noise and erased boxes: functions whose result depends on a pixel's position.

Parameters may be one value or one per sample, on the host or on the images' device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _check
from ._arrays import convert
from ._arrays.convert import is_host, parameter_column
from ._arrays.images import describe_images
from ._arrays.numpy_library import NUMPY
from ._arrays.registry import library_of
from ._check import prefix_errors
from ._passes import parameters, pointwise
from ._passes.replay import replayed
from ._value_text import value_text
from .typing import AnyArray, Array, Ids, Layout, Numbers, PerSample

__all__ = ["erase", "gaussian_noise"]


@prefix_errors
def gaussian_noise(
    images: Array,
    mean: PerSample = 0.0,
    sigma: PerSample = 0.1,
    clip: bool = True,
    *,
    seed: int | None = None,
    step: int = 0,
    ids: Ids = None,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Add independent normal noise to each pixel and channel, as torchvision: ``in + mean + sigma * noise``.

    Args:
        mean: On the scale 0..1 for every dtype; one number or one per sample. [N]
        sigma: On the same scale, at least 0: 8 / 255 for 8 levels of uint8. [N]
        clip: Clamp floats to 0..1; integers are always clamped, to the range of their dtype.
        seed: 0 to 2**64 - 1. Default: a new one per call, from Python's ``random``.
        step: 0 to 2**32 - 1: the number of this call among the calls with one seed; another step gives other noise.
        ids: Sample ids, 0 to 2**48 - 1, or the id of the first; default: 0 to N - 1, copied from the host. In a CUDA
            graph pass a device array instead. [N]

    The noise is a function of ``seed``, ``step``, id, frame, pixel and channel alone: it is the same on every device,
    in every layout and dtype, and in a batch of any size (Philox4x32-10, Box-Muller).
    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> gaussian_noise(np.full((1, 4), 100, np.uint8), sigma=0.05, seed=1)
    array([[105, 108,  80, 109]], dtype=uint8)
    """
    import random  # here, because the import takes 1 ms, which `import cuaug` should not cost

    batch = describe_images(images, layout)
    seed = random.getrandbits(64) if seed is None else _unsigned("seed", seed, 64)
    step = _unsigned("step", step, 32)
    sigma = parameters.checked_column("sigma", sigma, 0)
    ids = 0 if ids is None else convert.sample_ids(ids)
    sample_ids: Any = ids
    if isinstance(ids, int) and batch.samples != 1:
        sample_ids = ids + np.arange(batch.samples, dtype=float)
    ids_low, ids_high = _low_and_high_bits(sample_ids)
    key = *_chunks_of_24_bits(seed, 3), *_chunks_of_24_bits(step, 2)
    position_in_recipe = 0.0
    clipped = float(_check.boolean("clip", clip))
    columns = [parameter_column("mean", mean), sigma, clipped, *key, ids_low, ids_high, position_in_recipe]
    sample_parameters = parameters.per_sample_columns("mean, sigma and ids", columns, batch)
    return pointwise.pointwise(batch, ("GaussianNoise",), sample_parameters, batch.dtype, out)


@prefix_errors
@replayed
def erase(
    images: Array,
    i: PerSample,
    j: PerSample,
    h: PerSample,
    w: PerSample,
    v: Numbers = 0,
    *,
    layout: Layout | None = None,
    out: AnyArray | None = None,
) -> Array:
    """Fill a box of each image with a value, as torchvision.

    Args:
        i: First row of the box, in pixels; it may lie outside the image. [N]
        j: First column. [N]
        h: Height of the box; 0 leaves the image as it is. [N]
        w: Width of the box; 0 leaves the image as it is. [N]
        v: The value, in the images' own range: a number, or one per channel. [C] or [N, C]

    All other arguments, the result and the errors are those of :func:`adjust_brightness`.

    >>> import numpy as np
    >>> erase(np.array([[1, 2, 3]], np.uint8), 0, 1, 1, 1, v=9)
    array([[1, 9, 3]], dtype=uint8)
    """
    batch = describe_images(images, layout)
    columns = [parameter_column(name, value) for name, value in (("i", i), ("j", j), ("h", h), ("w", w))]
    columns += parameters.per_channel_columns("v", v, batch)
    sample_parameters = parameters.per_sample_columns("i, j, h, w and v", columns, batch)
    return pointwise.pointwise(batch, ("Erase",), sample_parameters, batch.dtype, out)


def _unsigned(parameter: str, value: Any, bits: int) -> int:
    number = _check.integer(parameter, value, 0)
    if number >> bits:
        raise ValueError(f"{parameter} must be below 2**{bits}, got {value_text(number)}")
    return number


def _low_and_high_bits(ids: Any) -> tuple[Any, Any]:
    """The columns of the lower 24 bits of sample ids, and of the bits above."""
    if is_host(ids):
        ids = parameter_column("ids", ids)
        _check.in_range("ids", ids, 0, 2**48 - 1)
    else:  # divided as integers: the widest float of JAX may be float32, which rounds ids above 2**24
        ids = convert.asarray(ids, like=ids, dtype=convert.index_dtype(library_of(type(ids)) or NUMPY))
    return parameter_column("ids", ids % 2**24), parameter_column("ids", ids // 2**24)


def _chunks_of_24_bits(number: int, count: int) -> list[float]:
    """The number in chunks of 24 bits, lowest first: float32 represents them exactly (draws/stream_columns.cuh)."""
    return [float(number >> 24 * i & 0xFFFFFF) for i in range(count)]

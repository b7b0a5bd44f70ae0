"""Peers that take torch tensors: kornia, torchvision, torch itself eager and compiled, CV-CUDA.

Each peer gets the layout and dtype that it prefers, prepared before the clock starts, and the row's own parameters if
it accepts one set per sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from work import Contender, NotSupported, Work

BOX = "top", "left", "height", "width"
PADDING = {"constant": "zeros", "edge": "border", "reflect": "reflection"}


def tensor(work: Work, name: str) -> Any:
    import torch

    return torch.from_numpy(np.array(work.drawn[name])).to(work.device)


def batch_of(work: Work, name: str) -> Any:
    """A parameter with a leading axis N, also if all samples share it."""
    values = tensor(work, name)
    return values[None].expand(work.samples, *values.shape).contiguous() if work.row.shared else values


def contender(
    function: Callable[[Any], Any] | None, images: list[Any], work: Work, clock: str, same_result: bool = True
) -> Contender:
    if function is None:
        raise NotSupported
    return Contender(lambda i: function(images[i]), work.sample_copier("NCHW") if same_result else None, clock)


def kornia(work: Work) -> Contender:
    """In float32, whatever the row's dtype."""
    import kornia.geometry.transform as K

    row, size = work.row, work.size
    if row.interpolation == "lanczos" or row.border not in PADDING:
        raise NotSupported
    mode, padding = row.interpolation, PADDING[row.border]
    function: Callable[[Any], Any] | None = None
    if row.op == "warp_affine":
        M = batch_of(work, "M")
        function = lambda x: K.warp_affine(x, M, size, mode, padding, align_corners=True)  # noqa: E731
    elif row.op == "warp_perspective":
        M = batch_of(work, "M")
        function = lambda x: K.warp_perspective(x, M, size, mode, padding, align_corners=True)  # noqa: E731
    elif row.op == "remap" and not row.options.get("relative"):
        x_map, y_map = batch_of(work, "map_x"), batch_of(work, "map_y")
        function = lambda x: K.remap(x, x_map, y_map, mode, padding, align_corners=True)  # noqa: E731
    elif row.op == "rotate":
        angles = batch_of(work, "angle")
        function = lambda x: K.rotate(x, angles, None, mode, padding, align_corners=True)  # noqa: E731
    elif row.op == "resize":
        smooth = bool(row.options.get("antialias", True))
        function = lambda x: K.resize(x, size, mode, align_corners=False, antialias=smooth)  # noqa: E731
    return contender(function, work.images("torch", "float32", "NCHW"), work, "events", row.op != "resize")


def torchvision(work: Work) -> Contender:
    """One draw for the whole batch: torchvision cannot draw per sample."""
    import torchvision.transforms.v2.functional as F
    from torchvision.transforms import InterpolationMode

    row, size = work.row, list(work.size)
    if row.interpolation not in ("nearest", "bilinear") or (row.border != "constant" and row.op != "pad"):
        raise NotSupported
    mode, height, width = InterpolationMode(row.interpolation), *work.noise.shape[1:3]
    corners = [[0, 0], [width, 0], [width, height], [0, height]]
    endpoints = [[x * 0.9 + 4, y * 0.8 + 9] for x, y in corners]
    first_draw = {name: values if row.shared else values[0] for name, values in work.drawn.items()}
    functions: dict[str, Callable[[Any], Any]] = {
        "warp_affine": lambda x: F.affine(x, 20.0, [10, -8], 0.9, [5.0, 0.0], mode),
        "warp_perspective": lambda x: F.perspective(x, corners, endpoints, mode),
        "rotate": lambda x: F.rotate(x, 20.0, mode),
        "hflip": F.horizontal_flip,
        "crop": lambda x: F.crop(x, int(first_draw["top"]), int(first_draw["left"]), *size).contiguous(),
        "pad": lambda x: F.pad(x, row.options["padding"], padding_mode=row.options["padding_mode"]),
        "resize": lambda x: F.resize(x, size, mode, antialias=row.options.get("antialias", True)),
        "resized_crop": lambda x: F.resized_crop(x, *(int(first_draw[side]) for side in BOX), size, mode),
    }
    if row.op == "elastic":
        field = tensor(work, "displacement")
        field = field[None] if row.shared else field[:1]
        functions["elastic"] = lambda x: F.elastic(x, field, mode)
    if row.op == "warp_affine" and size != [height, width]:
        raise NotSupported
    same_result = row.op in ("resize", "pad") or (row.op == "elastic" and row.shared)
    return contender(functions.get(row.op), work.images("torch", row.dtype, "NCHW"), work, "events", same_result)


def torch(work: Work) -> Contender:
    """``affine_grid`` and ``grid_sample``, or ``interpolate``; uint8 through float32 if torch has no uint8 kernel.

    ``grid_sample`` requires coordinates of the images' dtype, which is too coarse in half precision: float16 and
    bfloat16 images go through float32, too.
    """
    return contender(_torch(work), work.images("torch", work.row.dtype, "NCHW"), work, "graph")


def torch_compiled(work: Work) -> Contender:
    import torch

    if not (work.row.compiled and work.device == "cuda"):
        raise NotSupported
    torch._dynamo.reset()
    function = _torch(work)
    return contender(function and torch.compile(function), work.images("torch", work.row.dtype, "NCHW"), work, "graph")


def _torch(work: Work) -> Callable[[Any], Any] | None:
    import torch
    import torch.nn.functional as F

    row, size = work.row, work.size
    if row.op == "resize" and row.interpolation in ("bilinear", "bicubic"):
        mode, smooth = row.interpolation, bool(row.options.get("antialias", True))

        def resize(x: Any) -> Any:
            return F.interpolate(x, size, mode=mode, align_corners=False, antialias=smooth)

        return _through_float32(resize) if row.dtype == "uint8" and work.device == "cuda" else resize
    if row.interpolation == "lanczos" or row.border not in ("constant", "edge"):
        return None
    shape = [work.samples, work.channels, *size]
    options: dict[str, Any] = {"mode": row.interpolation, "padding_mode": PADDING[row.border], "align_corners": False}
    if row.op == "warp_affine":
        theta = torch.from_numpy(_theta(work)).to(work.device, torch.float32)

        def warp(x: Any) -> Any:
            return F.grid_sample(x, F.affine_grid(theta, shape, align_corners=False), **options)

        return warp if row.dtype == "float32" else _through_float32(warp)
    if row.op == "remap" and not row.options.get("relative"):
        extent = work.noise.shape[2], work.noise.shape[1]
        x, y = ((2 * batch_of(work, k) + 1) / n - 1 for k, n in zip(("map_x", "map_y"), extent, strict=True))
        grid = torch.stack([x, y], -1).float()

        def sample(x: Any) -> Any:
            return F.grid_sample(x, grid, **options)

        return sample if row.dtype == "float32" else _through_float32(sample)
    return None


def _through_float32(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Converts the images to float32, and the result back to their dtype."""

    def call(x: Any) -> Any:
        result = function(x.float())
        return (result if x.is_floating_point() else result.round_().clamp_(0, 255)).to(x.dtype)

    return call


def _theta(work: Work) -> np.ndarray:
    """Matrices for ``affine_grid``: from output to input, both in -1..1 from edge to edge. [N, 2, 3]"""
    M = np.broadcast_to(work.drawn["M"], (work.samples, 2, 3)).astype(float)
    M = np.concatenate([M, np.broadcast_to([[[0.0, 0.0, 1.0]]], (work.samples, 1, 3))], 1)

    def pixels(size: tuple[int, ...]) -> np.ndarray:
        height, width = size
        return np.array([[width / 2, 0, (width - 1) / 2], [0, height / 2, (height - 1) / 2], [0, 0, 1]])

    return np.asarray(np.linalg.inv(pixels(work.noise.shape[1:3])) @ np.linalg.inv(M) @ pixels(work.size))[:, :2]


def cvcuda(work: Work) -> Contender:
    """A batch of separate images (VarShape), for one matrix per sample."""
    import cvcuda
    import torch

    images, results = _cvcuda_buffers(work)
    format = {1: cvcuda.Format.U8, 3: cvcuda.Format.RGB8, 4: cvcuda.Format.RGBA8}[work.channels]
    stream = cvcuda.as_stream(torch.cuda.current_stream())

    def image_batch(images: Any) -> Any:
        batch = cvcuda.ImageBatchVarShape(work.samples)
        batch.pushback([cvcuda.as_image(image, format) for image in images])
        return batch

    inputs, outputs = [image_batch(x) for x in images], [image_batch(x) for x in results]
    xform = cvcuda.as_tensor(batch_of(work, "M").float().reshape(work.samples, 6).contiguous(), "NC")
    options = _cvcuda_options(work, stream)

    def run(i: int) -> Any:
        cvcuda.warp_affine_into(src=inputs[i], dst=outputs[i], xform=xform, **options)
        return results[i]

    return Contender(run, work.sample_copier("NHWC"))


def cvcuda_one_matrix(work: Work) -> Contender:
    """A dense batch, for one matrix in all."""
    import cvcuda
    import torch

    images, results = _cvcuda_buffers(work)
    stream = cvcuda.as_stream(torch.cuda.current_stream())
    inputs, outputs = ([cvcuda.as_tensor(x, "NHWC") for x in batch] for batch in (images, results))
    xform = work.drawn["M"] if work.row.shared else work.drawn["M"][0]
    options = _cvcuda_options(work, stream)

    def run(i: int) -> Any:
        cvcuda.warp_affine_into(src=inputs[i], dst=outputs[i], xform=xform, **options)
        return results[i]

    return Contender(run, work.sample_copier("NHWC") if work.row.shared else None)


def _cvcuda_buffers(work: Work) -> tuple[list[Any], list[Any]]:
    import torch

    row = work.row
    modes, borders = ("nearest", "bilinear", "bicubic"), ("constant", "edge", "reflect", "wrap")
    fits = row.interpolation in modes and row.border in borders and work.channels in (1, 3, 4)
    if row.op != "warp_affine" or row.dtype != "uint8" or "dtype" in row.options or work.device != "cuda" or not fits:
        raise NotSupported
    shape = (work.samples, *work.size, work.channels)
    results = [torch.empty(shape, dtype=torch.uint8, device="cuda") for _ in range(work.buffers)]
    return work.images("torch", "uint8", "NHWC"), results


def _cvcuda_options(work: Work, stream: Any) -> dict[str, Any]:
    import cvcuda

    flags = {"nearest": cvcuda.Interp.NEAREST, "bilinear": cvcuda.Interp.LINEAR, "bicubic": cvcuda.Interp.CUBIC}
    border = cvcuda.Border
    modes = {"constant": border.CONSTANT, "edge": border.REPLICATE, "reflect": border.REFLECT101, "wrap": border.WRAP}
    return {
        "flags": flags[work.row.interpolation],
        "border_mode": modes[work.row.border],
        "border_value": np.zeros(4, np.float32),
        "stream": stream,
    }

"""Compiles kernels before a call needs them."""

from __future__ import annotations

from ._gpu import devices, kernels
from ._program.names import chain, name_expression


def warmup_names() -> list[str]:
    """The name expressions of common kernels: warps, matrices, crops, resizes, colour ops, normalization and nms."""
    geometries = (
        ("Affine", "Bilinear"),
        ("Affine", "Nearest"),
        ("Perspective", "Bilinear"),
        ("CoordinateMap", "Bilinear"),
    )
    color_ops = ("AdjustBrightness", "AdjustContrast", "AdjustSaturation", "AdjustHue")
    names = ["cuaug::nms_small_resolve", "cuaug::nms_resolve", "cuaug::nms_sort"]
    names += [
        name_expression(kernel, "float32")
        for kernel in ("nms_small_overlap_mask", "nms_overlap_mask", "nms_rank", "nms")
    ]
    names += [
        name_expression("place_images", dtype, row_lanes)
        for dtype in ("uint8", "float16", "float32")
        for row_lanes in (8, 16, 32)
    ]
    names += [name_expression("build_matrices", builder) for builder in ("GetRotationMatrix", "AffineMatrix")]
    for layout in ("Planar", "Packed"):
        for dtype in ("uint8", "float16", "float32"):
            names += [
                name_expression("warp_image", dtype, layout, 3, *geometry, "Constant", chain(()), dtype, layout)
                for geometry in geometries
            ]
            names.append(name_expression("resample", dtype, layout, 3, "Triangle", chain(()), dtype, layout))
            if dtype != "uint8":
                names.append(name_expression("pointwise", "uint8", layout, 3, chain(["Normalize"]), dtype, layout, 3))
        names += [name_expression("pointwise", "uint8", layout, 3, chain([op]), "uint8", layout, 3) for op in color_ops]
        names.append(name_expression("luma_mean", "uint8", layout, 3, chain(())))
    return names


def warmup() -> int:
    """Compile common kernels for every GPU, so that first calls start at once, even while a CUDA graph is captured.

    The kernels are those of warps, crops and resizes of uint8, float16 and float32 images, of colour ops and
    normalization of uint8 images, all with three channels, of the matrices of ``rotate`` and ``affine``, and of nms in
    float32.

    Returns:
        The number of kernels. Kernels in the disk cache are loaded, not compiled.

    Raises:
        BackendError: There is no GPU, or no CuPy.
    """
    names = warmup_names()
    for index in range(devices.device_count()):
        with devices.use_device(index):
            for name in names:
                kernels.kernel(name).load(index)
    return len(names)

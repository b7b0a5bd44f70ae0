"""Peers that take one NumPy image at a time: OpenCV and Pillow, in a loop, as their users write it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from work import Contender, NotSupported, Work

ImageCall = Callable[[int, Any, Any], Any]  # sample, input, output


def cv2(work: Work) -> Contender:
    """A plain loop; OpenCV's own threads work within an image."""
    transform, inputs, outputs = _cv2(work)

    def run(i: int) -> Any:
        for n, (input_image, output_image) in enumerate(zip(inputs, outputs, strict=True)):
            transform(n, input_image, output_image)
        return outputs

    return Contender(run, None if _differs(work) else _sample(work), "host")


def cv2_pool(work: Work, threads: int) -> Contender:
    """A pool of threads, each working on whole images: OpenCV releases the GIL."""
    import cv2

    if threads == 1:
        raise NotSupported
    transform, inputs, outputs = _cv2(work)
    pool = ThreadPoolExecutor(threads)

    def share(first: int) -> None:
        for n in range(first, work.samples, threads):
            transform(n, inputs[n], outputs[n])

    def run(i: int) -> Any:
        inner_threads = cv2.getNumThreads()
        cv2.setNumThreads(1)
        list(pool.map(share, range(threads)))
        cv2.setNumThreads(inner_threads)
        return outputs

    return Contender(run, None if _differs(work) else _sample(work), "host")


def pillow(work: Work) -> Contender:
    """Pillow's resize, which always antialiases; single threaded."""
    from PIL import Image as Pillow

    row, smooth = work.row, work.row.options.get("antialias", True)
    if row.op not in ("resize", "resized_crop") or row.dtype != "uint8" or not smooth or work.device != "cpu":
        raise NotSupported
    mode = Pillow.Resampling[row.interpolation.upper()]
    images, (height, width) = [Pillow.fromarray(image) for image in work.noise], work.size
    boxes = [_box(work, n) for n in range(work.samples)]
    spans = [(left, top, left + w, top + h) for top, left, h, w in boxes]
    run: Callable[[int], Any] = lambda i: [  # noqa: E731
        image.resize((width, height), mode, box) for image, box in zip(images, spans, strict=True)
    ]
    return Contender(run, lambda result, n: np.asarray(result[n]), "host")


def _differs(work: Work) -> bool:
    """Whether the result differs: OpenCV's INTER_AREA is only close to an antialiased resize."""
    return work.row.op in ("resize", "resized_crop") and bool(work.row.options.get("antialias", True))


def _sample(work: Work) -> Callable[[Any, int], np.ndarray]:
    pick = work.sample_copier("NHWC" if work.row.layout == "NHWC" or work.device == "cuda" else "NCHW")
    return lambda result, n: pick(result, n).reshape(*work.size, work.channels)


def _box(work: Work, n: int) -> tuple[int, int, int, int]:
    height, width = work.noise.shape[1:3]
    if work.row.op == "resize":
        return 0, 0, height, width
    values = work.arguments_of_sample(n)
    return int(values["top"]), int(values["left"]), int(values["height"]), int(values["width"])


def _cv2(work: Work) -> tuple[ImageCall, Any, Any]:
    """The call for one image, the inputs and the outputs. Planar images are merged and split: OpenCV's are packed."""
    import cv2

    row = work.row
    if work.channels > 4 or row.dtype not in ("uint8", "float32") or "dtype" in row.options:
        raise NotSupported
    transform = _operation(work)
    if transform is None:
        raise NotSupported
    layout = row.layout if work.device == "cpu" else "NHWC"
    inputs = work.images("numpy", row.dtype, layout)[0]
    height, width = work.size
    shape = (height, width, work.channels) if layout == "NHWC" else (work.channels, height, width)
    outputs = np.empty((work.samples, *shape), inputs.dtype)
    if work.channels == 1:
        return transform, inputs.reshape(work.noise.shape[:3]), outputs.reshape(work.samples, height, width)
    if layout == "NHWC":
        return transform, inputs, outputs

    def planar(n: int, input_image: Any, output_image: Any) -> None:
        packed = np.empty((height, width, work.channels), output_image.dtype)
        transform(n, cv2.merge(list(input_image)), packed)
        cv2.split(packed, list(output_image))

    return planar, inputs, outputs


def _operation(work: Work) -> ImageCall | None:
    import cv2

    row, (height, width), drawn = work.row, work.size, work.drawn
    modes = {"nearest": cv2.INTER_NEAREST, "bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC}
    mode = (modes | {"lanczos": cv2.INTER_LANCZOS4})[row.interpolation]
    borders = {"constant": cv2.BORDER_CONSTANT, "edge": cv2.BORDER_REPLICATE, "reflect": cv2.BORDER_REFLECT_101}
    border = (borders | {"symmetric": cv2.BORDER_REFLECT, "wrap": cv2.BORDER_WRAP})[row.border]
    outside = {"borderMode": border, "borderValue": 0}

    def per_sample(name: str) -> list[Any]:
        return [drawn[name]] * work.samples if row.shared else list(drawn[name])

    if row.op == "warp_affine":
        M = [m.astype(float) for m in per_sample("M")]
        return lambda n, a, b: cv2.warpAffine(a, M[n], (width, height), dst=b, flags=mode, **outside)
    if row.op == "warp_perspective":
        M = [m.astype(float) for m in per_sample("M")]
        return lambda n, a, b: cv2.warpPerspective(a, M[n], (width, height), dst=b, flags=mode, **outside)
    if row.op == "rotate":
        center = (work.noise.shape[2] - 1) / 2, (work.noise.shape[1] - 1) / 2
        M = [cv2.getRotationMatrix2D(center, float(angle), 1.0) for angle in per_sample("angle")]
        return lambda n, a, b: cv2.warpAffine(a, M[n], (width, height), dst=b, flags=mode, **outside)
    if row.op == "remap" and not row.options.get("relative"):
        x, y = per_sample("map_x"), per_sample("map_y")
        return lambda n, a, b: cv2.remap(a, x[n], y[n], mode, dst=b, **outside)
    if row.op == "hflip":
        flips = per_sample("flip")
        return lambda n, a, b: cv2.flip(a, 1, dst=b) if flips[n] else np.copyto(b, a)
    if row.op == "crop":
        top, left = per_sample("top"), per_sample("left")
        return lambda n, a, b: np.copyto(b, a[top[n] : top[n] + height, left[n] : left[n] + width])
    if row.op == "pad":
        side = row.options["padding"]
        return lambda n, a, b: cv2.copyMakeBorder(a, side, side, side, side, border, dst=b)
    if row.op in ("resize", "resized_crop"):
        mode = cv2.INTER_AREA if _differs(work) else mode
        boxes = [_box(work, n) for n in range(work.samples)]

        def resize(n: int, a: Any, b: Any) -> None:
            top, left, box_height, box_width = boxes[n]
            cv2.resize(a[top : top + box_height, left : left + box_width], (width, height), dst=b, interpolation=mode)

        return resize
    return None

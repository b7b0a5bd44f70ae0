"""Colour ops, filters, crops, pads and transforms that draw sizes, on a GPU, against the floor: ``make bench``.

The floor is the time to read the input, counted as at most the bytes of the result, and to write the result, at the
bandwidth of a large device copy.
Before a row is timed, its results are compared with the CPU's.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
sys.path.append(str(HERE.parent))  # a checkout that is not installed

import clocks  # noqa: E402
import numpy as np  # noqa: E402
from report import TORCHVISION_IMPORT_ERRORS, default_path, document, number, print_table, write  # noqa: E402

import cuaug  # noqa: E402
from cuaug import transforms as T  # noqa: E402

BUFFERS = 4
ADJUSTMENTS = {"brightness": 1.3, "contrast": 1.3, "saturation": 1.3, "hue": 0.1, "gamma": 1.7, "sharpness": 1.3}
# Of 256x3x224x224: a function, its arguments after the images, and torchvision's function and arguments for the same.
EXACT: dict[str, tuple[str, list[Any], list[Any]]] = {  # results equal the CPU's
    "pad by 8": ("pad", [[8] * 4], ["pad", [8] * 4]),
    "crop to 200x200": ("crop", [7, 9, 200, 200], ["crop", 7, 9, 200, 200]),
    "hflip": ("hflip", [], ["horizontal_flip"]),
    "invert": ("invert", [], ["invert"]),
    "posterize": ("posterize", [4], ["posterize", 4]),
    "solarize": ("solarize", [100], ["solarize", 100]),
    "permute_channels": ("permute_channels", [[2, 0, 1]], ["permute_channels", [2, 0, 1]]),
    "equalize": ("equalize", [], ["equalize"]),
    "autocontrast": ("autocontrast", [], ["autocontrast"]),
}
CLOSE: dict[str, tuple[str, list[Any], list[Any]]] = {
    **{f"adjust_{k}": (f"adjust_{k}", [v], [f"adjust_{k}", v]) for k, v in ADJUSTMENTS.items()},
    "rgb_to_grayscale": ("rgb_to_grayscale", [3], ["rgb_to_grayscale", 3]),
    "gaussian_blur, 5": ("gaussian_blur", [5, 1.0], ["gaussian_blur", [5, 5], [1.0, 1.0]]),
    "gaussian_blur, 23": ("gaussian_blur", [23, 2.0], ["gaussian_blur", [23, 23], [2.0, 2.0]]),
    "jpeg": ("jpeg", [75], []),
    "mixup": ("mixup", [0.3], []),
}
SIZES: dict[str, T.Transform] = {  # of 64x3x480x640
    "RandomZoomOut((1, 2))": T.RandomZoomOut((114, 117, 120), (1.0, 2.0), 1.0),
    "ScaleJitter((480, 480))": T.ScaleJitter((480, 480)),
    "RandomShortestSize(480..800)": T.RandomShortestSize(range(480, 801, 32), 1333),
    "RandomResize(260, 1040)": T.RandomResize(260, 1040),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true", help="only the GPU table, which is the only one")
    parser.add_argument("--cpu", action="store_true", help="no table: single_images.py has the CPU's times")
    parser.add_argument("--quick", action="store_true", help="small batches: does it run?")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file of results; otherwise only full runs write")
    options = parser.parse_args()
    if options.cpu:
        return 0
    if not cuaug.is_available():
        print("no GPU that CuPy can use")
        return 1
    import torch

    bandwidth, rows = clocks.bandwidth(), list[dict[str, Any]]()
    for layout in ("NCHW", "NHWC"):
        images = batches(4 if options.quick else 256, 224, 224, layout)
        for name, (function, arguments, peer_call) in {**EXACT, **CLOSE}.items():
            call = functools.partial(getattr(cuaug, function), layout=layout)
            run = lambda i, call=call, arguments=arguments, images=images: call(images[i], *arguments)  # noqa: E731
            check(run(0), call(images[0].cpu(), *arguments), name in EXACT)
            row = timed(f"{name}, {layout}", run, images, bandwidth, True)
            rows.append(row | peer_time(peer_call, images, layout))
        for name, transform in SIZES.items():
            images, aug = batches(4 if options.quick else 64, 480, 640, layout), T.Compose([transform], seed=0)
            run = lambda i, aug=aug, images=images, layout=layout: aug(images[i], layout=layout, step=i)  # noqa: E731
            check(run(0), aug(images[0].cpu(), layout=layout, step=0), "Zoom" in name)
            rows.append(timed(f"{name}, {layout}", run, images, bandwidth, False))
    table = {"device": torch.cuda.get_device_name(), "bandwidth_tb_s": bandwidth / 1e12, "rows": rows}
    names = {"us": "us", "ratio": "floors", "wall_us": "wall us", "host_us": "host us", "torchvision_us": "torchvision"}
    cells = [
        {"": row["name"], **{title: number(row[key]) for key, title in names.items() if key in row}} for row in rows
    ]
    print_table(f"{table['device']}, uint8", cells, [])
    results = document({"gpu": table}, "functions")
    if options.json or not options.quick:
        write(results, options.json or default_path(results))
    return 0


def batches(count: int, height: int, width: int, layout: str) -> list[Any]:
    import torch

    shape = (count, 3, height, width) if layout == "NCHW" else (count, height, width, 3)
    return [torch.randint(0, 256, shape, dtype=torch.uint8, device="cuda") for _ in range(BUFFERS)]


def check(result: Any, expected: Any, exact: bool) -> None:
    """Pixels within one level of those of the CPU, and 97 % equal; all equal if `exact`."""
    for image, expected_image in zip(list(result), list(expected), strict=True):
        difference = np.abs(np.asarray(image.cpu(), np.int16) - np.asarray(expected_image, np.int16))
        if difference.max() > (0 if exact else 1) or (difference > 0).mean() > 0.03:
            raise ValueError(f"wrong pixels: a difference of {difference.max()}, {(difference > 0).mean():.1%} differ")


def timed(
    name: str, run: Callable[[int], Any], images: list[Any], bandwidth: float, can_capture: bool
) -> dict[str, Any]:
    import torch

    result = run(0)
    result_bytes = sum(image.nbytes for image in result)
    floor_us = (min(images[0].nbytes, result_bytes) + result_bytes) / bandwidth * 1e6
    gpu_time = clocks.gpu(run, len(images), can_capture)
    host_us = clocks.host_us(lambda: run(0), torch.cuda.synchronize)
    ratio = gpu_time.us / floor_us
    return {"name": name, "floor_us": floor_us, "ratio": ratio, "host_us": host_us, **gpu_time._asdict()}


def peer_time(call: list[Any], images: list[Any], layout: str) -> dict[str, float]:
    """torchvision's device time for the same call with the whole batch; results that are views are copied."""
    try:
        from torchvision.transforms.v2 import functional
    except TORCHVISION_IMPORT_ERRORS:
        return {}
    if not call:
        return {}
    import torch

    memory_format = torch.channels_last if layout == "NHWC" else torch.contiguous_format
    if layout == "NHWC":
        images = [image.permute(0, 3, 1, 2) for image in images]
    function, arguments = getattr(functional, call[0]), call[1:]
    run = lambda i: function(images[i], *arguments).contiguous(memory_format=memory_format)  # noqa: E731
    return {"torchvision_us": clocks.gpu(run, len(images), False).us}


if __name__ == "__main__":
    sys.exit(main())

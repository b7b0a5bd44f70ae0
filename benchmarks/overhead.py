"""Times that do not depend on the number of pixels: Python per call, the first call of a process, the import."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import clocks
import numpy as np

import cuaug
from cuaug._gpu import launch

IMPORT = """
import time, numpy
start = time.perf_counter()
import cuaug
print(time.perf_counter() - start)
"""
FIRST_CALL = """
import time, torch, cupy, cuaug
images = torch.zeros((256, 3, 224, 224), dtype=torch.uint8, device="cuda")
matrices = torch.eye(2, 3, device="cuda").repeat(256, 1, 1)
cupy.zeros(1)
torch.cuda.synchronize()
start = time.perf_counter()
cuaug.warp_affine(images, matrices)
torch.cuda.synchronize()
print(time.perf_counter() - start)
"""


def in_child(program: str, **environment: str) -> float:
    """The seconds that a fresh process prints."""
    paths = os.pathsep.join(filter(None, sys.path))
    variables = {**os.environ, "PYTHONPATH": paths, **environment}
    command = [sys.executable, "-c", program]
    process = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    if process.returncode:
        raise RuntimeError(process.stderr.strip().splitlines()[-1])
    return float(process.stdout.split()[-1])


def import_time() -> dict[str, float]:
    """`import cuaug` after NumPy."""
    return {"import cuaug beyond numpy, ms": min(in_child(IMPORT) for _ in range(5)) * 1e3}


def first_call() -> dict[str, float]:
    """The first warp_affine of a process with CUDA and CuPy initialised, with an empty and a warm kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        cold = in_child(FIRST_CALL, CUPY_CACHE_DIR=folder)
        warm = min(in_child(FIRST_CALL, CUPY_CACHE_DIR=folder) for _ in range(3))
    return {f"first warp_affine, {state} kernel cache, ms": s * 1e3 for state, s in (("empty", cold), ("warm", warm))}


def per_call() -> dict[str, float]:
    """Host time of one warp_affine on a torch CUDA tensor, and of its kernel launch."""
    import torch

    images = torch.zeros((2, 3, 8, 8), dtype=torch.uint8, device="cuda")
    out, M = torch.empty_like(images), np.tile(np.eye(2, 3, dtype=np.float32), (2, 1, 1))
    on_device = torch.from_numpy(M).cuda()
    calls = {
        "device matrices": lambda: cuaug.warp_affine(images, on_device),
        "device matrices, out=": lambda: cuaug.warp_affine(images, on_device, out=out),
        "one host matrix": lambda: cuaug.warp_affine(images, M[0]),
        "host matrices": lambda: cuaug.warp_affine(images, M),
    }
    launch_us = clocks.host_us(_launch_alone(calls["device matrices, out="]), torch.cuda.synchronize)
    times = {"bare kernel launch, us": launch_us}
    for name, call in calls.items():
        times[f"warp_affine beyond the launch, {name}, us"] = clocks.host_us(call, torch.cuda.synchronize) - launch_us
    return times


def _launch_alone(call: Callable[[], Any]) -> Callable[[], Any]:
    """The kernel launch of ``call`` without the Python before it."""
    launches: list[tuple[Any, ...]] = []
    original = launch.launch

    def record(*arguments: Any) -> None:
        launches.append(arguments)
        original(*arguments)

    launch.launch = record
    try:
        call()
    finally:
        launch.launch = original
    return lambda: original(*launches[0])

"""The GPU against the CPU: the same call gives the same pixels."""

import numpy as np
import pytest
from helpers.arrays import SHAPE, images, put
from helpers.child_process import python
from helpers.compare import EXACT, Tolerance, assert_equal
from tables.warps import LARGE_IMAGE_ROWS, MAIN_ROWS, ROWS

import cuaug

pytestmark = pytest.mark.gpu

GPU, CPU = ("torch", "cuda"), ("torch", "cpu")
TOLERANCES = {
    "uint8": Tolerance(absolute=1, exact=0.98, reason="one level, where the exact value is nearly a tie: rare"),
    "uint16": Tolerance(absolute=1, exact=0.8, reason="float32 weights err by 1e-6, a level is 1.5e-5 of the range"),
    "int16": Tolerance(absolute=1, exact=0.8, reason="float32 weights err by 1e-6, a level is 3.1e-5 of the range"),
    "float16": Tolerance(absolute=2e-5, relative=2**-10, reason="2e-5, and the storage may round to either neighbour"),
    "bfloat16": Tolerance(absolute=2e-5, relative=2**-7, reason="2e-5, and the storage may round to either neighbour"),
    "float32": Tolerance(absolute=2e-5, reason="float32 coordinates and weights, compiled by two compilers"),
    "float64": Tolerance(absolute=1e-9, reason="float64 throughout"),
}


def gpu_and_cpu_results(row, dtype, parameters, shape=SHAPE):
    results = []
    for backend in (GPU, CPU):
        result = getattr(cuaug, row.op)(images(backend, dtype, shape=shape), **row.keywords(dtype), **parameters)
        results.append(result.cpu())
    return results


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_op_gpu_equals_cpu(row, dtype):
    gpu, cpu = gpu_and_cpu_results(row, dtype, row.parameters((SHAPE[0],)))
    assert_equal(gpu, cpu, tolerance=EXACT if row.is_exact else TOLERANCES[dtype])


@pytest.mark.parametrize("row", LARGE_IMAGE_ROWS, ids=str)
def test_op_gpu_equals_cpu_on_large_image(row):
    gpu, cpu = gpu_and_cpu_results(row, "uint8", row.parameters(), (1, 224, 224, 3))
    level = Tolerance(
        absolute=1, exact=0.99, reason="each device may be a level off the exact value in 0.5 % of the values"
    )
    assert_equal(gpu, cpu, tolerance=level)


@pytest.mark.parametrize("row", [row for row in MAIN_ROWS if row.parameters()], ids=str)
def test_op_device_parameters_equal_host_parameters(row):
    parameters = row.parameters((SHAPE[0],))
    batch = images(GPU)
    host = getattr(cuaug, row.op)(batch, **row.keywords("uint8"), **parameters)
    device = {name: put(value, GPU) for name, value in parameters.items()}
    assert_equal(getattr(cuaug, row.op)(batch, **row.keywords("uint8"), **device), host)


def test_warp_affine_dtypes_and_channels_on_large_image():
    M = np.array([[0.9, -0.35, 20.0], [0.4, 0.85, -31.0]])
    for channels in (1, 2, 3, 4, 5):
        for dtype in TOLERANCES:
            for layout in ("NCHW", "NHWC"):
                for size in ((301, 205), (40, 39)):
                    source = images(CPU, dtype, layout, (2, 203, 149, channels))
                    options = {"layout": layout, "border": "reflect"}
                    gpu = cuaug.warp_affine(source.cuda(), M, size, **options).cpu()
                    assert_equal(gpu, cuaug.warp_affine(source, M, size, **options), tolerance=TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("channels", [1, 3, 4, 6])
def test_color_and_filter_ops_gpu_equals_cpu(channels, dtype):
    calls = {
        "autocontrast": lambda x: cuaug.autocontrast(x),
        "equalize": lambda x: cuaug.equalize(x),
        "lut": lambda x: cuaug.lut(x, np.arange(256) ** 2 // 255),
        "adjust_sharpness": lambda x: cuaug.adjust_sharpness(x, [0.3, 4.0]),
        "gaussian_noise": lambda x: cuaug.gaussian_noise(x, [0.1, -0.1], [0.05, 0.2], seed=2**50 + 7, ids=[5, 2**40]),
    }
    source = images(CPU, dtype, "NCHW", (2, 61, 83, channels))
    for name, call in calls.items():
        if dtype == "uint8" or name not in ("equalize", "lut"):
            is_exact = name in ("equalize", "lut") or (name == "autocontrast" and dtype == "uint8")
            noise_tolerance = Tolerance(absolute=1e-6, reason="the noise is computed in float32, whatever the dtype")
            inexact = noise_tolerance if (name, dtype) == ("gaussian_noise", "float64") else TOLERANCES[dtype]
            assert_equal(call(source.cuda()).cpu(), call(source), tolerance=EXACT if is_exact else inexact)


WARM = """
import os, pathlib, torch, cuaug
def entries():
    return len(list(pathlib.Path(os.environ["CUPY_CACHE_DIR"]).iterdir()))
count = cuaug.warmup()
before = entries()
M = torch.eye(3, device="cuda")
for dtype in (torch.uint8, torch.float16, torch.float32):
    for layout, shape in (("NCHW", (2, 3, 40, 50)), ("NHWC", (2, 40, 50, 3))):
        x = torch.zeros(shape, dtype=dtype, device="cuda")
        cuaug.warp_affine(x, M, layout=layout)
        cuaug.warp_affine(x, M, interpolation="nearest", layout=layout)
        cuaug.warp_perspective(x, M, layout=layout)
        cuaug.hflip(x, layout=layout)
        cuaug.crop(x, 1, 2, 30, 30, layout=layout)
        cuaug.rotate(x, 10.0, "bilinear", layout=layout)
        cuaug.resize(x, (20, 20), layout=layout)
        cuaug.resized_crop(x, 1, 1, 20, 20, (10, 10), layout=layout)
        cuaug.elastic(x, torch.zeros(1, 40, 50, 2, device="cuda"), layout=layout)
torch.cuda.synchronize()
print(count, before, entries())
"""


def test_warmup_leaves_nothing_to_compile(tmp_path):
    message, _ = python(WARM, timeout=300, CUPY_CACHE_DIR=str(tmp_path))
    count, before, after = map(int, message.split())
    assert count >= 30
    assert before >= count
    assert after == before

"""Devices, libraries and memory: a result stays where its input is, and a failed allocation breaks nothing."""

import gc

import numpy as np
import pytest
from helpers.arrays import SHAPE, images, noise, put, to_layout
from helpers.compare import assert_equal, describe, to_numpy
from tables.warps import MAIN_ROWS

import cuaug

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu

GPU = ("torch", "cuda")
main_rows = pytest.mark.parametrize("row", MAIN_ROWS, ids=str)


def call(row, batch, parameters, **options):
    return getattr(cuaug, row.op)(batch, **row.keywords("uint8"), **parameters, **options)


@pytest.mark.gpu(count=2)
@main_rows
def test_op_stays_on_second_gpu(row):
    parameters = row.parameters((SHAPE[0],))
    expected = call(row, images(GPU), parameters)
    second = images(GPU).to("cuda:1")
    with torch.cuda.device(0):
        result = call(row, second, parameters)
        assert torch.cuda.current_device() == 0
    assert describe(result) == ("torch", "cuda:1", "uint8")
    assert_equal(result.to("cuda:0"), expected)
    on_second = {name: put(value, GPU).to("cuda:1") for name, value in parameters.items()}
    on_first = {name: put(value, GPU) for name, value in parameters.items()}
    assert_equal(call(row, second, on_second), result)
    assert_equal(call(row, second, on_first), result)  # parameters are copied to the images' device
    assert torch.cuda.current_device() == 0


@pytest.mark.gpu(count=2)
@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_op_refuses_integers_on_any_gpu(device):
    matrix = torch.tensor([[1, 0, 0], [0, 1, 0]], device=device)
    with pytest.raises(TypeError, match="M must be float32 or float64 on a device, got int64"):
        cuaug.warp_affine(images(GPU), matrix)


@pytest.mark.gpu(count=2)
def test_op_cupy_stays_on_second_gpu():
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Device(1):
        batch = cupy.asarray(noise())
    with cupy.cuda.Device(0):
        result = cuaug.hflip(batch)
        assert cupy.cuda.runtime.getDevice() == 0
    assert describe(result) == ("cupy", "cuda:1", "uint8")
    assert_equal(to_numpy(result), np.ascontiguousarray(noise()[:, :, ::-1]))


@pytest.mark.gpu(count=2)
def test_op_rejects_out_on_other_device():
    with pytest.raises(ValueError, match=r"out.*cuda:1.*cuda:0"):
        cuaug.hflip(images(GPU), out=torch.empty(3, 3, 17, 11, dtype=torch.uint8, device="cuda:1"))


def test_op_rejects_out_on_host():
    with pytest.raises(ValueError, match=r"out.*the CPU.*cuda:0"):
        cuaug.hflip(images(GPU), out=torch.empty(3, 3, 17, 11, dtype=torch.uint8))


def test_vflip_bfloat16_gpu_equals_cpu():
    values = torch.from_numpy(to_layout(noise(dtype="float32"), "NCHW").copy()).bfloat16()
    assert_equal(cuaug.vflip(values.cuda()).cpu(), cuaug.vflip(values))


def test_resize_torch_out_of_memory_breaks_nothing():
    batch = images(GPU, "float32")
    before = to_numpy(batch)
    cuaug.resize(batch, (40, 40), antialias=False)
    gc.collect()  # reference cycles of earlier tests hold device memory
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
    used = torch.cuda.memory_allocated()
    _, total = torch.cuda.mem_get_info()
    torch.cuda.set_per_process_memory_fraction(min(1.0, (torch.cuda.memory_reserved() + (64 << 20)) / total))
    try:
        for _ in range(100):
            with pytest.raises(torch.cuda.OutOfMemoryError):
                cuaug.resize(batch, (8192, 8192), antialias=False)
            assert cuaug.resize(batch, (40, 40), antialias=False).shape == (3, 3, 40, 40)
        assert torch.cuda.memory_allocated() == used
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert_equal(to_numpy(batch), before)


def test_resize_cupy_out_of_memory_breaks_nothing():
    cupy = pytest.importorskip("cupy")
    batch, pool = put(noise(dtype="float32"), ("cupy", "cuda")), cupy.get_default_memory_pool()
    before = to_numpy(batch)
    cuaug.resize(batch, (40, 40), antialias=False)
    pool.free_all_blocks()
    used, limit = pool.used_bytes(), pool.get_limit()
    pool.set_limit(size=used + (64 << 20))
    try:
        for _ in range(100):
            with pytest.raises(cupy.cuda.memory.OutOfMemoryError):
                cuaug.resize(batch, (8192, 8192), antialias=False)
            assert cuaug.resize(batch, (40, 40), antialias=False).shape == (3, 40, 40, 3)
        assert pool.used_bytes() == used
    finally:
        pool.set_limit(size=limit)
    assert_equal(to_numpy(batch), before)


@pytest.fixture
def jax():
    module = pytest.importorskip("jax")
    if module.default_backend() != "gpu":
        pytest.skip("JAX has no GPU here")
    return module


@main_rows
def test_op_jax_stays_on_gpu(row, jax):
    parameters = row.parameters((SHAPE[0],))
    if describe(jax.numpy.zeros(1))[1] != "cuda:0":
        pytest.skip("JAX's first device is not the first GPU")
    for dtype in ("uint8", "float16", "float32"):
        values = noise(dtype=dtype)
        batch = jax.numpy.asarray(values)
        result = getattr(cuaug, row.op)(batch, **row.keywords(dtype), **parameters)
        assert describe(result) == ("jax", "cuda:0", dtype)
        torch_batch = put(values, GPU)
        expected = getattr(cuaug, row.op)(torch_batch, layout="NHWC", **row.keywords(dtype), **parameters)
        assert_equal(to_numpy(result), to_numpy(expected))
        assert_equal(to_numpy(batch), values)
    jax_values = {name: jax.numpy.asarray(np.float32(value)) for name, value in parameters.items() if name != "flip"}
    result = getattr(cuaug, row.op)(jax.numpy.asarray(noise()), **row.keywords("uint8"), **{**parameters, **jax_values})
    # float32 parameters may round a tie to the other side. Only the oracle's result shows which values are ties.
    expected = row.expected(noise(), parameters, "uint8")
    assert_equal(to_numpy(result), expected, library="numpy", dtype="uint8", tolerance=row.tolerance("uint8"))


def test_op_jax_bfloat16_on_gpu(jax):
    values = noise(dtype="float32")
    batch = jax.numpy.asarray(values, dtype="bfloat16")
    result = cuaug.hflip(batch)
    assert describe(result) == ("jax", "cuda:0", "bfloat16")
    assert_equal(to_numpy(result), np.ascontiguousarray(to_numpy(batch)[:, :, ::-1]))

"""The buffer pool, which reuses memory of large results after they are freed, overwrites no result in use.

Nontemporal stores write float results of pointwise ops that have at least 16 MiB. These tests check that they store
what plain stores would, at every alignment.
"""

import gc
import threading

import numpy as np
import pytest
from helpers.compare import to_numpy

import cuaug
from cuaug._host import buffer_pool

torch = pytest.importorskip("torch")

SIZE = buffer_pool.POOL_THRESHOLD + 12_345


@pytest.fixture(autouse=True)
def empty_pool():
    gc.collect()
    buffer_pool._free_blocks.clear()
    yield
    buffer_pool._free_blocks.clear()


def address_of(array):
    return array.__array_interface__["data"][0]


def test_buffer_pool_reuses_memory():
    first = buffer_pool.allocate(SIZE)
    assert type(first) is np.ndarray
    assert first.flags.writeable
    assert first.flags.c_contiguous
    address = address_of(first)
    del first
    second = buffer_pool.allocate(SIZE - 1000)
    assert address_of(second) == address
    assert second.shape == (SIZE - 1000,)


@pytest.mark.parametrize(
    "view_of",
    [
        lambda a: a[5:9],
        lambda a: a.view(np.int8)[::-2],
        lambda a: a[:4096].reshape(64, 64).T,
        memoryview,
        lambda a: torch.from_numpy(a)[3:],
        lambda a: np.broadcast_to(a[:1], (7, 7)),
        lambda a: np.asarray(memoryview(a)[8:]),
    ],
    ids=["slice", "view", "transposed", "memoryview", "torch", "broadcast", "array of a memoryview"],
)
def test_buffer_pool_keeps_memory_while_viewed(view_of):
    first = buffer_pool.allocate(SIZE)
    first[:] = 7
    address, view = address_of(first), view_of(first)
    del first
    gc.collect()
    second = buffer_pool.allocate(SIZE)
    assert address_of(second) != address
    second[:] = 9
    assert (np.asarray(view) == 7).all()
    del view, second
    gc.collect()
    assert address in {address_of(block) for block in buffer_pool._free_blocks.values()}


def test_buffer_pool_aligns_to_cache_lines():
    buffers = [buffer_pool.allocate(buffer_pool.POOL_THRESHOLD + i) for i in range(3)]
    assert [address_of(buffer) % 64 for buffer in buffers] == [0, 0, 0]
    assert [buffer.size for buffer in buffers] == [buffer_pool.POOL_THRESHOLD + i for i in range(3)]


def test_buffer_pool_reuses_memory_of_collected_cycle():
    first = buffer_pool.allocate(SIZE)
    address, cycle = address_of(first), {"array": first}
    cycle["self"] = cycle
    del first, cycle
    gc.collect()
    assert address_of(buffer_pool.allocate(SIZE)) == address


def test_buffer_pool_limits_slack_and_total(monkeypatch):
    large = buffer_pool.allocate(3 * SIZE)
    address = address_of(large)
    del large
    assert address_of(buffer_pool.allocate(SIZE)) != address  # more than half of the buffer would be unused
    monkeypatch.setattr(buffer_pool, "_MAX_FREE_BYTES", 5 * SIZE)
    buffers = [buffer_pool.allocate(SIZE) for _ in range(7)]
    buffers.clear()
    assert sum(block.size for block in buffer_pool._free_blocks.values()) <= 5 * SIZE
    monkeypatch.setattr(buffer_pool, "_MAX_FREE_BYTES", SIZE - 1)
    buffer_pool._free_blocks.clear()
    buffer_pool.allocate(SIZE)
    assert not buffer_pool._free_blocks


def test_buffer_pool_threads_never_share_memory():
    wrong = []

    def work(mark):
        for _ in range(200):
            buffer = buffer_pool.allocate(SIZE)
            buffer[::4096] = mark
            if not (buffer[::4096] == mark).all():
                wrong.append(mark)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("make", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_op_large_results_keep_their_values(make, dtype):
    """A result's memory is reused only after the result is freed."""
    noise = np.random.default_rng(0).integers(0, 256, (40, 224, 224, 3), np.uint8)
    batch = make(noise if dtype == "uint8" else (noise / 255).astype(np.float32))
    first = cuaug.hflip(batch, layout="NHWC")
    assert type(first) is type(batch)
    copy = to_numpy(first).copy()
    later_results = [cuaug.adjust_brightness(batch, 0.5, layout="NHWC") for _ in range(3)]
    np.testing.assert_array_equal(to_numpy(first), copy)
    assert len({address_of(np.asarray(result)) for result in [first, *later_results]}) == 4
    np.testing.assert_array_equal(to_numpy(later_results[0]), to_numpy(later_results[2]))


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize(
    ("input_dtype", "output_dtype"),
    [("uint8", "float32"), ("float16", "float32"), ("float32", "float32"), ("float64", "float64")],
)
@pytest.mark.parametrize("offset", [0, 3])
def test_op_nontemporal_stores_equal_plain_stores(layout, input_dtype, output_dtype, offset):
    """A call whose result has 16 MB or more uses nontemporal stores; a call with one of its images, plain stores.

    Rows begin anywhere in a cache line.
    """
    shape = (30, 219, 221, 3) if layout == "NHWC" else (30, 3, 219, 221)
    batch = (np.random.default_rng(0).random(shape) * (255 if input_dtype == "uint8" else 1)).astype(input_dtype)
    padded = np.full(batch.size + 5, 7, output_dtype)
    out = padded[offset : offset + batch.size].reshape(shape)
    assert out.nbytes >= 16 << 20
    options = {"mean": (0.5, 0.4, 0.3), "std": (0.2, 0.3, 0.4), "dtype": output_dtype}
    cuaug.normalize(batch, **options, layout=layout, out=out)
    for image, stored in zip(batch, out, strict=True):
        np.testing.assert_array_equal(stored, cuaug.normalize(image, **options, layout=layout[1:]))
    assert (np.delete(padded, slice(offset, offset + batch.size)) == 7).all()


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_op_large_result_may_begin_anywhere(layout):
    """At an address that is not aligned to a float, where nontemporal stores are not possible."""
    shape = (30, 219, 221, 3) if layout == "NHWC" else (30, 3, 219, 221)
    batch = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    out = np.ndarray(shape, np.float32, bytearray(4 * batch.size + 8), offset=2)
    cuaug.to_dtype(batch, "float32", layout=layout, out=out)
    np.testing.assert_array_equal(out, cuaug.to_dtype(batch, "float32", layout=layout))

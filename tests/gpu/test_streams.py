"""Streams and threads: work goes to the library's current stream, and no call waits for the device."""

import contextlib
import threading

import numpy as np
import pytest
import torch
from helpers.arrays import SHAPE, Exporter, images, no_synchronization, noise, put
from helpers.busy_gpu import busy
from helpers.child_process import python
from helpers.compare import assert_equal, to_numpy
from helpers.sanitizer import skip_under_sanitizer
from tables.warps import INEXACT_ROW_OF_OP, MAIN_ROWS, matrix

import cuaug
from cuaug import transforms as T

pytestmark = pytest.mark.gpu

TORCH, CUPY = ("torch", "cuda"), ("cupy", "cuda")
STREAMS = {"the default stream": torch.cuda.default_stream, "a side stream": torch.cuda.Stream}
every_stream = pytest.mark.parametrize("make_stream", STREAMS.values(), ids=STREAMS)
main_rows = pytest.mark.parametrize("row", MAIN_ROWS, ids=str)


def warm_call(row, backend=TORCH, device_parameters=True):
    """A function that calls the op of a row. It has been called once: its kernel is compiled, its inputs are ready."""
    batch, parameters = images(backend), row.parameters((SHAPE[0],))
    if device_parameters:
        parameters = {name: put(value, backend) for name, value in parameters.items()}

    def call():
        return getattr(cuaug, row.op)(batch, **row.keywords("uint8"), **parameters)

    call()
    torch.cuda.synchronize()
    return call


def count_corrupted_sums(call, stream, rounds, ms):
    """How many sums are wrong if ``call`` may get the memory of tensors that are freed while their sums are queued."""
    with torch.cuda.stream(stream):
        like = call()
        corrupted = 0
        for n in range(rounds):
            tensors = [torch.full_like(like, (n + k) % 251 + 1) for k in range(4)]
            expected = [((n + k) % 251 + 1) * like.numel() for k in range(4)]
            busy(ms)
            sums = [tensor.sum(dtype=torch.int64) for tensor in tensors]
            del tensors
            results = [call() for _ in range(4)]
            corrupted += int((torch.stack(sums).cpu() != torch.tensor(expected)).sum())
            del results
        stream.synchronize()
    return corrupted


@every_stream
@main_rows
def test_op_does_not_write_memory_still_read(row, make_stream):
    """The allocator gives freed memory to the next call on the stream: only a kernel on that stream is in order."""
    assert count_corrupted_sums(warm_call(row), make_stream(), rounds=5, ms=5) == 0


@every_stream
def test_op_two_hundred_rounds_on_reused_memory(make_stream):
    assert count_corrupted_sums(warm_call(INEXACT_ROW_OF_OP["warp_affine"]), make_stream(), rounds=200, ms=5) == 0


@every_stream
def test_busy_gpu_reveals_wrong_stream(make_stream, monkeypatch):
    """The control of the two tests above: on an unordered stream, the memory is overwritten."""
    call, wrong, stream = warm_call(INEXACT_ROW_OF_OP["warp_affine"]), torch.cuda.Stream(), make_stream()
    library = type(cuaug._arrays.registry.library_of(torch.Tensor))
    monkeypatch.setattr(library, "current_stream", lambda self, device: wrong.cuda_stream)
    assert count_corrupted_sums(call, stream, rounds=20, ms=20) > 0


@main_rows
@pytest.mark.parametrize("parameters", ["device", "host"])
def test_op_torch_call_does_not_synchronize(row, parameters):
    call = warm_call(row, device_parameters=parameters == "device")
    with no_synchronization():
        call()


@pytest.mark.parametrize("backend", [TORCH, CUPY], ids=lambda backend: backend[0])
@pytest.mark.parametrize("parameters", ["device", "host"])
@main_rows
def test_op_returns_while_device_is_busy(row, parameters, backend):
    """The call is queued behind 200 ms of work; its NumPy parameters fit the driver's staging buffer."""
    skip_under_sanitizer("the memory pools are off, and freeing the result waits for the device")
    call = warm_call(row, backend, device_parameters=parameters == "device")
    stream = stream_of(backend[0])
    with use_stream(backend[0], stream), torch.cuda.stream(as_torch_stream(stream)):
        call()
        torch.cuda.synchronize()
        busy(200)
        queued = torch.cuda.Event()
        queued.record()
        call()
        waited = queued.query()
        torch.cuda.synchronize()
    assert not waited


def stream_of(library):
    """A new stream that does not wait for the default stream."""
    if library == "torch":
        return torch.cuda.Stream()
    return pytest.importorskip("cupy").cuda.Stream(non_blocking=True)


def as_torch_stream(stream):
    """The stream as an object of torch."""
    if isinstance(stream, torch.cuda.Stream):
        return stream
    return torch.cuda.ExternalStream(stream.ptr) if stream.ptr else torch.cuda.default_stream()


@contextlib.contextmanager
def use_stream(library, stream):
    """Make ``stream`` the library's current stream. JAX has its own stream, which callers cannot replace."""
    if library == "torch":
        with torch.cuda.stream(stream):
            yield
    elif library == "cupy":
        with stream:
            yield
    else:
        yield


def late_array(library, values):
    """The values as an array of a library whose stream is busy: a reader that does not wait for it reads zeros."""
    if library == "torch":
        target, source = torch.zeros(values.shape, device="cuda"), torch.from_numpy(values).cuda()
        busy(5)
        target.copy_(source)
        return target
    if library == "cupy":
        import cupy

        target, source = cupy.zeros(values.shape, "float32"), cupy.asarray(values)
        with torch.cuda.stream(as_torch_stream(cupy.cuda.get_current_stream())):
            busy(5)
        target[...] = source
        return target
    jax = jax_with_gpu()
    source = jax.numpy.asarray(values)
    big = jax.numpy.full((2048, 2048), 0.5)
    for _ in range(4):
        big = big @ big * 1e-3
    return source + 0 * big[0, 0]


def jax_with_gpu():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU here")
    return jax


LIBRARIES = ["torch", "cupy", "jax"]


@pytest.mark.parametrize("consumer", LIBRARIES)
@pytest.mark.parametrize("producer", LIBRARIES)
def test_op_waits_for_matrix_of_other_stream(producer, consumer):
    """Images of one library and matrices of another, each with its own current stream, without synchronization."""
    if "jax" in (producer, consumer):
        jax_with_gpu()
    values = matrix(np.random.default_rng(3), (3,))["M"].astype(np.float32)
    expected = cuaug.warp_affine(noise(), values)
    consumer_stream = None if consumer == "jax" else stream_of(consumer)
    producer_stream = consumer_stream if producer == consumer or producer == "jax" else stream_of(producer)
    with use_stream(consumer, consumer_stream), use_stream(producer, producer_stream):
        if consumer == "jax":
            import jax

            batch = jax.numpy.asarray(noise())
        else:
            batch = put(noise(), (consumer, "cuda"))
        torch.cuda.synchronize()
        for _ in range(20):
            result = cuaug.warp_affine(batch, late_array(producer, values), layout="NHWC")
            actual = to_numpy(result)  # copied on the consumer's current stream
            assert np.abs(actual.astype(int) - expected).max() <= 1
            assert (actual == expected).mean() > 0.98


def test_mix_labels_waits_for_weights_of_busy_gpu():
    """The labels are on the CPU, which computes the result: it must not start before the weights have arrived."""
    labels = torch.tensor([0, 1])
    for n in range(1, 21):
        weights = late_array("torch", np.full(2, n / 32, np.float32))
        expected = np.array([[n, 32 - n], [32 - n, n]], np.float32) / 32
        assert_equal(cuaug.mix_labels(labels, weights, num_classes=2), torch.from_numpy(expected))


def pinned(values):
    return torch.from_numpy(values).pin_memory()


def test_compose_affine_pinned_matrices_may_change_after_call():
    values = matrix(np.random.default_rng(3), (3,))["M"].astype(np.float32)
    on_device, matrices = torch.from_numpy(values).cuda(), pinned(values)
    expected = cuaug.compose_affine(on_device, values)
    busy(20)
    result = cuaug.compose_affine(on_device, matrices)
    matrices.zero_()
    assert_equal(result, expected)


def test_linear_transformation_pinned_arrays_may_change_after_call():
    batch, values = torch.ones((2, 3, 1, 1), device="cuda"), np.eye(3, dtype=np.float32)
    transform = T.LinearTransformation(pinned(values), pinned(values[0]))
    expected = transform(batch)
    busy(20)
    result = transform(batch)
    transform.transformation_matrix.zero_()
    assert_equal(result, expected)


@pytest.mark.parametrize("producer", ["torch", "cupy"])
def test_op_waits_for_images_of_other_stream(producer):
    cupy = pytest.importorskip("cupy")
    values = noise(dtype="float32")
    with use_stream(producer, stream_of(producer)):
        for _ in range(20):
            result = cuaug.hflip(Exporter(late_array(producer, values)), layout="NHWC")
            assert_equal(cupy.asnumpy(result), np.ascontiguousarray(values[:, :, ::-1]))


def test_op_cupy_current_stream_is_used():
    cupy = pytest.importorskip("cupy")
    values = noise(dtype="float32")
    for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(), cupy.cuda.Stream(non_blocking=True)):
        with stream:
            for _ in range(10):
                result = cuaug.hflip(late_array("cupy", values), layout="NHWC")
                assert_equal(cupy.asnumpy(result), np.ascontiguousarray(values[:, :, ::-1]))


def test_op_eight_threads_on_their_own_streams():
    failures, rows = [], [INEXACT_ROW_OF_OP[op] for op in ("warp_affine", "resize", "remap", "affine")]
    calls = [(row, images(TORCH, seed=n)) for n, row in enumerate(rows)]
    barrier = threading.Barrier(8)

    def work(index):
        try:
            stream = torch.cuda.Stream()
            barrier.wait()
            with torch.cuda.stream(stream):
                for round_ in range(1000):
                    row, batch = calls[(index + round_) % len(calls)]
                    result = getattr(cuaug, row.op)(batch, **row.keywords("uint8"), **parameters[row.op])
                    if round_ % 50 == 0:
                        assert_equal(result, expected[row.op])
        except BaseException as failure:
            failures.append(failure)
            barrier.abort()

    parameters = {row.op: {k: put(v, TORCH) for k, v in row.parameters((3,)).items()} for row in rows}
    expected = {}
    for row, batch in calls:
        expected[row.op] = getattr(cuaug, row.op)(batch, **row.keywords("uint8"), **parameters[row.op])
    torch.cuda.synchronize()
    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert not failures, failures


COLD = """
import threading, cupy, numpy, cuaug
image = cupy.asarray(numpy.random.default_rng(0).integers(0, 256, (2, 64, 64, 3), numpy.uint8))
M = numpy.array([[0.9, -0.2, 3], [0.2, 0.9, 1]])
expected = cuaug.warp_affine(image.get(), M, border="wrap")
barrier, results, failures = threading.Barrier(8), [], []
def work():
    try:
        barrier.wait()
        with cupy.cuda.Stream(non_blocking=True):
            results.append(cuaug.warp_affine(image, M, border="wrap").get())
    except BaseException as error:
        failures.append(repr(error))
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert not failures, failures
assert all(abs(r.astype(int) - expected).max() <= 1 for r in results) and len(results) == 8
"""


def test_op_eight_threads_compile_cold_kernel(tmp_path):
    python(COLD, CUPY_CACHE_DIR=str(tmp_path))


MATRICES = np.random.default_rng(3).uniform(-0.3, 0.3, (SHAPE[0], 2, 3)) + np.eye(2, 3)
MAPS = np.random.default_rng(4).uniform(0, 20, (2, SHAPE[0], 24, 24))


@pytest.mark.parametrize("backend", [TORCH, CUPY], ids=["torch", "cupy"])
@pytest.mark.parametrize(
    ("call", "values"),
    [
        (lambda batch, value: cuaug.warp_affine(batch, value), MATRICES),
        (lambda batch, value: cuaug.remap(batch, value[0], value[1]), MAPS),
        (lambda batch, value: cuaug.adjust_brightness(batch, value), np.linspace(0.5, 1.5, SHAPE[0])),
        (lambda batch, value: cuaug.lut(batch, value), np.tile(np.arange(256.0)[::-1], (SHAPE[0], 1, 1))),
        (lambda batch, value: cuaug.warp_affine(batch, np.eye(2, 3), fill=value), np.full((SHAPE[0], 3), 9.0)),
    ],
    ids=["warp_affine", "remap", "adjust_brightness", "lut", "fill"],
)
def test_pinned_parameters_may_change_after_the_call(call, values, backend):
    """A copy from pinned memory reads it when the stream gets there, which is after the call has returned.

    The current stream of torch and that of CuPy is the default stream.
    """
    batch, value = images(backend), torch.tensor(values).pin_memory()
    expected = to_numpy(call(batch, torch.tensor(values)))
    torch.cuda.synchronize()
    busy(50)
    result = call(batch, value)
    value.zero_()
    assert_equal(to_numpy(result), expected)


def test_pinned_matrix_may_change_after_transform_points():
    points, value = torch.ones(SHAPE[0], 5, 2, device="cuda"), torch.tensor(MATRICES).pin_memory()
    expected = to_numpy(cuaug.transform_points(points, torch.tensor(MATRICES)))
    busy(50)
    result = cuaug.transform_points(points, value)
    value.zero_()
    assert_equal(to_numpy(result), expected)

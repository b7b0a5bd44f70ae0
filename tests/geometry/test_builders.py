"""Matrix builders: kernels, CPU loops and the formulas for autograd agree; batches of every shape and mixture."""

import functools
import types

import numpy as np
import pytest
import torch
from helpers import emulator
from helpers.arrays import seeded
from helpers.compare import Tolerance, assert_equal
from helpers.matrices import put
from helpers.record_memory import array_at, field_value
from helpers.replace import replace_everywhere
from tables.matrices import CASES
from tables.matrix_builders import BUILDERS

import cuaug
from cuaug._arrays import convert
from cuaug._arrays.torch_library import TorchLibrary
from cuaug._gpu import launch as launch_module
from cuaug._matrices import builders
from cuaug._program import sources
from cuaug._program.records import MATRIX_BUILDER

ROUNDING = Tolerance(
    absolute=1e-9, relative=1e-11, reason="float64 sums in another order, and fused multiplications on a GPU"
)
ROUNDED_ONCE = Tolerance(absolute=1e-9, relative=1.2e-7, reason="float64 arithmetic, rounded once to float32")
BUILDER_CASES = {name: case for name, case in CASES.items() if name != "transform_boxes"}
every_function = pytest.mark.parametrize(("function", "arguments"), CASES.values(), ids=CASES)
every_builder = pytest.mark.parametrize(("function", "arguments"), BUILDER_CASES.values(), ids=BUILDER_CASES)
BY_FUNCTOR = {builder.functor: builder for builder in BUILDERS}


@every_function
def test_matrix_function_with_gradient_equals_without(function, arguments):
    """The formulas of autograd, and the loops."""
    tensors = [put(a, "torch") for a in arguments]
    expected = function(*tensors)
    traced = function(*(tensor.requires_grad_() for tensor in tensors))
    assert traced.requires_grad
    assert_equal(traced.detach(), expected.numpy(), library="torch", dtype="float64", tolerance=ROUNDING)


@every_builder
def test_matrix_builder_float32_is_rounded_once(function, arguments):
    inputs = [a.astype("f4") for a in arguments]
    exact = function(*(a.astype("f8") for a in inputs))
    actual = function(*inputs)
    assert actual.dtype == np.float32
    assert np.array_equal(actual, exact.astype("f4"))


@every_builder
def test_matrix_builder_kernel_equals_loop(function, arguments, monkeypatch):
    """The kernel, run by the emulator, writes what the loop has written: the result and the failures."""
    loops = builders.extension()
    functors = []

    def build(record, functor):
        loops.build_matrices(record, functor)
        field = functools.partial(field_value, record, MATRIX_BUILDER)
        items, points = field("samples") * field("items"), field("points")
        size, dtype = items * field("item_size"), np.float64 if field("is_double") else np.float32
        result = array_at(record, MATRIX_BUILDER, "out", size, dtype)
        expected, result[:] = result.copy(), 1e30
        name, blocks, threads = BY_FUNCTOR[functor].kernel_and_grid(items, points)
        fault = emulator.kernel(name, sources.kernel_source(name)[0])(record, (blocks, 1, 1), threads)
        assert not fault, f"{name}: {fault}"
        assert_equal(result, expected, tolerance=ROUNDING)
        functors.append(functor)

    monkeypatch.setattr(builders, "extension", lambda: types.SimpleNamespace(build_matrices=build))
    function(*arguments)
    assert len(functors) == 1


@pytest.mark.parametrize("count", [3, 32, 33, 100, 1000])
def test_estimate_affine_kernel_sums_over_all_points(count, monkeypatch):
    rng = seeded("fits", count)
    src, dst, weights = rng.uniform(0, 300, (2, count, 2)), rng.uniform(0, 300, (2, count, 2)), rng.random((2, count))
    test_matrix_builder_kernel_equals_loop(
        lambda a, b, w: cuaug.estimate_affine(a, b, "affine", w), (src, dst, weights), monkeypatch
    )


def test_estimate_affine_loop_equals_reference_for_many_points():
    rng = seeded("fits")
    src, noise, weights = rng.uniform(0, 300, (3, 5000, 2)), rng.normal(0, 1, (3, 5000, 2)), rng.random((3, 5000))
    dst = src @ np.array([[0.9, 0.3], [-0.2, 1.1]]) + noise + 40
    expected = []
    for a, b, w in zip(src, dst, np.sqrt(weights)[..., None], strict=True):
        design = np.column_stack([a, np.ones(len(a))])
        expected.append(np.linalg.lstsq(w * design, w * b, rcond=None)[0].T)
    actual = cuaug.estimate_affine(src, dst, weights=weights)
    assert_equal(actual, np.stack(expected), tolerance=Tolerance(1e-8, reason="a solution about the origin"))


MIXTURES = {
    "one scale": (np.array([1.0, 2, 3]), 0.5, (4.0, 5.0)),
    "array of one scale": (np.array([1.0, 2, 3]), np.array([0.5]), np.array([[4.0, 5.0]])),
    "one angle": (30.0, np.array([1.0, 2, 3]), [4, 5]),
    "one angle, centers": (np.array(30.0), 2, np.array([[1.0, 2], [3, 4], [5, 6]])),
    "two axes": (np.array([[1.0], [2]]), np.array([0.5, 0.25, 2]), np.array([[[1.0, 2]], [[3, 4]]])),
    "strided axes": (np.arange(24.0).reshape(4, 6)[::2, ::-2], np.ones((1, 3)), (0, 0)),
    "repeated": (np.broadcast_to(np.float64(3), (2, 3)), 1, (1, 2)),
    "no samples": (np.empty(0), 1, (1, 2)),
}


@pytest.mark.parametrize(
    "library", ["numpy", "torch", "jax", *(pytest.param(n, marks=pytest.mark.gpu) for n in ("cuda", "cupy"))]
)
@pytest.mark.parametrize("arguments", MIXTURES.values(), ids=MIXTURES)
def test_get_rotation_matrix_mixes_arrays_and_numbers(arguments, library):
    angle, scale, center = arguments
    arrays = [np.asarray(a, np.float64) for a in arguments]
    batch = np.broadcast_shapes(arrays[0].shape, arrays[1].shape, arrays[2].shape[:-1])
    angles, scales = np.broadcast_to(arrays[0], batch), np.broadcast_to(arrays[1], batch)
    centers = np.broadcast_to(arrays[2], (*batch, 2))
    c, s = scales * np.cos(np.radians(angles)), scales * np.sin(np.radians(angles))
    linear = np.stack([c, s, -s, c], -1).reshape((*batch, 2, 2))
    expected = np.concatenate([linear, (centers - (linear @ centers[..., None])[..., 0])[..., None]], -1)
    dtype = "float32" if library == "jax" else "float64"
    inputs = [put(np.array(a), library, dtype) if isinstance(a, np.ndarray) else a for a in (angle, scale, center)]
    if library == "torch":  # strides without a copy
        inputs = [torch.from_numpy(a.copy()).expand(a.shape) if isinstance(a, np.ndarray) else a for a in arguments]
    actual = cuaug.get_rotation_matrix(*inputs)
    names = {"cuda": "torch"}
    assert_equal(
        actual,
        expected.astype(dtype),
        library=names.get(library, library),
        device="cuda:0" if library in ("cuda", "cupy") else "cpu",
        dtype=dtype,
        tolerance=ROUNDED_ONCE if dtype == "float32" else ROUNDING,
    )


@pytest.mark.parametrize("dtype", ["uint32", "int8", "bool", ">f4", "longdouble", "float16", "object"])
def test_matrix_builders_read_every_dtype_of_numpy(dtype):
    values = np.array([[1, 0, 1], [0, 1, 1]])
    expected = cuaug.compose_affine(values.astype(np.float64), np.eye(2, 3) * 2)
    actual = cuaug.compose_affine(values.astype(dtype), (np.eye(2, 3) * 2).tolist())
    assert_equal(actual.astype(np.float64), expected)


def test_sign_of_zero_does_not_depend_on_earlier_calls_on_device(emulated_gpu):
    """0.0 and -0.0 are equal, but a launch plan with one of them must not be used for the other."""
    for zero in (0.0, -0.0, 0.0, -0.0):
        row = builders.NUMBER_COLUMNS(a=torch.ones(1), b=zero)[0]
        assert bool(row[1].signbit()) == np.signbit(zero)
    assert len(emulated_gpu) == 4


def test_transform_points_of_many_samples_in_several_threads():
    rng = seeded("points")
    points, M = rng.normal(0, 100, (50, 1000, 2)), rng.normal(0, 1, (50, 2, 3))
    expected = points @ np.swapaxes(M[..., :2], -1, -2) + M[:, None, :, 2]
    assert_equal(cuaug.transform_points(points, M), expected, tolerance=ROUNDING)


@pytest.mark.parametrize("name", ["perspective", "coefficients"])
def test_perspective_of_samples_equals_single_calls(name):
    rng = seeded("perspective")
    batch = rng.integers(0, 256, (3, 20, 30, 3), np.uint8)
    square = np.array([(0, 0), (30, 0), (30, 20), (0, 20)], np.float64)
    if name == "perspective":
        sets = square + rng.uniform(0, 4, (3, 4, 2))
        calls = [(square, points, None) for points in (sets, *sets)]
    else:
        sets = np.array([1, 0, 0, 0, 1, 0, 0, 0]) + rng.uniform(-1e-3, 1e-3, (3, 8))
        calls = [(None, None, values) for values in (sets, *sets)]
    batch_result, *singles = (
        cuaug.perspective(batch if i == 0 else batch[i - 1], start, end, coefficients=values)
        for i, (start, end, values) in enumerate(calls)
    )
    assert np.array_equal(batch_result, np.stack(singles))


@pytest.fixture
def emulated_gpu(monkeypatch):
    """CPU tensors count as device tensors, and the emulator runs the launches. Yields the names of launched kernels."""
    describe, allocate, is_host = TorchLibrary.describe, TorchLibrary.empty, convert.is_host
    launches = []

    def launch(name, record, grid, threads, shared, device, stream):
        assert (shared, device, stream) == (0, 0, 7)
        fault = emulator.kernel(name, sources.kernel_source(name)[0])(record, grid, threads)
        assert not fault, f"{name}: {fault}"
        launches.append(name)

    monkeypatch.setattr(
        TorchLibrary, "describe", lambda self, array, stream=None: describe(self, array)._replace(device=0)
    )
    monkeypatch.setattr(
        TorchLibrary,
        "empty",
        lambda self, shape, dtype, device, order: allocate(self, shape, dtype, -1, order).fill_(1e30),
    )
    monkeypatch.setattr(TorchLibrary, "from_numpy", lambda self, values, device: torch.from_numpy(values.copy()))
    monkeypatch.setattr(TorchLibrary, "current_stream", lambda self, device: 7)
    replace_everywhere(
        monkeypatch, convert, "is_host", lambda value: is_host(value) and not isinstance(value, torch.Tensor)
    )
    monkeypatch.setattr(launch_module, "launch", launch)
    yield launches
    for builder in BUILDERS:
        builder.plans.clear()


@every_builder
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matrix_builder_on_device_is_one_kernel_for_all_values(function, arguments, dtype, emulated_gpu):
    rounding = ROUNDED_ONCE if dtype == "float32" else ROUNDING
    for order in (slice(None), slice(None, None, -1), slice(None)):
        values = [np.ascontiguousarray(a[order]).astype(dtype) for a in arguments]
        expected = function(*(a.astype(np.float64) for a in values)).astype(dtype)
        actual = function(*map(torch.from_numpy, values))
        assert_equal(actual, expected, library="torch", dtype=dtype, tolerance=rounding)
        views = [torch.from_numpy(np.repeat(a, 2, 0))[::2] for a in values]
        assert_equal(function(*views), expected, library="torch", dtype=dtype, tolerance=rounding)
    assert len(emulated_gpu) == 6
    assert len(set(emulated_gpu)) == 1
    empty = function(*(torch.from_numpy(a[:0]) for a in values))
    assert empty.shape == (0, *expected.shape[1:])
    assert len(emulated_gpu) == 6


@pytest.mark.parametrize("arguments", MIXTURES.values(), ids=MIXTURES)
def test_get_rotation_matrix_on_device_mixes_arrays_and_numbers(arguments, emulated_gpu):
    for _ in range(2):
        expected = cuaug.get_rotation_matrix(*arguments)
        actual = cuaug.get_rotation_matrix(
            *(torch.from_numpy(a.copy()) if isinstance(a, np.ndarray) else a for a in arguments)
        )
        assert_equal(actual, expected, library="torch", dtype="float64", tolerance=ROUNDING)
        # One array on the device, the others on the host.
        actual = cuaug.get_rotation_matrix(
            torch.from_numpy(np.array(arguments[0], np.float64, order="C")), *arguments[1:]
        )
        assert_equal(actual, expected, library="torch", dtype="float64", tolerance=ROUNDING)


def test_matrix_builder_plan_depends_on_numbers(emulated_gpu):
    angles = torch.tensor([0.0, 90, 30], dtype=torch.float64)
    for scale, center in (
        (1, (0, 0)),
        (2.0, (0, 0)),
        (1, [3.0, 4]),
        (1.0, (3, 4)),
        (2, np.array([3.0, 4])),
        (1, np.array([5.0, 4])),
    ):
        expected = cuaug.get_rotation_matrix(angles.numpy(), scale, center)
        actual = cuaug.get_rotation_matrix(angles, scale, center)
        assert_equal(actual, expected, library="torch", dtype="float64", tolerance=ROUNDING)
    M = torch.tensor([[[0.5, 0.25, 3.0], [0, 2.0, 4.0]]], dtype=torch.float64)
    for size in ((4, 6), (7, 6)):
        for target in ("torch", "pillow", "opencv"):
            expected = cuaug.convert_matrix(M.numpy(), "cuaug", target, size=size)
            actual = cuaug.convert_matrix(M, "cuaug", target, size=size)
            assert_equal(actual, expected, library="torch", dtype="float64", tolerance=ROUNDING)


def test_matrix_builder_plan_is_not_shared_with_host_tensors(emulated_gpu, monkeypatch):
    """A host tensor has the plan key of a device tensor, but the record holds its numbers instead of an address."""
    angles = torch.zeros(3, dtype=torch.float64)
    host = torch.tensor([1.0, 2.0], dtype=torch.float64)
    is_host = convert.is_host
    replace_everywhere(monkeypatch, convert, "is_host", lambda value: value is host or is_host(value))
    for _ in range(2):
        expected = cuaug.get_rotation_matrix(angles.numpy(), 2.0, host.numpy())
        actual = cuaug.get_rotation_matrix(angles, 2.0, host)
        assert_equal(actual, expected, library="torch", dtype="float64", tolerance=ROUNDING)
        host += 1


@every_builder
def test_matrix_builder_device_failure_is_nan(function, arguments, emulated_gpu):
    values = [torch.from_numpy(a.copy()) for a in arguments]
    expected = function(*arguments)
    values[0][1] = float("nan")
    actual = function(*values)
    assert torch.isnan(actual[1]).any()
    expected[1] = np.nan
    actual[1] = float("nan")
    assert_equal(actual, expected, library="torch", dtype="float64", tolerance=ROUNDING)
    assert len(emulated_gpu) == 1


DEGENERATE = {
    "singular": (cuaug.invert_affine, [(1, 2, 3), (2, 4, 5)], None),
    "singular up to rounding": (cuaug.invert_affine, [(0.1, 0.3, 0), (0.3, 0.9, 0)], None),
    "singular 3x3": (cuaug.invert_affine, [(1, 2, 3), (0.1, 0.3, 0.7), (0.2, 0.6, 1.4)], None),
    "converted": (lambda M: cuaug.convert_matrix(M, "cuaug", "torch", size=(4, 4)), [(1, 2, 3), (2, 4, 5)], None),
    "line": (cuaug.get_affine_transform, [(0, 0), (1, 1), (3, 3)], [(0, 0), (4, 0), (0, 4)]),
    "point": (lambda a, b: cuaug.estimate_affine(a, b, "similarity"), [(3, 3)] * 3, [(0, 0), (4, 0), (0, 4)]),
    "point for a rotation": (lambda a, b: cuaug.estimate_affine(a, b, "rigid"), [(0, 0), (4, 0), (0, 4)], [(3, 3)] * 3),
    "negative weight": (
        lambda w, a: cuaug.estimate_affine(a, a, weights=w), [-1, 1, 1, 1], [(0, 0), (4, 0), (0, 4), (5, 5)]
    ),
    "triangle": (cuaug.get_perspective_transform, [(0, 0), (4, 0), (2, 2), (0, 4)], [(0, 0), (4, 0), (4, 4), (0, 4)]),
    "onto a triangle": (
        cuaug.get_perspective_transform, [(0, 0), (4, 0), (4, 4), (0, 4)], [(0, 0), (4, 0), (2, 2), (0, 4)]
    ),
}  # fmt: skip
DEGENERATE_SECOND = {"point for a rotation", "onto a triangle"}  # the second argument, which all samples share


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_matrix_builder_degenerate_device_sample_is_nan(name, dtype, emulated_gpu):
    function, first, second = DEGENERATE[name]
    degenerate = torch.tensor(first, dtype=dtype)
    others = () if second is None else (torch.tensor(second, dtype=dtype),)
    good = torch.tensor(seeded("degenerate").uniform(1, 9, degenerate.shape), dtype=dtype)
    result = function(torch.stack([good, degenerate, good]), *others)
    assert torch.isnan(result[1]).all()
    rest = result[[0, 2]]
    assert (torch.isnan(rest) if name in DEGENERATE_SECOND else torch.isfinite(rest)).all()
    assert len(emulated_gpu) == 1


def test_compose_affine_of_many_device_matrices(emulated_gpu):
    maps = seeded("products").normal(0, 1, (14, 7, 2, 3))
    actual = cuaug.compose_affine(*map(torch.from_numpy, maps))
    assert_equal(actual, cuaug.compose_affine(*maps), library="torch", dtype="float64", tolerance=ROUNDING)
    assert len(emulated_gpu) == 4  # the first launch multiplies 5 matrices, the later ones up to 4 more each


@pytest.mark.parametrize("angle", [-450, -90, 0, 90, 180, 270, 1170])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rotation_multiples_of_90_are_exact_on_device(angle, dtype, emulated_gpu):
    c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][angle // 90 % 4]
    angles = torch.full((2,), angle, dtype=dtype)
    M, N = cuaug.get_rotation_matrix(angles), cuaug.affine_matrix(-angles, (0, 0), 1, (0, 0), (0.5, 0.5))
    for matrix in (*M, *N):
        assert matrix.tolist() == [[c, s, 0], [-s, c, 0]]
    assert emulated_gpu

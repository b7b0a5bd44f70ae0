"""Laws of the functions of matrices and points: libraries, dtypes, gradients, degenerate input."""

import doctest
import math

import numpy as np
import pytest
import torch
from helpers.arrays import no_synchronization
from helpers.compare import Tolerance, assert_equal, to_numpy
from helpers.matrices import FLOAT64, LIBRARIES, put
from tables.matrices import CASES
from torch._subclasses.fake_tensor import FakeTensorMode

from cuaug import fit, geometry
from cuaug._arrays import small_matrices
from cuaug.fit import estimate_affine, get_affine_transform, get_perspective_transform
from cuaug.geometry import (
    affine_matrix,
    compose_affine,
    convert_matrix,
    get_rotation_matrix,
    invert_affine,
    transform_boxes,
    transform_points,
)

FLOAT32 = Tolerance(absolute=2e-3, relative=1e-4, reason="float32 sums of coordinates of a few hundred pixels")
every_function = pytest.mark.parametrize(("function", "arguments"), CASES.values(), ids=CASES)


def test_matrix_functions_have_cases():
    assert {*geometry.__all__, *fit.__all__} <= {*CASES}


@every_function
def test_matrix_function_batch_equals_samples(function, arguments):
    batch = function(*arguments)
    one_by_one = np.stack([function(*sample) for sample in zip(*arguments, strict=True)])
    rounding = Tolerance(1e-10, reason="NumPy sums one sample in another order")
    assert_equal(batch, one_by_one, tolerance=rounding)
    assert_equal(function(*(a[:1] for a in arguments)), one_by_one[:1], tolerance=rounding)
    assert_equal(function(*(a[:0] for a in arguments)), one_by_one[:0])


@every_function
def test_matrix_function_within_vmap_equals_batch(function, arguments):
    tensors = [torch.from_numpy(a) for a in arguments]
    rounding = Tolerance(1e-10, reason="the formulas of autograd, and the loops")
    assert_equal(torch.vmap(function)(*tensors), function(*tensors), tolerance=rounding)


def test_matrix_function_within_vmap_gives_nan_for_a_bad_sample():
    """torch.vmap has no values to check; torch.func.vjp has."""
    singular = torch.stack([torch.eye(2, 3), torch.zeros(2, 3)])
    result = torch.vmap(invert_affine)(singular)
    assert result.isnan().all((1, 2)).tolist() == [False, True]
    with pytest.raises(ValueError, match=r"^cuaug\.invert_affine: M must not be singular, got .* in sample 1$"):
        torch.func.vjp(invert_affine, singular)


@every_function
def test_matrix_function_runs_under_fake_tensor_mode(function, arguments):
    mode = FakeTensorMode()
    fakes = [mode.from_tensor(torch.from_numpy(a)) for a in arguments]
    with mode:
        result = function(*fakes)
    assert result.shape == function(*arguments).shape


@pytest.mark.parametrize("name", ["transform_points", "invert_affine"])
@pytest.mark.skipif(not hasattr(torch.compiler, "is_exporting"), reason="this torch does not tell that it exports")
def test_matrix_function_is_exported_by_torch(name):
    function, arguments = CASES[name]
    tensors = [torch.from_numpy(a) for a in arguments]

    class Module(torch.nn.Module):
        def forward(self, *values):
            return function(*values)

    exported = torch.export.export(Module(), tuple(tensors)).module()
    assert_equal(exported(*tensors), function(*tensors), tolerance=Tolerance(1e-10, reason="formulas, and loops"))


@every_function
def test_matrix_function_broadcasts_one_argument(function, arguments):
    one, *rest = arguments
    repeated = function(np.repeat(one[:1], len(one), 0), *rest)
    assert_equal(function(one[0], *rest), repeated[0] if not rest else repeated)


@every_function
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matrix_function_keeps_library_and_values(function, arguments, library, dtype):
    if (library, dtype) == ("jax", "float64"):
        pytest.skip("JAX holds 64-bit numbers only with jax_enable_x64")
    inputs = [put(a, library, dtype) for a in arguments]
    before = [to_numpy(a) for a in inputs]
    actual = function(*inputs)
    expected = function(*arguments)
    assert_equal(
        actual,
        expected,
        library="torch" if library == "cuda" else library,
        device="cuda:0" if library in ("cuda", "cupy") else "cpu",
        dtype=dtype,
        tolerance=FLOAT64 if dtype == "float64" else FLOAT32,
    )
    for array, copy in zip(inputs, before, strict=True):
        assert np.array_equal(to_numpy(array), copy), "an input was written"


@every_function
def test_matrix_function_converts_integers_and_half_floats(function, arguments):
    assert function(*(np.rint(10 * a).astype(np.int32).tolist() for a in arguments)).dtype == np.float64
    assert function(*(np.rint(10 * a).astype(np.int64) for a in arguments)).dtype == np.float64
    assert function(*(torch.tensor(a).to(torch.float16) for a in arguments)).dtype == torch.float32
    assert function(*(torch.tensor(a).to(torch.bfloat16) for a in arguments)).dtype == torch.float32


@every_function
def test_matrix_function_lists_follow_array_dtype(function, arguments):
    first, *rest = arguments
    assert function(torch.tensor(first).float(), *(a.tolist() for a in rest)).dtype == torch.float32


@every_function
def test_matrix_function_reads_strided_views(function, arguments):
    views = [np.repeat(a, 2, 0)[::2] for a in arguments]
    assert_equal(function(*views), function(*arguments), tolerance=Tolerance(1e-10, reason="another order of sums"))


@pytest.fixture
def meta_tensor(monkeypatch):
    """Meta tensors, whose values cannot be read: they stand for device tensors where there is no GPU."""
    monkeypatch.setattr(small_matrices, "is_host", lambda array: False)
    monkeypatch.setattr(small_matrices, "asarray", lambda value, **options: torch.as_tensor(value, device="meta"))
    return lambda values: torch.tensor(values, device="meta")


@every_function
def test_matrix_function_never_reads_device_values(function, arguments, meta_tensor):
    result = function(*map(meta_tensor, arguments))
    assert result.device.type == "meta"
    assert result.shape == function(*arguments).shape


@every_function
def test_matrix_function_gradients_flow(function, arguments):
    assert torch.autograd.gradcheck(function, [torch.tensor(a, requires_grad=True) for a in arguments], atol=1e-4)


@every_function
@pytest.mark.gpu
def test_matrix_function_does_not_synchronize(function, arguments):
    inputs = [torch.tensor(a, device="cuda") for a in arguments]
    with no_synchronization():
        result = function(*inputs)
    assert result.device.type == "cuda"


LINE = [(0, 0), (1, 1), (3, 3)]
TRIANGLE = [(0, 0), (4, 0), (0, 4)]
QUAD = [(0, 0), (4, 0), (4, 4), (0, 4)]
TRIANGULAR_QUAD = [(0, 0), (4, 0), (2, 2), (0, 4)]  # the third corner is on the line through the second and the fourth
POINT = [(3, 3)] * 4
MIRRORED = (np.array(QUAD) * (-1, 1) @ [(math.cos(0.3), -math.sin(0.3)), (math.sin(0.3), math.cos(0.3))] + 7).tolist()
EYE, SINGULAR = [(1, 0, 0), (0, 1, 0)], [(1, 2, 0), (2, 4, 0)]
NAN, INF = math.nan, math.inf
DEGENERATE = {
    "affine from a line": (get_affine_transform, (LINE, TRIANGLE), "src must not be collinear"),
    "affine from a vertical line": (
        get_affine_transform, ([(2, 0), (2, 5), (2, 9)], TRIANGLE), "src must not be collin"
    ),
    "affine from a horizontal line": (
        get_affine_transform, ([(0, 2), (5, 2), (9, 2)], TRIANGLE), "src must not be collin"
    ),
    "affine from a line up to rounding": (
        get_affine_transform, ([(0.1, 0.3), (0.2, 0.6), (0.3, 0.9)], TRIANGLE), "src must not be collinear"
    ),
    "affine from one point": (estimate_affine, (POINT, QUAD), "src must not be collinear or coincident, got"),
    "affine from two weighted points": (
        lambda a, b, w: estimate_affine(a, b, weights=w), (QUAD, QUAD, [1, 0, 1, 0]),
        "src must not be collinear or coincident where weights are not 0, got"
    ),
    "similarity from one point": (
        lambda a, b: estimate_affine(a, b, "similarity"), (POINT, QUAD), "src must not be coincident"
    ),
    "similarity of far equal points": (
        lambda a, b: estimate_affine(a, b, "similarity"), ([(0.1, 3000.7)] * 3, TRIANGLE), "src must not be coincident"
    ),
    "rigid onto one point": (lambda a, b: estimate_affine(a, b, "rigid"), (QUAD, POINT), "dst must determine a rot"),
    "rigid onto a mirror image": (
        lambda a, b: estimate_affine(a, b, "rigid"), (QUAD, [QUAD[i] for i in (1, 0, 3, 2)]), "dst must determine a"
    ),
    "rigid onto a mirror image up to rounding": (
        lambda a, b: estimate_affine(a, b, "rigid"), (QUAD, MIRRORED), "dst must determine a rotation"
    ),
    "weights of 0": (
        lambda a, b, w: estimate_affine(a, b, weights=w), (QUAD, QUAD, [0, 0, 0, 0]), "weights must not be negative"
    ),
    "weights below 0": (
        lambda a, b, w: estimate_affine(a, b, weights=w), (QUAD, QUAD, [1, -1, 1, 1]), "weights must not be negative"
    ),
    "quad from a triangle": (
        get_perspective_transform, (TRIANGULAR_QUAD, QUAD), "src must not have three collinear points"
    ),
    "quad onto a triangle": (
        get_perspective_transform, (QUAD, TRIANGULAR_QUAD), "dst must not have three collinear points"
    ),
    "quad from a point": (get_perspective_transform, (POINT, QUAD), "src must not have three collinear points"),
    "singular affine": (invert_affine, (SINGULAR,), "M must not be singular"),
    "affine singular up to rounding": (invert_affine, ([(0.1, 0.3, 0), (0.3, 0.9, 0)],), "M must not be singular"),
    "zero affine": (invert_affine, ([(0, 0, 0), (0, 0, 0)],), "M must not be singular"),
    "singular perspective": (invert_affine, ([(1, 2, 3), (0.1, 0.3, 0.7), (0.2, 0.6, 1.4)],), "M must not be singular"),
    "singular to torch": (
        lambda M: convert_matrix(M, "cuaug", "torch", size=(4, 4)), (SINGULAR,),
        "convert_matrix: M must not be singular"
    ),
    "points of NaN": (get_affine_transform, ([(0, 0), (1, 0), (0, NAN)], TRIANGLE), "src must be finite"),
    "points at infinity": (estimate_affine, (TRIANGLE, [(0, 0), (INF, 0), (0, 1)]), "dst must be finite"),
    "quad of NaN": (get_perspective_transform, ([*TRIANGLE, (NAN, 1)], QUAD), "src must be finite"),
    "weights of NaN": (
        lambda a, b, w: estimate_affine(a, b, weights=w), (QUAD, QUAD, [1, NAN, 1, 1]), "weights must be finite"
    ),
    "inverse of NaN": (invert_affine, ([(NAN, 0, 0), (0, 1, 0)],), "M must be finite"),
}  # fmt: skip
every_degenerate = pytest.mark.parametrize(("function", "arguments", "message"), DEGENERATE.values(), ids=DEGENERATE)


@every_degenerate
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matrix_function_rejects_degenerate_host_input(function, arguments, message, library, dtype):
    dtype = "float32" if library == "jax" else dtype
    with pytest.raises(ValueError, match=f"{message}.*in sample 0"):
        function(*(put(a, library, dtype) for a in arguments))


@every_degenerate
@pytest.mark.parametrize("library", LIBRARIES[1:])
def test_matrix_function_degenerate_device_input_is_nan(function, arguments, message, library, monkeypatch):
    monkeypatch.setattr(small_matrices, "is_host", lambda array: False)  # a CPU tensor stands in where there is no GPU
    result = to_numpy(function(*(put(a, library, "float32") for a in arguments)))
    assert np.isnan(result).any()
    assert not np.isinf(result).any()
    assert np.isnan(result).all() or "finite" in message


def test_matrix_function_degenerate_device_sample_is_isolated(monkeypatch):
    expected = get_affine_transform(np.array(TRIANGLE), np.array(TRIANGLE))
    monkeypatch.setattr(small_matrices, "is_host", lambda array: False)
    M = get_affine_transform(torch.tensor([TRIANGLE, LINE, TRIANGLE]), torch.tensor(TRIANGLE))
    assert_equal(M, np.stack([expected, expected * NAN, expected]), library="torch", dtype="float64", tolerance=FLOAT64)


INVALID_CALLS = {
    "sample": (
        lambda: get_affine_transform([TRIANGLE, TRIANGLE, LINE], TRIANGLE),
        r"^cuaug.get_affine_transform: src must not be collinear or coincident, got \[\[0.0, 0.0\], .*\] in sample 2$",
    ),
    "sample of weights": (
        lambda: estimate_affine(QUAD, QUAD, weights=[[1, 1, 1, 1], [0, 0, 0, 0]]),
        r"^cuaug.estimate_affine: weights must not .*, got \[0.0, 0.0, 0.0, 0.0\] in sample 1$",
    ),
    "sample of M": (lambda: invert_affine([EYE, SINGULAR]), "^cuaug.invert_affine: M must not be sing.* in sample 1$"),
    "long samples": (
        lambda: estimate_affine([(i, i) for i in range(999)], [(i, i) for i in range(999)]), r"\.\.\.\] in sample 0$"
    ),
    "points": (lambda: get_affine_transform(QUAD, TRIANGLE), r"src must have shape \[..., 3, 2\], got \[4, 2\]"),
    "3-D dst": (lambda: get_affine_transform(TRIANGLE, np.ones((3, 3))), r"dst must have shape \[..., 3, 2\], got"),
    "corners": (lambda: get_perspective_transform(QUAD, TRIANGLE), r"dst must have shape \[..., 4, 2\], got \[3, 2\]"),
    "flat points": (lambda: estimate_affine([1, 2], [3, 4]), r"src must have shape \[..., P, 2\], got \[2\]"),
    "too few": (lambda: estimate_affine(QUAD[:2], QUAD[:2]), "src must have at least 3 points for 'affine', got 2"),
    "one point": (lambda: estimate_affine([(1, 1)], [(1, 1)], "rigid"), "at least 2 points for 'rigid', got 1"),
    "no points": (
        lambda: estimate_affine(np.ones((0, 2)), np.ones((0, 2)), "similarity"), "at least 2 points .*, got 0"
    ),
    "unequal": (lambda: estimate_affine(QUAD, TRIANGLE), "dst must have as many points as src, 4, got 3"),
    "batches": (
        lambda: estimate_affine(np.ones((2, 4, 2)), np.ones((3, 4, 2))), r"src, dst must agree in their batch, got"
    ),
    "weights": (lambda: estimate_affine(QUAD, QUAD, weights=[1, 2]), "weights must have one number per point, 4, got"),
    "kind": (lambda: estimate_affine(QUAD, QUAD, "perspective"), "kind must be one of 'affine', .*, got 'persp"),
    "angle": (lambda: get_rotation_matrix([0, NAN]), "get_rotation_matrix: angle must be finite, got nan in sample 1"),
    "center": (lambda: get_rotation_matrix(0, 1, [5]), r"center must have shape \[..., 2\], got \[1\]"),
    "scale": (lambda: affine_matrix(0, (0, 0), [1, 0], (0, 0), (0, 0)), "scale must be greater than 0, got 0.0 in sam"),
    "shear": (lambda: affine_matrix(0, (0, 0), 1, 5, (0, 0)), r"affine_matrix: shear must have shape \[..., 2\]"),
    "translate": (lambda: affine_matrix(0, (INF, 0), 1, (0, 0), (0, 0)), "translate must be finite, got"),
    "matrix": (
        lambda: invert_affine(np.eye(4)),
        r"^cuaug\.invert_affine: M must have shape \[\.\.\., 2\|3, 3\], got \[4, 4\]$",
    ),
    "second matrix": (lambda: compose_affine(EYE, [1, 2]), r"compose_affine: M\[1\] must have shape"),
    "matrix of points": (lambda: transform_points(QUAD, [(NAN, 0, 0), (0, 1, 0)]), "transform_points: M must be fin"),
    "3-D points": (lambda: transform_points([(1, 2, 3)], EYE), r"points must have shape \[..., P, 2\]"),
    "boxes": (lambda: transform_boxes(QUAD, EYE), r"transform_boxes: boxes must have shape \[..., P, 4\]"),
    "format": (lambda: transform_boxes([(0, 0, 1, 1)], EYE, "xyxy"), "format must be one of 'XYXY', .*, got 'xyxy'"),
    "source": (lambda: convert_matrix(EYE, "cv", "torch"), "source must be one of 'cuaug', 'opencv', .*, got 'cv'"),
    "target": (lambda: convert_matrix(EYE, "dali", "jax"), "target must be one of 'cuaug', 'opencv', .*, got 'jax'"),
    "no size": (lambda: convert_matrix(EYE, "torch", "dali"), r"size must be \(H, W\) for 'torch', got None"),
    "size": (lambda: convert_matrix(EYE, "cuaug", "torch", size=(0, 4)), "size must be at least 1, got 0"),
    "out_size": (lambda: convert_matrix(EYE, "cuaug", "torch", size=(4, 4), out_size=(4,)), "out_size must be"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "message"), INVALID_CALLS.values(), ids=INVALID_CALLS)
def test_matrix_function_rejects_invalid_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("module", [geometry, fit], ids=["geometry", "fit"])
def test_matrix_function_docstring_examples_run(module):
    assert doctest.testmod(module).failed == 0
    for name in module.__all__:
        assert ">>>" in getattr(module, name).__doc__, f"{name} has no example"

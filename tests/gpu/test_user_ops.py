"""PixelOp on a GPU: the formula's values in one pass, compiled once, and the message if it does not compile."""

import numpy as np
import pytest
from helpers.arrays import from_layout, noise, put, to_layout
from helpers.compare import assert_equal, to_numpy
from helpers.cuda_graphs import capture_graph

torch = pytest.importorskip("torch")
from tables.pixel_ops import BY_NAME, USER_OPS, expected_pixels  # noqa: E402

from cuaug import transforms as T  # noqa: E402
from cuaug._gpu import kernels as kernels_module  # noqa: E402

pytestmark = pytest.mark.gpu
GPU = ("torch", "cuda")
every_user_op = pytest.mark.parametrize("user_op", USER_OPS, ids=str)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@every_user_op
def test_pixel_op_gpu_equals_formula(user_op, layout, dtype):
    """transforms/test_pixel_op.py compares the CPU's results with the same formula."""
    for count in user_op.channels:
        batch = np.abs(noise((3, 17, 37, count), dtype))
        aug = T.Compose([user_op.transform()], seed=5)
        params = aug.draw(put(to_layout(batch, layout), GPU), layout=layout)
        result = to_numpy(aug.apply(put(to_layout(batch, layout), GPU), params, layout=layout))
        parameters = {name: to_numpy(params[name]) for name in params.names}
        expected = expected_pixels(
            user_op, batch, {name.rpartition(".")[2]: values for name, values in parameters.items()}
        )
        result = np.ascontiguousarray(from_layout(result, layout))
        assert_equal(result, expected, library="numpy", dtype=dtype, tolerance=user_op.tolerance(dtype))


RECIPE = [
    T.RandomResizedCrop(48, antialias=False),
    T.PixelOp("Vignette", "px * (1 - k * r2)", k=(0, 0.5)),
    T.ColorJitter(0.4, 0.4, 0.4, 0.1, contrast_about=0.5),
    T.PixelOp("Lift", "px + b * luma(px) * u", b=(0.0, 0.2)),
    T.ToDtype("float16", scale=True),
    T.Normalize(0.5, 0.25),
]


def test_pixel_op_gpu_recipe_is_one_pass():
    batch, aug = noise((6, 64, 80, 3), "float32"), T.Compose(RECIPE, seed=2)
    on_gpu = put(batch, GPU)
    assert len(aug.plan(on_gpu, layout="NHWC").passes) == 1
    result = to_numpy(aug(on_gpu, step=1, layout="NHWC")).astype(np.float32)
    on_cpu = aug(batch, step=1).astype(np.float32)
    np.testing.assert_allclose(result, on_cpu, atol=2e-2)  # float16 values of -2..3, after four ops in float32
    assert (np.abs(result - on_cpu) <= 4e-3).mean() > 0.995


def test_pixel_op_gpu_other_parameters_compile_nothing():
    def recipe(k, b):
        ops = T.PixelOp("Vignette", "px * (1 - k * r2)", k=k), T.PixelOp("Lift", "px + b", b=b)
        return T.Compose([T.RandomHorizontalFlip(), *ops], seed=1)

    batch = put(to_layout(noise((4, 24, 20, 3)), "NCHW"), GPU)
    recipe(0.5, (0, 0.2))(batch)
    kernels = set(kernels_module.compiled_kernels)
    for numbers in ((0.1, 0.3), ((0.2, 0.9), 0.0), (0.0, (-1, 1))):
        recipe(*numbers)(batch)
        recipe(*numbers)(put(to_layout(noise((2, 40, 36, 3)), "NCHW"), GPU))
    assert set(kernels_module.compiled_kernels) == kernels
    changed = T.PixelOp("Lift", "px + 1 * b", b=0.1)
    T.Compose([T.RandomHorizontalFlip(), T.PixelOp("Vignette", "px * (1 - k * r2)", k=1), changed])(batch)
    assert len(set(kernels_module.compiled_kernels) - kernels) == 1


def test_pixel_op_gpu_two_ops_of_one_name():
    batch = noise((3, 9, 8, 3), "float32")
    aug = T.Compose([T.PixelOp("Mine", "px * k", k=0.5), T.PixelOp("Mine", "px + k", k=0.25)])
    assert_equal(to_numpy(aug(put(batch, GPU), layout="NHWC")), batch * np.float32(0.5) + np.float32(0.25))


def test_pixel_op_gpu_graph_draws_anew():
    batch = torch.ones(8, 3, 6, 5, device="cuda")
    aug = T.Compose([T.PixelOp("Scale", "px * k", k=(0, 1))], seed=3)
    aug(batch)
    graph, result = capture_graph(lambda: aug(batch))
    results = []
    for _ in range(3):
        graph.replay()
        results.append(to_numpy(result)[:, 0, 0, 0])
    assert len(np.unique(np.stack(results))) == 24


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("px * k +", "expected an expression"),
        ("px > k ? px : 1", "a condition is one number, not a pixel"),
        ("rgb(px, 1, k)", "cannot be called with the given argument list"),
    ],
)
def test_pixel_op_gpu_compile_error_shows_line(expression, message):
    aug = T.Compose([BY_NAME["Half"].transform(), T.PixelOp("Mine", expression, k=0.5)])
    with pytest.raises(ValueError, match=r"^cuaug.transforms.Compose: Mine does not compile:\n    ") as caught:
        aug(torch.zeros(2, 3, 8, 8, device="cuda"))
    _, line, *compiler_lines = str(caught.value).split("\n    ")
    assert line == expression
    assert message in compiler_lines[0]
    assert len(compiler_lines) <= 3
    aug = T.Compose([T.PixelOp("Mine", "px * k", k=0.5)])  # the next recipe works
    assert to_numpy(aug(torch.ones(1, 1, 2, 2, device="cuda"))).ravel().tolist() == [0.5] * 4

"""PixelOp: each expression equals its formula in float64, in every dtype and layout, alone and in recipes."""

import itertools
import json

import numpy as np
import pytest
from helpers.arrays import IMAGE_DTYPES, from_layout, images, noise, to_layout
from helpers.compare import Tolerance, assert_equal, to_numpy
from helpers.compiler import require_compiler
from helpers.thinning import thinned
from tables.pixel_ops import BY_NAME, USER_OPS, expected_pixels, luma

from cuaug import transforms as T

require_compiler()
SHAPE = (5, 17, 11, 3)
every_user_op = pytest.mark.parametrize("user_op", USER_OPS, ids=str)
ONCE = Tolerance(1.0, exact=0.995, reason="rounded once, on store")


def parameters_of(params, name):
    """The drawn parameters of the first op, which has this name, by their own names."""
    prefix = f"0.{name}."
    return {column.removeprefix(prefix): params[column] for column in params.names if column.startswith(prefix)}


def apply_with_params(transform, batch, **options):
    aug = T.Compose([transform], seed=5)
    params = aug.draw(batch, **options)
    return aug.apply(batch, params, **options), params


@pytest.mark.parametrize(
    ("user_op", "dtype"),
    thinned(
        itertools.product(USER_OPS, [d for d in IMAGE_DTYPES if d != "bfloat16"]),
        lambda user_op, dtype: dtype == "uint8" or user_op is USER_OPS[0],
    ),
    ids=str,
)
def test_pixel_op_equals_formula(user_op, dtype):
    batch = np.abs(noise(SHAPE, dtype))  # the square root of a negative number is NaN
    result, params = apply_with_params(user_op.transform(), batch)
    parameters = {name: np.array(values) for name, values in parameters_of(params, user_op.name).items()}
    expected = expected_pixels(user_op, batch, parameters)
    assert_equal(result, expected, library="numpy", dtype=dtype, tolerance=user_op.tolerance(dtype))


@pytest.mark.parametrize(
    ("user_op", "layout"),
    thinned(
        itertools.product(USER_OPS, ["NHWC", "NCHW"]),
        lambda user_op, layout: layout == "NCHW" or user_op is USER_OPS[0],
    ),
    ids=str,
)
def test_pixel_op_equals_formula_for_all_channels_and_layouts(user_op, layout):
    for count in user_op.channels:
        batch = noise((3, 9, 300, count), "float32")  # a CPU loop takes 256 pixels of a row at once
        result, params = apply_with_params(user_op.transform(), to_layout(batch, layout), layout=layout)
        expected = expected_pixels(
            user_op, batch, {n: np.array(v) for n, v in parameters_of(params, user_op.name).items()}
        )
        tolerance = user_op.tolerance("float32")
        assert_equal(from_layout(result, layout), expected, library="numpy", dtype="float32", tolerance=tolerance)


def test_pixel_op_bfloat16_equals_formula():
    torch = pytest.importorskip("torch")
    user_op, batch = BY_NAME["Vignette"], images(("torch", "cpu"), "bfloat16")
    result, params = apply_with_params(user_op.transform(), batch)
    expected = expected_pixels(user_op, np.moveaxis(to_numpy(batch), 1, -1), {"k": to_numpy(params["0.Vignette.k"])})
    assert result.dtype is torch.bfloat16
    np.testing.assert_allclose(np.moveaxis(to_numpy(result), 1, -1), expected, atol=2**-8, rtol=2**-8)


def test_pixel_op_single_pixel_is_its_center():
    assert T.PixelOp("Far", "r2")(np.ones((1, 1, 1, 3), np.float32)).ravel().tolist() == [0, 0, 0]


def test_pixel_op_position_of_corners_and_center():
    r2 = T.PixelOp("Far", "r2")(np.zeros((1, 5, 9, 1), np.float32))[0, ..., 0]
    np.testing.assert_allclose(r2[[0, 0, -1, -1], [0, -1, 0, -1]], 1, rtol=1e-6)
    assert r2[2, 4] == 0


def test_pixel_op_floats_are_unclamped_and_integers_clamped():
    twice = T.PixelOp("Twice", "2 * px - 0.5")
    inverse = T.PixelOp("Back", "(px + 0.5) / 2")
    floats = noise(SHAPE, "float32")
    assert_equal(T.Compose([twice, inverse])(floats), floats, tolerance=Tolerance(1e-6, reason="float32"))
    integers = noise(SHAPE)
    clamped = np.clip(2.0 * integers - 127.5, 0, 255)
    assert_equal(
        T.Compose([twice, inverse])(integers), (clamped + 127.5) / 2, library="numpy", dtype="uint8", tolerance=ONCE
    )


def test_pixel_op_is_fused_in_order():
    k, batch = 0.4, noise(SHAPE)
    vignette, lift = T.PixelOp("Vignette", "px * (1 - k * r2)", k=k), T.PixelOp("Lift", "px + 0.1 * u")
    flip, normalize = T.RandomHorizontalFlip(1.0), T.Normalize(0.5, 0.25)
    lift_first = T.Compose([flip, lift, T.RandomInvert(1.0), vignette, normalize], seed=1)
    vignette_first = T.Compose([flip, vignette, T.RandomInvert(1.0), lift, normalize], seed=1)
    flipped = batch[:, :, ::-1]

    def dark(values):
        return expected_pixels(BY_NAME["Vignette"], values, {"k": np.full(5, k)})

    u = ((np.arange(11) + 0.5) / 11)[:, None]
    first = dark(1 - np.minimum(flipped / 255 + 0.1 * u, 1))
    second = np.minimum(1 - dark(flipped / 255) + 0.1 * u, 1)
    for aug, expected in ((lift_first, first), (vignette_first, second)):
        assert len(aug.plan(batch).passes) == 1
        tolerance = Tolerance(1e-5, reason="float32, divided by 0.25")
        assert_equal(aug(batch), (expected - 0.5) / 0.25, library="numpy", dtype="float32", tolerance=tolerance)
    assert np.abs(first - second).max() > 0.1


def test_pixel_op_position_is_of_current_image():
    batch = noise((4, 20, 30, 3), "float32")
    aug = T.Compose([T.CenterCrop((9, 11)), T.PixelOp("Places", "(x + y * width) / 100")])
    positions = (np.arange(99, dtype=np.float32) / np.float32(100)).reshape(9, 11)
    assert_equal(aug(batch)[..., 0], np.broadcast_to(positions, (4, 9, 11)))
    other = T.Compose([T.PixelOp("Places", "(x + y * width) / 600"), T.CenterCrop((9, 11))])
    positions = (np.arange(600, dtype=np.float32) / np.float32(600)).reshape(20, 30)[6:15, 10:21]
    expected = np.broadcast_to(positions, (4, 9, 11))
    assert_equal(other(batch)[..., 0], expected, tolerance=Tolerance(1e-7, reason="a reciprocal"))
    assert len(other.plan(batch).passes) == 2


def test_pixel_op_before_mean_is_in_the_mean():
    batch = noise(SHAPE, "float32")
    dimmed = T.PixelOp("Dimmed", "px * k", k=(0.3, 0.9))
    aug = T.Compose([dimmed, T.ColorJitter(contrast=(0.5, 0.5))], seed=3)
    params = aug.draw(batch)
    dim = batch * np.array(params["0.Dimmed.k"], np.float32)[:, None, None, None]
    about = luma(dim.astype(float)).mean((1, 2), keepdims=True)
    tolerance = Tolerance(1e-6, reason="float32")
    assert_equal(aug.apply(batch, params), about / 2 + dim / 2.0, library="numpy", dtype="float32", tolerance=tolerance)


def test_pixel_op_ops_of_one_name_keep_their_parameters():
    batch = noise(SHAPE, "float32")
    aug = T.Compose([T.PixelOp("Mine", "px * k", k=0.5), T.PixelOp("Mine", "px + k", k=0.25), T.PixelOp("Mine", "px")])
    assert_equal(aug(batch), batch * np.float32(0.5) + np.float32(0.25))
    assert {"0.Mine.k", "1.Mine.k"} <= set(aug.draw(batch).names)
    assert len(aug.plan(batch).passes) == 1


def test_pixel_op_samples_draw_their_own_parameters():
    batch = np.ones((400, 2, 2, 1), np.float32)
    op = T.PixelOp("Draws", "px * low + width * 0 + t", low=(2, 3), t=(-1.0, 1.0))
    result, params = apply_with_params(op, batch)
    low, t = np.array(params["0.Draws.low"]), np.array(params["0.Draws.t"])
    np.testing.assert_allclose(result, np.broadcast_to((low + t)[:, None, None, None], batch.shape), rtol=1e-6)
    for values, (minimum, maximum) in ((low, (2, 3)), (t, (-1, 1))):
        assert minimum <= values.min() < minimum + 0.05 * (maximum - minimum)
        assert maximum - 0.05 * (maximum - minimum) < values.max() <= maximum
        assert abs(values.mean() - (minimum + maximum) / 2) < 0.1 * (maximum - minimum)
    assert abs(np.corrcoef(low, t)[0, 1]) < 0.15
    again, _ = apply_with_params(op, batch[:7])
    np.testing.assert_array_equal(again, result[:7])


def test_pixel_op_in_random_choice_changes_chosen_samples():
    batch = noise((40, 5, 6, 3), "float32") * 3 - 1
    batch[0, 0, 0, 0] = np.nan
    entries = [T.PixelOp("Up", "px + k", k=(1, 2)), T.PixelOp("None", "0 * px"), T.Identity()]
    aug = T.Compose([T.RandomChoice(entries)], seed=1)
    params = aug.draw(batch)
    result, chosen = aug.apply(batch, params), np.array(params["0.RandomChoice.chosen"])
    assert set(chosen) == {0, 1, 2}
    np.testing.assert_array_equal(result[chosen == 2], batch[chosen == 2])
    k = np.array(params["1.Up.k"], np.float32)[:, None, None, None]
    np.testing.assert_allclose(result[chosen == 0], (batch + k)[chosen == 0], rtol=1e-6)
    assert not np.nan_to_num(result[chosen == 1]).any()


def test_pixel_op_repr_params_and_dict_use_its_name():
    op = T.PixelOp("Vignette", "  px *\n (1 - k * r2)", k=(0, 0.5))
    assert repr(op) == "PixelOp(op='Vignette', expression='px * (1 - k * r2)', k=(0.0, 0.5))"
    described = {"name": "PixelOp", "op": "Vignette", "expression": "px * (1 - k * r2)", "k": [0.0, 0.5]}
    assert op.to_dict() == described
    batch = noise(SHAPE)
    aug = T.Compose([op, T.RandomInvert()], seed=4)
    restored = T.from_dict(json.loads(json.dumps(aug.to_dict())))
    params = aug.draw(batch)
    restored_params = restored.params_from_dict(json.loads(json.dumps(params.to_dict())), batch)
    assert_equal(restored.apply(batch, restored_params), aug.apply(batch, params))
    assert aug.plan(batch).passes[0].transforms == ("Vignette", "RandomInvert")
    assert "0.Vignette.k" in params.names


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("px * 010", 5.0), ("px * 0.5 + 08", 8.25), ("px * 3000000000", 1.5e9), ("px * 1. + .5 + 09e0", 10.0)],
)
def test_pixel_op_reads_decimal_numbers(expression, expected):
    assert T.PixelOp("q", expression)(np.full((1, 1, 1, 1), 0.5)).item() == expected

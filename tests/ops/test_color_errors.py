"""Arguments that the colour ops and transforms reject."""

import re

import numpy as np
import pytest
from helpers.arrays import IMAGE_DTYPES, TORCH, images, max_value, no_synchronization, noise, put
from helpers.compare import assert_equal

import cuaug
from cuaug import transforms as T


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: cuaug.adjust_brightness(x, -1), "brightness_factor must be at least 0"),
        (
            lambda x: cuaug.adjust_brightness(x, float("nan")),
            "brightness_factor must be a finite number or one per sample, got nan",
        ),
        (lambda x: cuaug.adjust_brightness(x, [1.0, 2.0]), "must hold 1 or 3 entries"),
        (lambda x: cuaug.adjust_hue(x, 0.6), r"hue_factor must be in -0.5..0.5"),
        (lambda x: cuaug.adjust_saturation(x[..., :2], 1.0), "images must have 1 or 3 channels, got 2"),
        (lambda x: cuaug.normalize(x, 0.5, 0), "std must not be 0"),
        (lambda x: cuaug.normalize(x, [0.5, 0.5], 1), "mean must be a number"),
        (lambda x: cuaug.posterize(x, 17), r"bits must be in 0..16"),
        (lambda x: cuaug.posterize(x, 2.5), r"bits must hold whole numbers in 0..16, got 2.5"),
        (lambda x: cuaug.posterize(x, [1, 2.5, 3]), r"bits must hold whole numbers"),
        (lambda x: cuaug.rgb_to_grayscale(x, 2), "num_output_channels must be 1 or 3"),
        (lambda x: cuaug.permute_channels(x, 1), r"permutation must have shape \(3,\) or \(3, 3\), got \(\)"),
        (lambda x: cuaug.permute_channels(x, [1]), r"permutation must have shape .* got \(1,\)"),
        (lambda x: cuaug.permute_channels(x, [[1], [0], [2]]), r"permutation must have shape .* got \(3, 1\)"),
        (lambda x: cuaug.color_matrix(x, np.eye(2)), r"matrix must have shape \(3, 3\)"),
        (lambda x: cuaug.color_matrix(x[..., :1], np.eye(3)), "images must have 3 channels"),
        (lambda x: cuaug.lut(x, np.arange(257)), r"table must hold whole numbers in 0..255"),
        (lambda x: cuaug.lut(x, np.full(256, 0.5)), r"table must hold whole numbers in 0..255"),
        (lambda x: cuaug.lut(x, np.zeros(255)), r"table must have shape \(256,\), \(3, 256\)"),
        (lambda x: cuaug.lut(x, 0), r"table must have shape"),
        (lambda x: cuaug.lut(x, np.zeros((2, 256))), r"table must have shape"),
        (lambda x: cuaug.lut(x, np.zeros((3, 2, 256))), r"table must have shape"),
        (lambda x: cuaug.lut(x, np.zeros((1, 3, 3, 256))), r"table must have shape"),
        (lambda x: cuaug.lut(x, np.zeros((3, 256))), r"pass \(1, 3, 256\) or \(3, 1, 256\)"),
        (lambda x: cuaug.gaussian_noise(x, sigma=-1), "sigma must be at least 0"),
        (lambda x: cuaug.gaussian_noise(x, seed=-1), "seed must be at least 0"),
        (lambda x: cuaug.gaussian_noise(x, seed=2**64), r"seed must be below 2\*\*64"),
        (lambda x: cuaug.gaussian_noise(x, seed=10**5000), r"seed must be below 2\*\*64, got an int of 16610 bits"),
        (lambda x: cuaug.gaussian_noise(x, step=2**32), r"step must be below 2\*\*32"),
        (lambda x: cuaug.gaussian_noise(x, ids=[0, 1]), "must hold 1 or 3 entries"),
        (lambda x: cuaug.gaussian_noise(x, ids=[0, 1, -1]), "ids must be in 0"),
        (lambda x: cuaug.equalize(x, out=x), "out must not overlap the memory range of images"),
        (
            lambda x: cuaug.invert(x, out=np.zeros((3, 17, 11, 3), np.float32)),
            r"out must be \(3, 17, 11, 3\) of uint8, got .* of float32",
        ),
    ],
)
def test_op_rejects_invalid_arguments(call, message):
    with pytest.raises(ValueError, match=rf"cuaug\.\w+: .*{message}"):
        call(noise())


@pytest.mark.parametrize("std", [0.0, 1e-50, -1e-39, [1.0, 1.0, 1.1e-38], np.full((3, 3), 1e-39)])
def test_normalize_rejects_a_std_without_a_reciprocal(std):
    """Parameters are float32, except for float64 images. A GPU takes float32 numbers below 1.18e-38 as 0.

    1 / std would be infinite, and the result infinite or NaN.
    """
    for dtype in ("uint8", "float16", "float32"):
        rule = f"std must not be 0, nor closer to 0 than 1.18e-38 for {dtype} images"
        with pytest.raises(ValueError, match=rf"^cuaug\.normalize: {rule}"):
            cuaug.normalize(noise(dtype=dtype), 0.5, std)
        if np.ndim(std) < 2 and std != 0:
            with pytest.raises(ValueError, match=rf"^cuaug\.transforms\.Normalize: {rule}"):
                T.Normalize(0.5, std)(noise(dtype=dtype))
    assert np.isfinite(cuaug.normalize(noise(dtype="float32"), 0.5, 1.2e-38)).all()
    assert np.isfinite(cuaug.normalize(noise(dtype="float64"), 0.5, 1e-300)).all()


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64"])
def test_color_ops_reject_label_dtypes(dtype):
    with pytest.raises(TypeError, match="images and dtype must be one of"):
        cuaug.invert(noise(dtype=dtype))
    for op in (cuaug.autocontrast, lambda images: cuaug.adjust_contrast(images, 0.5)):
        with pytest.raises(TypeError, match=rf"cuaug\.\w+: images must be one of uint8, .*, got {dtype}"):
            op(noise(dtype=dtype))


def test_normalize_rejects_an_integer_result():
    with pytest.raises(TypeError, match=r"^cuaug\.normalize: dtype must be a float, got uint8"):
        cuaug.normalize(noise(), 0, 1, dtype="uint8")


@pytest.mark.parametrize("op", ["adjust_brightness", "adjust_contrast", "adjust_hue", "mixup"])
def test_op_checks_torch_host_parameters(op):
    torch = pytest.importorskip("torch")
    for bad in (-1.0, [0.1, -0.6, 0.2]):
        with pytest.raises(ValueError, match=rf"cuaug\.{op}: (\w+_factor|lam) must be"):
            getattr(cuaug, op)(noise(), torch.tensor(bad))


TWO_AXES = [(3, 1), (1, 3), (5, 1), (5, 4)]
TWO_AXES_MESSAGE = r"^cuaug\.adjust_\w+: \w+ must be a finite number or one per sample, got an array of shape "


@pytest.mark.parametrize("shape", TWO_AXES, ids=str)
def test_op_rejects_parameters_of_two_axes_by_shape(shape):
    """A tensor on the meta device has no values. It stands for a GPU tensor, whose values cuaug does not read."""
    torch = pytest.importorskip("torch")
    factor = torch.ones(shape, device="meta")
    with pytest.raises(ValueError, match=TWO_AXES_MESSAGE + re.escape(str(shape))):
        cuaug.adjust_brightness(noise(), factor)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", TWO_AXES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_op_rejects_device_parameters_of_two_axes_without_a_wait(dtype, shape):
    backend = ("torch", "cuda")
    batch, factor = images(backend), put(np.ones(shape, dtype), backend)
    for call in (cuaug.adjust_brightness, lambda x, f: cuaug.adjust_gamma(x, 1.0, f)):
        with no_synchronization(), pytest.raises(ValueError, match=TWO_AXES_MESSAGE + re.escape(str(shape))):
            call(batch, factor)


def test_op_rejects_parameters_with_grad():
    torch = pytest.importorskip("torch")
    batch, factor = torch.zeros(1, 3, 4, 4), torch.tensor(0.5, requires_grad=True)
    for call in (
        lambda: cuaug.adjust_brightness(batch, factor),
        lambda: cuaug.adjust_contrast(batch, 1.0, factor),
        lambda: cuaug.normalize(batch, factor, 1.0),
        lambda: cuaug.color_matrix(batch, torch.eye(3, requires_grad=True)),
        lambda: cuaug.erase(batch, 0, 0, 1, 1, factor),
        lambda: cuaug.mixup(batch, factor),
    ):
        with pytest.raises(TypeError, match="requires grad"):
            call()
        with torch.no_grad():
            call()


NOT_NUMBERS = {
    "dict": {},
    "object": object(),
    "text": np.array(["a"]),
    "objects": np.array(["1", "2", "1"], object),
    "dates": np.array(["1970-01-02"] * 3, "M8[D]"),
    "times": np.array([1, 2, 1], "m8[D]"),
    "objects of times": np.array([np.timedelta64(1, "s")], object),
}


def test_color_matrix_list_of_tensors_equals_list_of_numbers():
    torch = pytest.importorskip("torch")
    batch, numbers = torch.from_numpy(noise()).permute(0, 3, 1, 2), [0.5, -1.0, 2.0]
    tensors = [torch.tensor(0.5, dtype=torch.bfloat16), torch.tensor(1.0)._neg_view(), torch.tensor(2)]
    other_rows = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert_equal(cuaug.color_matrix(batch, [tensors, *other_rows]), cuaug.color_matrix(batch, [numbers, *other_rows]))
    factor = torch.tensor(1.0, requires_grad=True)
    with pytest.raises(TypeError, match=r"^cuaug\.adjust_brightness: a tensor that requires grad"):
        cuaug.adjust_brightness(batch, [factor, 1.0, 1.0])
    with torch.no_grad():
        cuaug.adjust_brightness(batch, [factor, 1.0, 1.0])


@pytest.mark.parametrize("bad", NOT_NUMBERS.values(), ids=NOT_NUMBERS)
def test_adjust_brightness_rejects_factor_that_is_no_number(bad):
    with pytest.raises(TypeError, match=r"cuaug\.adjust_brightness: brightness_factor must hold numbers"):
        cuaug.adjust_brightness(noise(), bad)


def test_to_dtype_rgb_to_grayscale_reject_none_and_bool():
    with pytest.raises(TypeError, match="dtype must be a dtype or its name, got None"):
        cuaug.to_dtype(noise(), None)
    with pytest.raises(TypeError, match="num_output_channels must be an int, got True"):
        cuaug.rgb_to_grayscale(noise(), True)


@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
def test_random_solarize_rejects_threshold_beyond_range(dtype):
    batch, largest = images(TORCH, dtype), max_value(dtype)
    with pytest.raises(
        ValueError,
        match=rf"^cuaug.transforms.RandomSolarize: threshold must be at most {largest:g} for {dtype}",
    ):
        T.RandomSolarize(largest * 1.01)(batch)
    T.RandomSolarize(largest)(batch)
    T.RandomSolarize(-1)(batch)


def test_random_solarize_checks_threshold_for_the_dtype_it_receives():
    batch = noise()
    T.Compose([T.RandomSolarize(128), T.ToDtype("float32", scale=True), T.RandomSolarize(0.5)])(batch)
    with pytest.raises(ValueError, match=r"at most 1 for float32 images, got 128: pass threshold / 255"):
        T.Compose([T.ToDtype("float32", scale=True), T.RandomSolarize(128)])(batch)


@pytest.mark.parametrize(
    ("mean", "std", "name"), [(123.675, 0.2, "mean"), ([0.4, 116.28, 0.5], 0.2, "mean"), (0.5, 58.395, "std")]
)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16"])
def test_normalize_rejects_statistics_of_unscaled_levels(dtype, mean, std, name):
    """Images of integers are scaled to 0..1 first; floats may have any range."""
    batch = images(TORCH, dtype)
    message = rf"{name} must be in -2..2 for {dtype} images, .* got [\d.]+: pass {name} / {max_value(dtype):.0f}$"
    with pytest.raises(ValueError, match=rf"^cuaug.transforms.Normalize: {message}"):
        T.Normalize(mean, std)(batch)
    T.Compose([T.ToDtype("float32"), T.Normalize(mean, std)])(batch)
    for convert in (lambda v: v, lambda v: put(np.array(v), TORCH)):
        with pytest.raises(ValueError, match=rf"^cuaug.normalize: {message}"):
            cuaug.normalize(batch, convert(mean), convert(std))
        cuaug.normalize(cuaug.to_dtype(batch, "float32"), convert(mean), convert(std))


@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@pytest.mark.parametrize(("mean", "std"), [(0.5, 0.5), (0, 1), (0.0, 1 / 255), (-1, 2), ([0.485, 0.456, 0.406], -0.2)])
def test_normalize_accepts_statistics_of_scaled_images(mean, std, dtype):
    batch = images(TORCH, dtype)
    expected = cuaug.normalize(batch, mean, std)
    per_sample = cuaug.normalize(batch, np.full((len(batch), 3), mean), np.full((len(batch), 1), std))
    for result in (T.Normalize(mean, std)(batch), per_sample):
        assert_equal(result, expected)

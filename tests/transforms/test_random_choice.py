"""Passes that change samples in different ways: each sample equals the function's result on that sample alone."""

import numpy as np
import pytest
from helpers.arrays import CUPY_CUDA, NUMPY, TORCH_CUDA, backend_id, noise, put, to_layout, with_memory_order
from helpers.compare import Tolerance, assert_equal, to_numpy

import cuaug
from cuaug import transforms as T

numpy_and_gpu = pytest.mark.parametrize("backend", [NUMPY, TORCH_CUDA, CUPY_CUDA], ids=backend_id)


def sharpen(factor):
    return T.RandomAdjustSharpness(factor, 1.0), lambda images: cuaug.adjust_sharpness(images, factor)


def contrast(factor):
    jitter = T.ColorJitter(contrast=(factor, factor))
    return jitter, lambda images: cuaug.adjust_contrast(images, factor)


EQUALIZE = T.RandomEqualize(1.0), cuaug.equalize
INVERT = T.RandomInvert(1.0), cuaug.invert
HFLIP = T.RandomHorizontalFlip(1.0), cuaug.hflip
VFLIP = T.RandomVerticalFlip(1.0), cuaug.vflip
GREY = T.RandomGrayscale(1.0), lambda images: cuaug.rgb_to_grayscale(images, 3)
FILTER_ON_LARGER_CANVAS = (
    T.RandomApply([T.Pad(4), T.GaussianBlur(3, (1.0, 1.0)), T.CenterCrop((33, 47))], 1.0),
    lambda images: cuaug.center_crop(cuaug.gaussian_blur(cuaug.pad(images, 4), 3, 1.0), (33, 47)),
)
IDENTITY = T.Identity(), lambda images: images
CHOICES = {
    "moved or sharpened": [HFLIP, sharpen(2.0), VFLIP],
    "sharpened, equalized, moved or coloured": [sharpen(0.1), EQUALIZE, HFLIP, INVERT, IDENTITY],
    "coloured before the filters": [INVERT, GREY, EQUALIZE, sharpen(3.0)],
    "coloured, then moved": [EQUALIZE, INVERT, HFLIP, sharpen(2.0)],
    "sharpened by three factors": [sharpen(3.0), sharpen(0.1), sharpen(1.0)],
    "equalized twice": [EQUALIZE, EQUALIZE, IDENTITY],
    "a mean before the filters": [contrast(0.2), EQUALIZE, sharpen(2.0)],
    "a mean after the filters": [EQUALIZE, sharpen(2.0), contrast(0.2)],
    "another canvas before the filters": [FILTER_ON_LARGER_CANVAS, EQUALIZE, sharpen(2.0)],
    "another canvas after the filters": [EQUALIZE, sharpen(2.0), FILTER_ON_LARGER_CANVAS],
    "another canvas between the filters": [sharpen(2.0), FILTER_ON_LARGER_CANVAS, EQUALIZE],
}


def chosen_entries(params):
    (name,) = (name for name in params.names if name.endswith(".chosen"))
    return to_numpy(params[name]).astype(int)


@numpy_and_gpu
@pytest.mark.parametrize("name", CHOICES)
def test_random_choice_equals_chosen_function(backend, name):
    entries, images = CHOICES[name], noise((40, 33, 47, 3))
    aug = T.Compose([T.RandomChoice([transform for transform, _ in entries])], seed=3)
    batch = put(images, backend)
    params = aug.draw(batch, layout="NHWC")
    result, chosen = to_numpy(aug.apply(batch, params, layout="NHWC")), chosen_entries(params)
    assert set(chosen) == set(range(len(entries)))
    for i, (_, function) in enumerate(entries):
        tolerance = Tolerance(
            absolute=1 if backend[1] == "cuda" or "mean" in name else 0,
            exact=0.995,
            reason="sums of a mean in another order; a GPU contracts a product and a sum to one rounding",
        )
        assert_equal(result[chosen == i], function(images[chosen == i]), tolerance=tolerance)


@numpy_and_gpu
@pytest.mark.parametrize("transform", [T.GaussianNoise(sigma=0.1), T.RandomMask(1.0, share=0.3)], ids=["noise", "mask"])
def test_random_choice_noise_and_mask_ignore_canvas_of_other_entries(backend, transform):
    """Noise and masks depend on a pixel's position. A larger canvas of other samples does not change that position."""
    pixels, results = noise((40, 33, 47, 3), "float32"), {}
    images = put(pixels, backend)
    for other in (FILTER_ON_LARGER_CANVAS[0], T.Identity()):
        aug = T.Compose([T.RandomChoice([transform, other])], seed=3)
        params = aug.draw(images, layout="NHWC")
        chosen = chosen_entries(params) == 0
        results[type(other)] = to_numpy(aug.apply(images, params, layout="NHWC"))[chosen]
        assert (results[type(other)] != pixels[chosen]).any((1, 2, 3)).all()
    beside_larger_canvas, beside_same_canvas = results.values()
    assert 5 < len(beside_same_canvas) < 35
    np.testing.assert_allclose(beside_larger_canvas, beside_same_canvas, atol=1e-6)


SIZES = [(3, 17, 11), (2, 150, 333), (1, 1, 1), (2, 64, 256)]
MEMORY_LAYOUTS = ["NHWC", "NCHW", "rows and columns swapped", "every second column"]


def with_memory_layout(images, memory_layout, backend, dtype):
    """The images in memory of this layout, and the value of `layout` to pass with them."""
    if memory_layout == "rows and columns swapped":
        return with_memory_order(put(images, backend, dtype), (0, 2, 1, 3)), "NHWC"
    if memory_layout == "every second column":
        return put(np.repeat(images, 2, 2), backend, dtype)[:, :, ::2], "NHWC"
    return put(to_layout(images, memory_layout), backend, dtype), memory_layout


@numpy_and_gpu
@pytest.mark.parametrize("memory_layout", MEMORY_LAYOUTS)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 6])
def test_random_choice_sharpen_equalize_equal_functions(backend, memory_layout, size, channels):
    """The pass also has a rotation, with each interpolation, which no sample draws."""
    images, functions = noise((*size, channels)), {"equalize": cuaug.equalize}
    functions["sharpen"] = lambda images, layout: cuaug.adjust_sharpness(images, 2.0, layout=layout)
    inputs, layout = with_memory_layout(images, memory_layout, backend, "uint8")
    for name, transform in (("sharpen", T.RandomAdjustSharpness(2.0, 1.0)), ("equalize", T.RandomEqualize(1.0))):
        expected = functions[name](inputs, layout=layout)
        tolerance = Tolerance(
            absolute=1 if backend[1] == "cuda" and name == "sharpen" else 0,
            exact=0.995,
            reason="a GPU contracts a product and a sum to one rounding",
        )
        for interpolation in ("nearest", "bilinear", "bicubic"):
            rotation = T.RandomRotation(30, interpolation=interpolation)
            aug = T.Compose([T.RandomChoice([transform, rotation], p=[1.0, 0.0])], seed=1)
            assert len(aug.plan(inputs, layout=layout).passes) == 1
            assert_equal(aug(inputs, layout=layout), expected, tolerance=tolerance)


@numpy_and_gpu
@pytest.mark.parametrize("dtype", ["uint16", "int16", "float16", "float32", "float64"])
def test_random_choice_sharpen_of_wide_dtypes(backend, dtype):
    images = noise((2, 70, 133, 3), dtype)
    inputs = put(images, backend, dtype)
    rotation = T.RandomRotation(30, interpolation="bilinear")
    aug = T.Compose([T.RandomChoice([T.RandomAdjustSharpness(2.0, 1.0), rotation], p=[1.0, 0.0])], seed=1)
    max_difference = 1.0 if "int" in dtype else {"float16": 1e-3}.get(dtype, 1e-6)
    tolerance = Tolerance(absolute=max_difference, reason="the same arithmetic in two kernels, rounded to the dtype")
    expected = cuaug.adjust_sharpness(inputs, 2.0, layout="NHWC")
    assert_equal(aug(inputs, layout="NHWC"), expected, tolerance=tolerance)


@numpy_and_gpu
def test_random_adjust_sharpness_unselected_unchanged(backend):
    images = put(np.array([[[3.0], [-2.0]], [[np.nan], [0.5]]], np.float32)[None], backend)
    for transform in (
        T.RandomAdjustSharpness(2.0, 0.0),
        T.RandomChoice([T.RandomAdjustSharpness(2.0), T.Identity()], [0, 1]),
    ):
        result = to_numpy(T.Compose([transform], seed=0)(images, layout="NHWC"))
        np.testing.assert_array_equal(result, to_numpy(images))
    np.testing.assert_array_equal(to_numpy(cuaug.adjust_sharpness(images, 1.0, layout="NHWC")), to_numpy(images))


@numpy_and_gpu
def test_random_choice_crop_reads_no_fill(backend):
    """A crop repeats its edge; a rotation in the same pass reads the fill, 0, outside the image."""
    images = put(np.full((40, 24, 24, 3), 200, np.uint8), backend)
    crop = T.RandomResizedCrop(24, antialias=False)
    for other in (T.RandomRotation(30, interpolation="bilinear"), T.RandomAffine(20, interpolation="bilinear")):
        for entries in ([crop, other], [other, crop]):
            aug = T.Compose([T.RandomChoice(entries)], seed=0)
            params = aug.draw(images, layout="NHWC")
            result = to_numpy(aug.apply(images, params, layout="NHWC"))
            is_cropped = chosen_entries(params) == entries.index(crop)
            assert 5 < is_cropped.sum() < 35
            assert (result[is_cropped] == 200).all()
            assert (result[~is_cropped] < 200).any()

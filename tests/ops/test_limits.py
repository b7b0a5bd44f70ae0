"""Limits that kernels and loops rely on, in every public function; `test_native_limits.py` has the extension's.

A value beyond a limit raises a ValueError with the function and the limit; a limit that is cheap to reach is accepted.
"""

import numpy as np
import pytest
from helpers.arrays import noise
from helpers.child_process import python_after_import
from helpers.compare import Tolerance, assert_equal
from tables.hostile import FUNCTIONS, MIXED_TABLE_COUNT, VALUES, dtypes_of

import cuaug
from cuaug import transforms as T
from cuaug._arrays.images import describe_images
from cuaug._passes import filters
from cuaug._passes.parameters import NULL_ARRAY, SampleParameters
from cuaug._passes.resample import INTERPOLATIONS, MAX_REDUCTION

IMAGES = noise((2, 40, 30, 3))
BOXES, SCORES = np.zeros((1, 3, 4), np.float32), np.ones((1, 3), np.float32)
FEATURES, REGIONS = np.zeros((1, 4, 4, 1), np.float32), np.zeros((1, 5), np.float32)
HUGE = 10**400  # too large for a float


def transform_from_dict(name, **parameters):
    return T.from_dict({"name": name, **parameters})


def compose_from_dict(name, **parameters):
    return T.from_dict({"name": "Compose", "transforms": [{"name": name, **parameters}], "seed": 1})


def pass_of_blur(size):
    return filters.gaussian_blur(describe_images(IMAGES), (size, size), SampleParameters(NULL_ARRAY, (3.0, 3.0)), None)


BLURS = {
    "function": lambda size: cuaug.gaussian_blur(IMAGES, size, 3.0),
    "function with a sigma for each sample": lambda size: cuaug.gaussian_blur(IMAGES, (3, size), np.array([1.0, 3.0])),
    "class": lambda size: T.GaussianBlur(size, 3.0)(IMAGES),
    "class with x and y": lambda size: T.GaussianBlur((size, 3), (30.0, 30.0))(IMAGES),
    "from_dict": lambda size: transform_from_dict("GaussianBlur", kernel_size=size)(IMAGES),
    "from_dict with x and y": lambda size: transform_from_dict("GaussianBlur", kernel_size=[3, size])(IMAGES),
    "a recipe's from_dict": lambda size: compose_from_dict("GaussianBlur", kernel_size=size)(IMAGES),
    "an attribute": lambda size: with_attribute(T.GaussianBlur(3), "kernel_size", (size, size))(IMAGES),
    "pass": pass_of_blur,
}


def with_attribute(transform, name, value):
    setattr(transform, name, value)
    return transform


@pytest.mark.parametrize("call", BLURS)
@pytest.mark.parametrize("size", [129, 1001, 2**31 + 1, 4, 0, -3])
def test_gaussian_blur_takes_odd_kernel_sizes_up_to_127(call, size):
    with pytest.raises(ValueError, match="kernel_size must be "):
        BLURS[call](size)
    assert BLURS[call](127).shape == IMAGES.shape


@pytest.mark.parametrize("sigma", [15.875, 1000, 1e300, (5, 16), (16, 5)])
def test_elastic_transform_rejects_sigma_whose_kernel_is_beyond_127_taps(sigma):
    for make in (lambda: T.ElasticTransform(sigma=sigma), lambda: transform_from_dict("ElasticTransform", sigma=sigma)):
        with pytest.raises(ValueError, match=r"cuaug\.transforms\.ElasticTransform: sigma must be below 15\.875"):
            make()
    with pytest.raises(ValueError, match=r"ElasticTransform: sigma must be below 15\.875"):
        with_attribute(T.ElasticTransform(), "sigma", (16.0, 16.0))(IMAGES)
    assert T.ElasticTransform(sigma=15.87)(IMAGES).shape == IMAGES.shape


INVALID_CALLS = {
    "branches": (lambda: T.AugMix(mixture_width=9), "AugMix: mixture_width must be at most 8"),
    "branches of a dict": (lambda: transform_from_dict("AugMix", mixture_width=9), "mixture_width must be at most 8"),
    "ops of a pass": (lambda: T.Compose([T.RandomInvert()] * 129)(IMAGES), "Compose: a recipe must have at most 128"),
    "parameters of an op": (
        lambda: T.PixelOp("Many", "px + " + "+".join(f"p{i}" for i in range(31)), **{f"p{i}": 1 for i in range(31)}),
        "at most 30 parameters",
    ),
    "a cell": (lambda: T.RandomMask(size=0), "RandomMask: size must be at least 1"),
    "a large cell": (lambda: transform_from_dict("RandomMask", size=2**30), "size must be at most 1073741823"),
    "a large grid": (lambda: T.RandomMask(kind="grid", size=2**40), "size must be at most 1073741823"),
    "a padded size": (lambda: cuaug.pad(IMAGES, (2**30, 0)), "pad: the padded size must be below 2**30"),
    "a padded size of a recipe": (lambda: T.Pad((2**30, 0))(IMAGES), "Pad: the result's size must be below 2**30"),
    "a crop": (lambda: T.RandomCrop(2**30, pad_if_needed=True), "RandomCrop: size must be below 2**30"),
    "channels": (lambda: cuaug.invert(repeated(1, 1, 1, 2**31), layout="NHWC"), "images must have C below 2**30"),
    "frames": (lambda: cuaug.invert(repeated(1, 2**31, 1, 1, 1), layout="NTHWC"), "images must have T below 2**30"),
    "a reduction": (
        lambda: cuaug.resize(repeated(2**18 + 1, 1, 1), (1, 1)),
        "resize: size must be at least 1 / 262144 of the rows that are resized, got 1 for 262145: resize in two steps",
    ),
    "a reduction of a box": (
        lambda: cuaug.resized_crop(repeated(1, 2**20, 1), 0, 8.5, 1, 600000, (1, 2), "area", antialias=False),
        "resized_crop: size must be at least 1 / 262144 of the columns that are resized, got 2 for 600000",
    ),
    "a reduction of a recipe": (lambda: T.Resize((1, 1))(repeated(1, 2**30 - 1, 1)), "Resize: size must be at least 1"),
    "a reduction of one image of a list": (
        lambda: T.Resize((1, 1))([repeated(7, 5, 1), repeated(1, 2**18 + 1, 1)]),
        "Resize: size must be at least 1 / 262144 of the columns that are resized, got 1 for 262145",
    ),
    "levels": (lambda: cuaug.roi_align([FEATURES] * 9, REGIONS, 2, [0.5**i for i in range(9)]), "1 to 8 levels"),
    "samples of a bin": (lambda: cuaug.roi_align(FEATURES, REGIONS, 2, 1.0, 2**31), "sampling_ratio must be at most"),
    "indices": (
        lambda: cuaug.nms(BOXES, SCORES, 0.5, max_output=2**30 + 1, fixed_size=True),
        "nms: max_output must be at most 1073741824",
    ),
    "indices of soft_nms": (
        lambda: cuaug.soft_nms(BOXES, SCORES, max_output=2**40, fixed_size=True),
        "soft_nms: max_output must be at most 1073741824",
    ),
    "infinite ratios": (lambda: T.RandomErasing(1.0, ratio=(1e-320, 1e-310))(IMAGES), "from finite numbers"),
    "infinite weights": (lambda: T.RandomChoice([T.Identity()] * 2, [1e308, 1e308])(IMAGES), "from finite numbers"),
    **{
        f"an int that no float holds, as {name} of {function}": (
            call,
            f"{function}: {name} must be a number that a float holds, got 1000",
        )
        for name, function, call in (
            ("fill", "pad", lambda: cuaug.pad(IMAGES, 1, fill=HUGE)),
            ("sigma", "gaussian_blur", lambda: cuaug.gaussian_blur(IMAGES, 3, HUGE)),
            ("angle", "rotate", lambda: cuaug.rotate(IMAGES, HUGE)),
            ("lam", "mixup", lambda: cuaug.mixup(IMAGES, HUGE)),
            ("top and left", "crop", lambda: cuaug.crop(IMAGES, HUGE, 0, 5, 5)),
            ("score_threshold", "nms", lambda: cuaug.nms(BOXES[0], SCORES[0], 0.5, score_threshold=HUGE)),
            ("iou_threshold", "nms", lambda: cuaug.nms(BOXES[0], SCORES[0], HUGE)),
            ("sigma", "soft_nms", lambda: cuaug.soft_nms(BOXES[0], SCORES[0], sigma=HUGE)),
            ("spatial_scale", "roi_align", lambda: cuaug.roi_align(FEATURES, REGIONS, 2, HUGE)),
            ("min_size", "remove_small_boxes", lambda: cuaug.remove_small_boxes(BOXES[0], HUGE)),
        )
    },
    **{
        f"ints that no float holds, as {name} of {function}": (
            call,
            f"{function}: {name} must be numbers that a float holds, got ",
        )
        for name, function, call in (
            ("fill", "pad", lambda: cuaug.pad(IMAGES, 1, fill=[1, HUGE, 1])),
            ("angle", "rotate", lambda: cuaug.rotate(IMAGES, [0, HUGE])),
            ("sigma", "gaussian_blur", lambda: cuaug.gaussian_blur(IMAGES, 3, (1.0, HUGE))),
        )
    },
    "an int that no float holds, as degrees": (
        lambda: T.RandomRotation(HUGE),
        "RandomRotation: degrees must be a number that a float holds, got 1000",
    ),
}


def repeated(*shape):
    """An image of this shape whose memory is one byte."""
    return np.broadcast_to(np.uint8(0), shape)


CALLS_AT_LIMITS = {
    "branches": lambda: T.AugMix(mixture_width=8),
    "ops of a pass": lambda: T.Compose([T.RandomInvert()] * 128)(IMAGES),
    "parameters of an op": lambda: T.PixelOp(
        "Many", "px + " + "+".join(f"p{i}" for i in range(30)), **{f"p{i}": 1 for i in range(30)}
    ),
    "a cell": lambda: T.RandomMask(size=1),
    "a large cell": lambda: transform_from_dict("RandomMask", size=2**30 - 1),
    "a large grid": lambda: T.RandomMask(kind="grid", size=2**30 - 1),
    "levels": lambda: cuaug.roi_align([FEATURES] * 8, REGIONS, 2, [0.5**i for i in range(8)]),
}


@pytest.mark.parametrize("name", CALLS_AT_LIMITS)
def test_functions_accept_their_limits(name):
    CALLS_AT_LIMITS[name]()


@pytest.mark.parametrize("name", INVALID_CALLS)
def test_functions_reject_values_beyond_their_limits(name):
    call, message = INVALID_CALLS[name]
    with pytest.raises(ValueError, match=r"^cuaug\.") as error:
        call()
    assert message in str(error.value)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS[1:])
def test_resize_by_the_largest_reduction_keeps_constants(interpolation):
    """Sums are float32. If the limit was 2**22, results would be wrong by up to 9 of 255 levels."""
    image = np.broadcast_to(np.uint8(200), (1, MAX_REDUCTION, 1))
    assert_equal(
        cuaug.resize(image, (1, 1), interpolation, layout="HWC"),
        np.full((1, 1, 1), 200, np.uint8),
        tolerance=Tolerance(absolute=1, reason="float32 sums of 2**18 terms and more"),
    )


@pytest.mark.parametrize("count", [-1, -(2**31) - 1, -(2**32) + 2, -(2**63), 2**31, 2**63 - 1])
def test_soft_nms_takes_any_counts(count):
    """A negative count takes no boxes, a count beyond the boxes takes all, even where 32 bits cannot hold it.

    The call runs in a child process, where a crash is an exit code.
    """
    message, _ = python_after_import(
        ["tables.hostile"],
        "import numpy as np, cuaug\n"
        "boxes, scores = np.zeros((1, 3, 4), np.float32), np.ones((1, 3), np.float32)\n"
        f"_, _, kept = cuaug.soft_nms(boxes, scores, counts=np.array([{count}]), fixed_size=True)\n"
        "print(kept[0])",
    )
    assert int(message) == (3 if count > 0 else 0)


def test_nms_takes_any_counts():
    for count in (-1, -(2**31) - 1, -(2**32) + 2, 2**31):
        _, kept_counts = cuaug.nms(BOXES, SCORES, 0.5, counts=np.array([count]), fixed_size=True)
        assert kept_counts[0] == (3 if count > 0 else 0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_hostile_numbers_without_a_crash(name):
    """The check runs in a child process, where a crash is an exit code and an endless loop a timeout."""
    program = f"from tables.hostile import check_function; print(*check_function({name!r}))"
    message, _ = python_after_import(["tables.hostile"], program, timeout=120)
    rejected, applied = map(int, message.split())
    assert rejected + applied == len(dtypes_of(name)) * (len(VALUES) + MIXED_TABLE_COUNT)
    assert applied or name == "jpeg"  # every table has numbers outside 1..100, the range of JPEG's quality

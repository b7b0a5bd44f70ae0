"""Forms in which transforms and functions take sizes, interpolations and statistics."""

import enum

import numpy as np
import pytest
import torch
from helpers.arrays import noise

import cuaug
from cuaug import transforms as T
from cuaug.data import ImageFiles, Loader


@pytest.mark.parametrize("size", [[7], (7,), np.int64(7), np.array(7), torch.tensor(7), np.array([7, 7])], ids=repr)
def test_transforms_and_functions_take_one_size_for_both_sides(size):
    batch = noise((2, 12, 10, 3))
    for make in (T.CenterCrop, T.RandomCrop, T.RandomResizedCrop):
        assert T.Compose([make(size)])(batch).shape == (2, 7, 7, 3)
    assert cuaug.center_crop(batch, size).shape == (2, 7, 7, 3)
    assert cuaug.resized_crop(batch, 0, 0, 5, 5, size).shape == (2, 7, 7, 3)
    assert cuaug.pad(batch, size).shape == (2, 26, 24, 3)


def test_interpolation_takes_members_of_enumerations():
    pil = pytest.importorskip("PIL.Image").Resampling
    torchvision = enum.Enum("InterpolationMode", {"BICUBIC": "bicubic", "NEAREST_EXACT": "nearest-exact"})
    batch = noise((2, 12, 10, 3))
    for member, name in (
        (pil.BICUBIC, "bicubic"),
        (pil.LANCZOS, "lanczos"),
        (torchvision.BICUBIC, "bicubic"),
        (torchvision.NEAREST_EXACT, "nearest"),
        ("nearest-exact", "nearest"),
    ):
        assert T.Resize(7, member).interpolation == T.RandomRotation(5, member).interpolation == name
        np.testing.assert_array_equal(cuaug.resize(batch, 7, member), cuaug.resize(batch, 7, name))
        np.testing.assert_array_equal(cuaug.rotate(batch, 30, member), cuaug.rotate(batch, 30, name))
    with pytest.raises(ValueError, match=r"cuaug\.resize: interpolation must be one of .*, got 'hamming'"):
        cuaug.resize(batch, 7, pil.HAMMING)
    with pytest.raises(TypeError, match=r"cuaug\.rotate: interpolation must be a name such as 'bilinear', got 2"):
        cuaug.rotate(batch, 30, 2)


@pytest.mark.parametrize("images", [noise((4, 12, 12, 3)), [noise((12, 12, 3))] * 4], ids=["batch", "list"])
@pytest.mark.parametrize("labels", [np.arange(4), np.eye(4, dtype=np.float32)], ids=["numbers", "soft"])
def test_compose_takes_second_argument_for_labels(images, labels):
    """Also where soft labels have as many classes as the images have rows and columns."""
    for array in (labels, np.eye(4, 12, dtype=np.float32)):
        _, result = T.Compose([T.RandomHorizontalFlip(1.0)])(images, array)
        np.testing.assert_array_equal(result, array)


def test_compose_refuses_one_mask_for_a_batch():
    for samples in (1, 4, 12):
        with pytest.raises(ValueError, match=r"masks (must be one mask|at .* must hold)"):
            T.Compose([T.RandomHorizontalFlip(1.0)])(noise((samples, 12, 10, 3)), np.zeros((12, 10), int))


def test_compose_takes_second_argument_of_one_image_for_mask():
    mask = np.arange(144).reshape(12, 12)
    _, result = T.Compose([T.RandomHorizontalFlip(1.0)])(noise((12, 12, 3)), mask)
    np.testing.assert_array_equal(result, mask[:, ::-1])


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_normalize_takes_arrays_of_statistics(library):
    module, batch = pytest.importorskip(library), noise((2, 12, 10, 3))
    mean, std = [0.25, 0.5, 0.75], [0.5, 0.25, 0.5]
    expected = T.Compose([T.Normalize(mean, std)])(batch)
    arrays = [(module.asarray(values) if library == "numpy" else module.tensor(values)) for values in (mean, std)]
    np.testing.assert_array_equal(T.Compose([T.Normalize(*arrays)])(batch), expected)
    scalars = [np.float32(0.5), np.float32(0.25)]
    np.testing.assert_array_equal(T.Compose([T.Normalize(*scalars)])(batch), T.Compose([T.Normalize(0.5, 0.25)])(batch))


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_transforms_take_numbers_of_any_library(library):
    """A NumPy scalar and an array without axes are numbers, not (low, high)."""
    module = pytest.importorskip(library)
    number = module.asarray(0.5)
    for value in (number, np.float32(0.5)):
        assert T.RandomRotation(value).degrees == (-0.5, 0.5)
        assert T.ColorJitter(value).brightness == (0.5, 1.5)
        assert T.RandomHorizontalFlip(value).p == T.MixUp(alpha=value).alpha == 0.5
        assert T.PixelOp("Fade", "px * k", k=value).ranges == {"k": 0.5}
    for value in (module.asarray(3), np.int64(3)):
        assert T.Resize(value).size == 3
        assert (T.GaussianBlur(value).kernel_size, T.GaussianBlur(3, value).sigma) == ((3, 3), (3, 3))
        assert T.RandomErasing(value=value).value == T.RandomMask(value=value).value == 3
        assert T.ElasticTransform(value, value).alpha == (3, 3)
    with pytest.raises((TypeError, ValueError), match="degrees must be"):
        T.RandomRotation(number > 0)


def test_transforms_refuse_tracers_of_jax():
    jax = pytest.importorskip("jax")
    batch = noise((2, 12, 10, 3))
    for call in (T.RandomRotation, T.RandomHorizontalFlip, T.Resize, lambda size: cuaug.resize(batch, size)):
        with pytest.raises(TypeError, match=r"cuaug runs outside of jax\.jit"):
            jax.jit(call)(3)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_transforms_take_ranges_and_points_of_any_library(library):
    array = pytest.importorskip(library).asarray
    assert T.GaussianBlur(array(3), array([0.5, 2.0])).sigma == (0.5, 2.0)
    assert T.GaussianBlur(array([3, 5]), array(0.5)).kernel_size == (3, 5)
    assert T.ElasticTransform(array(50.0), array([2.0, 3.0])).sigma == (2.0, 3.0)
    affine = T.RandomAffine(array(5), array([0.5, 0.25]), array([0.5, 2.0]), array([1.0, 2.0]), center=array([2, 3]))
    assert (affine.translate, affine.scale, affine.center) == ((0.5, 0.25), (0.5, 2.0), (2, 3))
    assert affine.shear == (1, 2, 0, 0)
    assert T.RandomAffine(5, shear=array(3)).shear == (-3, 3, 0, 0)
    assert T.RandomAffine(5, shear=array([1, 2, 3, 4])).shear == (1, 2, 3, 4)
    assert T.RandomAffine(array([-5.0, 5.0])).degrees == (-5, 5)
    assert T.ColorJitter(array([0.5, 1.5])).brightness == (0.5, 1.5)
    assert T.RandomResizedCrop(5, scale=array([0.25, 1.0])).scale == (0.25, 1)
    with pytest.raises(ValueError, match=r"RandomResizedCrop: scale must be \(low, high\), got \[0.25, 1.0, 2.0\]"):
        T.RandomResizedCrop(5, scale=array([0.25, 1.0, 2.0]))


PAIR_PARAMETERS = {
    "ElasticTransform": (
        lambda v: T.ElasticTransform(alpha=v),
        r"alpha must be (a number or \(x, y\)|a finite number)",
    ),
    "RandomAffine translate": (lambda v: T.RandomAffine(5, translate=v), r"translate must be \(x, y\)"),
    "RandomAffine center": (lambda v: T.RandomAffine(5, center=v), r"center must be \(x, y\)"),
    "RandomRotation": (lambda v: T.RandomRotation(5, center=v), r"center must be \(x, y\)"),
    "GaussianBlur": (lambda v: T.GaussianBlur(v), r"kernel_size must be an int or (\(x, y\)|a list)"),
}


@pytest.mark.parametrize("value", [[1, 3, 5], [], "ab", {"x": 1}, 1j], ids=repr)
@pytest.mark.parametrize("name", PAIR_PARAMETERS)
def test_transforms_refuse_values_that_are_no_pairs(name, value):
    make, message = PAIR_PARAMETERS[name]
    with pytest.raises((TypeError, ValueError), match=message):
        make(value)


FILLED = {
    "Pad": lambda fill: T.Pad(2, fill),
    "RandomCrop": lambda fill: T.RandomCrop(30, pad_if_needed=True, fill=fill),
    "RandomAffine": lambda fill: T.RandomAffine((90, 90), scale=(0.5, 0.5), fill=fill),
    "RandomRotation": lambda fill: T.RandomRotation((45, 45), fill=fill),
    "RandomPerspective": lambda fill: T.RandomPerspective(0.5, 1.0, fill=fill),
    "ElasticTransform": lambda fill: T.ElasticTransform(500.0, fill=fill),
    "RandAugment": lambda fill: T.RandAugment(fill=fill),
    "AutoAugment": lambda fill: T.AutoAugment(fill=fill),
    "TrivialAugmentWide": lambda fill: T.TrivialAugmentWide(fill=fill),
    "AugMix": lambda fill: T.AugMix(fill=fill),
}


@pytest.mark.parametrize("fill", ["red", b"\0", {}, {1: 2}, [None], [], ["1", "2", "3"], [[1, 2, 3]], True, 1j])
@pytest.mark.parametrize("name", FILLED)
def test_transforms_refuse_fill_when_they_are_made(name, fill):
    with pytest.raises(
        TypeError, match=rf"{name}: fill must be (a number or one per channel|one value, or a dict by .*), got "
    ):
        FILLED[name](fill)


@pytest.mark.parametrize("name", FILLED)
def test_transforms_copy_fill(name):
    """Later changes of the caller's list or array do not reach the transform."""
    batch = noise((6, 24, 20, 3))
    expected = T.Compose([FILLED[name]((50, 100, 150))], seed=3)(batch)
    assert not np.array_equal(T.Compose([FILLED[name](0)], seed=3)(batch), expected)
    for fill in ([50, 100, 150], np.array([50, 100, 150]), torch.tensor([50, 100, 150])):
        transform = FILLED[name](fill)
        fill[0] = 0
        np.testing.assert_array_equal(T.Compose([transform], seed=3)(batch), expected)


@pytest.mark.parametrize("make", [T.Pad, lambda padding: T.RandomCrop(12, padding)], ids=["Pad", "RandomCrop"])
def test_transforms_copy_padding(make):
    batch = noise((2, 12, 10, 3))
    expected = T.Compose([make((3, 4))], seed=3)(batch)
    for padding in ([3, 4], np.array([3, 4]), torch.tensor([3, 4])):
        transform = make(padding)
        padding[0] = 0
        np.testing.assert_array_equal(T.Compose([transform], seed=3)(batch), expected)


RECIPE, IMAGES = T.Compose([T.RandomInvert()], seed=0), noise((2, 8, 8, 3))
WRONG_FORMS = {
    r"RandomAffine: translate must be \(x, y\), got 0.1": lambda: T.RandomAffine(5, translate=0.1),
    r"RandomAffine: center must be \(x, y\), got 12": lambda: T.RandomAffine(5, center=12),
    r"RandomAffine: center must be \(x, y\), got \[1, 2, 3\]": lambda: T.RandomAffine(5, center=[1, 2, 3]),
    r"RandomRotation: center must be \(x, y\), got 12": lambda: T.RandomRotation(5, center=12),
    r"RandomAffine: shear must be a number, .*, got 1j": lambda: T.RandomAffine(5, shear=1j),
    "RandomChoice: p must be a list of weights, got 0.5": lambda: T.RandomChoice([T.RandomInvert()], p=0.5),
    "GaussianBlur: kernel_size must be an int or a list of ints, got None": lambda: T.GaussianBlur(None),
    "ElasticTransform: alpha must be a finite number, got None": lambda: T.ElasticTransform(None),
    r"ElasticTransform: alpha must be a number or \(x, y\), got \(1, 2, 3\)": lambda: T.ElasticTransform((1, 2, 3)),
    "RandomErasing: value must be a finite number, got None": lambda: T.RandomErasing(value=None),
    "RandomMask: value must be a finite number, got None": lambda: T.RandomMask(value=None),
    "mixed_labels: params must be a result of Compose.draw, got str": lambda: T.mixed_labels("x", [0, 1]),
    "Compose.inverse: params must be a result of Compose.draw, got dict": lambda: RECIPE.inverse(IMAGES, {}),
    "Compose.apply: params must be a result of Compose.draw, got dict": lambda: RECIPE.apply(IMAGES, {}),
    "Compose.after: first must be at least 0, got -1": lambda: RECIPE.after(-1),
    "Compose.after: first must be at most 1, got 2": lambda: RECIPE.after(2),
    "Compose.plan: images must be an array, or a list of arrays": lambda: RECIPE.plan([None]),
    r"Compose.plan: images in a list must be single images, got shape \(2, 8.*": lambda: RECIPE.plan([IMAGES] * 2),
}


@pytest.mark.parametrize("message", WRONG_FORMS)
def test_transforms_name_parameter_and_rule(message):
    with pytest.raises((TypeError, ValueError), match=rf"^cuaug\.transforms\.{message}$"):
        WRONG_FORMS[message]()


LONG_VALUES = {
    "array": np.arange(10_000),
    "planes": np.zeros((5, 5, 5)),
    "list": list(range(10_000)),
    "text": "x" * 10_000,
    "array of a text": np.array(["x" * 10_000]),
}


@pytest.mark.parametrize("name", LONG_VALUES)
def test_messages_show_long_values_in_short(name):
    value, images = LONG_VALUES[name], noise((2, 8, 8, 3))
    calls = [
        lambda: cuaug.center_crop(images, value),
        lambda: cuaug.adjust_brightness(images, value),
        lambda: cuaug.hflip(images, layout=value),
        lambda: cuaug.box_convert(np.zeros((1, 4)), "xyxy", str(value)),
        lambda: cuaug.gaussian_noise(images, value),
        lambda: T.RandomCrop(value),
        lambda: T.ColorJitter(value),
        lambda: T.RandomAffine(5, scale=value),
        lambda: T.Compose([], seed=value),
        lambda: T.RandomErasing(scale=value),
        lambda: T.Compose([], boxes=value),
        lambda: T.SanitizeBoundingBoxes(labels_getter=value),
        lambda: Loader([b"an image"], 1, shard=value),
        lambda: Loader([b"an image"], 1, device=value),
        lambda: ImageFiles([b"an image"], extensions=str(value) * 100),
    ]
    for call in calls:
        with pytest.raises((TypeError, ValueError), match=r"^cuaug\.") as error:
            call()
        assert len(str(error.value)) < 350
        assert "\n" not in str(error.value)


def test_messages_show_ints_of_more_digits_than_python_converts_to_text():
    huge, images = 10**5_000, noise((2, 8, 8, 3))
    calls = {
        "angle": lambda: cuaug.rotate(images, [0, huge]),
        "size": lambda: cuaug.resize(images, huge),
        "size as (H, W)": lambda: cuaug.resize(images, (8, huge)),
        "size of a crop": lambda: T.RandomCrop(huge),
        "padding": lambda: cuaug.pad(images, -huge),
        "kernel_size": lambda: cuaug.gaussian_blur(images, huge),
        "max_size": lambda: T.Resize(None, max_size=huge),
        "quality": lambda: cuaug.jpeg(images, huge),
        "brightness": lambda: T.ColorJitter((-huge, 0)),
        "fill": lambda: T.Pad(1, huge),
        "fill per channel": lambda: T.RandAugment(fill=[0, huge, 0]),
        "seed": lambda: T.Compose([], seed=huge),
        "step": lambda: RECIPE(images, step=-huge),
        "num_classes": lambda: T.MixUp(num_classes=huge),
    }
    for parameter, call in calls.items():
        with pytest.raises((TypeError, ValueError), match=rf"^cuaug\.[\w.]+: {parameter.split()[0]} must ") as error:
            call()
        assert "an int of 16610 bits" in str(error.value)


def test_functions_refuse_lists_that_are_no_numbers():
    images = noise((2, 8, 8, 3))
    for sigma in ([None], [[1], [2, 3]]):
        with pytest.raises(TypeError, match=r"^cuaug\.gaussian_blur: sigma must hold numbers, got \["):
            cuaug.gaussian_blur(images, 3, sigma)
    with pytest.raises(TypeError, match=r"^cuaug\.elastic: displacement must hold numbers, got \["):
        cuaug.elastic(images, [[1], [2, 3]])


def test_set_num_threads_refuses_a_huge_count():
    with pytest.raises(ValueError, match=r"^cuaug\.set_num_threads: count must be at most 2147483647, got"):
        cuaug.set_num_threads(1 << 63)


@pytest.mark.parametrize("ids", [[], np.zeros((0,)), [[0, 1]], np.zeros((2, 2), int)], ids=["[]", "0", "1x2", "2x2"])
def test_compose_refuses_another_number_of_ids(ids):
    aug, batch = T.Compose([T.RandomInvert()]), noise((2, 8, 8, 3))
    for sample in (batch, (batch, np.arange(2)), {"images": batch, "masks": batch[..., 0]}):
        with pytest.raises(ValueError, match=r"^cuaug\.transforms\.Compose: ids must be 2 integers, got shape \("):
            aug(sample, ids=ids)


def test_functions_refuse_parameters_on_the_meta_device():
    images, values = noise((2, 8, 8, 3)), torch.zeros(3, device="meta")
    for call in (lambda: cuaug.pad(images, 1, values), lambda: cuaug.normalize(images, values, 1.0)):
        with pytest.raises(TypeError, match=r"^cuaug\.\w+: a tensor on torch's meta device has no values"):
            call()


@pytest.mark.parametrize(
    "make",
    [
        lambda values: T.Pad(1, values),
        lambda values: T.Pad(1, {np.ndarray: values, torch.Tensor: values}),
        lambda values: T.Pad(1, [*values]),
        lambda values: T.Normalize(values, 1),
        lambda values: T.ColorJitter(values[:2]),
        lambda values: T.MixUp(alpha=values[0]),
        lambda values: T.PixelOp("meta", "px * a", a=values[0]),
        lambda values: T.RandomChoice([T.RandomInvert()] * 3, p=values),
    ],
)
def test_transforms_refuse_parameters_on_the_meta_device(make):
    with pytest.raises(TypeError, match=r"^cuaug\.transforms\.\w+: a tensor on torch's meta device has no values"):
        make(torch.zeros(3, device="meta"))


@pytest.mark.parametrize("transform", [T.ToImage(), T.ToTensor(), T.ToPILImage(), T.FiveCrop(3)], ids=repr)
def test_transforms_refuse_wrong_layouts(transform):
    images = torch.zeros(4, 5, 3)
    for layout, message in {
        "hwc": "layout must be one of 'NCHW', .*, got 'hwc': pass 'HWC'",
        3: "layout must be one of 'NCHW', .*, got 3",
        "HW": r"layout 'HW' needs 2 axes, got shape \(4, 5, 3\)",
    }.items():
        with pytest.raises(ValueError, match=rf"^cuaug\.transforms\.[\w.]+: {message}"):
            transform(images, layout=layout)


def test_pixel_op_shows_in_short_an_array_given_as_name():
    with pytest.raises(ValueError, match=r"^cuaug\.transforms\.PixelOp: op must be a name .{1,300}$"):
        T.PixelOp(np.zeros((99, 99)), "px * 2")


def test_compose_refuses_to_make_results_without_memory():
    """Under FakeTensorMode, with which torch traces, the result of a real tensor has no memory for the loops."""
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    aug, batch = T.Compose([T.RandomHorizontalFlip()], seed=1), torch.zeros((2, 3, 8, 8), dtype=torch.uint8)
    for sample in (batch, (batch, torch.zeros(2)), {"images": batch, "masks": batch[:, 0]}):
        with fake.FakeTensorMode(allow_non_fake_inputs=True), pytest.raises(TypeError, match="FakeTensorMode"):
            aug(sample)

"""Transforms that are not fused give the results of torchvision's, on the same samples and in the same types."""

import functools
import sys

import numpy as np
import pytest
import torch
from helpers.arrays import noise, put
from helpers.compare import EXACT, Tolerance, assert_equal

from cuaug import transforms as T
from cuaug.transforms import functional as F


def image(tv, seed=0, size=(9, 12), channels=3):
    return tv.Image(torch.from_numpy(noise((channels, *size), seed=seed)))


def pillow(mode="RGB"):
    return pillow_of(noise((9, 12, 3))).convert(mode)


def pillow_of(values):
    return pytest.importorskip("PIL.Image").fromarray(values)


def boxes(tv, format="XYXY", **options):
    rows = torch.tensor([[1.0, 2.0, 6.0, 8.0], [3.0, 1.0, 3.5, 9.0], [-2.0, 0.0, 5.0, 4.0], [7.0, 4.0, 13.0, 8.0]])
    return tv.BoundingBoxes(rows, format=format, canvas_size=(9, 12), **options)


def keypoints(tv):
    return tv.KeyPoints(torch.tensor([[1.0, 2.0], [-1.0, 3.0], [12.0, 4.0], [11.5, 8.5]]), canvas_size=(9, 12))


def detection(tv):
    target = {"boxes": boxes(tv), "labels": torch.tensor([4, 5, 6, 7]), "area": torch.tensor([1.0, 2.0, 3.0, 4.0])}
    target["masks"] = tv.Mask(torch.from_numpy(noise((4, 9, 12), seed=3)))
    return image(tv), {**target, "image_id": 8}


def detection_with_key(key, tv):
    return {"image": image(tv), "boxes": boxes(tv), key: torch.tensor([4, 5, 6, 7])}


def matrix():
    values = torch.from_numpy(np.random.default_rng(5).normal(size=(325, 324)).astype(np.float32))
    return values[1:], values[0]


CASES = {
    "ToImage of a tensor": ("ToImage", (), lambda tv: torch.from_numpy(noise((3, 9, 12)))),
    "ToImage of an array": ("ToImage", (), lambda tv: noise((9, 12, 3))),
    "ToImage of Pillow": ("ToImage", (), lambda tv: (pillow(), 3)),
    "ToImage of a video": ("ToImage", (), lambda tv: tv.Video(torch.from_numpy(noise((8, 3, 9, 12))))),
    "PILToTensor": ("PILToTensor", (), lambda tv: (pillow(), 3)),
    "PILToTensor, grey": ("PILToTensor", (), lambda tv: pillow("L")),
    "ToTensor of Pillow": ("ToTensor", (), lambda tv: pillow()),
    "ToTensor of an array": ("ToTensor", (), lambda tv: noise((9, 12, 3))),
    "ToPILImage": ("ToPILImage", (), lambda tv: image(tv)),
    "ToPILImage, mode": ("ToPILImage", ("CMYK",), lambda tv: image(tv, channels=4)),
    "ToPureTensor": ("ToPureTensor", (), detection),
    "ConvertImageDtype": ("ConvertImageDtype", (torch.float32,), lambda tv: image(tv)),
    "ConvertImageDtype, default": ("ConvertImageDtype", (), lambda tv: image(tv)),
    "RGB of grey": ("RGB", (), lambda tv: image(tv, channels=1)),
    "RGB of Pillow, grey": ("RGB", (), lambda tv: pillow("L")),
    "Grayscale of Pillow, grey": ("Grayscale", (3,), lambda tv: pillow("L")),
    "RGB of RGB": ("RGB", (), lambda tv: image(tv)),
    "FiveCrop": ("FiveCrop", ((5, 4),), lambda tv: (image(tv), 3)),
    "FiveCrop of Pillow": ("FiveCrop", (5,), lambda tv: pillow()),
    "FiveCrop of a batch": ("FiveCrop", (5,), lambda tv: torch.from_numpy(noise((2, 3, 9, 12)))),
    "TenCrop": ("TenCrop", (5,), lambda tv: image(tv)),
    "TenCrop, vertical": ("TenCrop", (5, True), lambda tv: image(tv)),
    "UniformTemporalSubsample": (
        "UniformTemporalSubsample", (3,), lambda tv: tv.Video(torch.from_numpy(noise((8, 3, 9, 12))))
    ),
    "LinearTransformation": ("LinearTransformation", matrix(), lambda tv: image(tv).float()),
    "ConvertBoundingBoxFormat": ("ConvertBoundingBoxFormat", ("CXCYWH",), boxes),
    "ConvertBoundingBoxFormat in a sample": ("ConvertBoundingBoxFormat", ("xywh",), detection),
    "ClampBoundingBoxes": ("ClampBoundingBoxes", (), boxes),
    "ClampBoundingBoxes, none": ("ClampBoundingBoxes", (None,), boxes),
    "ClampBoundingBoxes of XYWH": ("ClampBoundingBoxes", ("hard",), lambda tv: boxes(tv, "XYWH")),
    "SetClampingMode": ("SetClampingMode", (None,), boxes),
    "ClampKeyPoints": ("ClampKeyPoints", (), keypoints),
    "SanitizeBoundingBoxes": ("SanitizeBoundingBoxes", (), detection),
    "SanitizeBoundingBoxes, limits": ("SanitizeBoundingBoxes", (2.0, 20.0), detection),
    "SanitizeBoundingBoxes, no labels": ("SanitizeBoundingBoxes", (1.0, 1.0, None), detection),
    "SanitizeBoundingBoxes, function": (
        "SanitizeBoundingBoxes", (1.0, 1.0, lambda sample: (sample[1]["labels"], sample[1]["area"])), detection
    ),
    **{
        f"SanitizeBoundingBoxes of {key}": ("SanitizeBoundingBoxes", (), functools.partial(detection_with_key, key))
        for key in ("LABELS", "gt_labels")
    },
    "SanitizeKeyPoints": ("SanitizeKeyPoints", (), keypoints),
    "Lambda": ("Lambda", (lambda value: value + 1, torch.Tensor), lambda tv: (image(tv), 3)),
}  # fmt: skip
DIVIDED = Tolerance(absolute=1e-7, reason="a float32 division by 255, which one of the packages rounds twice")
TOLERANCES = dict.fromkeys(("ToTensor of Pillow", "ToTensor of an array"), DIVIDED)
# torchvision changes only labels: cuaug changes every entry per box in the same container.
MORE_ENTRIES = {"SanitizeBoundingBoxes": ["area"], "SanitizeBoundingBoxes, limits": ["area"]}


def assert_same(result, expected, tolerance=EXACT):
    assert type(result) is type(expected)
    if isinstance(expected, dict):
        assert list(result) == list(expected)
        for key, value in expected.items():
            assert_same(result[key], value, tolerance)
    elif isinstance(expected, (list, tuple)):
        assert len(result) == len(expected)
        for entry, expected_entry in zip(result, expected, strict=True):
            assert_same(entry, expected_entry, tolerance)
    elif isinstance(expected, torch.Tensor):
        assert result.dtype == expected.dtype
        assert_equal(np.asarray(result), np.asarray(expected), tolerance=tolerance)
        for name in ("format", "canvas_size", "clamping_mode"):
            assert getattr(result, name, None) == getattr(expected, name, None)
    elif hasattr(expected, "tobytes"):
        assert (result.mode, result.size, result.tobytes()) == (expected.mode, expected.size, expected.tobytes())
    else:
        assert result == expected


@pytest.mark.filterwarnings("ignore:The transform `ToTensor:UserWarning")  # torchvision's
@pytest.mark.parametrize("case", CASES)
def test_sample_transform_equals_torchvision(case, v2, real_tv):
    name, arguments, make_sample = CASES[case]
    expected = getattr(v2, name)(*arguments)(make_sample(real_tv))
    for key in MORE_ENTRIES.get(case, ()):
        valid = np.isin(make_sample(real_tv)[1]["labels"], expected[1]["labels"])
        expected[1][key] = expected[1][key][torch.from_numpy(valid)]
    tolerance = TOLERANCES.get(case, EXACT)
    assert_same(getattr(T, name)(*arguments)(make_sample(real_tv)), expected, tolerance)
    assert_same(T.Compose([getattr(T, name)(*arguments)])(make_sample(real_tv)), expected, tolerance)


def test_enumerations_equal_those_of_torchvision(v2):
    for name in ("InterpolationMode", "AutoAugmentPolicy"):
        assert [(m.name, m.value) for m in getattr(T, name)] == [(m.name, m.value) for m in getattr(v2, name)]
    image = noise((9, 12, 3))
    assert_equal(T.Resize((4, 5), T.InterpolationMode.BICUBIC)(image), T.Resize((4, 5), "bicubic")(image))
    assert T.AutoAugment(T.AutoAugmentPolicy.SVHN).policy == "svhn"


@pytest.mark.parametrize("transform", [T.RGB(), T.Grayscale(3)], ids=repr)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "pillow"])
def test_image_without_a_channel_axis_gains_three_channels(transform, library):
    values = noise((9, 12))
    recipe = T.Compose([transform, T.RandomHorizontalFlip(1.0), T.Normalize([0.1, 0.5, 0.9], [1.0, 0.5, 0.25])], seed=0)
    image = pillow_of(values) if library == "pillow" else put(values, (library, "cpu"))
    layout = "HW" if library == "torch" else None
    expected = (values[:, ::-1, None] / 255 - np.array([0.1, 0.5, 0.9])) / np.array([1.0, 0.5, 0.25])
    expected = np.moveaxis(expected, 2, 0) if library == "torch" else expected
    for _ in range(3):  # the second call is recorded, the third replayed
        tolerance = Tolerance(absolute=1e-6, reason="float32")
        assert_equal(np.asarray(recipe(image, layout=layout)), expected.astype(np.float32), tolerance=tolerance)
    channels = np.asarray(T.Compose([transform])(image, layout=layout))
    grey = F.grayscale_to_rgb(image, layout=layout), F.rgb_to_grayscale(image, 3, layout=layout)
    for result in (channels, *grey):
        assert np.array_equal(np.asarray(result), np.stack([values] * 3, 0 if library == "torch" else 2))


@pytest.mark.parametrize("labels_getter", ["default", None, lambda sample: sample[1]["labels"]])
def test_sanitize_bounding_boxes_between_fused_transforms_keeps_valid_beside_boxes(labels_getter, real_tv):
    image, target = detection(real_tv)
    target["boxes"][0] = torch.tensor([0.0, 0.0, 0.5, 0.5])
    sanitize = T.SanitizeBoundingBoxes(labels_getter=labels_getter)
    recipe = T.Compose([T.CenterCrop((8, 10)), sanitize, T.ToDtype(torch.float32, scale=True)], seed=0)
    _, result = recipe((image, target))
    count = len(result["boxes"])
    assert 0 < count < 4
    assert len(result["masks"]) == len(result["valid"]) == int(result["valid"].sum()) == count
    assert len(result["labels"]) == (4 if labels_getter is None else count)


def test_sanitize_bounding_boxes_of_lists_removes_the_labels_of_each_sample(real_tv):
    sample = {"boxes": [boxes(real_tv), boxes(real_tv)[[1, 0]]], "labels": [torch.arange(4), torch.arange(2)]}
    sample["boxes"][1] = real_tv.wrap(sample["boxes"][1], like=sample["boxes"][0])
    for getter in ("default", lambda sample: sample["labels"]):
        result = T.SanitizeBoundingBoxes(2.0, labels_getter=getter)(sample)
        assert [labels.tolist() for labels in result["labels"]] == [[0], [1]]


@pytest.mark.parametrize("mode", ["1", "LA", "P", "I;16", "I", "F", "CMYK", "HSV"])
@pytest.mark.parametrize("name", ["PILToTensor", "ToImage", "ToTensor"])
def test_conversion_takes_every_mode_of_pillow(name, mode, v2):
    image = pillow("L").convert("I").convert(mode) if mode == "I;16" else pillow(mode)
    sample = {"image": pillow("RGB"), "mask": image}
    function = {"PILToTensor": F.pil_to_tensor, "ToImage": F.to_image, "ToTensor": F.to_tensor}[name]
    assert_same(getattr(T, name)()(image), function(image))
    labels = F.pil_to_tensor(image)
    expected = sys.modules["torchvision.tv_tensors"].Mask(labels) if name == "ToImage" else labels
    assert_same(getattr(T, name)()(sample), {"image": function(sample["image"]), "mask": expected})


@pytest.mark.parametrize("name", ["ToImage", "ToTensor"])
def test_conversion_leaves_masks_that_are_arrays(name, v2):
    sample = {"image": pillow(), "masks": noise((9, 12))}
    assert getattr(T, name)()(sample)["masks"] is sample["masks"]


def test_recipe_of_pillow_masks_gives_labels(v2, real_tv):
    """The recipe of torchvision's segmentation references."""
    image, mask = pillow(), pillow_of(noise((9, 12), seed=1))
    dtypes = {real_tv.Image: torch.float32, real_tv.Mask: torch.int64, "others": None}
    recipe = [
        ("ToImage", ()),
        ("RandomHorizontalFlip", (1.0,)),
        ("ToDtype", (dtypes, True)),
        ("Normalize", (0.5, 0.25)),
    ]
    result = T.Compose([getattr(T, name)(*arguments) for name, arguments in recipe])({"image": image, "mask": mask})
    steps = [getattr(v2, name)(*arguments) for name, arguments in recipe[:3]]
    expected = v2.Compose([*steps, v2.Normalize([0.5], [0.25])])({"image": image, "mask": real_tv.Mask(mask)})
    assert_same(result, expected, Tolerance(absolute=1e-6, reason="float32"))


@pytest.mark.parametrize("label", [3, torch.tensor(3)], ids=type)
def test_label_of_a_single_image_is_a_second_argument(label):
    images = torch.from_numpy(noise((3, 9, 12)))
    flipped, result = T.RandomHorizontalFlip(1.0)(images, label)
    assert torch.equal(flipped, images.flip(2))
    assert result is label


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_clamp_keypoints_of_a_canvas_beyond_the_dtype(dtype):
    values = np.array([[100, 5], [90, 99]], dtype)
    for points in (values, torch.from_numpy(values)):
        assert np.array_equal(F.clamp_keypoints(points, (50, 40_000)), [[100, 5], [90, 49]])


def test_grayscale_to_rgb_of_pillow_drops_transparency(v2):
    expected = v2.functional.grayscale_to_rgb(pillow("RGBA"))
    assert_same(F.grayscale_to_rgb(pillow("RGBA")), expected)


def test_compose_takes_pillow_images_if_it_begins_with_to_image(v2, real_tv):
    recipe = [("ToImage", ()), ("CenterCrop", (8,)), ("ToDtype", (torch.float32, True))]
    expected = v2.Compose([getattr(v2, name)(*arguments) for name, arguments in recipe])(pillow())
    assert_same(T.Compose([getattr(T, name)(*arguments) for name, arguments in recipe])(pillow()), expected)


def test_crops_are_stacked_by_a_function(v2):
    def both(transforms):
        steps = [transforms.TenCrop(5), torch.stack, transforms.ToDtype(torch.float32, scale=True)]
        return transforms.Compose(steps)(torch.from_numpy(noise((3, 9, 12))))

    assert_same(both(T), both(v2))


def test_sanitize_bounding_boxes_removes_entries_of_valid(real_tv):
    """The flip before SanitizeBoundingBoxes writes "valid", and the flip after it reads "valid"."""
    sanitize = T.SanitizeBoundingBoxes(min_size=2)
    _, target = T.Compose([T.RandomHorizontalFlip(1.0), sanitize, T.RandomVerticalFlip(1.0)])(detection(real_tv))
    assert target["labels"].tolist() == [4, 6, 7]
    assert target["valid"].tolist() == [True] * 3


@pytest.mark.parametrize("array", [noise((2, 6, 6, 3), "float32"), torch.from_numpy(noise((2, 3, 6, 6)))], ids=type)
def test_linear_transformation_of_arrays(array):
    mean, *rows = np.random.default_rng(2).normal(size=(109, 108))
    matrix = np.array(rows)
    result = T.LinearTransformation(matrix, mean)(array)
    expected = (np.asarray(array, np.float64).reshape(2, -1) - mean) @ matrix
    assert str(result.dtype).endswith("float64")
    tolerance = Tolerance(absolute=1e-9, reason="float64 sums in another order")
    assert_equal(np.asarray(result), expected.reshape(array.shape), tolerance=tolerance)


def empty_canvas():
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    F.resize(tv_tensors.KeyPoints([[1.0, 1.0]], canvas_size=(0, 10)), [5, 5])


def sanitized(labels_getter, key, labels):
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    values = tv_tensors.BoundingBoxes([[0.0, 0, 1, 1], [0, 0, 5, 5]], format="XYXY", canvas_size=(9, 9))
    return T.SanitizeBoundingBoxes(labels_getter=labels_getter)({"boxes": values, key: labels})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: T.FiveCrop(4)((noise((9, 9, 3)), {"masks": noise((9, 9))})),
            r"FiveCrop: masks must not be given, got",
        ),
        (lambda: T.FiveCrop(0), r"^cuaug.transforms.FiveCrop: size must be at least 1, got 0"),
        (
            lambda: T.SetClampingMode("auto"),
            r"^cuaug.transforms.SetClampingMode: clamping_mode must be one of 'soft', 'h",
        ),
        (lambda: T.ConvertBoundingBoxFormat("xyxyxy"), r"ConvertBoundingBoxFormat: format must be one of 'XYXY'"),
        (
            lambda: T.ClampKeyPoints()({"image": noise((9, 9, 3)), "keypoints": np.ones((2, 2))}),
            r"ClampKeyPoints: keypoints must be torchvision's KeyPoints, which state their canvas, got ndarray",
        ),
        (lambda: T.SanitizeBoundingBoxes(-1), r"SanitizeBoundingBoxes: min_size must be at least 0, got -1"),
        (
            lambda: T.SanitizeBoundingBoxes(labels_getter="labels"),
            r"labels_getter must be 'default', a function or None",
        ),
        *(
            (functools.partial(sanitized, *arguments), message)
            for arguments, message in (
                (("default", "classes", [4, 5]), r"SanitizeBoundingBoxes: labels_getter: no key that contains 'label'"),
                (("default", "gt_label", torch.arange(3)), r"labels at \['gt_label'\] must be one for each of 2 Boun"),
                ((lambda s: s["y"], "y", torch.arange(3)), r"labels at \['y'\] must be one for each of 2 Boun"),
                ((lambda s: torch.arange(2), "y", torch.arange(2)), r"labels_getter must return arrays of the sample"),
                ((lambda s: s["y"], "y", [4, 5]), r"labels_getter must return an array, several in a tuple, or None"),
                ((lambda s: {"y": s["y"]}, "y", torch.arange(2)), r"labels_getter must return an array, several in"),
            )
        ),
        (lambda: T.SanitizeBoundingBoxes()({"image": noise((9, 9, 3))}), r"a sample must have BoundingBoxes, got none"),
        (
            lambda: T.LinearTransformation(np.eye(3), np.ones(3))(pillow()),
            r"LinearTransformation: images must be arrays, got an image of Pillow: put ToImage",
        ),
        (empty_canvas, r"resize: canvas_size must be at least 1, got 0"),
        (lambda: T.Compose([T.Identity()]).plan(noise((5, 5, 3)), measure="yes"), r"measure must be True or False"),
        (lambda: T.LinearTransformation(np.ones((2, 3)), np.ones(2)), r"transformation_matrix must be square, got sh"),
        (
            lambda: T.LinearTransformation(np.eye(3), np.ones(2)),
            r"mean_vector must have shape \(3,\), as the matrix, got",
        ),
        (
            lambda: T.LinearTransformation(np.eye(3), np.ones(3))(noise((5, 5, 3))),
            r"images must have 3 values each, as",
        ),
        (lambda: T.RGB()(noise((5, 5, 2))), r"RGB: images must have 1 or 3 channels, got 2"),
    ],
)
def test_sample_transform_error_says_what_to_do(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()

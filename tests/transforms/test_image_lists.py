"""`Compose` of a list: `RaggedPlans.plan_list` gives results and errors of the general path (transforms/sample.py)."""

import collections

import numpy as np
import pytest
import torch
from helpers.arrays import every_backend_but_jax, every_backend_slow_on_jax, noise, put
from helpers.compare import EXACT, Tolerance, assert_equal
from tables.ragged_recipes import CROP, CROPPABLE, FLIPS, JITTER, NORMALIZED, RECIPES, ragged_images

from cuaug import transforms as T
from cuaug.transforms.ragged_plans import RaggedPlans

TENSOR_WITH_GRAD = torch.zeros(3, 9, 8, requires_grad=True)


@pytest.fixture
def planned_lists(monkeypatch):
    """Whether `plan_list` has planned the list, for each call with a list."""
    answers, plan_list = [], RaggedPlans.plan_list

    def recording(self, arrays, layout):
        planned = plan_list(self, arrays, layout)
        answers.append(planned is not None)
        return planned

    monkeypatch.setattr(RaggedPlans, "plan_list", recording)
    return answers


@pytest.fixture
def call_general_path(monkeypatch):
    """A call with a list that `plan_list` does not plan."""

    def call(transforms, images, **options):
        with monkeypatch.context() as context:
            context.setattr(RaggedPlans, "plan_list", lambda *_: None)
            return T.Compose(transforms, seed=5)(images, **options)

    return call


def contiguous_images(backend, sizes, seed=0):
    """Images that `plan_list` plans: without those of one column, which fit the packed and the planar layout."""
    sizes = [size for size in sizes if size[1] > 1]
    shapes = [(3, *size) if backend[0] == "torch" else (*size, 3) for size in sizes]
    return [put(noise(shape, seed=seed + i), backend) for i, shape in enumerate(shapes)]


@every_backend_slow_on_jax
@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("images_of", [contiguous_images, ragged_images], ids=["contiguous", "views"])
def test_compose_list_equals_general_path(backend, name, images_of, call_general_path, planned_lists):
    transforms, sizes, batch_count = RECIPES[name]
    aug = T.Compose(transforms, seed=5)
    tolerance = Tolerance(absolute=1, exact=0.97, reason="a nearly tied value may be rounded either way")
    for step in range(3):  # the second call of a CPU records the loops, the third one replays them
        images = images_of(backend, sizes, seed=step)
        results, expected = aug(images, step=step, ids=7), call_general_path(transforms, images, step=step, ids=7)
        assert type(results) is list
        for result, other in zip(results, expected, strict=True):
            assert_equal(result, other, tolerance=EXACT if backend[1] == "cpu" else tolerance)
    if images_of is contiguous_images:
        assert planned_lists == 3 * [batch_count == 1 and backend[0] != "jax"]


@every_backend_but_jax
def test_compose_plans_contiguous_list_directly(backend, planned_lists):
    images = contiguous_images(backend, CROPPABLE)
    aug = T.Compose([CROP, *FLIPS, JITTER, *NORMALIZED], seed=5)
    for i in range(3):
        aug(images)
        aug(images, ids=3, step=i)
    assert planned_lists == [True] * 6
    assert aug.state_dict()["step"] == 3


@pytest.mark.parametrize(
    "images",
    [
        [noise((9, 8, 3)), noise((9, 8, 3))],
        [noise((9, 8, 3)), noise((7, 8, 3)).view(np.memmap)],
        [torch.from_numpy(noise((3, 9, 8))), torch.from_numpy(noise((3, 7, 8))).permute(0, 2, 1)],
        [noise((9, 8, 3)), np.zeros((4, 8, 3), [("pixels", "u1"), ("other", "u1")])["pixels"]],
    ],
    ids=["one size", "subclass", "layouts", "gaps"],
)
def test_compose_other_lists_equal_single_images(images, planned_lists):
    aug = T.Compose([T.RandomResizedCrop((6, 5)), *FLIPS], seed=5)
    results = aug(images, step=1, ids=4)
    assert planned_lists == [False]
    for i, (result, image) in enumerate(zip(results, images, strict=True)):
        assert_equal(np.asarray(result), np.asarray(aug(image, step=1, ids=4 + i)))


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ([noise((9, 8, 3)), noise((7, 8, 3), "float32")], "could be masks"),
        ([noise((9, 8, 3)), torch.from_numpy(noise((3, 7, 8)))], "could be masks"),
    ],
    ids=["dtypes", "libraries"],
)
def test_compose_list_of_several_kinds_is_no_list_of_images(images, message, planned_lists):
    with pytest.raises((TypeError, ValueError), match=message):
        T.Compose([CROP], seed=5)(images)
    assert planned_lists == [False]


def error_of(call):
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    return type(error.value), str(error.value)


@pytest.mark.parametrize(
    ("transforms", "images", "options"),
    [
        ([CROP], [torch.zeros(3, 7, 8), TENSOR_WITH_GRAD], {}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3), "int64")], {}),
        ([CROP], [noise((9, 8, 3), "int64"), noise((7, 8, 3), "int64")], {}),
        ([CROP], [noise((2, 9, 8, 3)), noise((2, 7, 8, 3))], {}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3))], {"layout": "NHWC"}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3))], {"layout": 3}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3))], {"step": -1}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3))], {"ids": 2**63}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3))], {"ids": [1, 2, 3]}),
        ([T.RandomInvert(), T.MixUp()], [noise((9, 8, 3)), noise((7, 8, 3))], {}),
        ([T.RandomCrop(8)], [noise((9, 8, 3)), noise((7, 8, 3))], {}),
        ([CROP], [noise((40, 50, 60)), noise((41, 50, 60))], {}),
    ],
)
def test_compose_list_errors_equal_general_path(transforms, images, options, call_general_path):
    expected = error_of(lambda: call_general_path(transforms, images, **options))
    assert error_of(lambda: T.Compose(transforms, seed=5)(images, **options)) == expected


def test_compose_accepts_list_of_read_only_images(planned_lists):
    images = [noise(size, seed=i) for i, size in enumerate([(9, 8, 3), (7, 8, 3)])]
    copies = [image.copy() for image in images]
    for image in images:
        image.flags.writeable = False
    T.Compose([CROP], seed=1)(images)
    assert planned_lists == [True]
    assert all(np.array_equal(image, copy) for image, copy in zip(images, copies, strict=True))


def test_compose_lists_of_two_libraries_share_a_plan(planned_lists):
    arrays = [noise(size, seed=i) for i, size in enumerate([(9, 8, 3), (7, 8, 3)])]
    lists = arrays, [torch.from_numpy(array) for array in arrays]
    aug = T.Compose([CROP, *FLIPS], seed=1)
    for images in (*lists, *lists):
        results = aug(images, layout="HWC", step=0)
        assert {type(result) for result in results} == {type(images[0])}
        for result, expected in zip(results, aug(arrays, layout="HWC", step=0), strict=True):
            assert_equal(np.asarray(result), expected)
    assert planned_lists == [True] * 8


class Images(list):
    """A list of a user, with an attribute."""


Stereo = collections.namedtuple("Stereo", "left right")


@pytest.mark.parametrize(
    "transforms", [[T.RandomInvert(1.0)], [T.RandomZoomOut(p=0.0)], [T.RandomApply([lambda x: x])]]
)
@pytest.mark.parametrize("in_dict", [False, True])
def test_compose_keeps_the_type_of_a_list_of_images(transforms, in_dict):
    views, images = Stereo(noise((5, 4, 3)), noise((6, 4, 3))), Images([noise((5, 4, 3)), noise((6, 4, 3))])
    images.source = "camera"
    for sample in (views, images):
        result = T.Compose(transforms, seed=0)({"image": sample} if in_dict else sample, step=1)
        result = result["image"] if in_dict else result
        assert type(result) is type(sample)
        assert sample is views or result.source == "camera"
        assert [image.shape for image in result] == [(5, 4, 3), (6, 4, 3)]

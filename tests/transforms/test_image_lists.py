"""Lists of plain images of several sizes take a short way, with results and messages of the general one."""

import numpy as np
import pytest
import torch
from helpers.arrays import BACKENDS, every_backend, noise, put
from helpers.compare import EXACT, Tolerance, assert_equal
from tables.ragged_recipes import CROP, FLIPS, JITTER, LARGE, NORMALIZED, RECIPES, ragged_images

from cuaug import transforms as T
from cuaug.transforms.ragged_plans import RaggedPlans

NUMPY, TORCH = ("numpy", "cpu"), ("torch", "cpu")


@pytest.fixture
def short_ways(monkeypatch):
    """Whether each call with a list has taken the short way."""
    answers, of_list = [], RaggedPlans.of_list

    def recording(self, arrays, layout):
        planned = of_list(self, arrays, layout)
        answers.append(planned is not None)
        return planned

    monkeypatch.setattr(RaggedPlans, "of_list", recording)
    return answers


@pytest.fixture
def general(monkeypatch):
    """A call with a list that takes the general way."""

    def call(transforms, images, **options):
        with monkeypatch.context() as context:
            context.setattr(RaggedPlans, "of_list", lambda *_: None)
            return T.Compose(transforms, seed=5)(images, **options)

    return call


@every_backend
@pytest.mark.parametrize("name", RECIPES)
def test_list_equals_list_of_general_way(backend, name, general):
    transforms, sizes, _ = RECIPES[name]
    aug = T.Compose(transforms, seed=5)
    near = EXACT if backend[1] == "cpu" else Tolerance(absolute=1, exact=0.97, reason="the draws are in one launch")
    for step in range(3):  # the second call of a CPU records, the third one replays
        images = ragged_images(backend, sizes, seed=step)
        results, expected = aug(images, step=step, ids=7), general(transforms, images, step=step, ids=7)
        assert type(results) is list
        for result, other in zip(results, expected, strict=True):
            assert_equal(result, other, tolerance=near)


@pytest.mark.parametrize("backend", [b for b in BACKENDS if b[0] in ("numpy", "torch", "cupy")], ids=":".join)
def test_contiguous_images_take_the_short_way(backend, short_ways):
    images = [put(noise((3, *size) if backend[0] == "torch" else (*size, 3), seed=i), backend)
              for i, size in enumerate(LARGE)]  # fmt: skip
    aug = T.Compose([CROP, *FLIPS, JITTER, *NORMALIZED], seed=5)
    for i in range(3):
        aug(images)
        aug(images, ids=3, step=i)
    assert short_ways == [True] * 6
    assert aug.state_dict()["step"] == 3


@pytest.mark.parametrize(
    "images",
    [
        [noise((9, 8, 3)), noise((9, 8, 3))],
        [noise((9, 8, 3)), noise((7, 8, 3), "float32")],
        [noise((9, 8, 3)), noise((7, 8, 1))],
        [noise((9, 8)), noise((7, 8))],
        [noise((9, 8, 3)), torch.from_numpy(noise((3, 7, 8)))],
        [noise((9, 8, 3)), noise((7, 8, 3)).view(np.memmap)],
        [torch.from_numpy(noise((3, 9, 8))), torch.from_numpy(noise((3, 7, 8))).permute(0, 2, 1)],
        [noise((9, 8, 3)), np.zeros((4, 8, 3), [("pixels", "u1"), ("other", "u1")])["pixels"]],
    ],
    ids=["one size", "dtypes", "channels", "no channels", "libraries", "subclass", "layouts", "gaps"],
)
def test_other_lists_take_the_general_way(images, general, short_ways):
    transforms = [T.Resize((6, 5))]
    assert outcome_of(lambda: T.Compose(transforms, seed=5)(images, step=1)) == outcome_of(
        lambda: general(transforms, images, step=1)
    )
    assert not any(short_ways)


def outcome_of(call):
    """The results' bytes, or the error."""
    try:
        results = call()
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    return [np.asarray(result).tobytes() for result in results]


def message_of(call):
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    return type(error.value), str(error.value)


GRAD = torch.zeros(3, 9, 8, requires_grad=True)


@pytest.mark.parametrize(
    ("transforms", "images", "options"),
    [
        ([CROP], [torch.zeros(3, 7, 8), GRAD], {}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3), "int64")], {}),
        ([CROP], [noise((9, 8, 3), "int64"), noise((7, 8, 3), "int64")], {}),
        ([CROP], [noise((2, 9, 8, 3)), noise((2, 7, 8, 3))], {}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3))], {"layout": "NHWC"}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3))], {"layout": 3}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3))], {"step": -1}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3))], {"ids": 2**63}),
        ([CROP], [noise((9, 8, 3)), noise((7, 8, 3))], {"ids": [1, 2, 3]}),
        ([CROP, T.MixUp()], [noise((9, 8, 3)), noise((7, 8, 3))], {}),
        ([T.RandomCrop(8)], [noise((9, 8, 3)), noise((7, 8, 3))], {}),
        ([CROP], [noise((40, 50, 60)), noise((41, 50, 60))], {}),
    ],
    ids=lambda value: None,
)
def test_refused_lists_have_the_general_message(transforms, images, options, general):
    general_message = message_of(lambda: general(transforms, images, **options))
    assert message_of(lambda: T.Compose(transforms, seed=5)(images, **options)) == general_message


def test_read_only_images_are_accepted_and_unchanged(short_ways):
    images = [noise(size, seed=i) for i, size in enumerate([(9, 8, 3), (7, 8, 3)])]
    copies = [image.copy() for image in images]
    for image in images:
        image.flags.writeable = False
    T.Compose([CROP], seed=1)(images)
    assert short_ways == [True]
    assert all(np.array_equal(image, copy) for image, copy in zip(images, copies, strict=True))

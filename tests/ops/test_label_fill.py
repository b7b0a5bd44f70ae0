"""`fill` of label images: a whole number of the dtype's range. Others are refused: a changed label is another class."""

import numpy as np
import pytest
from helpers.compare import assert_equal

import cuaug
from cuaug import transforms as T

torch = pytest.importorskip("torch")
LARGEST = {"bool": 1, "int32": 2**31 - 1, "int64": 2**63 - 2**10}  # that float64 represents
SMALLEST = {"bool": 0, "int32": -(2**31), "int64": -(2**63)}
FORMS = {
    "number": lambda value: value,
    "NumPy number": np.float64,
    "array of one": lambda value: np.array([value]),
    "per channel": lambda value: [1, value, 1],
    "per sample": lambda value: np.array([[1.0, 1, 1], [1, value, 1]]),
    "tensor": lambda value: torch.tensor([1.0, value, 1], dtype=torch.float64),
}


def pad(dtype, fill):
    return cuaug.pad(np.ones((2, 4, 5, 3), dtype), 1, fill)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", LARGEST)
def test_pad_fill_of_labels_is_in_their_range(dtype, form):
    for value in (SMALLEST[dtype], LARGEST[dtype]):
        result = pad(dtype, FORMS[form](value))
        assert result.dtype == dtype
        assert result[1, 0, 0, 1] == value
    rule = rf"cuaug\.pad: fill of {dtype} images must be in {SMALLEST[dtype]}\.\.{LARGEST[dtype]}, got"
    for value in (np.nan, np.inf, -np.inf, 1e30, 2.0 * LARGEST[dtype] + 2, 2.0 * SMALLEST[dtype] - 1):
        with pytest.raises(ValueError, match=rule):
            pad(dtype, FORMS[form](value))
    for value in (0.5, 0.75, *(() if dtype == "bool" else (1.5, -1.5, 2.0**20 + 0.5))):
        with pytest.raises(ValueError, match=rf"cuaug\.pad: fill of {dtype} images must hold whole numbers, got"):
            pad(dtype, FORMS[form](value))


@pytest.mark.parametrize("dtype", LARGEST)
def test_functions_refuse_fractions_as_fill_of_labels(dtype):
    labels = np.ones((2, 4, 5, 1), dtype)
    for call in (
        lambda: cuaug.crop(labels, -1, -1, 6, 6, fill=0.5),
        lambda: cuaug.rotate(labels, 45, fill=0.5),
        lambda: cuaug.warp_affine(labels, np.eye(2, 3), interpolation="nearest", fill=np.array([[0.5], [1.0]])),
        lambda: T.Pad(1, fill=0.5)(labels),
    ):
        with pytest.raises(ValueError, match=rf"^cuaug\..*: fill of {dtype} images must hold whole numbers, got"):
            call()


def test_pad_fill_of_bool_is_false_or_true():
    """A byte of another value in a bool array is neither."""
    for value in (2, 255, 1.5, -1):
        with pytest.raises(ValueError, match=r"fill of bool images must be in 0\.\.1"):
            pad("bool", value)
    assert_equal(pad("bool", True), np.ones((2, 6, 7, 3), bool))


def test_compose_fill_of_labels_is_in_their_range():
    labels = np.ones((2, 4, 5, 1), np.int32)
    for fill in (float("nan"), [float("nan")], float("inf"), 1e30, 0.5):
        with pytest.raises(ValueError, match=r"cuaug\.transforms\.Compose: fill of int32 images must (be in|hold) "):
            T.Compose([T.Pad(1, fill=fill)])(labels)
    assert T.Compose([T.Pad(1, fill=-100)])(labels)[0, 0, 0, 0] == -100


@pytest.mark.parametrize(("dtype", "largest"), [("uint8", 255), ("int16", 32767)])
def test_pad_fill_of_images_is_clamped(dtype, largest):
    for value in (np.inf, 1e30):
        assert (pad(dtype, value)[:, 0] == largest).all()
        assert (pad(dtype, [1, value, 1])[:, 0, :, 1] == largest).all()
    assert (pad(dtype, np.nan)[:, 0] == 0).all()

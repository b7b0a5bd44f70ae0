"""Arrays in a loader's targets: real numbers become arrays of the loader's library.

Others, such as text, complex numbers and long doubles, stay as they are: not every library has them.
"""

import numpy as np
import pytest
from helpers.arrays import noise

import cuaug.io
from cuaug import transforms as T
from cuaug.data import ImageFiles, Loader

pytestmark = pytest.mark.jpeg

DATA = cuaug.io.encode_jpeg(noise((40, 50, 3)))
BOXES = [[0, 0, 10, 10], [500, 500, 501, 501]]  # the second is outside the image
OTHERS = {
    "text": np.array(["cat", "dog"]),
    "bytes": np.array([b"cat", b"dog"]),
    "objects": np.array(["cat", None], object),
    "complex": np.array([1j, 2]),
    "dates": np.array(["2026-01-01", "2026-01-02"], "M8[D]"),
    "long doubles": np.array([1, 2], np.longdouble),
    "records": np.array([(1, 2.0), (3, 4.0)], [("a", "u1"), ("b", "f4")]),
}


def loaded(target, library, boxes):
    source = ImageFiles([DATA], targets=[{"boxes": BOXES, **target}])
    recipe = T.Compose([T.RandomResizedCrop(20, scale=(1, 1), ratio=(1.25, 1.25))], boxes=boxes)
    pytest.importorskip(library)
    ((_, (result,)),) = Loader(source, 1, recipe, library=library)
    return result


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("name", OTHERS)
def test_loader_keeps_target_arrays_that_are_not_real_numbers(name, library):
    array = OTHERS[name]
    for key in ("names", "labels", "area"):
        assert loaded({key: array}, library, T.Boxes())[key] is array
        compacted = loaded({key: array}, library, T.Boxes(compact=True))
        assert len(compacted["boxes"]) == 1
        np.testing.assert_array_equal(compacted[key], array if key == "names" else array[:1])  # an unknown key


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize(
    ("key", "dtype"),
    [("scores", ">f4"), ("scores", ">i4"), ("scores", "<f4"), ("scores", "u1"), ("scores", "bool"), ("labels", ">f4"),
     ("area", ">f4")],
)  # fmt: skip
def test_loader_keeps_values_and_dtype_of_targets_in_either_byte_order(key, dtype, library):
    array = np.array([0, 1], dtype)
    result = loaded({key: array}, library, T.Boxes())[key]
    assert str(result.dtype).removeprefix("torch.") == np.dtype(dtype).name
    assert result.tolist() == array.tolist()


@pytest.mark.parametrize("key", ["label", "labels"])
def test_loader_rejects_wrong_number_of_labels_and_names_their_key(key):
    with pytest.raises(ValueError, match=f"targets must have '{key}' for each of the 2 boxes, got 3"):
        loaded({key: np.zeros(3, int)}, "numpy", T.Boxes())


def test_loader_marks_boxes_beyond_float32_as_not_valid():
    """They become infinite, without NumPy's warning, and are not valid."""
    boxes = [[1e300, 0, 1e301, 4], [1, 1, 9, 9]]
    source = ImageFiles([DATA], targets=[{"boxes": boxes}])
    ((_, (target,)),) = Loader(source, 1, [T.Resize((8, 8))], library="numpy")
    assert target["valid"].tolist() == [False, True]


@pytest.mark.parametrize("targets", [[True, False], np.array([True, False])], ids=["bool", "np.bool_"])
def test_loader_converts_boolean_targets_to_int64(targets):
    ((_, labels),) = Loader(ImageFiles([DATA, DATA], targets=targets), 2, library="numpy")
    assert labels.dtype == np.int64
    assert labels.tolist() == [1, 0]


def test_loader_rejects_integer_target_with_too_many_digits_to_print():
    """Python refuses to convert integers of more than 4,300 digits to text."""
    with pytest.raises(ValueError, match=r"^targets must be dicts, or integers of 64 bits, got .* for image 0"):
        list(Loader(ImageFiles([DATA], targets=[10**5000]), 1, library="numpy"))

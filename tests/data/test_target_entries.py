"""Entries of targets that no recipe moves, and arrays that torch and JAX do not have."""

import numpy as np
import pytest

from cuaug import transforms as T
from cuaug.data import ImageFiles, Loader

pytestmark = pytest.mark.jpeg

OTHER_VALUES = {
    "texts": np.array(["a", "bc"]),
    "objects": np.array([None, 3]),
    "dates": np.array(["2020-01-01"], "datetime64[D]"),
    "records": np.array([(1, 2.0)], [("a", int), ("b", float)]),
    "complex numbers": np.array([1j]),
    "long floats": np.array([1], np.longdouble),
}


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("name", OTHER_VALUES)
def test_loader_targets_leave_other_arrays_as_they_are(files, name, library):
    pytest.importorskip(library)
    value = OTHER_VALUES[name]
    target = {"boxes": [[1, 2, 30, 40]], "value": value}
    ((_, (result,)),) = Loader(ImageFiles([files[0][0]], targets=[target]), 1, [T.Resize((8, 8))], library=library)
    assert result["value"] is value


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("key", ["labels", "area", "value"])
def test_loader_targets_of_another_byte_order_have_the_same_values(files, key, library):
    pytest.importorskip(library)
    target = {"boxes": [[1, 2, 30, 40]] * 2, key: np.array([1.5, 2.5], ">f4")}
    ((_, (result,)),) = Loader(ImageFiles([files[0][0]], targets=[target]), 1, [T.Resize((8, 8))], library=library)
    assert result[key].tolist() == [1.5, 2.5]
    assert "float32" in str(result[key].dtype)


def test_loader_refuses_tv_tensors_under_other_keys(files, tv):
    """A recipe moves them by their type; here the key decides."""
    torch = pytest.importorskip("torch")
    source = ImageFiles([files[0][0]], targets=[{"m": tv.Mask(torch.ones(40, 60, dtype=torch.uint8))}])
    with pytest.raises(ValueError, match=r"^targets must have masks under a key such as 'masks', got 'm' for image 0"):
        list(Loader(source, 1, [T.Resize((8, 8))], library="numpy"))

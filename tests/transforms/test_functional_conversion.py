"""Conversions, sizes and frames in cuaug.transforms.functional, as in torchvision."""

import sys

import numpy as np
import pytest
import torch
from helpers.arrays import noise, put
from helpers.compare import Tolerance, assert_equal
from helpers.tv_tensors import plain

from cuaug import BackendError
from cuaug.transforms import functional as F

Image = pytest.importorskip("PIL.Image")
PICTURES = {
    "L": Image.fromarray(noise((5, 7))),
    "LA": Image.fromarray(noise((5, 7))).convert("LA"),
    "RGB": Image.fromarray(noise((5, 7, 3))),
    "RGBA": Image.fromarray(noise((5, 7, 4))),
    "CMYK": Image.fromarray(noise((5, 7, 3))).convert("CMYK"),
    "P": Image.fromarray(noise((5, 7, 3))).convert("P"),
    "1": Image.fromarray(noise((5, 7))).convert("1"),
    "I": Image.fromarray(noise((5, 7), "int32")),
    "I;16": Image.fromarray(noise((5, 7), "uint16")),
    "F": Image.fromarray(noise((5, 7), "float32")),
}
ARRAYS = {
    "HWC": noise((5, 7, 3)),
    "HW": noise((5, 7)),
    "float64": noise((5, 7, 3), "float64"),
    "int32": noise((5, 7, 3), "int32"),
    "bool": noise((5, 7), "bool"),
    "reversed": noise((5, 7, 3))[::-1, :, ::-1],
}
TENSORS = {
    "CHW": torch.from_numpy(noise((3, 5, 7))),
    "HW": torch.from_numpy(noise((5, 7))),
    "NCHW": torch.from_numpy(noise((2, 3, 5, 7))),
}


VALUES = {f"picture {k}": v for k, v in PICTURES.items()} | {f"array {k}": v for k, v in ARRAYS.items()}
VALUES |= {f"tensor {k}": v for k, v in TENSORS.items()}


def every_value(names):
    return pytest.mark.parametrize("value", [pytest.param(VALUES[name], id=name) for name in names])


@every_value(VALUES)
def test_to_image_equals_torchvision(TF, real_tv, value):
    reference = value.copy() if isinstance(value, np.ndarray) else value  # torch refuses negative strides
    expected, result = TF.to_image(reference), F.to_image(value)
    assert type(result) is real_tv.Image
    assert_equal(plain(result), plain(expected).contiguous())


def test_to_image_of_jax(real_tv):
    pytest.importorskip("jax")
    array = noise((5, 7, 3), "float32")
    result = F.to_image(put(array, ("jax", "cpu")))
    assert type(result) is real_tv.Image
    assert_equal(plain(result), torch.from_numpy(array.transpose(2, 0, 1).copy()))


@pytest.mark.parametrize("name", ["pil_to_tensor", "to_image", "to_tensor"])
def test_conversions_of_a_picture_do_not_share_its_memory(name):
    if name == "to_image":
        pytest.importorskip("torchvision.tv_tensors")
    picture = Image.fromarray(noise((5, 7)))
    getattr(F, name)(picture)[:] = 0
    assert np.asarray(picture).any()


@pytest.mark.parametrize("mode", PICTURES)
def test_pil_to_tensor_equals_torchvision(TF, mode):
    expected, result = TF.pil_to_tensor(PICTURES[mode]), F.pil_to_tensor(PICTURES[mode])
    assert type(result) is torch.Tensor
    assert_equal(result, expected.contiguous())


@every_value(name for name in VALUES if name != "picture I;16" and not name.startswith("tensor"))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_to_tensor_equals_torchvision(TF, value):
    reference = value.copy() if isinstance(value, np.ndarray) else value
    expected, result = TF.to_tensor(reference), F.to_tensor(value)
    assert type(result) is torch.Tensor
    if not isinstance(value, np.ndarray) or value.dtype != bool:  # torchvision leaves NumPy's bool, but not Pillow's
        assert_equal(result, expected.contiguous(), tolerance=Tolerance(relative=1e-7))


@pytest.mark.parametrize(
    ("value", "mode"),
    [
        (torch.from_numpy(noise((3, 5, 7))), None),
        (torch.from_numpy(noise((1, 5, 7))), None),
        (torch.from_numpy(noise((2, 5, 7))), None),
        (torch.from_numpy(noise((4, 5, 7))), None),
        (torch.from_numpy(noise((5, 7))), None),
        (torch.from_numpy(noise((5, 7), "int16")), None),
        (torch.from_numpy(noise((1, 5, 7), "int32")), None),
        (torch.from_numpy(noise((3, 5, 7))), "YCbCr"),
        (torch.from_numpy(noise((3, 5, 7))), "HSV"),
        (torch.from_numpy(noise((4, 5, 7))), "CMYK"),
        (torch.from_numpy(noise((4, 5, 7))), "RGBX"),
        (noise((5, 7, 3)), None),
        (noise((5, 7, 1)), None),
        (noise((5, 7)), "L"),
        (noise((5, 7), "int32"), None),
    ],
    ids=lambda value: value if value is None or isinstance(value, str) else f"{value.dtype} {tuple(value.shape)}",
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_to_pil_image_equals_torchvision(TF, value, mode):
    expected, result = TF.to_pil_image(value, mode), F.to_pil_image(value, mode)
    assert (result.mode, result.size) == (expected.mode, expected.size)
    assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_to_pil_image_rounds_floats(TF, dtype):
    """torchvision truncates them."""
    values = torch.from_numpy(noise((3, 5, 7), dtype))
    result = np.asarray(F.to_pil_image(values))
    assert_equal(result, (values.permute(1, 2, 0).numpy() * 255).astype(np.float64), library="numpy", dtype="uint8")
    assert np.abs(result.astype(int) - np.asarray(TF.to_pil_image(values))).max() <= 1


def test_to_pil_image_inverts_the_other_conversions():
    array = noise((5, 7, 3))
    assert_equal(np.asarray(F.to_pil_image(F.pil_to_tensor(Image.fromarray(array)))), array)
    image = pytest.importorskip("torchvision.tv_tensors").Image(torch.from_numpy(array.transpose(2, 0, 1).copy()))
    assert_equal(np.asarray(F.to_pil_image(image)), array)


def test_conversions_take_integers_of_the_other_byte_order():
    """As Pillow reads big-endian TIFF of 16 bits."""
    array = noise((5, 7), "uint16")
    swapped = array.astype(array.dtype.newbyteorder())
    picture = Image.frombytes("I;16B" if sys.byteorder == "little" else "I;16", (7, 5), swapped.tobytes())
    assert_equal(F.pil_to_tensor(picture), torch.from_numpy(array[None]))
    assert_equal(np.asarray(F.to_pil_image(swapped)), array)
    assert_equal(F.to_tensor(swapped), torch.from_numpy(array[None]))


def test_conversion_errors():
    tensor = TENSORS["CHW"]
    for call, message in (
        (lambda: F.pil_to_tensor(tensor), "pic must be an image of Pillow, got Tensor"),
        (lambda: F.to_tensor(tensor), "inpt must be an image of Pillow or an array, got Tensor"),
        (lambda: F.to_image("photo.jpg"), "inpt must be an array or an image of Pillow, got str"),
        (lambda: F.to_image(noise((2, 5, 7, 3))), r"inpt must have the axes \[H, W, C\] or \[H, W\], got shape"),
        (lambda: F.to_pil_image(PICTURES["RGB"]), "pic must be an array, got Image"),
        (lambda: F.to_pil_image(torch.zeros(2, 3, 5, 7)), r"pic must have the axes of one image.*got shape \(2, 3, 5"),
        (lambda: F.to_pil_image(torch.zeros(5, 5, 7)), "pic must have 1 to 4 channels, got 5"),
        (lambda: F.to_pil_image(torch.zeros(1, 5, 7, dtype=torch.int64)), "pic must be uint8 or floats.*got int64"),
        (lambda: F.to_pil_image(torch.zeros(3, 5, 7, dtype=torch.int16)), "pic must be uint8 or floats.*got int16"),
        (lambda: F.to_pil_image(tensor, "L"), "mode must be RGB or YCbCr or HSV for this image, got 'L'"),
    ):
        with pytest.raises((TypeError, ValueError), match=rf"^cuaug\.transforms\.functional\.\w+: {message}"):
            call()


@pytest.mark.parametrize(
    ("module", "call", "message"),
    [
        ("torchvision.tv_tensors", lambda: F.to_image(TENSORS["CHW"]), "tv_tensors need torchvision .*pip install"),
        ("PIL.Image", lambda: F.to_pil_image(TENSORS["CHW"]), "an image of Pillow needs Pillow .*pip install pillow"),
    ],
)
def test_conversions_say_what_to_install(monkeypatch, module, call, message):
    monkeypatch.setitem(sys.modules, module, None)  # which makes the import fail
    with pytest.raises(BackendError, match=message):
        call()


@pytest.mark.parametrize("name", ["get_size", "get_dimensions", "get_num_channels", "get_image_size"])
@every_value(["picture L", "picture RGB", *(name for name in VALUES if name.startswith("tensor"))])
@pytest.mark.filterwarnings("ignore:The function `get_image_size:UserWarning")
def test_sizes_equal_torchvision(TF, name, value):
    assert getattr(F, name)(value) == getattr(TF, name)(value)


def test_sizes_of_tv_tensors_equal_torchvision(TF, real_tv):
    values = {
        "image": real_tv.Image(torch.zeros(2, 3, 5, 7)),
        "video": real_tv.Video(torch.zeros(4, 3, 5, 7)),
        "mask": real_tv.Mask(torch.zeros(2, 5, 7)),
        "boxes": real_tv.BoundingBoxes(torch.zeros(2, 4), format="XYXY", canvas_size=(5, 7)),
        "keypoints": real_tv.KeyPoints(torch.zeros(2, 2), canvas_size=(5, 7)),
    }
    for value in values.values():
        assert F.get_size(value) == TF.get_size(value) == [5, 7]
    for name in ("image", "video"):
        assert F.get_dimensions(values[name]) == TF.get_dimensions(values[name]) == [3, 5, 7]
        assert F.get_num_channels(values[name]) == TF.get_num_channels(values[name]) == 3
    assert F.get_num_frames(values["video"]) == TF.get_num_frames(values["video"]) == 4
    assert F.get_num_frames(torch.zeros(6, 4, 3, 5, 7)) == 4
    for name in ("image", "mask"):
        for module in (TF, F):
            with pytest.raises(TypeError):
                module.get_num_frames(values[name])


def test_sizes_of_layouts():
    array = np.zeros((2, 5, 7, 3))
    assert F.get_dimensions(array) == F.get_dimensions(array.transpose(0, 3, 1, 2), layout="NCHW") == [3, 5, 7]
    assert F.get_dimensions(np.zeros((5, 7))) == [1, 5, 7]
    assert F.get_size(torch.zeros(5, 7, 3), layout="HWC") == [5, 7]
    for name in ("get_size", "get_image_size"):
        with pytest.raises(ValueError, match=rf"^cuaug\.transforms\.functional\.{name}: images must have the axes"):
            getattr(F, name)(np.zeros(4))


def test_uniform_temporal_subsample_equals_torchvision(TF, real_tv):
    for frames in (1, 2, 3, 7, 16, 33):
        video = real_tv.Video(torch.from_numpy(noise((frames, 3, 4, 5), seed=frames)))
        for samples in (1, 2, 3, 4, 5, 8, 13, 40):
            expected, result = (module.uniform_temporal_subsample(video, samples) for module in (TF, F))
            assert type(result) is real_tv.Video
            assert_equal(plain(result), plain(expected))
    batch = torch.from_numpy(noise((2, 9, 3, 4, 5)))
    assert_equal(F.uniform_temporal_subsample(batch, 4), TF.uniform_temporal_subsample(batch, 4))
    array = batch.permute(0, 1, 3, 4, 2).numpy()
    assert_equal(F.uniform_temporal_subsample(array, 4), array[:, [0, 2, 5, 8]])
    with pytest.raises(ValueError, match="inpt must be a video with at least four axes"):
        F.uniform_temporal_subsample(torch.zeros(3, 4, 5), 2)
    with pytest.raises(ValueError, match="inpt must have a frame"):
        F.uniform_temporal_subsample(torch.zeros(0, 3, 4, 5), 2)

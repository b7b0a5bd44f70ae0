"""Functions of pixels in cuaug.transforms.functional: torchvision's results, types and refusals."""

import dataclasses

import numpy as np
import pytest
import torch
from helpers.arrays import CUPY_CUDA, JAX, NUMPY, TORCH_CUDA, backend_id, device_of, noise, put
from helpers.compare import EXACT, Tolerance, assert_equal
from helpers.tv_tensors import plain
from tables.functional_calls import COPIES, GEOMETRY, LEVEL, PIXELS, RESIZES, SIZE

from cuaug.transforms import functional as F

every_pixel_call = pytest.mark.parametrize("call", PIXELS, ids=str)


def tensor(*samples, dtype="uint8", channels=3, seed=0):
    return torch.from_numpy(noise((*samples, channels, *SIZE), dtype, seed))


def images_for(call, dtype, *samples):
    channels = 1 if call.name == "grayscale_to_rgb" else 3
    return tensor(*samples, dtype=dtype, channels=channels, seed=str(call))


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("samples", [(), (2,), (2, 3)])
@pytest.mark.parametrize("call", [*PIXELS, *GEOMETRY], ids=str)
def test_functional_equals_torchvision(TF, call, dtype, samples):
    """Of one image, a batch, and a batch of videos, [2, 3, C, H, W], whose frames are separate images."""
    images = images_for(call, dtype, *samples)
    assert_equal(call(F, images), call(TF, images).contiguous(), tolerance=getattr(call, dtype))


@pytest.mark.parametrize("kind", ["Image", "Video"])
@pytest.mark.parametrize("call", [*PIXELS, *GEOMETRY], ids=str)
def test_functional_keeps_type_of_images(tv, call, kind):
    images = images_for(call, "uint8", 2)
    result = call(F, getattr(tv, kind)(images))
    assert type(result) is getattr(tv, kind)
    assert_equal(plain(result), call(F, images))
    clip = images_for(call, "uint8", 2, 3)
    result = call(F, getattr(tv, kind)(clip))
    assert type(result) is getattr(tv, kind)
    assert_equal(plain(result), call(F, clip))


TARGETS = {
    "Mask": lambda tv: tv.Mask(torch.zeros(SIZE, dtype=torch.int64)),
    "BoundingBoxes": lambda tv: tv.BoundingBoxes(torch.zeros(2, 4), format="XYXY", canvas_size=SIZE),
    "KeyPoints": lambda tv: tv.KeyPoints(torch.zeros(2, 2), canvas_size=SIZE),
}
MORE_PIXELS = {
    "equalize": lambda module, x: module.equalize(x),
    "gaussian_noise": lambda module, x: module.gaussian_noise(x),
    "jpeg": lambda module, x: module.jpeg(x, 50),
    "normalize": lambda module, x: module.normalize(x, [0.5], [0.5]),
    "erase": lambda module, x: module.erase(x, 1, 1, 2, 2, torch.zeros(1)),
    "five_crop": lambda module, x: module.five_crop(x, 3),
    "ten_crop": lambda module, x: module.ten_crop(x, 3),
    "uniform_temporal_subsample": lambda module, x: module.uniform_temporal_subsample(x, 2),
    "get_dimensions": lambda module, x: module.get_dimensions(x),
    "get_num_channels": lambda module, x: module.get_num_channels(x),
    "get_num_frames": lambda module, x: module.get_num_frames(x),
}


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("name", [*(call.name for call in PIXELS), *MORE_PIXELS])
def test_functions_of_pixels_refuse_targets_as_torchvision(TF, real_tv, name, kind):
    call = MORE_PIXELS.get(name) or next(call for call in PIXELS if call.name == name)
    with pytest.raises(TypeError):
        call(TF, TARGETS[kind](real_tv))
    with pytest.raises(TypeError, match=rf"^cuaug\.transforms\.functional\.\w+: inpt must be .*, got {kind}"):
        call(F, TARGETS[kind](real_tv))


@pytest.mark.parametrize("backend", [NUMPY, JAX, CUPY_CUDA, TORCH_CUDA], ids=backend_id)
@pytest.mark.parametrize("call", [*PIXELS, *COPIES, *RESIZES], ids=str)
def test_functional_of_arrays_of_other_libraries(call, backend):
    images = images_for(call, "uint8", 2)
    expected, channels_last = call(F, images).numpy(), backend[0] != "torch"
    result = call(F, put(images.permute(0, 2, 3, 1).numpy() if channels_last else images.numpy(), backend))
    expected_result = np.moveaxis(expected, 1, -1) if channels_last else expected
    tolerance = EXACT if backend[1] == "cpu" else LEVEL
    kind = {"library": backend[0], "device": device_of(backend), "dtype": "uint8"}
    assert_equal(result, np.ascontiguousarray(expected_result), **kind, tolerance=tolerance)
    channels_first = dataclasses.replace(call, kwargs=(*call.kwargs, ("layout", "NCHW")))
    assert_equal(channels_first(F, put(images.numpy(), backend)), expected, **kind, tolerance=tolerance)


@every_pixel_call
def test_functional_of_pillow_images(call):
    Image = pytest.importorskip("PIL.Image")
    images = images_for(call, "uint8")
    picture = Image.fromarray(images.permute(1, 2, 0).numpy().squeeze())
    result = call(F, picture)
    assert isinstance(result, Image.Image)
    assert_equal(np.atleast_3d(np.asarray(result)), np.ascontiguousarray(call(F, images).permute(1, 2, 0).numpy()))


def test_equalize_equals_torchvision(TF):
    images = tensor(2, 3)
    assert_equal(F.equalize(images), TF.equalize(images))


@pytest.mark.parametrize("quality", [1, 40, 100])
def test_jpeg_equals_torchvision(TF, quality):
    """Of images of Pillow: a build of torchvision may lack the codec for tensors, which is the same library."""
    Image = pytest.importorskip("PIL.Image")
    for pixels in (tensor().permute(1, 2, 0).numpy(), tensor(channels=1)[0].numpy()):
        picture = Image.fromarray(np.ascontiguousarray(pixels))
        assert_equal(np.asarray(F.jpeg(picture, quality)), np.asarray(TF.jpeg(picture, quality)))


@pytest.mark.parametrize("mean", [[0.4], [0.4, 0.5, 0.6]])
def test_normalize_equals_torchvision(TF, mean):
    images = tensor(2, 3, dtype="float32")
    expected = TF.normalize(images, mean, [0.2, 0.3, 0.5])
    tolerance = Tolerance(relative=1e-6, absolute=1e-6)
    assert_equal(F.normalize(images, mean, [0.2, 0.3, 0.5]), expected, tolerance=tolerance)


def test_normalize_inplace(real_tv):
    images = real_tv.Image(tensor(2, dtype="float32"))
    expected = F.normalize(images, [0.4] * 3, [0.2] * 3)
    assert type(expected) is real_tv.Image
    assert F.normalize(images, [0.4] * 3, [0.2] * 3, inplace=True) is images
    assert_equal(plain(images), plain(expected))
    with pytest.raises(TypeError, match="inpt must be floats for inplace=True"):
        F.normalize(tensor(2), [0.4] * 3, [0.2] * 3, inplace=True)


def test_permute_channels_errors():
    images = tensor()
    assert_equal(F.permute_channels(images, [-1, 0, 0]), images[[2, 0, 0]])
    with pytest.raises(ValueError, match="permutation must have 3 entries"):
        F.permute_channels(images, [0, 1])
    with pytest.raises(ValueError, match="permutation must be at most 2, got 3"):
        F.permute_channels(images, [0, 1, 3])
    for permutation in (3, {0, 1, 2}, "012"):
        with pytest.raises(TypeError, match="permute_channels: permutation must be 3 ints, one per channel, got"):
            F.permute_channels(images, permutation)


def test_grayscale_to_rgb_of_grey_images_without_a_channel_axis():
    grey = noise((5, 7))
    assert_equal(F.grayscale_to_rgb(grey), np.stack([grey] * 3, -1))


def test_ten_crop_errors():
    with pytest.raises(
        TypeError, match=r"^cuaug\.transforms\.functional\.ten_crop: vertical_flip must be True or False"
    ):
        F.ten_crop(tensor(), 3, "no")
    with pytest.raises(ValueError, match=r"^cuaug\.transforms\.functional\.ten_crop: size must be at most"):
        F.ten_crop(tensor(), 50)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", ["five_crop", "ten_crop"])
@pytest.mark.parametrize("size", [3, [5], [4, 9], list(SIZE)])
def test_crops_equal_torchvision(TF, real_tv, name, size, dtype):
    images = real_tv.Image(tensor(2, dtype=dtype))
    for vertical in (False, True) if name == "ten_crop" else (None,):
        args = () if vertical is None else (vertical,)
        expected, results = (getattr(module, name)(images, size, *args) for module in (TF, F))
        assert len(results) == len(expected)
        for result, crop in zip(results, expected, strict=True):
            assert type(result) is real_tv.Image
            assert_equal(plain(result), plain(crop).contiguous())
    with pytest.raises(ValueError, match="size must be at most"):
        getattr(F, name)(images, (21, 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.uint8])
@pytest.mark.parametrize("scale", [False, True])
def test_to_dtype_equals_torchvision(TF, real_tv, dtype, scale):
    images = real_tv.Image(tensor(2))
    expected, result = (module.to_dtype(images, dtype, scale) for module in (TF, F))
    assert type(result) is real_tv.Image
    assert_equal(plain(result), plain(expected), tolerance=Tolerance(relative=1e-6))
    if scale:
        assert_equal(plain(F.convert_image_dtype(images, dtype)), plain(expected), tolerance=Tolerance(relative=1e-6))


@pytest.mark.parametrize(
    ("source", "target"),
    [("uint8", "int64"), ("uint8", "bool"), ("int64", "float32"), ("bool", "float32"), ("float32", "int32")],
)
def test_to_dtype_of_labels_equals_torchvision(TF, real_tv, source, target):
    values = torch.from_numpy(noise((2, 3, *SIZE), source)) * (7 if source == "float32" else 1)
    images = real_tv.Image(values.to(getattr(torch, source)))
    expected, result = (module.to_dtype(images, getattr(torch, target)) for module in (TF, F))
    assert type(result) is real_tv.Image
    assert_equal(plain(result), plain(expected))
    assert_equal(F.to_dtype(values.numpy(), target), plain(expected).numpy())
    with pytest.raises(TypeError, match="must be one of uint8"):
        F.to_dtype(images, target, scale=True)


@pytest.mark.parametrize("kind", TARGETS)
def test_to_dtype_converts_targets_without_scaling(TF, real_tv, kind):
    target = TARGETS[kind](real_tv)
    expected, result = (module.to_dtype(target, torch.float16, scale=True) for module in (TF, F))
    assert type(result) is type(target)
    assert result.dtype == torch.float16
    assert getattr(result, "canvas_size", None) == getattr(target, "canvas_size", None)
    assert torch.equal(plain(result), plain(expected))


@pytest.mark.parametrize("kind", [None, *TARGETS])
def test_to_dtype_rejects_unknown_dtypes(real_tv, kind):
    value = torch.zeros(3, 4, 5, dtype=torch.int64) if kind is None else TARGETS[kind](real_tv)
    for name in ("complex64", "double precision"):
        with pytest.raises(TypeError, match=rf"functional\.to_dtype: dtype must be one of .*, got {name}"):
            F.to_dtype(value, name)


def test_to_dtype_of_labels_reads_pillow_images_and_rejects_lists():
    image_module = pytest.importorskip("PIL.Image")
    pixels = noise((*SIZE, 3))
    assert_equal(F.to_dtype(image_module.fromarray(pixels), "int64"), pixels.astype(np.int64))
    for value in ([1, 2], "photo.jpg"):
        with pytest.raises(TypeError, match="images must be an array of torch"):
            F.to_dtype(value, "int64")


@pytest.mark.parametrize("kind", ["Pillow", "read-only", "JAX"])
def test_functions_of_pixels_reject_inplace_for_images_that_cannot_be_written(kind):
    pixels = noise((*SIZE, 3), "float32")
    if kind == "Pillow":
        image = pytest.importorskip("PIL.Image").fromarray(noise((*SIZE, 3)))
    elif kind == "JAX":
        image = pytest.importorskip("jax.numpy").asarray(pixels)
    else:
        image = pixels
        image.flags.writeable = False
    with pytest.raises(TypeError, match=r"erase: inpt must be writable for inplace=True, got a read-only \w+$"):
        F.erase(image, 0, 0, 2, 2, 0, inplace=True)
    if kind != "Pillow":
        with pytest.raises(TypeError, match=r"functional\.normalize: inpt must be writable for inplace=True"):
            F.normalize(image, [0.4] * 3, [0.2] * 3, inplace=True)


def test_gaussian_noise_is_that_of_cuaug(real_tv):
    import cuaug

    images = real_tv.Image(tensor(2, dtype="float32"))
    result = F.gaussian_noise(images, 0.1, 0.2, False, seed=3)
    assert type(result) is real_tv.Image
    assert_equal(plain(result), cuaug.gaussian_noise(plain(images), 0.1, 0.2, False, seed=3), tolerance=EXACT)
    assert not torch.equal(F.gaussian_noise(images), F.gaussian_noise(images))

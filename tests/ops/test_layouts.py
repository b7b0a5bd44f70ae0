"""Arrays without `layout=`: shapes with two plausible readings are refused, and `layout=` decides."""

import inspect
import re

import numpy as np
import pytest
import torch
from helpers.arrays import noise, put
from helpers.compare import assert_equal, to_numpy

import cuaug
import cuaug.io
from cuaug import transforms as T

GREY = torch.from_numpy(noise((256, 28, 28)))  # a batch of grey images, or one image of 256 channels
FUNCTIONS = {
    name: function
    for module in (cuaug, cuaug.io)
    for name in module.__all__
    if inspect.isfunction(function := getattr(module, name))
    and {"images", "layout"} <= set(inspect.signature(function).parameters)
}
AUG = T.Compose([T.RandomHorizontalFlip()], seed=0)
PARAMS = AUG.draw(GREY[:1])
COMPOSE_CALLS = {
    "an array": AUG,
    "labels": lambda images: AUG(images, labels=torch.zeros(256)),
    "masks": lambda images: AUG(images, images),
    "a dict": lambda images: AUG({"image": images}),
    "a list": lambda images: AUG([images, images]),
    "a list of two sizes": lambda images: AUG([images, images[:, 1:]]),
    "draw": AUG.draw,
    "apply": lambda images: AUG.apply(images, PARAMS),
    "inverse": lambda images: AUG.inverse(images, PARAMS),
    "params_from_dict": lambda images: AUG.params_from_dict(PARAMS.to_dict(), images),
    "plan": AUG.plan,
    "plan of a list": lambda images: AUG.plan([images, images]),
}
# Library, shape, and the `layout=` that the message offers besides the default one.
REFUSED = {
    "grey images": ("torch", (256, 28, 28), "HWC"),
    "spectrograms": ("torch", (32, 80, 1000), "HWC"),
    "pixels of 13 channels": ("torch", (64, 64, 13), "HWC"),
    "RGB pixels": ("torch", (224, 224, 3), "HWC"),
    "few small RGB pixels": ("torch", (5, 5, 3), "HWC"),
    "grey images, channels last": ("numpy", (256, 28, 28), "CHW"),
    "grey images, as many as rows": ("numpy", (28, 28, 28), "CHW"),
    "grey images on the last axis": ("numpy", (28, 28, 256), "CHW"),
    "more channels than a quarter of the columns": ("numpy", (64, 60, 16), "CHW"),
    "RGB planes": ("jax", (3, 224, 224), "CHW"),
    "few small RGB planes": ("numpy", (3, 9, 9), "CHW"),
    "batch of RGB pixels": ("torch", (8, 32, 32, 3), "NHWC"),
    "batch of small RGB pixels": ("torch", (8, 8, 8, 3), "NHWC"),
    "batch of flow": ("torch", (8, 32, 32, 2), "NHWC"),
    "batch of narrow strips": ("torch", (8, 1000, 50, 3), "NHWC"),
    "batch of RGB planes": ("numpy", (8, 3, 32, 32), "NCHW"),
    "batch of small RGB planes": ("numpy", (8, 3, 8, 8), "NCHW"),
    "batch of flow planes": ("numpy", (8, 2, 32, 32), "NCHW"),
    "batch of grey planes": ("jax", (8, 1, 28, 28), "NCHW"),
}
ACCEPTED = {
    "RGBA": ("torch", (4, 28, 28), "CHW"),
    "two channels": ("torch", (2, 28, 28), "CHW"),
    "RGBA pixels": ("numpy", (28, 28, 4), "HWC"),
    "13 bands": ("numpy", (64, 64, 13), "HWC"),
    "as many channels as a quarter of the rows": ("numpy", (64, 80, 16), "HWC"),
    "logits": ("torch", (8, 20, 64, 64), "NCHW"),
    "features": ("torch", (8, 512, 7, 7), "NCHW"),
    "small features": ("torch", (8, 512, 2, 2), "NCHW"),
    "pooled features": ("torch", (8, 512, 1, 1), "NCHW"),
    "features of a standing person": ("torch", (8, 512, 8, 4), "NCHW"),
    "channels-last features": ("numpy", (8, 7, 7, 512), "NHWC"),
    "small channels-last features": ("numpy", (8, 4, 2, 512), "NHWC"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_refuse_grey_images_without_a_channel_axis(name):
    required = [p for p in inspect.signature(FUNCTIONS[name]).parameters.values() if p.default is p.empty]
    with pytest.raises(ValueError, match=rf"cuaug.*{name}: .*layout='CHW' \(256 channels\).*256 grey images"):
        FUNCTIONS[name](GREY, *[1] * (len(required) - 1))


@pytest.mark.parametrize("call", COMPOSE_CALLS.values(), ids=COMPOSE_CALLS)
def test_compose_refuses_grey_images_without_a_channel_axis(call):
    with pytest.raises(ValueError, match=r"cuaug.transforms.Compose.*layout='CHW' \(256 channels\).*256 grey images"):
        call(GREY)


def test_compose_reads_a_list_by_the_layout_of_its_images():
    images = [torch.zeros(32, 32, 3, dtype=torch.uint8)] * 2
    for call in (AUG, AUG.plan):
        with pytest.raises(ValueError, match=r"\(32, 32, 3\).*layout='HWC'"):
            call(images)
        call(images, layout="HWC")


@pytest.mark.parametrize(("library", "batch"), [("torch", ":, None"), ("numpy", "..., None")])
def test_op_accepts_the_readings_that_the_message_offers(library, batch):
    grey = put(GREY.numpy(), (library, "cpu"))
    with pytest.raises(ValueError, match=re.escape(f"images[{batch}]")):
        cuaug.hflip(grey)
    images = grey[:, None] if library == "torch" else grey[..., None]
    flip = np.arange(256) % 2 == 1
    flipped = to_numpy(cuaug.hflip(images, flip)).reshape(grey.shape)
    assert_equal(flipped, np.where(flip[:, None, None], GREY.numpy()[..., ::-1], GREY.numpy()))
    assert_equal(to_numpy(cuaug.hflip(grey, layout="CHW")), GREY.numpy()[..., ::-1].copy())
    assert_equal(to_numpy(cuaug.hflip(grey, layout="HWC")), GREY.numpy()[:, ::-1].copy())


@pytest.mark.parametrize(("library", "shape", "other"), REFUSED.values(), ids=REFUSED)
def test_op_refuses_shapes_with_two_readings(library, shape, other):
    default = {"CHW": "HWC", "HWC": "CHW", "NCHW": "NHWC", "NHWC": "NCHW"}[other]
    images = put(noise(shape), (library, "cpu"))
    parts = str(shape), f"layout={default!r}", f"layout={other!r}"
    with pytest.raises(ValueError, match=".*".join(["cuaug.hflip: images", *map(re.escape, parts)])):
        cuaug.hflip(images)
    for layout in (default, other):
        assert cuaug.hflip(images, layout=layout).shape == shape


@pytest.mark.parametrize(("library", "shape", "layout"), ACCEPTED.values(), ids=ACCEPTED)
def test_op_accepts_shapes_with_one_plausible_reading(library, shape, layout):
    images = put(noise(shape), (library, "cpu"))
    assert_equal(cuaug.hflip(images), cuaug.hflip(images, layout=layout))

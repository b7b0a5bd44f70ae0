"""Images of Pillow in functions and recipes: results are images where Pillow has a mode for them."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.child_process import python
from helpers.compare import assert_equal

import cuaug
from cuaug import transforms as T
from cuaug.transforms import functional as F

Image = pytest.importorskip("PIL.Image")

PIXELS = noise((1, 17, 11, 4))[0]
IMAGES = {"L": PIXELS[..., 0], "RGB": PIXELS[..., :3], "RGBA": PIXELS}
RECIPE = T.Compose([T.RandomAffine(30, interpolation="bilinear"), T.RandomResizedCrop(9), T.RandomInvert()], seed=1)


def pillow(mode="RGB"):
    return Image.fromarray(np.ascontiguousarray(IMAGES[mode]))


def assert_image(result, expected, mode):
    assert isinstance(result, Image.Image)
    assert result.mode == mode
    assert_equal(np.asarray(result), expected)


@pytest.mark.parametrize("mode", IMAGES)
@pytest.mark.parametrize(
    "function",
    [
        cuaug.hflip,
        lambda image: cuaug.resize(image, (5, 7)),
        lambda image: cuaug.rotate(image, 30, "bilinear"),
        lambda image: cuaug.gaussian_blur(image, 3),
        lambda image: cuaug.invert(image),
        lambda image: cuaug.erase(image, 1, 2, 3, 4, 0),
    ],
)
def test_functions_take_and_return_pil_images(function, mode):
    layout = "HW" if mode == "L" else "HWC"
    image = pillow(mode)
    assert_image(function(image), function(IMAGES[mode]), mode)
    assert_image(image, IMAGES[mode], mode)
    assert cuaug._arrays.images.describe_images(image).axes.layout == layout


def test_functions_return_arrays_where_pil_has_no_mode():
    expected = cuaug.to_dtype(IMAGES["RGB"], "float32", scale=True)
    assert_equal(cuaug.to_dtype(pillow(), "float32", scale=True), expected)
    assert_equal(T.Compose([T.ToDtype("float32", scale=True)])(pillow()), expected)
    assert_image(cuaug.rgb_to_grayscale(pillow()), cuaug.rgb_to_grayscale(IMAGES["RGB"])[..., 0], "L")


@pytest.mark.parametrize("out", [np.zeros((17, 11, 3), np.uint8), pillow()], ids=["array", "image"])
def test_functions_of_a_pil_image_refuse_out(out):
    with pytest.raises(TypeError, match=r"^cuaug\.hflip: out cannot be given for a PIL image: pass numpy\.asarray\("):
        cuaug.hflip(pillow(), out=out)


@pytest.mark.parametrize("mode", ["1", "P", "CMYK", "I", "I;16", "F", "LA", "YCbCr"])
def test_other_modes_of_pil_images_are_refused_by_name(mode):
    image = Image.new(mode, (8, 9))
    # `convert` would clip modes I and F to 255.
    advice = r"numpy\.asarray\(image\)" if mode[0] in "IF" else r"image\.convert\('RGB'\)"
    advice += r", or numpy\.asarray\(image\) for a mask of labels" if mode in ("1", "P") else ""
    message = f"a PIL image must have mode L, RGB, RGBA, got {mode}: pass {advice}"
    for call, place in (
        (cuaug.hflip, ""),
        (RECIPE, ""),
        (lambda x: RECIPE((x, 1)), r"\[0\]: "),
        (lambda x: RECIPE([pillow(), pillow(), x]), r"\[2\]: "),
        (lambda x: RECIPE([(pillow(), 1), (x, 1)]), r"\[1\]\[0\]: "),
        (lambda x: RECIPE({"image": pillow(), "mask": x}), r"\['mask'\]: "),
        (lambda x: RECIPE({"images": [pillow(), x]}), r"\['images'\]\[1\]: "),
    ):
        with pytest.raises(TypeError, match=rf"^cuaug\.[\w.]+: {place}{message}"):
            call(image)


class ToRGB(T.Transform):
    def transform(self, inpt, params):
        return inpt.convert("RGB")


@pytest.mark.parametrize("transform", [T.Lambda(lambda image: image.convert("RGB")), ToRGB()], ids=["Lambda", "user"])
@pytest.mark.parametrize("mode", ["1", "P", "CMYK", "I", "I;16", "F", "LA", "YCbCr"])
def test_functions_of_a_user_take_every_mode(transform, mode):
    image = Image.new(mode, (11, 17))
    image.putpixel((2, 3), 1)
    pixels = np.asarray(image.convert("RGB"))
    flipped = T.Compose([transform, T.RandomHorizontalFlip(1.0)])
    for recipe, expected in ((transform, pixels), (flipped, pixels[:, ::-1])):
        assert_image(recipe(image), expected, "RGB")
        assert_image(recipe({"image": image})["image"], expected, "RGB")


def contents(value):
    """The images as bytes, and other values as they are."""
    if isinstance(value, (list, tuple)):
        return [contents(entry) for entry in value]
    return (value.mode, value.size, value.tobytes()) if isinstance(value, Image.Image) else value


LAYOUT_CALLS = {
    "get_size": F.get_size,
    "resize": lambda x, **options: cuaug.resize(x, (4, 5), **options),
    "grayscale_to_rgb": F.grayscale_to_rgb,
    "five_crop": lambda x, **options: F.five_crop(x, 3, **options),
    "FiveCrop": lambda x, **options: T.FiveCrop(3)(x, **options),
    "Compose": lambda x, **options: RECIPE(x, step=1, **options),
    "list": lambda x, **options: RECIPE([x, x], step=1, **options),
    "sizes": lambda x, **options: RECIPE([x, x.resize((20, 14))], step=1, **options),
    "dict": lambda x, **options: [RECIPE({"image": x, "mask": pillow("L")}, step=1, **options)["image"]],
    "pairs": lambda x, **options: [pair[0] for pair in RECIPE([(x, 1), (x, 2)], step=1, **options)],
    "parts": T.Compose([T.FiveCrop(5), T.Resize(4)]),
    "apply": lambda x, **options: RECIPE.apply(x, RECIPE.draw(x, step=1, **options), **options),
    "check": lambda x, **options: str(RECIPE.check(x, step=1, **options)),
    "plan": lambda x, **options: str(RECIPE.plan([x, x], **options)),
}


@pytest.mark.parametrize("mode", ["L", "RGB"])
@pytest.mark.parametrize("layout", ["CHW", "NCHW", "HW"])
@pytest.mark.parametrize("name", LAYOUT_CALLS)
def test_layout_does_not_apply_to_pil_images(name, layout, mode):
    call, image = LAYOUT_CALLS[name], pillow(mode)
    assert contents(call(image, layout=layout)) == contents(call(image))


def test_wrong_layouts_are_refused_with_pil_images():
    for call in (cuaug.hflip, RECIPE, T.ToPILImage()):
        with pytest.raises(ValueError, match=r"layout must be one of .*, got 'chw': pass 'CHW'"):
            call(pillow(), layout="chw")


@pytest.mark.parametrize("container", [list, tuple])
@pytest.mark.parametrize("modes", [("RGB", "RGB", "L"), ("L", "L", "RGB"), ("RGBA", "RGBA", "L")], ids="-".join)
def test_compose_refuses_grey_beside_colored_pil_images_by_index(modes, container):
    images = container(pillow(mode) for mode in modes)
    grey, other = modes.index("L"), next(mode for mode in modes if mode != "L")
    message = (
        rf"\[{grey}\]: a PIL image of mode L beside one of mode {other} could be a mask or another image: "
        r"pass image\.convert\('RGB'\), or name them, as in \{'images': \.\.\.\}"
    )
    for call in (RECIPE, RECIPE.plan, RECIPE.check):
        with pytest.raises(ValueError, match=rf"^cuaug\.transforms\.Compose[.\w]*: {message}"):
            call(images)
    with pytest.raises(ValueError, match=r"^cuaug\.transforms\.Compose: \[0\]" + message):
        RECIPE((images, [1, 2, 3]))


@pytest.mark.parametrize("modes", [("RGB", "RGBA", "RGB"), ("RGB", "L", "RGBA")], ids="-".join)
def test_compose_takes_images_of_several_modes(modes):
    images = [pillow(mode) for mode in modes]
    results = [
        RECIPE({"images": images}, step=1)["images"],
        [pair[0] for pair in RECIPE([(i, 1) for i in images], step=1)],
    ]
    if "L" not in modes:  # a grey image in a list without names could be a mask
        results.append(RECIPE(images, step=1))
    for result in results:
        for i, mode in enumerate(modes):
            assert_image(result[i], RECIPE(IMAGES[mode], ids=[i], step=1), mode)


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_compose_takes_and_returns_a_pil_image(mode):
    assert_image(RECIPE(pillow(mode), step=2), RECIPE(IMAGES[mode], step=2), mode)
    params = RECIPE.draw(pillow(mode), step=2)
    assert_image(RECIPE.apply(pillow(mode), params), RECIPE(IMAGES[mode], step=2), mode)


@pytest.mark.parametrize("size", [(40, 30), (4, 4), (2, 3)])
@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA"])
def test_elastic_transform_of_a_pil_image(mode, size):
    """Its displacements, for which Pillow has no mode, are an array of another layout than the image."""
    elastic = T.Compose([T.ElasticTransform(30.0, 1.0)], seed=3)
    image = pillow(mode).resize(size)
    layout = "HW" if mode == "L" else "HWC"
    assert_image(elastic(image, step=0), elastic(np.asarray(image), step=0, layout=layout), mode)


@pytest.mark.parametrize("shape", [(3, 1, 1), (3, 3, 4)])
def test_erase_of_a_pil_image_takes_tensors_with_channels_first(shape):
    value = torch.from_numpy(noise(shape))
    image = pillow("RGB")
    expected = np.array(image)
    expected[1:4, 2:6] = value.permute(1, 2, 0)
    assert_equal(np.asarray(F.erase(image, 1, 2, 3, 4, value)), expected)
    assert_equal(np.asarray(F.erase(image, 1, 2, 3, 4, value.permute(1, 2, 0).numpy())), expected)


def test_compose_returns_a_tuple_for_a_tuple_of_pil_images():
    images = tuple(pillow() for _ in range(3))
    result, expected = RECIPE(images, step=1), RECIPE([*images], step=1)
    assert type(result) is type(RECIPE((IMAGES["RGB"],) * 3, step=1)) is tuple
    for image, other in zip(result, expected, strict=True):
        assert_image(image, np.asarray(other), "RGB")
    pair = RECIPE((images, [1, 2, 3]), step=1)
    assert [type(part) for part in pair] == [tuple, list]


def test_compose_takes_pil_images_in_samples():
    pixels, mask, boxes = IMAGES["RGB"], IMAGES["L"], torch.tensor([[1.0, 2, 8, 9]])
    expected = RECIPE({"image": pixels, "mask": mask, "boxes": boxes}, step=1)
    thumbnail = Image.new("P", (3, 3))
    sample = {"image": pillow(), "mask": pillow("L"), "boxes": boxes, "thumbnail": thumbnail}
    result = RECIPE(sample, step=1)
    assert_image(result["image"], expected["image"], "RGB")
    assert_image(result["mask"], expected["mask"], "L")
    assert_equal(result["boxes"], expected["boxes"])
    assert result["thumbnail"] is thumbnail
    assert isinstance(sample["image"], Image.Image)
    image, label = RECIPE((pillow(), 3), step=1)  # as in a Dataset
    assert_image(image, expected["image"], "RGB")
    assert label == 3


def test_compose_takes_dicts_of_pil_masks_and_leaves_images_under_other_keys():
    thumbnail = Image.new("P", (3, 3))
    entries = [{"image": pillow(), "masks": {"body": pillow("L")}, "thumbnail": thumbnail}] * 2
    results = RECIPE(entries, step=1)
    for sample, result in zip(range(2), results, strict=True):
        expected = RECIPE({"image": IMAGES["RGB"], "mask": IMAGES["L"]}, step=1, ids=[sample])
        assert_image(result["masks"]["body"], expected["mask"], "L")
        assert result["thumbnail"] is thumbnail


@pytest.mark.parametrize("sizes", [[(11, 17), (11, 17)], [(11, 17), (20, 14)]], ids=["one size", "two sizes"])
def test_compose_takes_lists_of_pil_images(sizes):
    images = [pillow().resize(size) for size in sizes]
    expected = RECIPE([np.asarray(image) for image in images], step=4)
    for results in (RECIPE(images, step=4), [pair[0] for pair in RECIPE([(image, 1) for image in images], step=4)]):
        assert len(results) == 2
        for result, pixels in zip(results, expected, strict=True):
            assert_image(result, pixels, "RGB")
    assert str(RECIPE.plan(images)) == str(RECIPE.plan([np.asarray(image) for image in images]))


def test_functions_of_arrays_do_not_import_pillow():
    program = "import numpy, cuaug, sys; cuaug.hflip(numpy.zeros((3, 4, 3), 'u1')); print('PIL' in sys.modules)"
    assert python(program)[0] == "False"

"""Messages for common mistakes say what to pass, and an error has one traceback."""

import functools
import traceback

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

import cuaug
from cuaug import transforms as T
from cuaug.data import Collate, ImageFiles, Loader

BATCH = np.zeros((2, 8, 8, 3), np.uint8)
RECIPE = T.Compose([T.RandomHorizontalFlip()], seed=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cuaug.resize(BATCH, 224.0),
            "cuaug.resize: size must be an int or a list of ints, got 224.0: pass 224",
        ),
        (lambda: cuaug.resize(BATCH, (8.0, 8)), "cuaug.resize: size must be an int, got 8.0: pass 8"),
        (lambda: cuaug.resize(BATCH, 8.5), "cuaug.resize: size must be an int or a list of ints, got 8.5"),
        (lambda: T.Resize(np.float32(8)), "got np.float32(8.0): pass 8"),
        (
            lambda: cuaug.hflip([BATCH[0], BATCH[1]]),
            "got list: stack arrays of one size, or pass the list to a transform, as in T.Resize((224, 224))(images)",
        ),
        (lambda: cuaug.hflip("photo.jpg"), "got str: read a file with cuaug.io.decode_image"),
        (
            lambda: cuaug.resize([*BATCH], 4),
            "or pass the list to a transform, as in T.Resize((224, 224))(images)",
        ),
    ],
)
def test_message_says_what_to_pass(call, message):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value).endswith(message)


def test_perspective_names_shape_of_coefficients():
    with pytest.raises(ValueError, match=r"coefficients must have shape \(8,\) or \(N, 8\), got \(2, 3, 8\)"):
        cuaug.perspective(BATCH, None, None, coefficients=np.ones((2, 3, 8)))
    with pytest.raises(TypeError, match=r"^cuaug\.perspective: coefficients must hold numbers, got \[\[1\]"):
        cuaug.perspective(BATCH, None, None, coefficients=[[1], [1, 2]])


def test_elastic_names_shape_of_displacement():
    with pytest.raises(ValueError, match=r"displacement must have shape \(1 or N, 8, 8, 2\), got \(1, 1, 8, 8, 2\)"):
        cuaug.elastic(BATCH, np.zeros((1, 1, 8, 8, 2)))


@pytest.mark.parametrize(
    ("call", "name", "message"),
    [
        (lambda: T.RandomHorizontalFlip()(BATCH, layout="NCWH"), "RandomHorizontalFlip", "layout must be one of"),
        (lambda: T.RandomCrop(99)(BATCH), "RandomCrop", "size must fit"),
        (lambda: T.RandomInvert()(BATCH, step=1.5), "RandomInvert", "step must be an int"),
        (lambda: T.RandomInvert()(3), "RandomInvert", "no image found in the argument"),
        (
            lambda: T.RandomInvert()(BATCH, nonsense=1),
            "RandomInvert",
            "RandomInvert.__call__() got an unexpected keyword argument 'nonsense'",
        ),
        (lambda: T.RandomInvert()(BATCH, image=1), "RandomInvert", "RandomInvert.__call__() got an unexpected"),
        (lambda: T.RandomApply([T.Resize(4)])(BATCH), "RandomApply", "Resize: must not change the size"),
        (lambda: T.PixelOp("Mine", "px * k", k=1)(BATCH, layout="?"), "PixelOp", "layout must be one of"),
    ],
)
def test_transform_that_is_called_alone_begins_its_messages(call, name, message):
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert str(error.value).startswith(f"cuaug.transforms.{name}: {message}")


@pytest.mark.parametrize(
    "call",
    [
        lambda images: RECIPE.draw(images),
        lambda images: RECIPE.apply(images, None),
        lambda images: RECIPE.params_from_dict({}, images),
    ],
    ids=["draw", "apply", "params_from_dict"],
)
@pytest.mark.parametrize("kind", [list, tuple])
def test_draw_and_apply_of_a_list_say_how_to_take_each_image(call, kind):
    with pytest.raises(TypeError, match=r"^cuaug\.transforms\.Compose\.\w+: images must be one array") as error:
        call(kind(BATCH))
    assert str(error.value).endswith(
        f"got {kind.__name__}: call it on each image, as in params = aug.draw(image, ids=i, step=step)"
    )
    assert "pass the list to a transform" not in str(error.value)


def test_draw_of_each_image_of_a_list_draws_what_a_call_of_the_list_draws():
    """The advice of the message above."""
    aug = T.Compose([T.RandomAffine(30, interpolation="bilinear"), T.ColorJitter(0.5)], seed=3)
    photos = [noise((9, 8, 3)), noise((7, 11, 3), seed=1), noise((12, 8, 3), seed=2)]
    for i, (photo, expected) in enumerate(zip(photos, aug(photos, step=5), strict=True)):
        assert_equal(aug.apply(photo, aug.draw(photo, ids=i, step=5)), expected)


@pytest.mark.parametrize(
    ("images", "advice"),
    [
        (
            BATCH.astype(np.uint32),
            r"uint32 is not supported; .*: pass images\.astype\('uint8'\) if they hold 0\.\.255, or labels\.astype.*",
        ),
        (BATCH.astype(complex), r"complex128 is not supported; [^:]*$"),
        (
            np.array([BATCH[0], BATCH[0, :4], None], object)[:2],
            r"object is not supported; .*: pass list\(images\) to a transform, or call the function on each",
        ),
    ],
    ids=["uint32", "complex", "object"],
)
def test_dtype_that_is_not_supported_is_converted_as_the_message_says(images, advice):
    with pytest.raises(TypeError, match=rf"^cuaug\.hflip: {advice}$"):
        cuaug.hflip(images)
    if images.dtype == np.uint32:
        assert_equal(cuaug.hflip(images.astype("uint8")), cuaug.hflip(BATCH))
        assert cuaug.hflip(images.astype("int64")).dtype == np.int64
    if images.dtype == object:
        assert [image.shape for image in RECIPE(list(images))] == [(8, 8, 3), (4, 8, 3)]


@pytest.mark.parametrize("module", ["numpy", "torch", "jax.numpy"])
def test_batched_nms_says_how_to_convert_dtypes(module):
    """The advice of a message, followed for each argument in turn, ends in the result."""
    library = pytest.importorskip(module)
    asarray = library.asarray
    values = {
        "boxes": asarray(np.array([(0, 0, 4, 4), (1, 0, 4, 4), (1, 0, 4, 4)], "uint32")),
        "scores": asarray(np.array([3, 2, 1], "int8")),
        "idxs": asarray(np.array([0, 0, 1], "uint32")),
    }
    for name in values:
        with pytest.raises(TypeError, match=f"^cuaug.batched_nms: {name} must be one of .*, got u?int") as error:
            cuaug.batched_nms(*values.values(), 0.5)
        expression = str(error.value).partition(": pass ")[2]
        values[name] = eval(expression, {name: values[name], "torch": library})
    assert cuaug.batched_nms(*values.values(), 0.5).tolist() == [0, 2]


@pytest.mark.parametrize("index", [0, -1, np.int64(1), slice(0, 2)])
def test_params_say_how_to_read_one_sample(index):
    params = T.Compose([T.RandomHorizontalFlip(), T.ColorJitter(0.5)], seed=0).draw(BATCH)
    with pytest.raises(KeyError, match="is no name of a drawn parameter") as error:
        params[index]
    message = error.value.args[0]
    assert len(message) < 160
    expression = message.partition("of one sample: ")[2]
    numbers = eval(expression, {"params": params, "i": 1})
    assert list(numbers) == params.names
    assert numbers["1.ColorJitter.brightness_factor"] == params["1.ColorJitter.brightness_factor"][1]


@pytest.mark.parametrize(
    "sample",
    [(torch.zeros(3, 8, 8), 1), torch.zeros(3, 8, 8), {"image": 1}, (torch.zeros(3, 8, 8), 1, 2)],
    ids=["pair", "array", "dict", "triple"],
)
def test_collate_refuses_samples_of_another_dataset(sample):
    with pytest.raises(TypeError, match=r"^cuaug\.data\.Collate: samples must be \(encoded image, .*leave collate_fn"):
        Collate(RECIPE)([sample, sample])


@pytest.mark.parametrize("samples", [[], ()])
def test_collate_refuses_no_samples(samples):
    with pytest.raises(ValueError, match=r"^cuaug\.data\.Collate: samples must hold at least one sample, got none"):
        Collate(RECIPE)(samples)


@pytest.mark.parametrize("sample_id", ["x", None, 2**64, 1.5])
def test_collate_names_an_id_that_is_no_int(sample_id):
    with pytest.raises((TypeError, ValueError), match=r"^cuaug\.data\.Collate: samples\[1\]'s id must be "):
        Collate(RECIPE)([(b"", 1, 0), (b"", 1, sample_id)])


@pytest.mark.parametrize("samples", [None, 5, "ab", {"image": b""}, torch.zeros(2, 3)])
def test_collate_refuses_what_is_no_list(samples):
    kind = type(samples).__name__
    with pytest.raises(TypeError, match=rf"^cuaug\.data\.Collate: samples must be a list of samples, got {kind}"):
        Collate(RECIPE)(samples)


@pytest.mark.parametrize("make", [lambda recipes: Loader([b""], 4, recipes), Collate], ids=["Loader", "Collate"])
def test_loader_and_collate_refuse_a_list_of_recipes(make):
    """Such a list looks like several views of each image, but would run one recipe after the other."""
    for count in (2, 3):
        with pytest.raises(
            TypeError, match=rf"transform must be one recipe, got a list of {count} recipes: .*T\.Compose\(\[a, b\]\)"
        ):
            make([RECIPE] * count)
    for transform in (RECIPE, [RECIPE], [RECIPE, T.RandomInvert()], T.Compose([RECIPE, RECIPE]), []):
        make(transform)


def test_loader_names_a_missing_folder(tmp_path):
    missing = tmp_path / "nothing"
    for call in (lambda: ImageFiles(missing), lambda: Loader(missing, 4, RECIPE)):
        with pytest.raises(
            FileNotFoundError, match=r"^cuaug\.data\.ImageFiles: source must be .*nothing', which does not exist"
        ):
            call()
    with pytest.raises(FileNotFoundError, match=r"^cuaug\.data\.ImageFiles: .*nothing\.tar', which does not exist"):
        ImageFiles([f"{missing}.tar"])
    for pattern in (tmp_path / "*.jpg", f"{tmp_path}/photo_?.png", f"{tmp_path}/[ab].jpg"):
        with pytest.raises(
            FileNotFoundError, match=r"which does not exist: for a pattern pass the list sorted\(glob\.glob\(.*\)\)$"
        ):
            ImageFiles(pattern)
    missing.write_bytes(b"")
    with pytest.raises(FileNotFoundError, match="which is another file: pass a list of files"):
        ImageFiles(missing)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cuaug.rotate(BATCH, "a"),
        lambda: cuaug.resize(BATCH, 0),
        lambda: cuaug.adjust_brightness(BATCH, 10**400),
        lambda: T.Resize("8"),
        lambda: T.Compose([T.RandomApply([T.Resize(4)])])(BATCH),
        lambda: RECIPE(3),
        lambda: ImageFiles("no such folder"),
    ],
)
def test_error_has_one_traceback(call):
    with pytest.raises((TypeError, ValueError, FileNotFoundError), match=r"^cuaug\.") as error:
        call()
    assert "".join(traceback.format_exception(error.value)).count("Traceback (most recent call last)") == 1


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda images: cuaug.pad(images, 1, fill=np.zeros((3, 2))), r"\(3, 2\)"),
        (lambda images: cuaug.pad(images, 1, fill=[]), r"\(0,\)"),
        (lambda images: cuaug.remap(images, np.zeros((0, 4)), np.zeros((0, 4))), r"\(0, 4\)"),
    ],
    ids=["fill", "no fill", "map"],
)
def test_messages_have_shapes_as_tuples(call, shape):
    with pytest.raises(ValueError, match=rf", got (shape )?{shape}$"):
        call(torch.zeros((2, 3, 5, 4)))


@pytest.mark.parametrize("name", ["images", "angle", "boxes", "mask"])
@pytest.mark.parametrize("transformation", ["jit", "vmap", "grad", "linearize"])
def test_tracers_of_jax_are_refused(name, transformation):
    jax = pytest.importorskip("jax")
    batch, array = jax.numpy.asarray(BATCH), jax.numpy.zeros((2, 2, 4))
    function = {
        "images": cuaug.hflip,
        "angle": lambda angle: cuaug.rotate(batch, angle),
        "boxes": lambda boxes: cuaug.box_iou(boxes, boxes),
        "mask": lambda masks: RECIPE({"images": batch, "masks": masks}),
    }[name]
    transform = getattr(jax, transformation)
    transformed = functools.partial(transform, function) if transformation == "linearize" else transform(function)
    if transformation in ("jit", "vmap"):
        advice = r"cuaug runs outside of jax\.jit and jax\.vmap, whose tracers have no values: .*jax\.pure_callback"
    else:
        advice = r"cuaug has no gradients: pass jax\.lax\.stop_gradient\(array\), .*jax\.custom_vjp"
    with pytest.raises(TypeError, match=rf"^cuaug\.[\w.]+: {advice}") as error:
        transformed(array)
    # The search for the library of an array's type begins with a lookup that fails with KeyError.
    assert "KeyError" not in "".join(traceback.format_exception(error.value))

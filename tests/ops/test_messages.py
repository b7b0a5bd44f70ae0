"""Messages for common mistakes say what to pass, and an error has one traceback."""

import functools
import traceback

import numpy as np
import pytest
import torch

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
            "got list: stack arrays of one size, or call it on each; "
            "transforms take lists, as T.Resize((224, 224))(images)",
        ),
        (lambda: cuaug.hflip("photo.jpg"), "got str: read a file with cuaug.io.decode_image"),
        (
            lambda: cuaug.resize([*BATCH], 4),
            "transforms take lists, as T.Resize((224, 224))(images)",
        ),
    ],
)
def test_message_says_what_to_pass(call, message):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value).endswith(message)


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
    """It looks like several views of each image, and is one recipe after the other."""
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
    assert "KeyError" not in "".join(traceback.format_exception(error.value))

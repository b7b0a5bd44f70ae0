"""Recipes and parameters as dicts, copies and pickles."""

import copy
import json
import pickle
import re

import numpy as np
import pytest
import torch
from helpers.arrays import JAX, NUMPY, TORCH, Exporter, backend_id, every_backend, images, noise
from helpers.child_process import python
from helpers.compare import assert_equal, to_numpy
from helpers.mask_recipes import SHAPE, recipe
from PIL import Image
from tables.transforms import INSTANCES, SAMPLE_ROWS

from cuaug import transforms as T
from cuaug.transforms import transform as transform_module


def class_name(value):
    return type(value).__name__


def test_to_dict_covers_every_class():
    classes = {name for name in T.__all__ if isinstance(getattr(T, name), type)}
    described = {*INSTANCES, *(row.name for row in SAMPLE_ROWS)}
    assert described == classes - {"Params", "Lambda", "Transform", "InterpolationMode", "AutoAugmentPolicy"}


@pytest.mark.parametrize("row", SAMPLE_ROWS, ids=lambda row: row.name)
def test_from_dict_restores_transform_of_whole_samples(row):
    described = row.instance.to_dict()
    restored = T.from_dict(json.loads(json.dumps(described)))
    assert type(restored) is type(row.instance)
    assert repr(restored) == repr(row.instance)
    assert restored.to_dict() == described


@pytest.mark.parametrize("original", [*INSTANCES.values(), T.ToDtype(torch.float16, scale=True)], ids=class_name)
def test_from_dict_restores_class_and_draws(original):
    if not isinstance(original, transform_module.Transform):
        name = class_name(original).lower()
        described = T.Compose([], **{name: original}).to_dict()[name]
        assert T.from_dict(json.loads(json.dumps(described))) == original
        return
    described = original.to_dict()
    restored = T.from_dict(json.loads(json.dumps(described)))
    assert type(restored) is type(original)
    assert restored.to_dict() == described
    assert repr(restored).replace("[", "(").replace("]", ")") == repr(original).replace("[", "(").replace("]", ")")
    recipes = [t if isinstance(t, T.Compose) else T.Compose([t], seed=5) for t in (original, restored)]
    assert_equal(*(recipe(noise(SHAPE), step=2) for recipe in recipes))


def test_from_dict_rejects_unknown_names():
    for name in ("Nothing", "annotations", "from_dict", None):
        with pytest.raises(ValueError, match=r"cuaug.transforms.from_dict: name must be that of a transform"):
            T.from_dict({"name": name})


class TwoDrawsOfOneName(transform_module.Transform):
    def write(self, recipe):
        for _ in range(2):
            recipe.add_pointwise("RandomGrayscale", [recipe.bernoulli("grey", 0.4)])


def long_recipe(seed=6):
    padded = T.RandomCrop((20, 30), padding=1, pad_if_needed=True)  # pads twice
    transforms = [
        padded,
        T.RandomResizedCrop((16, 18)),
        T.RandomHorizontalFlip(),
        T.GaussianBlur(3),
        T.RandomPerspective(p=1.0),
    ]
    return T.Compose(
        [*transforms, T.ColorJitter(0.4, 0.4, 0.4, 0.1), TwoDrawsOfOneName(), T.RandomErasing(), T.Normalize(0.5, 0.5)],
        seed=seed,
    )


@every_backend
@pytest.mark.parametrize("samples", [SHAPE[0], 0])
def test_params_from_dict_give_the_same_bits(samples, backend):
    batch, aug = images(backend, shape=SHAPE)[:samples], long_recipe()
    params = aug.draw(batch, ids=100)
    text = json.dumps(params.to_dict(), allow_nan=False)
    other = long_recipe(seed=1)
    restored = other.params_from_dict(json.loads(text), batch)
    assert_equal(other.apply(batch, restored), aug.apply(batch, params))
    assert restored.names == params.names
    assert json.dumps(restored.to_dict()) == text
    assert_equal(to_numpy(restored.matrices), to_numpy(params.matrices))
    drawn = json.loads(text)["drawn"]
    for name in params.names:
        np.testing.assert_array_equal(np.float32(drawn[name]), to_numpy(params[name]).astype(np.float32), name)


def test_params_from_dict_rejects_params_of_other_recipes_and_images():
    aug, batch = long_recipe(), noise(SHAPE)
    description = aug.draw(batch).to_dict()
    prefix = r"^cuaug\.transforms\.Compose\.params_from_dict: params must be of the same"
    with pytest.raises(ValueError, match=rf"{prefix} images: images\['samples'\] must be 4, got {len(batch)}$"):
        aug.params_from_dict(description, batch[:4])
    with pytest.raises(ValueError, match=rf"{prefix} images: images\['dtype'\] must be 'float32', got 'uint8'$"):
        aug.params_from_dict(description, batch.astype(np.float32))
    with pytest.raises(ValueError, match=rf"{prefix} recipe: recipe"):
        recipe("crops").params_from_dict(description, batch)
    other = T.Compose([*aug.transforms[:3], T.GaussianBlur(5), *aug.transforms[4:]])
    with pytest.raises(ValueError, match=rf"{prefix} recipe: recipe\[3\]\['kernel_size'\]\[0\] must be 5, got 3$"):
        other.params_from_dict(description, batch)
    with pytest.raises(ValueError, match=rf"{prefix} recipe: recipe must be \[.{{1,999}}\], got \[.{{1,999}}\]$"):
        T.Compose(aug.transforms[:3]).params_from_dict(description, batch)
    with pytest.raises(ValueError, match=rf"{prefix} images: images must be .*, got 3$"):
        aug.params_from_dict(description | {"images": 3}, batch)
    with pytest.raises(ValueError, match="which has 'recipe', got "):
        aug.params_from_dict({}, batch)


def test_params_from_dict_of_nan_fill():
    aug, batch = T.Compose([T.RandomRotation(40, fill=float("nan"))], seed=1), noise(SHAPE).astype(np.float32)
    params = aug.draw(batch)
    restored = aug.params_from_dict(json.loads(json.dumps(params.to_dict())), batch)
    assert_equal(aug.apply(batch, restored), aug.apply(batch, params))
    other = T.Compose([T.RandomRotation(40, fill=0.5)], seed=1)
    with pytest.raises(ValueError, match=r"recipe: recipe\[0\]\['fill'\] must be 0\.5, got nan$"):
        other.params_from_dict(params.to_dict(), batch)


@pytest.mark.parametrize("number", ["1.5", 1.5 + 0j, 10**400, {}, b"1"], ids=lambda number: str(number)[:5])
def test_params_from_dict_rejects_values_that_are_no_real_numbers(number):
    aug, batch = T.Compose([T.RandomRotation(40)], seed=1), noise(SHAPE)
    description = aug.draw(batch).to_dict()
    name = "0.RandomRotation.angle"
    message = r"^cuaug\.transforms\.Compose\.params_from_dict: params must have numbers as "
    for numbers in ([number, *description["drawn"][name][1:]], [number] * SHAPE[0]):
        with pytest.raises(ValueError, match=f"{message}{re.escape(name)}, got"):
            aug.params_from_dict(description | {"drawn": description["drawn"] | {name: numbers}}, batch)
    description["matrices"][-1][0][0] = number
    with pytest.raises(ValueError, match=f"{message}matrices, got"):
        aug.params_from_dict(description, batch)


@every_backend
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda params: pickle.loads(pickle.dumps(params))])
def test_params_copy_has_the_same_values(duplicate, backend):
    aug, batch = T.Compose([T.RandomRotation(20), T.ColorJitter(0.2)], seed=1), images(backend, shape=SHAPE)
    params = aug.draw(batch)
    copied = duplicate(params)
    assert type(copied.matrices) is type(params.matrices)
    assert copied.to_dict() == params.to_dict()
    results = aug.apply(batch, params)
    assert_equal(aug.inverse(results, copied), aug.inverse(results, params))
    with pytest.raises(ValueError, match=r"or deep-copied: pass aug\.params_from_dict\(params\.to_dict\(\), images\)$"):
        aug.apply(batch, copied)
    assert_equal(aug.apply(batch, aug.params_from_dict(copied.to_dict(), batch)), results)


@pytest.mark.parametrize("wrap", [Image.fromarray, Exporter], ids=["Pillow", "DLPack"])
def test_params_copy_of_other_images_has_the_same_values(wrap):
    params = T.Compose([T.RandomRotation(20)], seed=1).draw(wrap(noise(SHAPE)[0]))
    assert copy.deepcopy(params).to_dict() == pickle.loads(pickle.dumps(params)).to_dict() == params.to_dict()


def test_params_copy_keeps_the_device_of_jax():
    jax = pytest.importorskip("jax")
    batch = jax.device_put(noise(SHAPE), jax.local_devices(backend="cpu")[0])
    params = T.Compose([T.RandomRotation(20)], seed=1).draw(batch)
    for copied in (copy.deepcopy(params), pickle.loads(pickle.dumps(params))):
        assert copied.matrices.committed
        assert copied.matrices.devices() == batch.devices()


@pytest.mark.parametrize("backend", [NUMPY, TORCH, JAX], ids=backend_id)
def test_params_pickle_is_read_by_another_process(backend):
    params = T.Compose([T.RandomRotation(20)], seed=1).draw(images(backend, shape=SHAPE))
    text = f"import pickle; print(pickle.loads({pickle.dumps(params)!r}).matrices.tolist())"
    assert python(text, timeout=60)[0].strip() == str(params.matrices.tolist())


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda aug: pickle.loads(pickle.dumps(aug))])
def test_compose_copy_continues_as_original(duplicate):
    aug, batch = long_recipe(), noise(SHAPE)
    aug(batch)
    copied = duplicate(aug)
    assert type(copied) is type(aug)
    assert copied.state_dict() == aug.state_dict() == {"seed": 6, "step": 1}
    assert_equal(copied(batch), aug(batch))
    flip = T.RandomHorizontalFlip(1.0)
    assert_equal(flip(batch), batch[:, :, ::-1])
    assert_equal(duplicate(flip)(batch), batch[:, :, ::-1])


def test_params_repr_names_draws():
    params = T.Compose([T.RandomHorizontalFlip(), T.RandomErasing()]).draw(noise(SHAPE))
    assert repr(params) == f"Params of {SHAPE[0]} samples: {', '.join(params.names)}"

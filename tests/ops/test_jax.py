"""JAX arrays on several devices of the CPU: results stay where their input is. `conftest.py` sets the devices up."""

import functools
import warnings

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal, describe, to_numpy

import cuaug
from cuaug import transforms as T
from cuaug._arrays.registry import result_library

jax = pytest.importorskip("jax")
jnp = jax.numpy

VALUES = noise((4, 8, 8, 3))
BOXES = np.array([[0, 0, 4, 4], [1, 1, 4, 4], [2, 3, 7, 8]], np.float32)
SCORES = np.array([0.5, 0.9, 0.7], np.float32)
RECIPE = T.Compose([T.RandomHorizontalFlip(1.0), T.RandomAffine(20), T.ColorJitter(0.4, 0.4)], seed=0)
CALLS = {
    "hflip": cuaug.hflip,
    "rotate": lambda x: cuaug.rotate(x, [0, 10, 20, 30]),
    "resize": lambda x: cuaug.resize(x, 5),
    "adjust_contrast": lambda x: cuaug.adjust_contrast(x, 1.5),
    "equalize": cuaug.equalize,
    "gaussian_blur": lambda x: cuaug.gaussian_blur(x, 3),
    "jpeg": lambda x: cuaug.jpeg(x, [10, 20, 30, 40]),
    "mixup": lambda x: cuaug.mixup(x, 0.3),
    "lut": lambda x: cuaug.lut(x, np.arange(256)[::-1]),
    "recipe": lambda x: RECIPE(x, step=0),
    "recipe of a list": lambda x: jnp.stack(RECIPE([x[i] for i in range(4)], step=0)),
    "recipe of a ragged list": lambda x: jnp.stack(T.Compose([T.Resize((4, 4))])([x[0], x[1], x[2, 1:]])),
    "masks": lambda x: RECIPE({"images": VALUES, "masks": x[..., 0]}, step=0)["masks"],
    "drawn parameters": lambda x: RECIPE.draw(x, step=0).matrices,
    "described parameters": lambda x: RECIPE.params_from_dict(RECIPE.draw(x, step=0).to_dict(), x).matrices,
    "labels": lambda x: T.Compose([T.MixUp()], seed=0)(VALUES, labels=x[:, :2, 0, 0].astype("float32"), step=0)[1],
}


def cpu(index):
    devices = jax.devices("cpu")
    assert len(devices) > 1, "conftest.py must set XLA_FLAGS before JAX is imported"
    return devices[index]


def on_device(values, index, committed):
    if committed:
        return jax.device_put(values, cpu(index))
    with jax.default_device(cpu(index)):
        return jnp.asarray(values)


def sharded(values, spec=("batch",)):
    mesh = jax.sharding.Mesh(np.array(jax.devices("cpu")[:2]), ("batch",))
    return jax.device_put(values, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec)))


@pytest.mark.parametrize(("index", "committed"), [(0, True), (1, True), (1, False)])
@pytest.mark.parametrize("name", CALLS)
def test_jax_result_is_on_the_device_of_its_input(name, index, committed):
    images = on_device(VALUES, index, committed)
    # JAX's functions, which some of the calls use, move uncommitted arrays to the default device.
    with jax.default_device(None if committed else cpu(index)):
        result = CALLS[name](images)
    assert result.devices() == images.devices() == {cpu(index)}
    assert result.committed == images.committed == committed
    assert_equal(to_numpy(result), expected(name))


@functools.cache
def expected(name):
    return to_numpy(CALLS[name](jnp.asarray(VALUES)))


@pytest.mark.parametrize("call", [cuaug.hflip, lambda x: RECIPE(x, step=0)], ids=["function", "recipe"])
def test_jax_result_of_an_uncommitted_array_is_not_on_the_default_device(call):
    result = call(on_device(VALUES, 1, False))
    assert result.devices() == {cpu(1)}
    assert not result.committed


def test_jax_result_of_detection_is_on_the_device_of_its_input():
    boxes, scores = on_device(BOXES, 1, True), on_device(SCORES, 1, True)
    for result in (
        cuaug.nms(boxes, scores, 0.5),
        *cuaug.nms(boxes, scores, 0.5, fixed_size=True),
        *cuaug.soft_nms(boxes, scores)[:2],
        cuaug.box_iou(boxes, BOXES),
        cuaug.roi_align(on_device(np.ones((1, 8, 8, 3), np.float32), 1, True), jnp.zeros((1, 5)), 2),
    ):
        assert result.devices() == {cpu(1)}
    assert cuaug.nms(boxes, jnp.asarray(SCORES), 0.5).tolist() == cuaug.nms(BOXES, SCORES, 0.5).tolist()


def test_jax_arguments_on_other_devices_are_moved_to_the_first():
    labels, lam = np.eye(4, dtype=np.float32), np.array([0.25, 0.5, 0.75, 1], np.float32)
    mixed = cuaug.mix_labels(on_device(labels, 1, True), on_device(lam, 0, True))
    assert mixed.devices() == {cpu(1)}
    assert_equal(to_numpy(mixed), cuaug.mix_labels(labels, lam))
    images, boxes = on_device(VALUES, 1, True), np.stack([BOXES] * 4)
    image, box = RECIPE(images, boxes=on_device(boxes, 0, True), step=0)
    assert (image.devices(), box.devices()) == ({cpu(1)}, {cpu(0)})
    expected_image, expected_box = RECIPE(VALUES, boxes=boxes, step=0)
    assert_equal(to_numpy(image), expected_image)
    np.testing.assert_allclose(to_numpy(box), expected_box, atol=1e-5)
    angles = np.arange(0, 80, 20, dtype=np.float32)
    rotated = cuaug.rotate(images, on_device(angles, 0, True))
    assert rotated.devices() == {cpu(1)}
    assert_equal(to_numpy(rotated), cuaug.rotate(VALUES, angles))


def test_compose_list_keeps_library_and_device_of_each_image():
    """Images of one size are not stacked, which would move them to the library of the first."""
    images = [VALUES[0], jnp.asarray(VALUES[1]), on_device(VALUES[2], 1, True)]
    for batch in (images, [images[0], images[1][:4], images[2]]):
        results = RECIPE(batch, step=0)
        assert [describe(result)[0] for result in results] == ["numpy", "jax", "jax"]
        assert [result.devices() for result in results[1:]] == [{cpu(0)}, {cpu(1)}]
    for i, image in enumerate(images):
        assert_equal(to_numpy(RECIPE(images, step=0)[i]), to_numpy(RECIPE(image, step=0, ids=i)))


@pytest.mark.parametrize("spec", [("batch",), (None, "batch"), ()], ids=["batch", "rows", "replicated"])
@pytest.mark.parametrize(
    "call",
    [
        cuaug.hflip,
        RECIPE,
        lambda x: RECIPE({"images": x}),
        lambda x: RECIPE(VALUES, x[..., 0]),
        lambda x: cuaug.roi_align(x.astype("float32"), np.zeros((1, 5), np.float32), 2),
        RECIPE.draw,
    ],
)
def test_jax_array_on_several_devices_is_refused(call, spec):
    with pytest.raises(ValueError, match=r"^cuaug\..*: a JAX array must be on one device, .*addressable_shards"):
        call(sharded(VALUES, spec))


def test_jax_shards_are_transformed_where_they_are():
    """As the error for an array on several devices advises. With `ids`, the draws are those of the whole batch."""
    images = sharded(VALUES)
    shards = [RECIPE(shard.data, ids=shard.index[0].start, step=3) for shard in images.addressable_shards]
    result = jax.make_array_from_single_device_arrays(images.shape, images.sharding, shards)
    assert result.sharding == images.sharding
    assert_equal(to_numpy_shards(result), RECIPE(VALUES, step=3))


def to_numpy_shards(array):
    return np.concatenate([np.asarray(shard.data) for shard in array.addressable_shards])


def test_jax_parameters_may_be_sharded():
    angles = np.arange(4, dtype=np.float32)
    assert_equal(cuaug.rotate(VALUES, sharded(angles)), cuaug.rotate(VALUES, angles))
    matrices = np.stack([np.eye(3, dtype=np.float32)] * 4)
    assert_equal(cuaug.warp_affine(VALUES, sharded(matrices)), VALUES)
    areas = cuaug.box_area(sharded(np.ones((4, 4), np.float32)))
    assert len(areas.devices()) == 2  # arithmetic of JAX, which keeps the sharding


def test_jax_deleted_array_is_refused():
    images = jnp.asarray(VALUES)
    images.delete()
    for call in (cuaug.hflip, RECIPE):
        with pytest.raises(RuntimeError, match="deleted"):
            call(images)


@pytest.mark.parametrize(("index", "committed"), [(1, True), (1, False)])
def test_jax_array_does_not_share_memory_with_numpy(index, committed):
    """`to_user_array` also converts arrays of the caller, who may write to them later.

    The memory of this array is aligned to 64 bytes, so that XLA could use it in place.
    """
    memory = np.zeros(4096 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    values = memory[start : start + 4096]
    result = result_library(on_device(VALUES, index, committed)).to_user_array(values)
    values += 1
    assert not to_numpy(result).any()


def test_jax_objects_that_are_no_arrays_are_refused():
    for value in (cpu(0), jnp.float32):
        with pytest.raises(TypeError, match="images must be an array of torch, cupy, numpy or jax"):
            cuaug.hflip(value)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_jax_64_bit_arrays(dtype):
    """With `jax_enable_x64` a result keeps the dtype; without, no array has such a dtype."""
    values = noise((2, 8, 8, 3), dtype)
    context = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    with context(True):
        for index, committed in ((0, False), (1, True)):
            result = cuaug.hflip(on_device(values, index, committed))
            assert describe(result) == ("jax", "cpu", dtype)
            assert_equal(to_numpy(result), np.ascontiguousarray(values[:, :, ::-1]))


def test_compose_torch_targets_beside_jax_images_do_not_warn():
    """torch warns of memory that it must not write to, such as that of JAX."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, boxes = RECIPE(jnp.asarray(VALUES), boxes=torch.from_numpy(np.stack([BOXES] * 4)), step=0)
    _, expected = RECIPE(VALUES, boxes=np.stack([BOXES] * 4), step=0)
    assert describe(boxes) == ("torch", "cpu", "float32")
    np.testing.assert_allclose(boxes.numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_op_of_label_dtype_says_what_to_convert_to(dtype):
    for call in (lambda x: cuaug.rotate(x, 10, "bilinear"), T.Compose([T.RandomRotation(10, "bilinear")])):
        with pytest.raises(TypeError, match=r"holds labels: .*: convert images to uint8 or float32$"):
            call(jnp.ones((2, 8, 8, 3), dtype))

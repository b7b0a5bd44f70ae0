"""Invalid arguments: each row has the exception and parts of its message; the call changes nothing."""

import numpy as np
import pytest
from helpers.arrays import IMAGE_DTYPES, MASK_DTYPES, SHAPE, noise
from helpers.compare import assert_equal
from tables.warps import BORDERS, INTERPOLATIONS, MAIN_ROWS, ROW_OF_OP

import cuaug
from cuaug import transforms as T

torch = pytest.importorskip("torch")

BATCH = noise()
FLOATS = noise(dtype="float32")
EYE = np.eye(3)[:2]
EYES = np.stack([EYE] * 3)


def with_bad_entry(value, sample=2, index=(0, 1)):
    M = EYES.copy()
    M[(sample, *index)] = value
    return M


SINGULAR = EYES.copy()
SINGULAR[1, :, :2] = [[1, 2], [2, 4]]
READ_ONLY = np.empty_like(BATCH)
READ_ONLY.flags.writeable = False

# The call, its exception, and parts of the message: the function, the parameter, the rule or the value.
INVALID_CALLS = {
    # images
    "a list": (lambda: cuaug.warp_affine([[1, 2], [3, 4]], EYE), TypeError, "warp_affine | images | list"),
    "None": (lambda: cuaug.warp_affine(None, EYE), TypeError, "warp_affine | images"),
    "a path": (lambda: cuaug.hflip("photo.jpg"), TypeError, "hflip | images | str"),
    "one axis": (lambda: cuaug.warp_affine(BATCH[0, 0, :, 0], EYE), ValueError, "warp_affine | images | (11,)"),
    "six axes": (lambda: cuaug.warp_affine(BATCH[None, None], EYE), ValueError, "warp_affine | (1, 1, 3, 17, 11, 3)"),
    "a layout with another rank": (
        lambda: cuaug.warp_affine(BATCH, EYE, layout="HWC"),
        ValueError,
        "layout | HWC | (3, 17, 11, 3)",
    ),
    "an unknown layout": (lambda: cuaug.warp_affine(BATCH, EYE, layout="NWHC"), ValueError, "layout | NWHC | NHWC"),
    "planes read as pixels": (
        lambda: cuaug.warp_affine(np.zeros((2, 3, 224, 224), np.uint8), EYE),
        ValueError,
        "layout | (2, 3, 224, 224) | NCHW",
    ),
    "one plane read as pixels": (
        lambda: cuaug.warp_affine(np.zeros((1, 224, 224), np.uint8), EYE),
        ValueError,
        "layout | CHW",
    ),
    "pixels read as planes": (
        lambda: cuaug.warp_affine(torch.zeros(2, 224, 224, 3, dtype=torch.uint8), EYE),
        ValueError,
        "layout | (2, 224, 224, 3) | NHWC",
    ),
    # matrices
    "a matrix of another shape": (lambda: cuaug.warp_affine(BATCH, np.eye(2)), ValueError, "warp_affine | M | (2, 2)"),
    "a flat matrix": (lambda: cuaug.warp_affine(BATCH, np.zeros(6)), ValueError, "M | (6,)"),
    "two matrices for three samples": (lambda: cuaug.warp_affine(BATCH, EYES[:2]), ValueError, "M | 2 | 3"),
    "a batch of matrices for one image": (lambda: cuaug.warp_affine(BATCH[0], EYES), ValueError, "M | 3 | 1"),
    "a singular matrix": (lambda: cuaug.warp_affine(BATCH, SINGULAR), ValueError, "M | invertible | sample 1"),
    "a NaN": (lambda: cuaug.warp_affine(BATCH, with_bad_entry(np.nan)), ValueError, "M | finite | sample 2"),
    "an infinity": (lambda: cuaug.warp_affine(BATCH, with_bad_entry(-np.inf, 0)), ValueError, "M | finite | sample 0"),
    "a NaN in torch": (
        lambda: cuaug.warp_affine(BATCH, torch.from_numpy(with_bad_entry(np.nan))),
        ValueError,
        "finite | sample 2",
    ),
    "all zero": (lambda: cuaug.warp_affine(BATCH, np.zeros((2, 3))), ValueError, "M | invertible"),
    "a singular homography": (
        lambda: cuaug.warp_perspective(BATCH, np.ones((3, 3))),
        ValueError,
        "warp_perspective | M | invertible",
    ),
    "a string as matrix": (lambda: cuaug.warp_affine(BATCH, "M"), TypeError, "warp_affine | M"),
    "a complex matrix": (lambda: cuaug.warp_affine(BATCH, EYE.astype(complex)), TypeError, "M | complex128"),
    "a bottom row that is not affine": (
        lambda: cuaug.warp_affine(BATCH, np.eye(3) + 0.1),
        ValueError,
        "warp_affine | M | warp_perspective",
    ),
    # options
    "an unknown interpolation": (
        lambda: cuaug.warp_affine(BATCH, EYE, interpolation="linear"),
        ValueError,
        "interpolation | 'linear' | bilinear",
    ),
    "a number as interpolation": (
        lambda: cuaug.warp_affine(BATCH, EYE, interpolation=2),
        (TypeError, ValueError),
        "interpolation | 2",
    ),
    "an unknown border": (
        lambda: cuaug.warp_affine(BATCH, EYE, border="replicate"),
        ValueError,
        "border | 'replicate' | edge",
    ),
    "an unknown padding_mode": (
        lambda: cuaug.pad(BATCH, 1, padding_mode="zeros"),
        ValueError,
        "padding_mode | 'zeros' | constant",
    ),
    "an unknown origin": (
        lambda: cuaug.warp_affine(BATCH, EYE, origin="centre"),
        ValueError,
        "origin | 'centre' | center",
    ),
    "area in a warp": (lambda: cuaug.warp_affine(BATCH, EYE, interpolation="area"), ValueError, "interpolation | area"),
    "an empty size": (lambda: cuaug.warp_affine(BATCH, EYE, (0, 5)), ValueError, "size | 0"),
    "a negative size": (lambda: cuaug.warp_affine(BATCH, EYE, (5, -3)), ValueError, "size | -3"),
    "a size of three": (lambda: cuaug.warp_affine(BATCH, EYE, (5, 6, 7)), ValueError, "size | (5, 6, 7)"),
    "a fractional size": (lambda: cuaug.warp_affine(BATCH, EYE, (5.5, 6)), TypeError, "size | 5.5"),
    "a dict as size": (lambda: cuaug.warp_affine(BATCH, EYE, {"H": 5, "W": 6}), ValueError, "size | (H, W) | {'H': 5"),
    "a number in an array as size": (
        lambda: cuaug.warp_affine(BATCH, EYE, np.array(5)),
        ValueError,
        "size | (H, W) | array(5)",
    ),
    "resize to nothing": (lambda: cuaug.resize(BATCH, 0), ValueError, "resize | size | 0"),
    "max_size with two sizes": (lambda: cuaug.resize(BATCH, (4, 4), max_size=9), ValueError, "max_size"),
    "max_size below size": (lambda: cuaug.resize(BATCH, 10, max_size=9), ValueError, "max_size | 9 | 10"),
    "two fills for three channels": (lambda: cuaug.warp_affine(BATCH, EYE, fill=(1, 2)), ValueError, "fill | 2 | 3"),
    "a fill of another batch": (
        lambda: cuaug.warp_affine(BATCH, EYE, fill=np.ones((2, 3))),
        ValueError,
        "fill | 2 | 3",
    ),
    "a string as fill": (lambda: cuaug.warp_affine(BATCH, EYE, fill="red"), TypeError, "fill"),
    "a flip for four samples": (lambda: cuaug.hflip(BATCH, [True] * 4), ValueError, "flip | 4 | 3"),
    "angles for two samples": (lambda: cuaug.rotate(BATCH, [1.0, 2.0]), ValueError, "angle | 2 | 3"),
    "a NaN angle": (lambda: cuaug.rotate(BATCH, float("nan")), ValueError, "angle | finite"),
    "a scale of zero": (lambda: cuaug.affine(BATCH, 0, [0, 0], 0, [0, 0]), ValueError, "scale | 0"),
    "a crop of height 0": (lambda: cuaug.crop(BATCH, 0, 0, 0, 5), ValueError, "crop | height | 0"),
    "a nearest crop of height 0": (
        lambda: cuaug.resized_crop(BATCH, 0, 0, 0, 5, 4, "nearest"),
        ValueError,
        "resized_crop | height | greater than 0",
    ),
    "a nearest crop of negative width": (
        lambda: cuaug.resized_crop(BATCH, 0, 0, 5, [5, 5, -5], 4, "nearest"),
        ValueError,
        "resized_crop | width | greater than 0",
    ),
    "a negative padding that leaves nothing": (lambda: cuaug.pad(BATCH, -9), ValueError, "pad | at least 1"),
    "a padding of three": (lambda: cuaug.pad(BATCH, [1, 2, 3]), ValueError, "padding | [1, 2, 3]"),
    "three corners": (lambda: cuaug.perspective(BATCH, [[0, 0]] * 3, [[0, 0]] * 3), ValueError, "startpoints | 4"),
    "corners on a line": (
        lambda: cuaug.perspective(BATCH, [[0, 0], [1, 1], [2, 2], [3, 3]], [[0, 0], [9, 0], [9, 9], [0, 9]]),
        ValueError,
        "perspective",
    ),
    # maps
    "maps of two sizes": (
        lambda: cuaug.remap(BATCH, np.zeros((4, 5)), np.zeros((5, 4))),
        ValueError,
        "map_x | map_y | (4, 5) | (5, 4)",
    ),
    "maps for two samples": (lambda: cuaug.remap(BATCH, *np.zeros((2, 2, 4, 5))), ValueError, "map_x | 2 | 3"),
    "displacement of another size": (
        lambda: cuaug.elastic(BATCH, np.zeros((1, 5, 5, 2))),
        ValueError,
        "displacement | (1, 5, 5, 2)",
    ),
    "displacements for two samples": (
        lambda: cuaug.elastic(BATCH, np.zeros((2, 17, 11, 2))),
        ValueError,
        "displacement | 2 | 3",
    ),
    # out and dtype
    "out of another shape": (
        lambda: cuaug.warp_affine(BATCH, EYE, out=np.empty((3, 17, 12, 3), np.uint8)),
        ValueError,
        "out | (3, 17, 12, 3)",
    ),
    "out of another dtype": (
        lambda: cuaug.warp_affine(BATCH, EYE, out=np.empty(SHAPE, np.int16)),
        (TypeError, ValueError),
        "out | int16 | uint8",
    ),
    "out of another library": (
        lambda: cuaug.warp_affine(BATCH, EYE, out=torch.empty(SHAPE, dtype=torch.uint8)),
        (TypeError, ValueError),
        "out | numpy | Tensor",
    ),
    "read-only out": (
        lambda: cuaug.warp_affine(BATCH, EYE, out=READ_ONLY),
        TypeError,
        "warp_affine: out must be a writable numpy array | read-only ndarray",
    ),
    "a list as out": (
        lambda: cuaug.hflip(BATCH, out=[[0]]),
        TypeError,
        "hflip: out must be a writable numpy array, got list",
    ),
    "a path as out": (
        lambda: cuaug.remap(BATCH, np.zeros((2, 2)), np.zeros((2, 2)), out="a.png"),
        TypeError,
        "remap: out must be a writable numpy array, got str",
    ),
    "an empty out": (
        lambda: cuaug.hflip(BATCH, out=np.zeros((0, 4), np.uint8)),
        ValueError,
        "hflip: out must be (3, 17, 11, 3) of uint8, got (0, 4) of uint8",
    ),
    "out with five axes": (
        lambda: cuaug.remap(BATCH, np.zeros((2, 2)), np.zeros((2, 2)), out=np.zeros((1,) * 5, np.uint8)),
        ValueError,
        "remap: out must be (3, 2, 2, 3) of uint8, got (1, 1, 1, 1, 1) of uint8",
    ),
    "out that is the input": (lambda: cuaug.warp_affine(BATCH, EYE, out=BATCH), ValueError, "out | images"),
    "out that overlaps the input": (
        lambda: cuaug.warp_affine(BATCH[:2], EYE, out=BATCH[1:]),
        ValueError,
        "out | images",
    ),
    "out with stride 0": (
        lambda: cuaug.warp_affine(BATCH, EYE, out=np.lib.stride_tricks.as_strided(BATCH.copy(), SHAPE, (0, 0, 0, 1))),
        ValueError,
        "out",
    ),
    "out with overlapping rows": (
        lambda: cuaug.warp_affine(
            BATCH, EYE, out=np.lib.stride_tricks.as_strided(BATCH.copy(), SHAPE, (17 * 33, 30, 3, 1))
        ),
        ValueError,
        "out | repeat",
    ),
    "an unknown dtype": (
        lambda: cuaug.warp_affine(BATCH, EYE, dtype="uint24"),
        (TypeError, ValueError),
        "dtype | uint24",
    ),
    "a dtype that images do not have": (
        lambda: cuaug.warp_affine(BATCH, EYE, dtype="complex64"),
        TypeError,
        "dtype | complex64 | float32",
    ),
}


@pytest.mark.parametrize("name", INVALID_CALLS)
def test_op_rejects_invalid_arguments(name):
    call, exception, parts = INVALID_CALLS[name]
    before = BATCH.copy()
    with pytest.raises(exception) as error:
        call()
    missing = [part for part in parts.split(" | ") if part not in str(error.value)]
    assert not missing, f"{missing} not in: {error.value}"
    assert_equal(BATCH, before)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint32", "uint64", "complex64", "complex128", "object", "<U3", "datetime64[s]"]
)
@pytest.mark.parametrize("row", MAIN_ROWS, ids=str)
def test_op_rejects_other_dtypes_and_lists_allowed(row, dtype):
    with pytest.raises(TypeError) as error:
        getattr(cuaug, row.op)(np.zeros(SHAPE, dtype), **row.options, **row.parameters())
    for word in (row.op, "images", np.dtype(dtype).name, "uint8", "float32"):
        assert word in str(error.value)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")  # deprecated, but its tensors still exist
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.complex64, torch.int8, torch.quint8])
def test_op_rejects_other_torch_dtypes(dtype):
    image = (
        torch.quantize_per_tensor(torch.rand(3, 4, 4), 0.1, 0, dtype)
        if dtype == torch.quint8
        else torch.zeros(3, 4, 4, dtype=dtype)
    )
    with pytest.raises(TypeError, match=r"hflip.*images"):
        cuaug.hflip(image)


@pytest.mark.parametrize("dtype", sorted(set(MASK_DTYPES) - set(IMAGE_DTYPES)))
@pytest.mark.parametrize("interpolation", [i for i in INTERPOLATIONS if i != "nearest"])
def test_op_rejects_interpolated_label_masks(dtype, interpolation):
    mask = noise(dtype=dtype)
    for call in (
        lambda: cuaug.warp_affine(mask, EYE, interpolation=interpolation),
        lambda: cuaug.resize(mask, 5, interpolation),
    ):
        with pytest.raises((TypeError, ValueError), match="nearest"):
            call()


@pytest.mark.parametrize("op", ROW_OF_OP)
def test_op_accepts_no_samples_and_rejects_empty_images(op):
    row = ROW_OF_OP[op]
    full = getattr(cuaug, op)(BATCH, **row.options, **row.parameters())
    result = getattr(cuaug, op)(np.zeros((0, *SHAPE[1:]), np.uint8), **row.options, **row.parameters())
    assert_equal(result, full[:0])
    for axis, name in enumerate("HWC", 1):
        shape = [n if a != axis else 0 for a, n in enumerate(SHAPE)]
        with pytest.raises(ValueError, match=rf"^cuaug\.{op}: images must not be empty along {name}, got shape "):
            getattr(cuaug, op)(np.zeros(shape, np.uint8), **row.options, **row.parameters())


def test_solarize_accepts_out_without_samples_in_the_images_memory():
    memory = np.zeros((8, 4, 4, 3), np.uint8)
    assert cuaug.solarize(memory[4:4], 3, out=memory[2:2]).shape == (0, 4, 4, 3)


def test_op_rejects_every_axis_empty():
    with pytest.raises(ValueError, match=r"hflip.*images"):
        cuaug.hflip(np.zeros((0, 0, 0, 0), np.uint8))


@pytest.mark.parametrize(
    ("name", "images", "exception"),
    [
        ("sparse", torch.eye(5)[None].to_sparse(), TypeError),
        ("meta", torch.zeros(3, 5, 5, device="meta"), (TypeError, cuaug.BackendError)),
        ("conjugate", torch.zeros(1, 5, 5, dtype=torch.complex64).conj(), TypeError),
    ],
)
def test_op_rejects_tensors_without_plain_memory(name, images, exception):
    with pytest.raises(exception, match="hflip"):
        cuaug.hflip(images)


def test_op_rejects_fake_tensor():
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake.FakeTensorMode() as mode, pytest.raises((TypeError, cuaug.BackendError), match="hflip"):
        cuaug.hflip(mode.from_tensor(torch.zeros(3, 17, 11, dtype=torch.uint8)))


@pytest.mark.parametrize(
    "call", [cuaug.hflip, T.Compose([T.RandomHorizontalFlip()]), lambda x: cuaug.nms(x, x[:, 0], 0.5)]
)
def test_op_within_vmap_of_torch_says_that_its_tensors_have_no_memory(call):
    with pytest.raises(TypeError, match=r"^cuaug.*: cuaug runs outside of torch\.vmap .*: call it on the batch"):
        torch.func.vmap(call)(torch.zeros(2, 5, 4))


def test_op_rejects_jax_out():
    jnp = pytest.importorskip("jax.numpy")
    images = jnp.asarray(BATCH)
    with pytest.raises((TypeError, ValueError), match="out"):
        cuaug.warp_affine(images, EYE, out=jnp.zeros(SHAPE, jnp.uint8))


def test_op_error_messages_list_choices():
    for choices, options in ((INTERPOLATIONS, {"interpolation": "?"}), (BORDERS, {"border": "?"})):
        with pytest.raises(ValueError, match=".*".join(choices)):
            cuaug.warp_affine(BATCH, EYE, **options)

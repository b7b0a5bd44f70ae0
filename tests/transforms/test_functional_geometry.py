"""Geometric functions of cuaug.transforms.functional: masks, boxes and keypoints as torchvision moves them."""

import dataclasses

import numpy as np
import pytest
import torch
from helpers.arrays import MASK_DTYPES, noise, seeded
from helpers.compare import EXACT, Tolerance, assert_equal
from helpers.tv_tensors import plain
from tables.functional_calls import COPIES, GEOMETRY, NEAREST, RESIZES, SIZE, WARPS, displacement

import cuaug
from cuaug.transforms import functional as F

FORMATS = ["XYXY", "XYWH", "CXCYWH"]
NUMBERS = Tolerance(absolute=2e-4, reason="torchvision computes in float32")
FLIPS = {"horizontal_flip", "hflip", "vertical_flip", "vflip"}
every_geometry = pytest.mark.parametrize("call", GEOMETRY, ids=str)


def masks(*samples, dtype="uint8", seed=0):
    """Labels that float32 holds: torchvision warps them as float32."""
    values = noise((*samples, *SIZE), dtype, seed)
    return torch.from_numpy(values % 5000 if dtype in ("int32", "int64") else values)


def with_nearest(call):
    """The same call with nearest-neighbour sampling, as masks are moved."""
    interpolation = "nearest-exact" if call in RESIZES else "nearest"
    return dataclasses.replace(call, args=tuple(a for a in call.args if a != "bilinear"),
                               kwargs=(*call.kwargs, ("interpolation", interpolation)))  # fmt: skip


@pytest.mark.parametrize("dtype", MASK_DTYPES)
@pytest.mark.parametrize("samples", [(), (2,), (7,), (2, 3)])
@pytest.mark.parametrize("call", [*COPIES, *WARPS], ids=str)
def test_functional_masks_equal_torchvision(TF, real_tv, call, dtype, samples):
    target = real_tv.Mask(masks(*samples, dtype=dtype, seed=str(call)))
    expected, result = call(TF, target), call(F, target)
    assert type(result) is real_tv.Mask
    assert_equal(plain(result), plain(expected).contiguous(), tolerance=EXACT if call in COPIES else NEAREST)


@pytest.mark.parametrize("call", RESIZES, ids=str)
def test_functional_resized_masks_have_the_nearest_pixel(TF, real_tv, call):
    """torchvision's "nearest-exact"; its masks take the pixel at ``floor(X * scale)``."""
    target = masks(4, seed=str(call))
    expected = with_nearest(call)(TF, target)
    result = call(F, real_tv.Mask(target))
    assert type(result) is real_tv.Mask
    assert_equal(plain(result), expected)


@pytest.mark.parametrize("name", ["rotate", "affine", "perspective", "elastic", "pad"])
def test_functional_fill_of_masks_and_images(TF, real_tv, name):
    args = {"elastic": (displacement(seeded("fill")),), "pad": ([4, 5],)}.get(name)
    args = args or next(call.args for call in WARPS if call.name == name)
    args = tuple(a for a in args if a != "bilinear")
    target = real_tv.Mask(masks(2, dtype="int64"))
    expected, result = (getattr(module, name)(target, *args, fill=9) for module in (TF, F))
    assert_equal(plain(result), plain(expected), tolerance=NEAREST)
    assert (plain(result) == 9).any()
    image = torch.from_numpy(noise((3, *SIZE)))
    nearest = {} if name == "pad" else {"interpolation": "nearest"}
    for fill in (9, [9], [1, 2, 3]):
        expected, result = (getattr(module, name)(image, *args, fill=fill, **nearest) for module in (TF, F))
        assert_equal(result, expected, tolerance=NEAREST)


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric"])
def test_pad_modes_equal_torchvision(TF, real_tv, mode):
    target, image = real_tv.Mask(masks(2)), torch.from_numpy(noise((3, *SIZE)))
    for value in (target, image):
        expected, result = (module.pad(value, [3, 4], padding_mode=mode) for module in (TF, F))
        assert_equal(plain(result), plain(expected))
    for value in (boxes(real_tv, "XYXY"), real_tv.KeyPoints(torch.zeros(1, 2), canvas_size=SIZE)):
        with pytest.raises(ValueError, match=rf"padding_mode must be 'constant' for \w+, got '{mode}'"):
            F.pad(value, [3, 4], padding_mode=mode)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_elastic_equals_torchvision(TF, real_tv, dtype):
    image, field = torch.from_numpy(noise((2, 3, *SIZE), dtype)), displacement(seeded("elastic"))
    expected, result = TF.elastic(image, field), F.elastic(image, field)
    tolerance = Tolerance(absolute=1 if dtype == "uint8" else 2e-4, reason="positions in float32 in torchvision")
    assert_equal(result, expected, tolerance=tolerance)
    target = real_tv.Mask(masks(2, dtype="int64"))
    assert_equal(plain(F.elastic(target, field)), plain(TF.elastic(target, field)), tolerance=NEAREST)
    for value in (boxes(real_tv, "XYXY"), real_tv.KeyPoints(torch.zeros(1, 2), canvas_size=SIZE)):
        with pytest.raises(TypeError, match="the displacement has no inverse"):
            F.elastic(value, field)


def boxes(tv, format, dtype=torch.float32, mode="soft", count=40, seed=0):
    """Boxes of which many reach beyond the canvas."""
    rng = seeded("boxes", format, seed)
    low, size = rng.uniform(-10, 25, (count, 2)), rng.uniform(0, 20, (count, 2))
    numbers = {"XYXY": (low, low + size), "XYWH": (low, size), "CXCYWH": (low + size / 2, size)}[format]
    values = torch.from_numpy(np.concatenate(numbers, 1))
    values = (values if dtype.is_floating_point else values.round()).to(dtype)
    return tv.BoundingBoxes(values, format=format, canvas_size=SIZE, clamping_mode=mode)


@pytest.mark.parametrize(("dtype", "size"), [(torch.float16, 2048), (torch.bfloat16, 256)], ids=str)
def test_functional_boxes_of_narrow_floats_are_moved_in_float32(real_tv, dtype, size):
    """These dtypes hold the edge, but not the edge minus half a pixel, which the matrices map."""
    first = size * 3 // 4 + 1 if dtype == torch.float16 else size // 2 + 1
    edges, canvas = torch.tensor([[first, first, first + 2, first + 2]], dtype=dtype), (size, size)
    target = real_tv.BoundingBoxes(edges, format="XYXY", canvas_size=canvas)
    assert plain(F.horizontal_flip(target)).tolist() == [[size - first - 2, first, size - first, first + 2]]
    for unchanged in (F.pad(target, [0]), F.crop(target, 0, 0, *canvas), F.affine(target, 0, [0, 0], 1.0, [0, 0])):
        assert_equal(plain(unchanged), edges)
    assert plain(F.resize(target, [size // 2] * 2)).tolist() == (edges.double() / 2).to(dtype).tolist()


@pytest.mark.parametrize("mode", ["soft", "hard", None])
@pytest.mark.parametrize("format", FORMATS)
@every_geometry
def test_functional_boxes_equal_torchvision(TF, real_tv, call, format, mode):
    target = boxes(real_tv, format, mode=mode, seed=str(call))
    before = target.clone()
    expected, result = call(TF, target), call(F, target)
    assert type(result) is real_tv.BoundingBoxes
    assert (result.format, result.clamping_mode, result.canvas_size) == (
        expected.format, mode, tuple(call(F, torch.zeros(1, *SIZE)).shape[-2:]),
    )  # fmt: skip
    assert result.canvas_size == expected.canvas_size
    assert_equal(plain(result), plain(expected), tolerance=NUMBERS)
    assert torch.equal(target, before)


@pytest.mark.parametrize("format", FORMATS)
@every_geometry
def test_functional_integer_boxes_are_rounded(real_tv, call, format):
    """torchvision truncates them."""
    target = boxes(real_tv, format, torch.int64, seed=str(call))
    exact = real_tv.wrap(plain(target).double(), like=target)
    result, expected = plain(call(F, target)), plain(call(F, exact))
    assert result.dtype == torch.int64
    if call in COPIES and format != "CXCYWH":
        assert torch.equal(result.double(), expected)
    if format == "XYWH":  # the edges are rounded, and the size is their difference
        result, expected = (torch.cat([box[:, :2], box[:, :2] + box[:, 2:]], 1) for box in (result, expected))
    assert (result - expected).abs().max() <= 0.5 + 1e-9


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@every_geometry
def test_functional_keypoints_equal_torchvision(TF, real_tv, call, dtype):
    """Keypoints count from the centre of the first pixel, as in torchvision's flips.

    Its other functions count from the pixel's corner: they are given the points half a pixel further.
    """
    points = torch.from_numpy(seeded("keypoints", str(call)).uniform(-3, 33, (5, 7, 2))).to(dtype)
    offset = 0.0 if call.name in FLIPS else 0.5
    reference = real_tv.KeyPoints(points.double() + offset, canvas_size=SIZE)
    result = call(F, real_tv.KeyPoints(points, canvas_size=SIZE))
    assert type(result) is real_tv.KeyPoints
    assert result.dtype == dtype
    assert result.canvas_size == tuple(call(F, torch.zeros(1, *SIZE)).shape[-2:])
    tolerance = {torch.float16: 0.04, torch.float32: 2e-4, torch.float64: 2e-4}[dtype]  # float16: 1/64 at 32
    error = (plain(result).double() - (plain(call(TF, reference)) - offset)).abs().max()
    assert error < tolerance


# "pad, fill" pads with 1, the value of the rectangle.
@pytest.mark.parametrize("call", [call for call in GEOMETRY if str(call) != "pad, fill"], ids=str)
def test_functional_boxes_and_keypoints_follow_the_pixels(real_tv, call):
    """A bright rectangle is moved; its pixels lie in the moved box, and its middle is the moved keypoint."""
    top, left, height, width = 6, 8, 5, 7
    image = torch.zeros(1, *SIZE)
    image[:, top : top + height, left : left + width] = 1
    box = torch.tensor([[left, top, left + width, top + height]], dtype=torch.float64)
    moved = call(F, image)[0]
    if call.name == "rotate":
        moved = with_nearest(call)(F, image)[0]
    if not (moved > 0.6).any():
        pytest.fail("the call moves the rectangle out of the image")
    rows, columns = ((moved > 0.6).any(axis).nonzero()[:, 0].tolist() for axis in (1, 0))
    result = plain(call(F, real_tv.BoundingBoxes(box, format="XYXY", canvas_size=SIZE)))[0].tolist()
    edges = [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]
    assert np.abs(np.array(result) - edges).max() < 1.6
    middle = torch.tensor([[left + (width - 1) / 2, top + (height - 1) / 2]], dtype=torch.float64)
    x, y = plain(call(F, real_tv.KeyPoints(middle, canvas_size=SIZE)))[0].tolist()
    inside = 0 < x < moved.shape[1] - 1 and 0 < y < moved.shape[0] - 1
    assert not inside or moved[round(y), round(x)] > 0.6


@pytest.mark.parametrize("kind", ["boxes", "keypoints"])
@every_geometry
def test_functional_takes_no_boxes_and_no_keypoints(tv, call, kind):
    empty = (
        tv.BoundingBoxes(torch.zeros(0, 4), format="XYXY", canvas_size=SIZE)
        if kind == "boxes"
        else tv.KeyPoints(torch.zeros(0, 2), canvas_size=SIZE)
    )
    result = call(F, empty)
    assert (type(result), tuple(result.shape)) == (type(empty), tuple(empty.shape))
    assert result.canvas_size == tuple(call(F, torch.zeros(1, *SIZE)).shape[-2:])


@pytest.mark.parametrize("angle", [0, 17.3, 90, 133.7, 180, -90])
def test_rotate_expand_moves_targets_with_the_image(real_tv, angle):
    """The canvas is that of the image; torchvision's boxes have another one."""
    image = torch.zeros(1, *SIZE)
    image[:, 6:11, 8:15] = 1
    moved = F.rotate(image, angle, expand=True)
    box = real_tv.BoundingBoxes(torch.tensor([[8.0, 6, 15, 11]]), format="XYXY", canvas_size=SIZE)
    result = F.rotate(box, angle, expand=True)
    assert result.canvas_size == tuple(moved.shape[-2:])
    _, rows, columns = moved.nonzero(as_tuple=True)
    edges = [columns.min().item(), rows.min().item(), columns.max().item() + 1, rows.max().item() + 1]
    limit = 1e-4 if angle % 90 == 0 else 1.5
    assert np.abs(np.array(plain(result)[0].tolist()) - edges).max() < limit
    point = F.rotate(real_tv.KeyPoints(torch.tensor([[11.0, 8.0]]), canvas_size=SIZE), angle, expand=True)
    x, y = plain(point)[0].tolist()
    assert moved[0, round(y), round(x)] == 1
    assert point.canvas_size == result.canvas_size


@pytest.mark.gpu
@every_geometry
def test_functional_targets_stay_on_the_gpu(real_tv, call):
    targets = [
        real_tv.Mask(masks(2, dtype="int64")),
        *(boxes(real_tv, format, seed=str(call)) for format in FORMATS),
        real_tv.KeyPoints(torch.from_numpy(seeded("keypoints").uniform(0, 20, (7, 2))), canvas_size=SIZE),
    ]
    for target in targets:
        expected, result = call(F, target), call(F, real_tv.wrap(plain(target).cuda(), like=target))
        assert (type(result), result.device.type) == (type(target), "cuda")
        assert getattr(result, "canvas_size", None) == getattr(expected, "canvas_size", None)
        tolerance = NEAREST if type(target) is real_tv.Mask else NUMBERS
        assert_equal(plain(result).cpu(), plain(expected), tolerance=tolerance)


def test_functional_parameters_per_sample():
    images = torch.from_numpy(noise((3, 3, *SIZE)))
    angles = [10.0, 20.0, 30.0]
    assert_equal(F.rotate(images, angles), torch.stack([F.rotate(i, a) for i, a in zip(images, angles, strict=True)]))
    assert_equal(F.crop(images, [1, 2, 3], 4, 5, 6), cuaug.crop(images, [1, 2, 3], 4, 5, 6))


def test_functional_parameters_of_boxes_are_one_value(real_tv):
    target = boxes(real_tv, "XYXY")
    for call in (lambda: F.rotate(target, [10.0, 20.0]), lambda: F.crop(target, [1, 2], 4, 5, 6)):
        with pytest.raises(ValueError, match="parameters must be one value each for boxes and keypoints"):
            call()


@pytest.mark.parametrize("size", [7, [7], (1,), np.int64(7)], ids=str)
@pytest.mark.parametrize("box", [(10, 20), (20, 10), (7, 23), (5, 5), (1, 19)], ids=str)
def test_resized_crop_by_one_number_keeps_the_aspect_ratio_of_the_box(TF, real_tv, box, size):
    sizes = [size] if np.ndim(size) == 0 else size
    image, mask = torch.from_numpy(noise((3, *SIZE))), real_tv.Mask(masks(2))
    points = real_tv.KeyPoints(torch.tensor([[3.0, 4.0]]), canvas_size=SIZE)
    for target in (image, mask, boxes(real_tv, "XYXY"), points):
        expected, result = TF.resized_crop(target, 1, 2, *box, sizes), F.resized_crop(target, 1, 2, *box, size)
        assert getattr(result, "canvas_size", result.shape) == getattr(expected, "canvas_size", expected.shape)


def test_resized_crop_by_one_number_refuses_a_box_per_sample():
    images = torch.from_numpy(noise((2, 3, *SIZE)))
    assert F.resized_crop(images, [1, 2], 3, 10, 5, 4).shape == (2, 3, 8, 4)
    for height, width in (([10, 9], 5), (10, torch.tensor([5, 4])), ([10], 5)):
        assert F.resized_crop(images, 1, 2, height, width, (8, 4)).shape == (2, 3, 8, 4)
        with pytest.raises(ValueError, match=r"size must be \(H, W\) where height or width is an array, got 4"):
            F.resized_crop(images, 1, 2, height, width, 4)


SCALARS = {
    "uint8": np.uint8(1),
    "int8": np.int8(-128),
    "bool": np.True_,
    "array": np.array(1, np.uint8),
    "tensor": torch.tensor(1, dtype=torch.uint8),
}


@pytest.mark.parametrize("kind", SCALARS)
def test_functional_crops_of_targets_compute_in_python_numbers(real_tv, kind):
    value = SCALARS[kind]
    for target in (boxes(real_tv, "XYXY"), real_tv.KeyPoints(torch.tensor([[3.0, 4.0]]), canvas_size=SIZE)):
        for call in (lambda x, v: F.crop(x, v, v, 5, 6), lambda x, v: F.resized_crop(x, v, v, 5, 6, 7)):
            assert_equal(plain(call(target, value)), plain(call(target, float(value))))
        sides = np.uint8(5), np.int8(6)
        assert_equal(plain(F.resized_crop(target, 0, 0, *sides, 7)), plain(F.resized_crop(target, 0, 0, 5, 6, 7)))


WRONG_CROPS = {
    "left must hold numbers, got None": lambda x: F.crop(x, 0, None, 2, 2),
    "top must hold numbers, got '1'": lambda x: F.crop(x, "1", 0, 2, 2),
    r"\(height, width\) must be at least 1, got 0": lambda x: F.crop(x, 0, 0, 0, 2),
    r"\(height, width\) must be an int, got 1.5": lambda x: F.crop(x, 0, 0, 2, 1.5),
    "height must be greater than 0, got 0.0": lambda x: F.resized_crop(x, 0, 0, 0, 2, (3, 3)),
    "width must be greater than 0, got -1.0": lambda x: F.resized_crop(x, 0, 0, 1, -1, (3, 3)),
    "top must be a finite number": lambda x: F.resized_crop(x, np.nan, 0, 1, 1, (3, 3)),
    "the padded size must be at least 1, got -[0-9]": lambda x: F.pad(x, -20),
}


@pytest.mark.parametrize("message", WRONG_CROPS)
def test_functional_crops_of_targets_refuse_what_those_of_images_refuse(real_tv, message):
    keypoints = real_tv.KeyPoints(torch.zeros(1, 2), canvas_size=SIZE)
    for target in (torch.zeros(1, *SIZE), boxes(real_tv, "XYXY"), keypoints):
        prefix = r"cuaug\." if type(target) is torch.Tensor else r"cuaug\.transforms\.functional\."
        match = message.replace("left", "(left|top and left)").replace("top must", "(top|top and left) must")
        with pytest.raises((TypeError, ValueError), match=rf"^{prefix}\w+: {match}"):
            WRONG_CROPS[message](target)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.bool])
@pytest.mark.parametrize("call", [GEOMETRY[0], GEOMETRY[-1]], ids=str)
def test_functional_boxes_and_keypoints_of_narrow_dtypes_are_refused(real_tv, call, dtype):
    """As in recipes: positions beyond 127 or 255 would saturate."""
    for target in (
        real_tv.BoundingBoxes(torch.ones(1, 4, dtype=dtype), format="XYXY", canvas_size=(3, 400)),
        real_tv.KeyPoints(torch.ones(1, 2, dtype=dtype), canvas_size=(3, 400)),
    ):
        with pytest.raises(TypeError, match=rf"{call.name}: (boxes|keypoints) must be floats, or integers of 16 bits"):
            call(F, target)


def test_functional_keypoints_beyond_the_horizon_stay_finite_integers(real_tv):
    coefficients = [1.0, 0, 0, 0, 1, 0, -0.2, 0]
    points = real_tv.KeyPoints(torch.tensor([[4, 3], [1, 1]]), canvas_size=SIZE)
    result = F.perspective(points, None, None, coefficients=coefficients)
    assert result.dtype == torch.int64
    assert (plain(result).abs() <= 2**30).all()


def test_functional_images_of_two_axes():
    image = torch.from_numpy(noise(SIZE))
    assert_equal(F.horizontal_flip(image), image.flip(-1))
    with pytest.raises(ValueError, match=r"inpt must have at least the axes \[H, W\], got shape \(5,\)"):
        F.horizontal_flip(torch.zeros(5))
    with pytest.raises(TypeError, match=r"^cuaug\.\S*hflip: images must be an array of torch"):
        F.horizontal_flip("photo.jpg")


def test_functional_has_no_ambiguous_tensors():
    """Tensors have channels first, whatever their shape, as in torchvision."""
    images = torch.from_numpy(noise((8, 24, 24, 3)))
    assert_equal(F.horizontal_flip(images), images.flip(-1))
    with pytest.raises(ValueError, match="ambiguous"):
        cuaug.hflip(images)
    assert_equal(F.horizontal_flip(images, layout="NHWC"), images.flip(-2))

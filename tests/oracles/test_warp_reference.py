"""The float64 reference of the warps against NumPy, SciPy, Pillow, OpenCV 5, torch and torchvision."""

import itertools

import numpy as np
import pytest
from tables import warp_reference as reference

cv2 = pytest.importorskip("cv2", minversion="5")  # 4.x rounds coordinates to 1/32 pixel
torch = pytest.importorskip("torch")
ndimage = pytest.importorskip("scipy.ndimage")
Image = pytest.importorskip("PIL.Image")

IMAGE = np.random.default_rng(20261120).random((17, 11, 3))
BORDERS = {
    "constant": (cv2.BORDER_CONSTANT, "grid-constant"),
    "edge": (cv2.BORDER_REPLICATE, "nearest"),
    "reflect": (cv2.BORDER_REFLECT_101, "mirror"),
    "symmetric": (cv2.BORDER_REFLECT, "reflect"),
    "wrap": (cv2.BORDER_WRAP, "grid-wrap"),
}
# Without nearest, which is compared with SciPy: OpenCV rounds its coordinates to 1/1024 pixel first.
OPENCV_FLAGS = {"bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC, "lanczos": cv2.INTER_LANCZOS4}
FLOAT32_TOLERANCE = {"rtol": 0, "atol": 1e-4}  # the other libraries' coordinates are float32
M = np.array([[0.93, -0.41, 3.2], [0.37, 1.04, -2.6]])
H = np.vstack([M, [0.004, -0.007, 1]])


def planes(image):
    """[H, W, C] to [1, C, H, W]"""
    return torch.from_numpy(np.moveaxis(image, -1, 0)[None].copy())


def from_planes(images):
    return np.moveaxis(images[0].numpy(), 0, -1)


def far_coordinates(n=500):
    rng = np.random.default_rng(3)
    return rng.uniform(-40, 50, (n, 1)), rng.uniform(-40, 50, (n, 1))


@pytest.mark.parametrize("border", BORDERS)
def test_reference_borders_equal_numpy_pad(border):
    padding = (30, 40, 5, 23)
    options = {"constant_values": 0.25} if border == "constant" else {}
    expected = np.pad(IMAGE, ((40, 23), (30, 5), (0, 0)), mode=border, **options)
    np.testing.assert_array_equal(reference.pad(IMAGE, padding, 0.25, border), expected)
    pixel = IMAGE[:1, :1]
    np.testing.assert_array_equal(
        reference.pad(pixel, 3, 0.25, border), np.pad(pixel, ((3, 3), (3, 3), (0, 0)), border, **options)
    )


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize(("interpolation", "order"), [("nearest", 0), ("bilinear", 1)])
def test_reference_sampling_equals_scipy(border, interpolation, order):
    x, y = far_coordinates()
    actual = reference.sample(IMAGE, x, y, interpolation, border, 0.25)
    for c in range(3):
        expected = ndimage.map_coordinates(IMAGE[..., c], [y, x], order=order, mode=BORDERS[border][1], cval=0.25)
        np.testing.assert_allclose(actual[..., c], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("border", "interpolation"), [*itertools.product(BORDERS, OPENCV_FLAGS)])
def test_reference_warp_equals_opencv(border, interpolation):
    image, options = IMAGE.astype(np.float32), {"borderMode": BORDERS[border][0], "borderValue": (0.1, 0.5, 0.9)}
    reference_options = {"interpolation": interpolation, "border": border, "fill": (0.1, 0.5, 0.9)}
    if interpolation == "lanczos":  # OpenCV's taps are at multiples of 1/32 pixel, so the shift is one too
        shift = np.array([[1, 0, 3 + 5 / 32], [0, 1, -2 - 17 / 32]])
        expected = cv2.warpAffine(image, shift, (13, 19), flags=OPENCV_FLAGS[interpolation], **options)
        np.testing.assert_allclose(
            reference.warp(image, shift, (19, 13), **reference_options), expected, **FLOAT32_TOLERANCE
        )
        return
    flags = OPENCV_FLAGS[interpolation]
    affine = cv2.warpAffine(image, M, (13, 19), flags=flags, **options)
    inverse = cv2.warpAffine(image, M, (13, 19), flags=flags | cv2.WARP_INVERSE_MAP, **options)
    homography = cv2.warpPerspective(image, H, (13, 19), flags=flags, **options)
    actual = reference.warp(image, M, (19, 13), **reference_options)
    np.testing.assert_allclose(actual, affine, **FLOAT32_TOLERANCE)
    np.testing.assert_allclose(
        reference.warp(image, M, (19, 13), inverse=True, **reference_options), inverse, **FLOAT32_TOLERANCE
    )
    np.testing.assert_allclose(reference.warp(image, H, (19, 13), **reference_options), homography, **FLOAT32_TOLERANCE)


@pytest.mark.parametrize("border", [b for b in BORDERS if b != "wrap"])
def test_reference_remap_equals_opencv(border):
    image = (IMAGE * 255).astype(np.uint8)
    x, y = (map_.astype(np.float32) for map_ in far_coordinates())
    expected = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=BORDERS[border][0], borderValue=(9, 9, 9))
    actual = np.rint(reference.remap(image, x, y, border=border, fill=9))
    assert np.abs(actual - expected).max() <= 1
    assert np.mean(actual == expected) > 0.995


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize(("padding", "border"), [("zeros", "constant"), ("border", "edge")])
def test_reference_sampling_equals_torch(mode, padding, border):
    x, y = far_coordinates()
    grid = torch.from_numpy(np.stack([(x + 0.5) * 2 / 11 - 1, (y + 0.5) * 2 / 17 - 1], -1)[None])
    expected = torch.nn.functional.grid_sample(planes(IMAGE), grid, mode, padding, align_corners=False)
    np.testing.assert_allclose(reference.sample(IMAGE, x, y, mode, border), from_planes(expected), rtol=0, atol=1e-12)


SIZES = [(17, 11), (34, 22), (9, 23), (5, 4), (1, 1), (40, 3)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("mode", "antialias"), [*itertools.product(["bilinear", "bicubic"], [False, True]), ("nearest", False)]
)
def test_reference_resize_equals_torch(size, mode, antialias):
    name, options = ("nearest-exact", {}) if mode == "nearest" else (mode, {"antialias": antialias})
    expected = torch.nn.functional.interpolate(planes(IMAGE), size, mode=name, **options)
    np.testing.assert_allclose(
        reference.resize(IMAGE, size, mode, antialias=antialias), from_planes(expected), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "lanczos"])
def test_reference_resize_antialias_equals_pillow(size, mode):
    plane = IMAGE[..., 0].astype(np.float32)
    expected = Image.fromarray(plane).resize(size[::-1], Image.Resampling[mode.upper()])
    actual = reference.resize(plane[..., None], size, mode)[..., 0]
    np.testing.assert_allclose(actual, np.asarray(expected), **FLOAT32_TOLERANCE)


@pytest.mark.parametrize("size", [(17, 11), (34, 22), (23, 19), (17, 30), (5, 4), (8, 5), (17, 5), (1, 1)])
def test_reference_resize_area_equals_opencv(size):
    """OpenCV averages if both axes are reduced or both enlarged; otherwise it reads two pixels of each axis."""
    expected = cv2.resize(IMAGE, size[::-1], interpolation=cv2.INTER_AREA)
    np.testing.assert_allclose(reference.resize(IMAGE, size, "area"), expected, **FLOAT32_TOLERANCE)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_reference_nonfinite_and_huge_coordinates_are_fill(n):
    image = np.ones((n, n, 1))
    bad = np.array([[np.nan, np.inf, -np.inf, 2.0**31, -1e20]])
    for interpolation, border in itertools.product(["nearest", *OPENCV_FLAGS], BORDERS):
        for x, y in ((bad, np.zeros_like(bad)), (np.zeros_like(bad), bad)):
            actual = reference.sample(image, x, y, interpolation, border, 7.0)
            np.testing.assert_array_equal(actual, np.full((1, 5, 1), 7.0))


def test_reference_singular_matrix_is_fill():
    for bad in (np.zeros((2, 3)), np.full((3, 3), np.nan), np.array([[1, 2, 0], [2, 4, 0]])):
        np.testing.assert_array_equal(reference.warp(IMAGE, bad, fill=0.5), np.full(IMAGE.shape, 0.5))


def as_list(value):
    return list(value) if isinstance(value, tuple) else value


@pytest.fixture(scope="module")
def functional():
    """torchvision's functional module. The oracle's functions have its names and definitions."""
    return pytest.importorskip("torchvision.transforms.v2.functional")


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize("center", [None, [3.0, 12.5]])
def test_reference_affine_rotate_perspective_elastic_equal_torchvision(functional, interpolation, center):
    images, mode = planes(IMAGE), functional.InterpolationMode(interpolation)
    # With a fill, torchvision weights an edge pixel twice under bilinear; cuaug blends as OpenCV does.
    fill = [0.1, 0.5, 0.9] if interpolation == "nearest" else None

    def check(actual, expected):
        np.testing.assert_allclose(actual, from_planes(expected), **FLOAT32_TOLERANCE)

    arguments = (23.0, (1.5, -2.25), 1.3, (7.0, -4.0))
    actual = reference.affine(IMAGE, *arguments, interpolation, fill, center)
    check(actual, functional.affine(images, *map(as_list, arguments), mode, fill, center))
    for angle in (31.3, -118.7, 44.2):
        actual = reference.rotate(IMAGE, angle, interpolation, center=center, fill=fill)
        check(actual, functional.rotate(images, angle, mode, center=center, fill=fill))
        actual = reference.rotate(IMAGE, angle, interpolation, expand=True, fill=fill)
        check(actual, functional.rotate(images, angle, mode, expand=True, fill=fill))
    start, end = [[0, 0], [10, 0], [10, 16], [0, 16]], [[1, 2], [9, 0], [10, 14], [2, 15]]
    check(
        reference.perspective(IMAGE, start, end, interpolation, fill),
        functional.perspective(images, start, end, mode, fill),
    )
    displacement = np.random.default_rng(5).normal(0, 0.2, (17, 11, 2))
    expected = functional.elastic(images, torch.from_numpy(displacement)[None], mode, fill)
    check(reference.elastic(IMAGE, displacement, interpolation, fill), expected)


@pytest.mark.parametrize(("size", "max_size"), [(6, None), (30, None), (6, 7), (30, 31), ((9, 4), None)])
def test_reference_resize_equals_torchvision(functional, size, max_size):
    sides = [size] if isinstance(size, int) else list(size)
    expected = functional.resize(planes(IMAGE), sides, max_size=max_size, antialias=True)
    np.testing.assert_allclose(
        reference.resize(IMAGE, size, max_size=max_size), from_planes(expected), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("box", [(2, 3, 9, 7), (-2, -3, 9, 20), (8, 5, 30, 3)])
@pytest.mark.parametrize("antialias", [True, False])
def test_reference_crops_and_pad_equal_torchvision(functional, box, antialias):
    images = planes(IMAGE)
    np.testing.assert_array_equal(reference.crop(IMAGE, *box), from_planes(functional.crop(images, *box)))
    expected = functional.resized_crop(images, *box, [6, 5], antialias=antialias)
    actual = reference.resized_crop(IMAGE, *box, (6, 5), antialias=antialias)
    np.testing.assert_allclose(actual, from_planes(expected), rtol=0, atol=1e-12)
    for size in ((6, 5), (7, 4), (20, 20), (5, 16), 8):
        sides = [size] if isinstance(size, int) else list(size)
        np.testing.assert_array_equal(
            reference.center_crop(IMAGE, size), from_planes(functional.center_crop(images, sides))
        )
    for padding in (2, [3, 1], [1, 2, 3, 4]):
        expected = functional.pad(images, padding, fill=0.5)
        np.testing.assert_array_equal(reference.pad(IMAGE, padding, 0.5), from_planes(expected))


def test_reference_flips_equal_torchvision(functional):
    np.testing.assert_array_equal(reference.hflip(IMAGE), from_planes(functional.hflip(planes(IMAGE))))
    np.testing.assert_array_equal(reference.vflip(IMAGE), from_planes(functional.vflip(planes(IMAGE))))
    np.testing.assert_array_equal(reference.vflip(IMAGE, False), IMAGE)
